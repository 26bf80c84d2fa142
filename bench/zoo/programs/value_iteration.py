"""Soft value iteration: 40 sweeps over 300 worlds of 16 x 16 places, gradient by warmth and each reward, float.

Bound: vectors of floats: four exponentials and a logarithm for each place and sweep, there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    walls = (random.uniform(size=(300, 16, 16)) < 0.2).astype(np.float32)
    return [np.float32(2.0), random.normal(size=(300, 16, 16)).astype(np.float32), walls]


def value(warmth, rewards, walls, unroll=1, checkpoint=False):
    def sweep(v, _):
        edge = jnp.pad(v, 1)
        up, down, left, right = (jnp.where(walls > 0, v, x) for x in (edge[:-2, 1:-1], edge[2:, 1:-1], edge[1:-1, :-2], edge[1:-1, 2:]))
        mean = 0.25 * (up + down + left + right)
        mixed = [warmth * (0.8 * x + 0.2 * mean) for x in (up, down, left, right)]
        top = jnp.maximum(jnp.maximum(mixed[0], mixed[1]), jnp.maximum(mixed[2], mixed[3]))
        top = jax.lax.stop_gradient(top)
        logs = jnp.log(sum(jnp.exp(m - top) for m in mixed)) + top
        return rewards + 0.95 / warmth * logs, None

    sweep = jax.checkpoint(sweep) if checkpoint else sweep
    return jnp.mean(jax.lax.scan(sweep, jnp.zeros((16, 16), jnp.float32), None, length=40, unroll=unroll)[0])


def members(warmth, rewards, walls):
    return jnp.mean(jax.vmap(lambda r, w: value(warmth, r, w))(rewards, walls))


def again(warmth, rewards, walls):
    return jnp.mean(jax.vmap(lambda r, w: value(warmth, r, w, checkpoint=True))(rewards, walls))


def one_by_one(warmth, rewards, walls):
    return jnp.mean(jax.lax.map(lambda d: value(warmth, *d), (rewards, walls)))


twins = {f.__name__: jax.value_and_grad(f, (0, 1)) for f in (members, again, one_by_one)}

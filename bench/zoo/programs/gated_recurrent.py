"""Gated recurrent network of 8 units: 1000 sequences of 32 steps, loss and gradient, float.

Bound: vectors of floats in a chain of 32 steps, three products of 16 x 8 in each.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [(0.4 * random.normal(size=(16, 8))).astype(np.float32) for _ in range(3)] + [
        random.normal(size=(1000, 32, 8)).astype(np.float32), random.normal(size=1000).astype(np.float32)]


def end(reset, update, fresh, x, h, axis):  # x: steps first, numbers along `axis` of a step
    def times(a, w):
        return a @ w if axis == -1 else w.T @ a

    def step(h, seen):
        both = jnp.concatenate([seen, h], axis)
        z, r = jax.nn.sigmoid(times(both, update)), jax.nn.sigmoid(times(both, reset))
        return h + z * (jnp.tanh(times(jnp.concatenate([seen, r * h], axis), fresh)) - h), None

    return jax.lax.scan(step, h, x)[0]


def members(reset, update, fresh, x, y):
    def one(a, b):
        return jnp.square(jnp.sum(end(reset, update, fresh, a, jnp.zeros(8, jnp.float32), -1)) - b)

    return jnp.mean(jax.vmap(one)(x, y))


def rows(reset, update, fresh, x, y):
    h = end(reset, update, fresh, x.transpose(1, 0, 2), jnp.zeros((1000, 8), jnp.float32), -1)
    return jnp.mean(jnp.square(jnp.sum(h, 1) - y))


def columns(reset, update, fresh, x, y):
    h = end(reset, update, fresh, x.transpose(1, 2, 0), jnp.zeros((8, 1000), jnp.float32), 0)
    return jnp.mean(jnp.square(jnp.sum(h, 0) - y))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2)) for f in (members, rows, columns)}

"""A normalising flow: six affine couplings by networks 4-32-8 on 4096 examples of 8 numbers, likelihood and gradient, float.

Bound: products of floats, 85 million operations, and hyperbolic tangents.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    f = lambda s, *shape: (s * random.normal(size=shape)).astype(np.float32)
    return [f(0.5, 6, 4, 32), f(0.1, 6, 32), f(0.1, 6, 32, 8), f(0.1, 6, 8), f(1, 4096, 8)]


def run(w, b, out, c, x, unroll=1, checkpoint=False):  # of one example, or of many in rows
    def step(state, layer):
        here, there, volume = state
        w, b, out, c = layer
        both = jnp.tanh(here @ w + b) @ out + c
        scale = jnp.tanh(both[..., :4])
        return (there * jnp.exp(scale) + both[..., 4:], here, volume + jnp.sum(scale, -1)), None

    step = jax.checkpoint(step) if checkpoint else step
    start = (x[..., :4], x[..., 4:], jnp.zeros(x.shape[:-1], x.dtype))
    a, b, volume = jax.lax.scan(step, start, (w, b, out, c), unroll=unroll)[0]
    return 0.5 * (jnp.sum(a * a, -1) + jnp.sum(b * b, -1)) - volume


def members(w, b, out, c, x):
    return jnp.mean(jax.vmap(lambda own: run(w, b, out, c, own))(x))


def rows(w, b, out, c, x, **kw):
    return jnp.mean(run(w, b, out, c, x, **kw))


def rows_unrolled(*a):
    return rows(*a, unroll=6)


def rows_again(*a):
    return rows(*a, unroll=6, checkpoint=True)


def columns(w, b, out, c, x, unroll=6):
    def step(state, layer):
        here, there, volume = state
        w, b, out, c = layer
        both = out.T @ jnp.tanh(w.T @ here + b[:, None]) + c[:, None]
        scale = jnp.tanh(both[:4])
        return (there * jnp.exp(scale) + both[4:], here, volume + jnp.sum(scale, 0)), None

    t = x.T
    a, b, volume = jax.lax.scan(step, (t[:4], t[4:], jnp.zeros(len(x), x.dtype)), (w, b, out, c), unroll=unroll)[0]
    return jnp.mean(0.5 * (jnp.sum(a * a, 0) + jnp.sum(b * b, 0)) - volume)


def in_blocks(w, b, out, c, x):  # gradients of blocks of 512 examples that fit in cache
    def block(total, own):
        value, slope = jax.value_and_grad(rows_unrolled, (0, 1, 2, 3))(w, b, out, c, own)
        return jax.tree.map(jnp.add, total, (value / 8, jax.tree.map(lambda s: s / 8, slope))), None

    zero = (jnp.float32(0), tuple(map(jnp.zeros_like, (w, b, out, c))))
    return jax.lax.scan(block, zero, x.reshape(8, 512, 8))[0]


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2, 3)) for f in (members, rows, rows_unrolled, rows_again, columns)} | {"in_blocks": in_blocks}

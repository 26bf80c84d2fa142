"""Writing: 96 texts of 48 letters by a decoder's layer of width 64 with a cache of keys and values, float.

Bound: products of floats, texts by letters' weights.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    shapes = (96, 64), (48, 64), (64, 192), (64, 64), (64, 128), (128, 64)
    scales = 0.7, 0.7, 0.25, 0.125, 0.125, 0.1
    return [(s * random.normal(size=n)).astype(np.float32) for n, s in zip(shapes, scales)] + [np.arange(96, dtype=np.int32)]


def written(table, place, into, out, up, down, first, unroll=1):  # one text or all: what is before the last axes is a batch
    batch = first.shape

    def step(state, i):
        now, keys, values, score = state
        x = table[now] + place[i]
        q, k, v = jnp.moveaxis((x @ into).reshape(*batch, 3, 4, 16), -3, 0)
        keys = jax.lax.dynamic_update_slice_in_dim(keys, k[None], i, 0)  # places first
        values = jax.lax.dynamic_update_slice_in_dim(values, v[None], i, 0)
        fits = 0.25 * jnp.einsum("j...hd,...hd->...hj", keys, q)
        seen = jax.nn.softmax(jnp.where(jnp.arange(48) <= i, fits, -1e9))
        y = x + jnp.einsum("...hj,j...hd->...hd", seen, values).reshape(*batch, 64) @ out
        z = y + jax.nn.gelu(y @ up, approximate=False) @ down
        chances = jax.nn.log_softmax(z @ table.T)
        return (jnp.argmax(chances, -1).astype(jnp.int32), keys, values, score + jnp.max(chances, -1)), None

    none = jnp.zeros((48, *batch, 4, 16), jnp.float32)
    start = first, none, none, jnp.zeros(batch, jnp.float32)
    last, _, _, score = jax.lax.scan(step, start, jnp.arange(48), unroll=unroll)[0]
    return last, score


def members(*a):
    return jax.vmap(lambda first: written(*a[:-1], first))(a[-1])


def one_by_one(*a):
    return jax.lax.map(lambda first: written(*a[:-1], first), a[-1])


def flat_unrolled(*a):
    return written(*a, unroll=4)


def texts_first(table, place, into, out, up, down, first):  # products of matrices for each text and head
    n = len(first)

    def step(state, i):
        now, keys, values, score = state
        x = table[now] + place[i]
        q, k, v = jnp.moveaxis((x @ into).reshape(n, 3, 4, 16), 1, 0)
        keys, values = keys.at[:, :, i].set(k), values.at[:, :, i].set(v)
        fits = 0.25 * jnp.sum(keys * q[:, :, None], -1)
        seen = jax.nn.softmax(jnp.where(jnp.arange(48) <= i, fits, -1e9))
        y = x + jnp.sum(seen[..., None] * values, 2).reshape(n, 64) @ out
        z = y + jax.nn.gelu(y @ up, approximate=False) @ down
        chances = jax.nn.log_softmax(z @ table.T)
        return (jnp.argmax(chances, -1).astype(jnp.int32), keys, values, score + jnp.max(chances, -1)), None

    none = jnp.zeros((n, 4, 48, 16), jnp.float32)
    last, _, _, score = jax.lax.scan(step, (first, none, none, jnp.zeros(n, jnp.float32)), jnp.arange(48))[0]
    return last, score


twins = {f.__name__: f for f in (members, one_by_one, flat_unrolled, texts_first)} | {"flat": written}

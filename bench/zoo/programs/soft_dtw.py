"""Soft dynamic time warping: distances of 200 pairs of series of length 32, and their gradients, float.

Bound: a chain of 1024 exponentials and logarithms, in vectors over pairs or along diagonals.
"""

import jax
import jax.numpy as jnp
import numpy as np

FAR = 1e8


def arguments(random):
    return [np.cumsum(0.3 * random.normal(size=(200, 32)), 1).astype(np.float32) for _ in range(2)]


def softmin(a, b, c):
    least = jnp.minimum(jnp.minimum(a, b), c)
    return least - jnp.log(jnp.exp(least - a) + jnp.exp(least - b) + jnp.exp(least - c))


def library(a, b, c):
    return -jax.nn.logsumexp(-jnp.stack([a, b, c]), 0)


def rows(x, y, softmin=softmin):  # of one pair, or of all in columns
    far = jnp.full(x.shape[1:], FAR, jnp.float32)

    def row(state, xi):
        corner, above = state

        def cell(carry, inputs):
            left, diagonal = carry
            yj, up = inputs
            here = jnp.square(xi - yj) + softmin(left, diagonal, up)
            return (here, up), here

        return (far, jax.lax.scan(cell, (far, corner), (y, above))[1]), None

    return jax.lax.scan(row, (jnp.zeros_like(far), jnp.full(y.shape, FAR, jnp.float32)), x)[0][1][-1]


def diagonals(x, y):  # one pair, or all in columns: step k has the cells (i, k - i) of all i
    n = x.shape[0]
    far = jnp.full((1, *x.shape[1:]), FAR, jnp.float32)
    beside = jnp.concatenate([jnp.zeros((n - 1, *y.shape[1:]), jnp.float32), y[::-1], jnp.zeros((n - 1, *y.shape[1:]), jnp.float32)])
    i = jnp.arange(n).reshape(n, *[1] * (x.ndim - 1))

    def step(state, k):
        before, last = state  # cells of diagonals k - 2 and k - 1
        yk = jax.lax.dynamic_slice_in_dim(beside, 2 * n - 2 - k, n)
        corner = jnp.concatenate([jnp.where(k == 0, 0 * far, far), before[:-1]])
        here = jnp.square(x - yk) + softmin(last, jnp.concatenate([far, last[:-1]]), corner)
        return (last, jnp.where((k >= i) & (k - i < n), here, FAR)), None

    nothing = jnp.full(x.shape, FAR, jnp.float32)
    return jax.lax.scan(step, (nothing, nothing), jnp.arange(2 * n - 1))[0][1][-1]


def in_columns(f):
    def distances(x, y):
        values, back = jax.vjp(lambda v: f(v, y.T), x.T)
        return jnp.mean(values), back(jnp.ones_like(values))[0].T

    return distances


def members(f):
    def distances(x, y):
        values, slopes = jax.vmap(jax.value_and_grad(f))(x, y)
        return jnp.mean(values), slopes

    return distances


twins = {"rows": members(lambda x, y: rows(x, y, library)), "rows, in columns": in_columns(rows), "diagonals": members(diagonals),
         "diagonals, in columns": in_columns(diagonals)}

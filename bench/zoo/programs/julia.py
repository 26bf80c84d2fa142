"""Julia's set: steps until each of 40000 points leaves, 200 at most, their sum and the most, double.

Bound: vectors of doubles over points: eight operations in each step, of which most points need few.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    x, y = np.meshgrid(np.linspace(-1.5, 1.5, 200), np.linspace(-1, 1, 200))
    return [np.array([-0.75, 0.11]), np.stack([x.ravel(), y.ravel()], 1)]


def result(counts):
    return jnp.sum(counts), jnp.max(counts)


def alone(c, z):
    def step(s):
        z, n = s
        return jnp.stack([z[0] * z[0] - z[1] * z[1], 2 * z[0] * z[1]]) + c, n + 1

    return jax.lax.while_loop(lambda s: (jnp.sum(s[0] * s[0]) < 4) & (s[1] < 200), step, (z, jnp.int32(0)))[1]


def counts(c, x, y, unroll=1):  # those that have left stay
    def step(s):
        x, y, n = s
        for _ in range(unroll):
            inside = x * x + y * y < 4
            x, y, n = jnp.where(inside, x * x - y * y + c[0], x), jnp.where(inside, 2 * x * y + c[1], y), n + inside
        return x, y, n

    n = jnp.zeros(x.shape, jnp.int32)
    return jax.lax.while_loop(lambda s: jnp.any(s[0] * s[0] + s[1] * s[1] < 4) & (jnp.max(s[2]) < 200), step, (x, y, n))[2]


def members(c, starts):
    return result(jax.vmap(alone, (None, 0))(c, starts))


def one_by_one(c, starts):
    return result(jax.lax.map(lambda z: alone(c, z), starts))


def columns(c, starts, unroll=1):
    return result(counts(c, starts[:, 0], starts[:, 1], unroll))


def blocks(c, starts, width=100, unroll=1):
    return result(jax.lax.map(lambda z: counts(c, z[:, 0], z[:, 1], unroll), starts.reshape(-1, width, 2)))


twins = {"members": members, "one_by_one": one_by_one, "columns": columns, "columns_unrolled": lambda *a: columns(*a, 4),
         "blocks": blocks, "blocks_unrolled": lambda *a: blocks(*a, 100, 4), "small_blocks": lambda *a: blocks(*a, 20),
         "small_blocks_unrolled": lambda *a: blocks(*a, 20, 4)}

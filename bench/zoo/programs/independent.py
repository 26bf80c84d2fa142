"""Independent components: eight signals of 16384 places unmixed by 20 steps of FastICA, tanh, float.

Bound: hyperbolic tangents: 131072 in each step; and products of 256 x 8 with 8 x 8.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    sources = np.sign(random.normal(size=(64, 256, 8))) * random.uniform(size=(64, 256, 8)) ** np.array([0.1, 0.4, 0.8, 1, 2, 3, 5, 8])
    mixed = sources @ random.normal(size=(8, 8))
    return [np.linalg.qr(random.normal(size=(8, 8)))[0].astype(np.float32), (mixed - mixed.mean((0, 1))).astype(np.float32)]


def root(m):
    values, vectors = jnp.linalg.eigh(m)
    return (vectors * values**-0.5) @ vectors.T


def steps(start, part, unroll=1):
    def step(w, _):
        new = part(w)
        return new @ root(new.T @ new), None

    return jax.lax.scan(step, start, None, length=20, unroll=unroll)[0]


def rows(start, data, unroll=1):
    x = data.reshape(-1, 8)
    n = x.shape[0]
    x = x @ root(x.T @ x / n)

    def part(w):
        g = jnp.tanh(x @ w)
        return x.T @ g / n - w * jnp.mean(1 - g * g, 0)

    return steps(start, part, unroll)


def columns(start, data, unroll=1):
    x = data.reshape(-1, 8).T
    n = x.shape[1]
    x = root(x @ x.T / n) @ x

    def part(w):
        g = jnp.tanh(w.T @ x)
        return x @ g.T / n - w * jnp.mean(1 - g * g, 1)

    return steps(start, part, unroll)


def members(start, data):
    white = data @ root(jnp.mean(jnp.einsum("bni,bnj->bij", data, data) / 256, 0))

    def part(w):
        def one(x):
            g = jnp.tanh(x @ w)
            return x.T @ g / 256 - w * jnp.mean(1 - g * g, 0)

        return jnp.mean(jax.vmap(one)(white), 0)

    return steps(start, part)


def one_by_one(start, data):
    white = jnp.swapaxes(data @ root(jnp.mean(jnp.einsum("bni,bnj->bij", data, data) / 256, 0)), 1, 2)

    def part(w):
        def add(c, x):
            g = jnp.tanh(w.T @ x)
            return c + x @ g.T / 256 - w * jnp.mean(1 - g * g, 1), None

        return jax.lax.scan(add, jnp.zeros_like(w), white)[0] / 64

    return steps(start, part)


twins = {"rows": rows, "columns": columns, "columns_unrolled": lambda *a: columns(*a, 5), "members": members, "one_by_one": one_by_one}

"""k-means: a step of Lloyd's algorithm on 50000 points of 8 numbers with 20 centres, float.

Bound: vectors of floats: 160 differences and squares for each point.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.normal(size=(20, 8)).astype(np.float32), random.normal(size=(50000, 8)).astype(np.float32)]


def update(c, x, squares, own):
    mine = jnp.argmin(squares, 1)
    if own == "one-hot":
        chosen = jax.nn.one_hot(mine, 20, dtype=x.dtype)
        sums, counts = chosen.T @ x, jnp.sum(chosen, 0)
    else:
        sums, counts = jnp.zeros_like(c).at[mine].add(x), jnp.zeros(20, x.dtype).at[mine].add(1)
    return jnp.where(counts[:, None] > 0, sums / jnp.maximum(counts, 1)[:, None], c), jnp.mean(jnp.min(squares, 1))


def distances(c, x):
    return jnp.sum(jnp.square(x[:, None] - c), 2)


def products(c, x):
    return jnp.sum(x * x, 1)[:, None] - 2 * x @ c.T + jnp.sum(c * c, 1)


twins = {"distances": lambda c, x: update(c, x, distances(c, x), "one-hot"), "products": lambda c, x: update(c, x, products(c, x), "one-hot"),
         "products, scattered": lambda c, x: update(c, x, products(c, x), "scattered")}

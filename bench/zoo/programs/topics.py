"""Topics: a step of expectation and maximisation for ten topics of 200 words in 2000 documents, float.

Bound: products of floats: eleven of 10 x 200 numbers for each document.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    table = random.dirichlet(np.full(200, 0.1), size=10)
    mixed = random.dirichlet(np.full(10, 0.3), size=2000) @ table
    return [(0.5 * table + 0.0025).astype(np.float32), random.poisson(100 * mixed).astype(np.float32)]


def members(table, counts):
    def one(own):
        step = lambda _, s: s * (table @ (own / (s @ table + 1e-6))) / jnp.sum(own)
        share = jax.lax.fori_loop(0, 5, step, jnp.full(10, 0.1, jnp.float32))
        return jnp.outer(share, own / (share @ table + 1e-6))

    following = table * jnp.sum(jax.vmap(one)(counts), 0)
    return following / jnp.sum(following, 1, keepdims=True)


def flat(table, counts):
    total = jnp.sum(counts, 1, keepdims=True)
    step = lambda _, s: s * ((counts / (s @ table + 1e-6)) @ table.T) / total
    share = jax.lax.fori_loop(0, 5, step, jnp.full((len(counts), 10), 0.1, jnp.float32))
    following = table * (share.T @ (counts / (share @ table + 1e-6)))
    return following / jnp.sum(following, 1, keepdims=True)


twins = {"members": members, "flat": flat}

"""Ranking: pairwise losses of 500 queries of 32 documents by a network of 24 units, loss and gradient, float.

Bound: vectors of floats: an exponential and a logarithm for each of 512000 pairs.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [(random.normal(size=(16, 24)) / 4).astype(np.float32), np.zeros(24, np.float32), (random.normal(size=24) / 5).astype(np.float32),
            random.normal(size=(500, 32, 16)).astype(np.float32), random.integers(0, 4, size=(500, 32)).astype(np.float32)]


def pairs(score, relevant):
    ahead = score[..., :, None] - score[..., None, :]
    return jnp.sum(jnp.where(relevant[..., :, None] > relevant[..., None, :], jax.nn.softplus(-ahead), 0), (-2, -1))


def batched(w, b, out, x, relevant):
    return jnp.mean(pairs(jax.nn.relu(x @ w + b) @ out, relevant))


def flat(w, b, out, x, relevant):
    return jnp.mean(pairs((jax.nn.relu(x.reshape(-1, 16) @ w + b) @ out).reshape(-1, 32), relevant))


def one_by_one(w, b, out, x, relevant):
    return jnp.mean(jax.lax.map(lambda c: pairs(jax.nn.relu(c[0] @ w + b) @ out, c[1]), (x, relevant)))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2)) for f in (batched, flat, one_by_one)}

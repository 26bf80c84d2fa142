"""Hyperbolic embeddings: 5000 words with a parent and nine others each in a table of 500x8, loss and gradient, float.

Bound: reading and adding rows of eight floats, eleven for each word.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    points = random.normal(size=(500, 8))
    points *= 0.7 * random.uniform(0.2, 1, size=(500, 1)) / np.linalg.norm(points, axis=1, keepdims=True)
    word = random.integers(0, 500, size=5000)
    others = (word[:, None] + random.integers(1, 500, size=(5000, 10))) % 500
    return [points.astype(np.float32), word.astype(np.int32), others.astype(np.int32)]


def flat(points, word, others):
    x, y = points[word][:, None], points[others]
    apart = jnp.sum(jnp.square(x - y), -1)
    room = (1 - jnp.sum(jnp.square(x), -1)) * (1 - jnp.sum(jnp.square(y), -1))
    logits = -jnp.arccosh(1 + 2 * apart / room)
    return jnp.mean(jax.nn.logsumexp(logits, -1) - logits[:, 0])


def by_norms(points, word, others):  # norms of the table first, and apart by products
    x, y = points[word], points[others]
    squares = jnp.sum(jnp.square(points), -1)
    apart = jnp.sum(jnp.square(x[:, None] - y), -1)
    logits = -jnp.arccosh(1 + 2 * apart / ((1 - squares)[word][:, None] * (1 - squares)[others]))
    return jnp.mean(jax.nn.logsumexp(logits, -1) - logits[:, 0])


def columns(points, word, others):  # coordinates first
    p = points.T
    x, y = p[:, word][:, None], p[:, others.T]
    apart = jnp.sum(jnp.square(x - y), 0)
    room = (1 - jnp.sum(jnp.square(x), 0)) * (1 - jnp.sum(jnp.square(y), 0))
    logits = -jnp.arccosh(1 + 2 * apart / room)
    return jnp.mean(jax.nn.logsumexp(logits, 0) - logits[0])


def members(points, word, others):
    return jnp.mean(jax.vmap(lambda w, o: flat(points, w[None], o[None]))(word, others))


twins = {f.__name__: jax.value_and_grad(f) for f in (flat, by_norms, columns, members)}

"""Word vectors: loss of 4000 words with a context and 8 negatives each, and gradients by two tables of 1000x32, float.

Bound: gathering and scattering of rows of 32 floats.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    tables = [(0.3 * random.normal(size=(1000, 32))).astype(np.float32) for _ in range(2)]
    return tables + [random.integers(0, 1000, s).astype(np.int32) for s in (4000, 4000, (4000, 8))]


def members(words, contexts, centre, context, negatives):
    def error(i, j, k):
        word = words[i]
        return jax.nn.softplus(-jnp.dot(contexts[j], word)) + jnp.sum(jax.nn.softplus(contexts[k] @ word))

    return jnp.mean(jax.vmap(error)(centre, context, negatives))


def together(words, contexts, centre, context, negatives):  # one gather of contexts, and so one scatter
    signs = jnp.array([-1] + 8 * [1], jnp.float32)
    rows = contexts[jnp.concatenate([context[:, None], negatives], 1)]
    return jnp.mean(jnp.sum(jax.nn.softplus(signs * jnp.einsum("nkd,nd->nk", rows, words[centre])), 1))


def all_scores(words, contexts, centre, context, negatives):  # of each word and each context, by one product
    scores = words @ contexts.T
    near, far = scores[centre, context], scores[centre[:, None], negatives]
    return jnp.mean(jax.nn.softplus(-near) + jnp.sum(jax.nn.softplus(far), 1))


def sums_by_products(words, contexts, centre, context, negatives):  # the words' gradients are added up by a matrix of ones
    own = jax.nn.one_hot(centre, 1000) @ words
    signs = jnp.array([-1] + 8 * [1], jnp.float32)
    rows = contexts[jnp.concatenate([context[:, None], negatives], 1)]
    return jnp.mean(jnp.sum(jax.nn.softplus(signs * jnp.einsum("nkd,nd->nk", rows, own)), 1))


twins = {f.__name__: jax.value_and_grad(f, (0, 1)) for f in (members, together, all_scores, sums_by_products)}

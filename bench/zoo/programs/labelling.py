"""Labelling: a chain of conditional random fields over 500 sentences of 40 words, 12 labels, value and gradient, float.

Bound: a small product of a vector and a matrix for each word, in a chain of 39 steps, and its outer products backwards.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    f = lambda s, *shape: (s * random.normal(size=shape)).astype(np.float32)
    return [f(0.3, 20, 12), f(0.3, 12, 12), f(1, 500, 40, 20), random.integers(0, 12, size=(500, 40)).astype(np.int32)]


def score_of_labels(weights, follows, words, labels):
    scores = words @ weights
    own = jnp.sum(jnp.take_along_axis(scores, labels[..., None], -1))
    return scores, own + jnp.sum(follows[labels[:, :-1], labels[:, 1:]])


def members(weights, follows, words, labels):
    scores, right = score_of_labels(weights, follows, words, labels)
    one = lambda s: jax.lax.scan(lambda v, own: (jax.nn.logsumexp(v[:, None] + follows, 0) + own, None), s[0], s[1:])[0]
    return (jnp.sum(jax.nn.logsumexp(jax.vmap(one)(scores), -1)) - right) / len(words)


def batched(weights, follows, words, labels):
    scores, right = score_of_labels(weights, follows, words, labels)
    s = jnp.swapaxes(scores, 0, 1)
    last, _ = jax.lax.scan(lambda v, own: (jax.nn.logsumexp(v[:, :, None] + follows, 1) + own, None), s[0], s[1:])
    return (jnp.sum(jax.nn.logsumexp(last, -1)) - right) / len(words)


def products(weights, follows, words, labels):  # logarithms are added by products of exponentials
    scores, right = score_of_labels(weights, follows, words, labels)
    s, ways = jnp.swapaxes(scores, 0, 1), jnp.exp(follows)

    def step(v, own):
        top = jax.lax.stop_gradient(jnp.max(v, 1, keepdims=True))
        return jnp.log(jnp.exp(v - top) @ ways) + top + own, None

    last, _ = jax.lax.scan(step, s[0], s[1:])
    return (jnp.sum(jax.nn.logsumexp(last, -1)) - right) / len(words)


def scaled(weights, follows, words, labels):  # probabilities, divided by their sum in each step
    scores, right = score_of_labels(weights, follows, words, labels)
    s, ways = jnp.exp(jnp.swapaxes(scores, 0, 1)), jnp.exp(follows)

    def step(state, own):
        p, logs = state
        p = (p @ ways) * own
        total = jnp.sum(p, 1, keepdims=True)
        return (p / total, logs + jnp.log(total[:, 0])), None

    (p, logs), _ = jax.lax.scan(step, (s[0], jnp.zeros(len(words), jnp.float32)), s[1:])
    return (jnp.sum(logs + jnp.log(jnp.sum(p, 1))) - right) / len(words)


twins = {f.__name__: jax.value_and_grad(f, (0, 1)) for f in (members, batched, products, scaled)}

"""Transcription: connectionist temporal classification of 100 clips of 100 frames, 20 letters of 29, loss and gradients, float.

Bound: vectors of floats: some ten sums and products for each of 41 states in a chain of 100 steps, there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.normal(size=(100, 100, 29)).astype(np.float32), random.integers(1, 29, (100, 20)).astype(np.int32)]


def places(letters):  # the path of letters and blanks, and where a blank may be left out
    path = jnp.zeros(letters.shape[:-1] + (41,), int).at[..., 1::2].set(letters)
    before = jnp.pad(path, [(0, 0)] * (path.ndim - 1) + [(2, 0)])[..., :41]
    return path, (path != 0) & (path != before)


def shifted(x, by, fill):
    return jnp.concatenate([jnp.full(x.shape[:-1] + (by,), fill, x.dtype), x[..., :-by]], -1)


def by_logarithms(seen, skip, unroll):  # seen: frames first
    def step(alpha, own):
        reached = jax.nn.logsumexp(jnp.stack([alpha, shifted(alpha, 1, -1e9), jnp.where(skip, shifted(alpha, 2, -1e9), -1e9)]), 0)
        return reached + own, None

    first = jnp.where(jnp.arange(41) < 2, seen[0], -1e9)
    return -jax.nn.logsumexp(jax.lax.scan(step, first, seen[1:], unroll=unroll)[0][..., 39:], -1)


def scaled(seen, skip, unroll):  # probabilities, scaled at each step
    weight = skip.astype(np.float32)

    def step(carry, own):
        p, total = carry
        p = (p + shifted(p, 1, 0) + weight * shifted(p, 2, 0)) * own
        scale = jnp.sum(p, -1, keepdims=True)
        return (p / scale, total + jnp.log(scale[..., 0])), None

    seen = jnp.exp(seen)
    first = jnp.where(jnp.arange(41) < 2, seen[0], 0)
    p, total = jax.lax.scan(step, (first, jnp.zeros(first.shape[:-1], np.float32)), seen[1:], unroll=unroll)[0]
    return -jnp.log(jnp.sum(p[..., 39:], -1)) - total


def members(f, unroll):
    def loss(scores, letters):
        path, skip = places(letters)
        return f(jnp.take(jax.nn.log_softmax(scores), path, axis=1), skip, unroll)

    def slopes(scores, letters):
        value, slope = jax.vmap(jax.value_and_grad(loss))(scores, letters)
        return jnp.mean(value), slope

    return slopes


def at_once(f, unroll):
    def loss(scores, letters):
        path, skip = places(letters)
        seen = jnp.take_along_axis(jax.nn.log_softmax(scores), path[:, None, :], 2)
        values = f(jnp.swapaxes(seen, 0, 1), skip, unroll)
        return jnp.sum(values), jnp.mean(values)

    def slopes(scores, letters):
        (_, mean), slope = jax.value_and_grad(loss, has_aux=True)(scores, letters)
        return mean, slope

    return slopes


def one_by_one(f, unroll):
    def loss(scores, letters):
        path, skip = places(letters)
        return f(jnp.take(jax.nn.log_softmax(scores), path, axis=1), skip, unroll)

    def slopes(scores, letters):
        value, slope = jax.lax.map(lambda a: jax.value_and_grad(loss)(*a), (scores, letters))
        return jnp.mean(value), slope

    return slopes


twins = {"members": members(by_logarithms, 1), "at_once": at_once(by_logarithms, 1), "scaled": at_once(scaled, 1),
         "scaled_unrolled": at_once(scaled, 4), "one_by_one": one_by_one(scaled, 1)}

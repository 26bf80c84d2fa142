"""Choices: a mixed logit model of 1000 people who chose eight times among five offers, 32 draws each, likelihood and gradient, float.

Bound: products of 40 x 6 and 6 x 32 for each person, forward and back, and 1280 exponentials.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    offers, draws = random.normal(size=(1000, 8, 5, 6)), random.normal(size=(1000, 32, 6))
    return [a.astype(np.float32) for a in (0.5 * random.normal(size=6), 0.3 * random.normal(size=6), offers, draws)]


def likelihood(means, logs, offers, draws):
    liked = offers @ (means + jnp.exp(logs) * draws).T
    return jax.nn.logsumexp(jnp.sum(liked[:, 0] - jax.nn.logsumexp(liked, 1), 0))


def members(means, logs, *data):
    return -jnp.mean(jax.vmap(likelihood, (None, None, 0, 0))(means, logs, *data))


def one_by_one(means, logs, *data):
    return -jnp.mean(jax.lax.map(lambda d: likelihood(means, logs, *d), data))


def batch(means, logs, offers, draws):
    liked = jnp.einsum("pcof,pdf->pocd", offers, means + jnp.exp(logs) * draws)
    return -jnp.mean(jax.nn.logsumexp(jnp.sum(liked[:, 0] - jax.nn.logsumexp(liked, 1), 1), 1))


def differences(means, logs, offers, draws):  # from the chosen offer, whose exponential is 1
    off = (offers[:, :, 1:] - offers[:, :, :1]).reshape(1000, 32, 6)
    liked = jnp.matmul(off, jnp.swapaxes(means + jnp.exp(logs) * draws, 1, 2)).reshape(1000, 8, 4, 32)
    return -jnp.mean(jax.nn.logsumexp(-jnp.sum(jnp.log1p(jnp.sum(jnp.exp(liked), 2)), 1), 1))


def in_blocks(size):  # people whose numbers stay in the second cache
    def blocks(means, logs, offers, draws):
        of_block = lambda d: jnp.sum(jax.vmap(of_differences, (None, None, 0, 0))(means, logs, *d))
        return -jnp.sum(jax.lax.map(of_block, [x.reshape(-1, size, *x.shape[1:]) for x in (offers, draws)])) / 1000

    return blocks


def of_differences(means, logs, offers, draws):
    off = (offers[:, 1:] - offers[:, :1]).reshape(32, 6)
    liked = (off @ (means + jnp.exp(logs) * draws).T).reshape(8, 4, 32)
    return jax.nn.logsumexp(-jnp.sum(jnp.log1p(jnp.sum(jnp.exp(liked), 1)), 0))


def columns(means, logs, offers, draws):  # people last
    tastes = means[:, None, None] + jnp.exp(logs)[:, None, None] * draws.transpose(2, 1, 0)
    off = offers[:, :, 1:] - offers[:, :, :1]
    liked = sum(off.transpose(3, 1, 2, 0)[k][:, :, None] * tastes[k] for k in range(6))
    return -jnp.mean(jax.nn.logsumexp(-jnp.sum(jnp.log1p(jnp.sum(jnp.exp(liked), 1)), 0), 0))


def gradient(f):
    return jax.value_and_grad(f, (0, 1))


twins = {f.__name__: gradient(f) for f in (members, one_by_one, batch, differences, columns)}
twins |= {f"blocks_of_{size}": gradient(in_blocks(size)) for size in (10, 50)}

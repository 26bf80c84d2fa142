"""Gaussian mixture of 8 parts in 4 dimensions: likelihood of 50000 points and its gradient, float.

Bound: vectors of floats: 32 differences and squares and 8 exponentials for each point.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [a.astype(np.float32) for a in (random.normal(size=8), random.normal(size=(8, 4)), 0.3 * random.normal(size=(8, 4)),
                                           1.5 * random.normal(size=(50000, 4)))]


def likelihood(logits, mean, log_scale, x):
    z = (x - mean) * jnp.exp(-log_scale)
    return jax.nn.logsumexp(jax.nn.log_softmax(logits) - jnp.sum(0.5 * jnp.square(z) + log_scale, 1))


def members(*model_and_x):
    return -jnp.mean(jax.vmap(likelihood, (None, None, None, 0))(*model_and_x))


def columns(logits, mean, log_scale, x):  # points along the last axis
    z = (x.T[None] - mean[:, :, None]) * jnp.exp(-log_scale)[:, :, None]
    each = jnp.sum(0.5 * jnp.square(z), 1) + jnp.sum(log_scale, 1)[:, None]
    return -jnp.mean(jax.nn.logsumexp(jax.nn.log_softmax(logits)[:, None] - each, 0))


def products(logits, mean, log_scale, x):  # squares multiplied out
    w = jnp.exp(-2 * log_scale)
    each = 0.5 * (jnp.square(x) @ w.T) - x @ (mean * w).T + jnp.sum(0.5 * jnp.square(mean) * w + log_scale, 1)
    return -jnp.mean(jax.nn.logsumexp(jax.nn.log_softmax(logits) - each, 1))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2)) for f in (members, columns, products)}

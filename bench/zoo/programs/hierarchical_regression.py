"""Hierarchical regression: density of 5000 counties of 20 homes and its gradient by the global parameters, double.

Bound: memory: 3.2 MB of rows are read once.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.normal(size=3), np.float64(0.3), np.float64(-0.5), np.float64(0.1), random.normal(size=5000),
            random.normal(size=(5000, 20, 3)), random.normal(size=(5000, 20))]


def normal(x, mean, log_sd):
    return -0.5 * jnp.square((x - mean) * jnp.exp(-log_sd)) - log_sd


def batched(slopes, mean, between, within, own, x, y):
    return jnp.sum(normal(own, mean, between)) + jnp.sum(normal(y, x @ slopes + own[:, None], within))


def flat(slopes, mean, between, within, own, x, y):
    predicted = (x.reshape(-1, 3) @ slopes).reshape(y.shape) + own[:, None]
    return jnp.sum(normal(own, mean, between)) + jnp.sum(normal(y, predicted, within))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2, 3)) for f in (batched, flat)}

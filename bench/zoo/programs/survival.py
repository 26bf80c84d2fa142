"""Weibull survival regression: 100000 patients of 8 covariates, some censored: likelihood and gradient, float.

Bound: memory or cache: 4 MB are read once.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    n = 100000
    return [a.astype(np.float32) for a in (0.3 * random.normal(size=8), np.float64(0.2), random.normal(size=(n, 8)),
                                           random.normal(size=n), random.integers(0, 2, n))]


def rows(w, log_shape, x, log_time, seen):
    z = (log_time - x @ w) * jnp.exp(log_shape)
    return -jnp.mean(seen * (z + log_shape - log_time) - jnp.exp(z))


def by_hand(w, log_shape, x, log_time, seen):  # the gradient as one more product
    shape = jnp.exp(log_shape)
    z = (log_time - x @ w) * shape
    risk = jnp.exp(z)
    r = (seen - risk) / x.shape[0]
    value = -jnp.mean(seen * (z + log_shape - log_time) - risk)
    return value, (shape * (r @ x), -jnp.sum(r * z) - jnp.mean(seen))


twins = {"rows": jax.value_and_grad(rows, (0, 1)), "by hand": by_hand}

"""Negative binomial regression: likelihood of 20000 counts by 10 covariates, and its gradient, double.

Bound: vectors of doubles: logarithms of the gamma function and its derivative.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [0.2 * random.normal(size=10), np.float64(0.7), random.normal(size=(20000, 10)), random.poisson(3, size=20000).astype(float)]


def likelihood(slopes, log_r, eta, counts):
    r = jnp.exp(log_r)
    lgamma = jax.lax.lgamma
    return jnp.sum(lgamma(counts + r) - lgamma(r) - lgamma(counts + 1) + r * log_r + counts * eta - (counts + r) * jnp.log(r + jnp.exp(eta)))


def rows(slopes, log_r, x, counts):
    return likelihood(slopes, log_r, x @ slopes, counts)


def columns(slopes, log_r, x, counts):
    return likelihood(slopes, log_r, slopes @ x.T, counts)


twins = {f.__name__: jax.value_and_grad(f, (0, 1)) for f in (rows, columns)}

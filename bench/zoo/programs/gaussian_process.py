"""Gaussian process: likelihood of 100 tasks of 64 observations by three parameters, and its gradient, double.

Bound: products of doubles: a factorisation of 64 x 64 and its derivative for each task.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    x = np.sort(random.uniform(-3, 3, size=(100, 64)), axis=1)
    return [np.float64(0.2), np.float64(-0.5), np.float64(-2), x, np.sin(x) + 0.3 * random.normal(size=x.shape)]


def likelihood(scale, width, noise, x, y):
    k = jnp.exp(scale) * jnp.exp(-0.5 * jnp.square((x[:, None] - x) * jnp.exp(-width))) + jnp.exp(noise) * jnp.eye(64)
    factor = jnp.linalg.cholesky(k)
    return -0.5 * jnp.sum(jnp.square(jax.scipy.linalg.solve_triangular(factor, y, lower=True))) - jnp.sum(jnp.log(jnp.diagonal(factor)))


def batched(*a):
    return jnp.mean(jax.vmap(likelihood, (None, None, None, 0, 0))(*a))


def one_by_one(scale, width, noise, x, y):
    slopes = jax.lax.map(lambda xy: jax.value_and_grad(likelihood, (0, 1, 2))(scale, width, noise, *xy), (x, y))
    return jax.tree.map(jnp.mean, slopes)


twins = {"batched": jax.value_and_grad(batched, (0, 1, 2)), "one by one": one_by_one}

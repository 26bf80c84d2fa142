"""Extreme deconvolution: densities of 20000 points with 3 x 3 covariances of their own, and gradient, double.

Bound: memory or cache: 2 MB are read once.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    a = 0.3 * random.normal(size=(20000, 3, 3))
    return [np.zeros(3), np.eye(3) + 0.1 * random.normal(size=(3, 3)), random.normal(size=(20000, 3)), a @ a.transpose(0, 2, 1) + 0.1 * np.eye(3)]


def library(mean, factor, x, error):
    l = jnp.linalg.cholesky(factor @ factor.T + error)
    z = jax.scipy.linalg.solve_triangular(l, x - mean, lower=True)
    return -0.5 * z @ z - jnp.sum(jnp.log(jnp.diagonal(l)))


def written_out(mean, factor, x, error):
    s, d = factor @ factor.T + error, x - mean
    a = jnp.sqrt(s[0, 0])
    b, c = s[1, 0] / a, s[2, 0] / a
    e = jnp.sqrt(s[1, 1] - b * b)
    f = (s[2, 1] - b * c) / e
    g = jnp.sqrt(s[2, 2] - c * c - f * f)
    p = d[0] / a
    q = (d[1] - b * p) / e
    r = (d[2] - c * p - f * q) / g
    return -0.5 * (p * p + q * q + r * r) - jnp.log(a * e * g)


def loss(f):
    return jax.value_and_grad(lambda *a: -jnp.mean(jax.vmap(f, (None, None, 0, 0))(*a)), (0, 1))


twins = {"library": loss(library), "written out": loss(written_out)}

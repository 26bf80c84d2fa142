"""Spectra: the entropy of the variances along the principal axes of 64 tasks, 100 samples of 40 numbers each, and gradients, float.

Bound: eigenvectors of 64 matrices of 40 rows.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [(random.normal(size=(64, 100, 40)) * np.linspace(2, 0.5, 40)).astype(np.float32)]


def shares_to_entropy(w):
    shares = w / jnp.sum(w, -1, keepdims=True)
    return -jnp.sum(shares * jnp.log(shares + 1e-6), -1)


def members(x):
    value = lambda own: shares_to_entropy(jnp.linalg.eigh(own.T @ own)[0])
    v, g = jax.vmap(jax.value_and_grad(value))(x)
    return jnp.mean(v), g


def flat(x):
    def total(y):
        v = shares_to_entropy(jnp.linalg.eigvalsh(jnp.einsum("tsi,tsj->tij", y, y)))
        return jnp.sum(v), v

    (_, v), g = jax.value_and_grad(total, has_aux=True)(x)
    return jnp.mean(v), g


def one_by_one(x):
    value = lambda own: shares_to_entropy(jnp.linalg.eigh(own.T @ own)[0])
    v, g = jax.lax.map(jax.value_and_grad(value), x)
    return jnp.mean(v), g


twins = {f.__name__: f for f in (members, flat, one_by_one)}

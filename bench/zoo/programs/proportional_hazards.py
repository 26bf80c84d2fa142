"""Cox regression: partial likelihood of 500 strata of 64 patients and its gradient, float.

Bound: vectors of floats: an exponential and a logarithm for each patient.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [a.astype(np.float32) for a in (random.normal(size=6), random.normal(size=(500, 64, 6)), random.integers(0, 2, (500, 64)))]


def members(w, x, seen):
    score = x @ w
    return -jnp.mean(jnp.sum(seen * (score - jnp.log(jnp.cumsum(jnp.exp(score), 1))), 1))


def products(w, x, seen):  # the sums as products with a triangle of ones
    score = x @ w
    at_risk = jnp.exp(score) @ jnp.triu(jnp.ones((64, 64), jnp.float32))
    return -jnp.mean(jnp.sum(seen * (score - jnp.log(at_risk)), 1))


def flat(w, x, seen):
    score = (x.reshape(-1, 6) @ w).reshape(seen.shape)
    at_risk = jnp.exp(score) @ jnp.triu(jnp.ones((64, 64), jnp.float32))
    return -jnp.mean(jnp.sum(seen * (score - jnp.log(at_risk)), 1))


twins = {f.__name__: jax.value_and_grad(f) for f in (members, products, flat)}

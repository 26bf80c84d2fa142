"""Newton's method: a step of a logistic regression of 20 numbers on 10000 rows, double.

Bound: products of doubles, and memory: 1.7 MB.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [0.1 * random.normal(size=20), random.normal(size=(10000, 20)), random.choice([-1.0, 1.0], 10000)]


def loss(w, x, y):
    return jnp.mean(jax.nn.softplus(-y * (x @ w))) + 0.01 * w @ w


def by_hessian(w, x, y):
    return w - jnp.linalg.solve(jax.hessian(loss)(w, x, y), jax.grad(loss)(w, x, y))


def by_hand(w, x, y):
    p = jax.nn.sigmoid(-y * (x @ w))
    gradient = -((y * p) @ x) / x.shape[0] + 0.02 * w
    hessian = (x * (p * (1 - p))[:, None]).T @ x / x.shape[0] + 0.02 * jnp.eye(20)
    return w - jnp.linalg.solve(hessian, gradient)


twins = {"hessian": by_hessian, "by hand": by_hand}

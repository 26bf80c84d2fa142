"""Small solves: normal equations of rank 8 of 5000 users with 40 ratings each, and the slope by the ridge, float.

Bound: products of floats, and 5000 solves of 8 x 8.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [np.float32(0.5), random.normal(size=(5000, 40, 8)).astype(np.float32), random.normal(size=(5000, 40)).astype(np.float32)]


def error(solve):
    def of_user(ridge, items, stars):
        factors = solve(items.T @ items + ridge * jnp.eye(8, dtype=items.dtype), items.T @ stars)
        return jnp.sum(jnp.square(items @ factors - stars))

    return lambda ridge, items, stars: jnp.mean(jax.vmap(of_user, (None, 0, 0))(ridge, items, stars))


def by_cholesky(a, b):
    return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), b)


def eliminate(a, b):  # written out, for vectors over the users
    rows = [jnp.append(a[i], b[i]) for i in range(8)]
    for k in range(8):
        rows[k] = rows[k] / rows[k][k]
        rows = [r if i == k else r - r[k] * rows[k] for i, r in enumerate(rows)]
    return jnp.stack([r[8] for r in rows])


twins = {"solve": jax.value_and_grad(error(jnp.linalg.solve)), "Cholesky": jax.value_and_grad(error(by_cholesky)),
         "written out": jax.value_and_grad(error(eliminate))}

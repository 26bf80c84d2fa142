"""Molecular gradient: Lennard-Jones energy of 256 atoms and the forces, unplaced, double.

Bound: vectors of doubles: 65536 pairs with a division each.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    grid = np.stack(np.meshgrid(*[np.arange(7.0)] * 3), -1).reshape(-1, 3)[:256]
    return [1.1 * grid + 0.05 * random.normal(size=(256, 3))]


def of_squares(r2):
    other = ~jnp.eye(256, dtype=bool)
    s = jnp.where(other, 1 / jnp.where(other, r2, 1), 0)
    s3 = s * s * s
    return 2 * jnp.sum(s3 * s3 - s3)


def last(x):
    return of_squares(jnp.sum(jnp.square(x[:, None] - x), 2))


def first(x):  # coordinates in front
    y = x.T
    return of_squares(jnp.sum(jnp.square(y[:, :, None] - y[:, None]), 0))


twins = {"coordinates last": jax.value_and_grad(last), "coordinates first": jax.value_and_grad(first)}

"""Camera poses: a step of Gauss and Newton for 1000 cameras that see 40 points, double.

Bound: vectors of doubles: derivatives of 80 numbers along 6 directions, and products of 6 x 80 x 6.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    points = random.normal(size=(40, 3))
    poses = np.concatenate([0.5 * random.normal(size=(1000, 3)), random.normal(size=(1000, 2)) * 0.2, 6 + 0.3 * random.normal(size=(1000, 1))], 1)
    return [points, poses, 0.2 * random.normal(size=(1000, 40, 2))]


def project(where, x):
    turn, shift = where[:3], where[3:]
    angle = jnp.sqrt(turn @ turn + 1e-12)
    a, b, c = turn / angle
    cross = jnp.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
    rotation = jnp.eye(3) + jnp.sin(angle) * cross + (1 - jnp.cos(angle)) * cross @ cross
    seen = x @ rotation.T + shift
    flat = seen[:, :2] / seen[:, 2:]
    return flat * (1 + 0.1 * jnp.sum(flat * flat, 1, keepdims=True))


def members(points, poses, seen):
    def step(where, wanted):
        off = lambda p: (project(p, points) - wanted).ravel()
        j, r = jax.jacfwd(off)(where), off(where)
        return where - jnp.linalg.solve(j.T @ j + 1e-6 * jnp.eye(6), j.T @ r), r @ r

    following, errors = jax.vmap(step)(poses, seen)
    return following, jnp.mean(errors)


def tangents(points, poses, seen):  # value and derivatives together, Cholesky
    def step(where, wanted):
        off = lambda p: (project(p, points) - wanted).ravel()
        r, j = jax.vmap(lambda d: jax.jvp(off, (where,), (d,)), out_axes=(None, 0))(jnp.eye(6))
        factor = jax.scipy.linalg.cho_factor(j @ j.T + 1e-6 * jnp.eye(6))
        return where - jax.scipy.linalg.cho_solve(factor, j @ r), r @ r

    following, errors = jax.vmap(step)(poses, seen)
    return following, jnp.mean(errors)


twins = {"members": members, "tangents": tangents}

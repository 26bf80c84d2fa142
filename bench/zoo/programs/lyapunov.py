"""Lyapunov exponents: eight directions carried through 50 steps of 300 runs of Lorenz's system of eight numbers, QR in each step, double.

Bound: QR of 15000 matrices of 8 x 8, and four rates of change with eight tangents in each step, in vectors of doubles over runs.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [3 + 3 * random.normal(size=(300, 8))]


def rate(x):  # along the first axis
    return (jnp.roll(x, -1, 0) - jnp.roll(x, 2, 0)) * jnp.roll(x, 1, 0) - x + 8


def move(x):
    k1 = rate(x)
    k2 = rate(x + 0.025 * k1)
    k3 = rate(x + 0.025 * k2)
    k4 = rate(x + 0.05 * k3)
    return x + 0.05 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def schmidt(a, twice=False):  # columns one after the other, runs in the last axis; as Householder's, up to signs
    q, lengths = [], []
    for j in range(8):
        v = a[:, j]
        for _ in range(2 if twice else 1):
            for u in q:
                v = v - u * jnp.sum(u * v, 0)
        length = jnp.sqrt(jnp.sum(v * v, 0))
        q.append(v / length)
        lengths.append(length)
    return jnp.stack(q, 1), jnp.stack(lengths)


def library(starts):
    def step(c, _):
        x, directions, logs = c
        push = lambda x, d: jax.vmap(lambda t: jax.jvp(move, (x,), (t,))[1], 1, 1)(d)
        q, r = jnp.linalg.qr(jax.vmap(push)(x, directions))
        return (jax.vmap(move)(x), q, logs + jnp.log(jnp.abs(jnp.diagonal(r, axis1=1, axis2=2)))), None

    first = starts, jnp.broadcast_to(jnp.eye(8), (300, 8, 8)), jnp.zeros((300, 8))
    return jnp.mean(jax.lax.scan(step, first, None, length=50)[0][2], 0) / 2.5


def one_by_one(starts):
    def growth(start):
        def step(c, _):
            x, directions, logs = c
            q, r = jnp.linalg.qr(jax.vmap(lambda t: jax.jvp(move, (x,), (t,))[1], 1, 1)(directions))
            return (move(x), q, logs + jnp.log(jnp.abs(jnp.diagonal(r)))), None

        return jax.lax.scan(step, (start, jnp.eye(8), jnp.zeros(8)), None, length=50)[0][2]

    return jnp.mean(jax.lax.map(growth, starts), 0) / 2.5


def columns(twice):
    def f(starts):
        def step(c, _):
            x, directions, logs = c
            moved, push = jax.linearize(move, x)
            q, lengths = schmidt(jax.vmap(push, 1, 1)(directions), twice)
            return (moved, q, logs + jnp.log(lengths)), None

        first = starts.T, jnp.broadcast_to(jnp.eye(8)[..., None], (8, 8, 300)), jnp.zeros((8, 300))
        return jnp.mean(jax.lax.scan(step, first, None, length=50)[0][2], 1) / 2.5

    return f


twins = {"library": library, "one_by_one": one_by_one, "columns": columns(False), "columns_twice": columns(True)}

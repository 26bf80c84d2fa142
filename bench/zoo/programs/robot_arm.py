"""Inverse kinematics: three damped Gauss-Newton steps of 500 arms of 6 joints, error and its derivative by the damping, double.

Bound: small products of doubles, and systems of six equations.
"""

import jax
import jax.numpy as jnp
import numpy as np

ALONG, ACROSS, STILL = np.diag([1.0, 1, 0, 0]), np.eye(4, k=-1) * [1, 0, 0, 0] - np.eye(4, k=1) * [0, 1, 0, 0], np.diag([0.0, 0, 1, 1])


def link(length, up, twist):
    c, s = np.cos(twist), np.sin(twist)
    return np.array([[1, 0, 0, length], [0, c, -s, 0], [0, s, c, up], [0, 0, 0, 1]])


def arguments(random):
    links = np.array([link(0, 0.4, np.pi / 2), link(0.5, 0, 0), link(0.1, 0, np.pi / 2), link(0, 0.4, -np.pi / 2), link(0, 0, np.pi / 2),
                      link(0, 0.1, 0)])
    goal = random.normal(size=(500, 6))
    wanted = np.broadcast_to(np.eye(4), (500, 4, 4))
    for i in range(6):
        turn = goal[:, i, None, None]
        wanted = wanted @ (np.cos(turn) * ALONG + np.sin(turn) * ACROSS + STILL) @ links[i]
    return [np.float64(0.1), links, goal + 0.3 * random.normal(size=(500, 6)), wanted]


def scanned(links, turns):
    def joint(at, inputs):
        each, turn = inputs
        return at @ (jnp.cos(turn) * ALONG + jnp.sin(turn) * ACROSS + STILL) @ each, None

    return jax.lax.scan(joint, jnp.eye(4), (links, turns))[0][:3]


def unrolled(links, turns):
    at = jnp.eye(4)
    for i in range(6):
        at = at @ ((jnp.cos(turns[i]) * ALONG + jnp.sin(turns[i]) * ACROSS + STILL) @ links[i])
    return at[:3]


def product(a, b):  # of matrices whose last axis is that of arms
    return jnp.sum(a[:, :, None] * b[None], 1)


def arms_last(links, turns):
    def joint(at, inputs):
        link, turn = inputs
        rotation = jnp.cos(turn) * ALONG[..., None] + jnp.sin(turn) * ACROSS[..., None] + STILL[..., None]
        return product(product(at, rotation), link[..., None]), None

    return jax.lax.scan(joint, jnp.broadcast_to(jnp.eye(4)[:3, :, None], (3, 4, turns.shape[1])), (links, turns))[0]


def eliminated(a, b):  # of positive definite matrices, without pivots
    a = jnp.concatenate([a, b[:, None]], 1)
    for k in range(6):
        row = a[k] / a[k, k]
        a = jnp.where(jnp.arange(6)[:, None, None] == k, row, a - a[:, k, None] * row)
    return a[:, 6]


def in_columns(damping, links, starts, wanted):
    goal, turns = wanted[:, :3].transpose(1, 2, 0), starts.T

    def off(turns):
        return (arms_last(links, turns) - goal).reshape(12, -1)

    def step(turns, _):
        basis = jnp.broadcast_to(jnp.eye(6)[..., None], (6, *turns.shape))
        e, push = jax.linearize(off, turns)
        j = jax.vmap(push)(basis)  # j[i, r] of angle i and number r
        a = jnp.sum(j[:, None] * j[None], 2) + damping * jnp.eye(6)[..., None]
        return turns - eliminated(a, jnp.sum(j * e, 1)), None

    return jnp.mean(jnp.square(off(jax.lax.scan(step, turns, None, 3)[0])))


def library(a, b):
    return jnp.linalg.solve(a, b)


def with_cholesky(a, b):
    return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), b)


def mean(hand, solve):
    def error(damping, links, start, wanted):
        def off(turns):
            return (hand(links, turns) - wanted[:3]).ravel()

        turns = start
        for _ in range(3):
            j = jax.jacfwd(off)(turns)
            turns = turns - solve(j.T @ j + damping * jnp.eye(6), j.T @ off(turns))
        return jnp.mean(jnp.square(off(turns)))

    return lambda d, l, s, w: jnp.mean(jax.vmap(error, (None, None, 0, 0))(d, l, s, w))


def forward(f):
    return lambda d, *a: jax.jvp(lambda x: f(x, *a), (d,), (jnp.ones_like(d),))


twins = {"library": jax.value_and_grad(mean(scanned, library)), "unrolled, cholesky": forward(mean(unrolled, with_cholesky)),
         "columns": jax.value_and_grad(in_columns), "columns, forward": forward(in_columns)}

#!/usr/bin/env python3
"""ADBench's gradients in JAX, jitted: the peer of main.cpp, on the same inputs (inputs.hpp)."""

import pathlib
import sys
from functools import partial

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import jax  # noqa: E402  (after the affinity is set)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import hand_inputs as hand  # noqa: E402

jax.config.update("jax_enable_x64", True)

D, K, N = 10, 5, 1000
LAYERS, UNITS, LENGTH = 2, 14, 1024


def drawn(stream, shape):
    return twin.uniform(stream, shape, 0.5, "float64")


def log_posterior(t, x):
    """As gmm.hpp: log weights, means, log diagonals, lower triangles by rows; without the constant."""
    weights, means, logs = t[:K], t[K:K + K * D].reshape(K, D), t[K + K * D:K + 2 * K * D].reshape(K, D)
    below = t[K + 2 * K * D:].reshape(K, D * (D - 1) // 2)
    diagonals = jnp.exp(logs)
    rows, columns = np.tril_indices(D, -1)
    roots = jnp.zeros((K, D, D)).at[:, rows, columns].set(below) + jax.vmap(jnp.diag)(diagonals)
    y = jnp.einsum("kij,nkj->nki", roots, x[:, None, :] - means)
    terms = weights + logs.sum(1) - 0.5 * jnp.square(y).sum(-1)
    prior = 0.5 * (jnp.square(diagonals).sum() + jnp.square(below).sum())
    return jax.nn.logsumexp(terms, axis=1).sum() - N * jax.nn.logsumexp(weights) + prior


def lstm_loss(w, start, sequence, unroll=1):
    """As lstm.hpp."""
    layers, extra = w[:8 * LAYERS * UNITS].reshape(LAYERS, 4, 2, UNITS), w[8 * LAYERS * UNITS:].reshape(3, UNITS)

    def step(state, characters):
        now, then = characters
        up, new = now * extra[0], []
        for gates, (hidden, cell) in zip(layers, state):
            forget, take, out = (jax.nn.sigmoid(v * gates[g, 0] + gates[g, 1]) for g, v in ((0, up), (1, hidden), (2, up)))
            cell = cell * forget + take * jnp.tanh(hidden * gates[3, 0] + gates[3, 1])
            up = out * jnp.tanh(cell)
            new.append(jnp.stack([up, cell]))
        y = up * extra[1] + extra[2]
        return jnp.stack(new), jnp.sum(then * (y - jnp.log(jnp.sum(jnp.exp(y)) + 2)))

    scores = jax.lax.scan(step, start, (sequence[:-1], sequence[1:]), unroll=unroll)[1]
    return -scores.sum() / ((LENGTH - 1) * UNITS)


def rotation(r):
    """As hand_tracking.hpp: three numbers of a rotation, then a translation."""
    square = jnp.sum(r[:3] ** 2) + 1e-300
    angle, (x, y, z) = jnp.sqrt(square), r[:3]
    cross = jnp.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) * jnp.sin(angle) / angle
    turn = jnp.cos(angle) * jnp.eye(3) + cross + jnp.outer(r[:3], r[:3]) * (1 - jnp.cos(angle)) / square
    return jnp.concatenate([turn, r[3:6, None]], axis=1)


def bundle_error(p):
    """As ba.hpp: a rotation, a place, a camera, a point and a weight."""
    r, x = p[:3], p[11:14] - p[3:6]
    angle = jnp.sqrt(r @ r)
    axis, c, s = r / angle, jnp.cos(angle), jnp.sin(angle)
    y = x * c + jnp.cross(axis, x) * s + axis * (axis @ x) * (1 - c)
    q = y[:2] / y[2]
    square = q @ q
    return p[14] * (q * p[6] * (1 + p[9] * square + p[10] * square**2) + p[7:9] - jnp.array([310.0, 250.0]))


def turned(bend, spread):
    cx, sx, cz, sz, o = jnp.cos(bend), jnp.sin(bend), jnp.cos(spread), jnp.sin(spread), 0 * bend
    rows = [[cz, -sz * cx, sz * sx, o], [sz, cz * cx, -cz * sx, o], [o, sx, cx, o], [o, o, o, o + 1]]
    return jnp.stack([jnp.stack(row, -1) for row in rows], -2)


def hand_errors(x, complicated):
    """As hand_tracking.hpp."""
    angles = x[6:hand.PARAMETERS].reshape(hand.FINGERS, 4).T
    own = hand.base[2:].reshape(4, hand.FINGERS, 4, 4)
    bent = own[:3] @ turned(angles[np.array([0, 2, 3])], jnp.stack([angles[1], 0 * angles[1], 0 * angles[1]]))
    palm = hand.base[0] @ hand.base[1]
    bones, parent = [jnp.stack([hand.base[0], palm])], palm
    for joint in (*bent, own[3]):
        bones.append(parent := parent @ joint)
    poses = rotation(x[:6]) @ (jnp.concatenate(bones) @ hand.inverse)
    corners = jnp.einsum("ncbk,bik->nci", hand.weighted if complicated else hand.weighted[:, :1], poses)
    if not complicated:
        return (hand.measured - corners[:, 0]).reshape(-1)
    u, v = (x[hand.PARAMETERS + i] + hand.within[:, i, None] for i in (0, 1))
    return (hand.measured - (u * corners[:, 0] + v * corners[:, 1] + (1 - u - v) * corners[:, 2])).reshape(-1)


def add(row, derivative, *inputs, result=lambda r: r[1], side="JAX"):
    suite.add_jitted(row, side, derivative, inputs, result)


add("Gaussian mixture", jax.value_and_grad(log_posterior), *map(jnp.asarray, (drawn(1, (K + 2 * K * D + K * D * (D - 1) // 2,)), drawn(2, (N, D)))))
for unroll in (1, 4):
    add("LSTM", jax.value_and_grad(partial(lstm_loss, unroll=unroll)),
        *map(jnp.asarray, (drawn(6, (8 * LAYERS * UNITS + 3 * UNITS,)), drawn(4, (LAYERS, 2, UNITS)), np.eye(UNITS)[twin.hashed(5, LENGTH) % UNITS])),
        side="JAX" if unroll == 1 else f"JAX, {unroll} steps unrolled")
base = np.array([0.1, -0.3, 0.2, 1, -2, 0.5, 500, 320, 240, 0.1, -0.02, 0.4, 0.3, 5, 0.8])
for side, jacobian in {"JAX, forward": jax.jacfwd, "JAX, reverse": jax.jacrev}.items():
    add("bundle adjustment", jax.vmap(jacobian(bundle_error)), jnp.asarray(base + 0.2 * drawn(3, (1000, 15))), result=lambda j: j, side=side)
for kind, row in enumerate(("hand tracking simple", "hand tracking complicated")):
    add(row, jax.jacfwd(lambda x, kind=kind: hand_errors(x, kind)), jnp.asarray(np.append(hand.angles, np.zeros(2 * kind))),
        result=lambda j: j)
suite.version("jax", jax.__version__)
suite.run()

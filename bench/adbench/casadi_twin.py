#!/usr/bin/env python3
"""ADBench's gradients in CasADi: expression graphs of scalars, differentiated once; on its virtual machine and compiled."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import casadi as ca  # noqa: E402  (after the affinity is set)
import numpy as np  # noqa: E402

import casadi_calls  # noqa: E402
import hand_inputs as hand  # noqa: E402

D, K, N = 10, 5, 1000
LAYERS, UNITS, LENGTH = 2, 14, 1024


def drawn(stream, shape):
    return twin.uniform(stream, shape, 0.5, "float64")


def add(row, symbols, expression, inputs, result, ways=(False, True)):
    for compiled in ways:
        casadi_calls.add(suite, row, symbols, [expression], inputs, result=lambda r: result(r[0]), compiled=compiled)


def log_sum_exp(terms):
    most = terms[0]
    for t in terms[1:]:
        most = ca.fmax(most, t)
    return ca.log(sum(ca.exp(t - most) for t in terms)) + most


def mixture():
    """One point's term and its gradient as a function of scalars, mapped over the points; as gmm.hpp."""
    size = K + 2 * K * D + K * D * (D - 1) // 2
    t, x = ca.SX.sym("t", size), ca.SX.sym("x", D)
    terms, prior = [], 0
    for k in range(K):
        logs = [t[K + K * D + k * D + i] for i in range(D)]
        at = K + 2 * K * D + k * D * (D - 1) // 2
        square = 0
        for i in range(D):
            y = ca.exp(logs[i]) * (x[i] - t[K + k * D + i])
            for j in range(i):
                y += t[at] * (x[j] - t[K + k * D + j])
                at += 1
            square += y * y
        terms.append(t[k] + sum(logs) - square / 2)
        prior += sum(ca.exp(v) ** 2 for v in logs) / 2
    for i in range(K + 2 * K * D, size):
        prior += t[i] ** 2 / 2
    once = prior - N * log_sum_exp([t[k] for k in range(K)])
    of_point = ca.Function("of_point", [t, x], [ca.gradient(log_sum_exp(terms), t)])
    of_prior = ca.Function("of_prior", [t], [ca.gradient(once, t)])
    theta, points = ca.MX.sym("theta", size), ca.MX.sym("points", D, N)
    gradient = ca.sum2(of_point.map(N)(theta, points)) + of_prior(theta)
    add("Gaussian mixture", [theta, points], gradient, [drawn(1, (size,)), drawn(2, (N, D)).T], result=lambda g: g)


def bundle():
    """The Jacobian of one observation as a function of scalars, mapped over the observations; as ba.hpp."""
    p = ca.SX.sym("p", 15)
    r, x = p[0:3], p[11:14] - p[3:6]
    angle = ca.sqrt(ca.sumsqr(r))
    axis, c, s = r / angle, ca.cos(angle), ca.sin(angle)
    y = x * c + ca.cross(axis, x) * s + axis * ca.dot(axis, x) * (1 - c)
    q = y[0:2] / y[2]
    square = ca.sumsqr(q)
    error = p[14] * (q * p[6] * (1 + p[9] * square + p[10] * square**2) + p[7:9] - ca.DM([310, 250]))
    each = ca.Function("each", [p], [ca.densify(ca.jacobian(error, p)).T]).map(1000)
    base = np.array([0.1, -0.3, 0.2, 1, -2, 0.5, 500, 320, 240, 0.1, -0.02, 0.4, 0.3, 5, 0.8])
    observations = ca.MX.sym("observations", 15, 1000)
    add("bundle adjustment", [observations], each(observations), [(base + 0.2 * drawn(3, (1000, 15))).T], result=lambda j: j.T)


def recurrent():
    """A character's score and the next state as a function of scalars, in a loop over the sequence; as lstm.hpp."""
    size = 8 * LAYERS * UNITS + 3 * UNITS
    w, state = ca.SX.sym("w", size), ca.SX.sym("state", 2 * LAYERS * UNITS)
    now, then = ca.SX.sym("now", UNITS), ca.SX.sym("then", UNITS)

    def part(of, i):
        return of[i * UNITS:(i + 1) * UNITS]

    def sigmoid(x):
        return 1 / (1 + ca.exp(-x))

    extra = 8 * LAYERS
    up, following = now * part(w, extra), []
    for layer in range(LAYERS):
        gates = [[part(w, 8 * layer + 2 * g + i) for i in (0, 1)] for g in range(4)]
        hidden, cell = part(state, 2 * layer), part(state, 2 * layer + 1)
        forget, take, out = (sigmoid(v * gates[g][0] + gates[g][1]) for g, v in ((0, up), (1, hidden), (2, up)))
        cell = cell * forget + take * ca.tanh(hidden * gates[3][0] + gates[3][1])
        up = out * ca.tanh(cell)
        following += [up, cell]
    y = up * part(w, extra + 1) + part(w, extra + 2)
    score = ca.dot(then, y - ca.log(ca.sum1(ca.exp(y)) + 2))
    step = ca.Function("step", [state, w, now, then], [ca.vertcat(*following), score])
    weights, start, sequence = ca.MX.sym("weights", size), ca.MX.sym("start", state.numel()), ca.MX.sym("sequence", UNITS, LENGTH)
    scores = step.mapaccum(LENGTH - 1)(start, ca.repmat(weights, 1, LENGTH - 1), sequence[:, :-1], sequence[:, 1:])[1]
    loss = -ca.sum2(scores) / ((LENGTH - 1) * UNITS)
    inputs = drawn(6, (size,)), drawn(4, (state.numel(),)), np.eye(UNITS)[twin.hashed(5, LENGTH) % UNITS].T
    add("LSTM", [weights, start, sequence], ca.gradient(loss, weights), inputs, result=lambda g: g)


def hand_errors(x, complicated):
    """As hand_tracking.hpp, in matrices of scalars."""
    square = ca.sumsqr(x[:3]) + 1e-300
    angle = ca.sqrt(square)
    turn = ca.cos(angle) * ca.SX.eye(3) + ca.skew(x[:3]) * ca.sin(angle) / angle + x[:3] @ x[:3].T * (1 - ca.cos(angle)) / square
    whole = ca.horzcat(turn, x[3:6])

    def turned(bend, spread):
        cx, sx, cz, sz = ca.cos(bend), ca.sin(bend), ca.cos(spread), ca.sin(spread)
        return ca.vertcat(ca.horzcat(cz, -sz * cx, sz * sx, 0), ca.horzcat(sz, cz * cx, -cz * sx, 0), ca.horzcat(0, sx, cx, 0), ca.horzcat(0, 0, 0, 1))

    palm = hand.base[0] @ hand.base[1]
    poses, parents = [ca.SX(hand.base[0]), ca.SX(palm)], [ca.SX(palm)] * hand.FINGERS
    for joint in range(4):
        for finger in range(hand.FINGERS):
            bone = ca.SX(hand.base[2 + joint * hand.FINGERS + finger])
            angles = x[6 + 4 * finger:10 + 4 * finger]
            if joint < 3:
                bone = bone @ turned(angles[0 if joint == 0 else joint + 1], angles[1] if joint == 0 else 0)
            parents[finger] = parents[finger] @ bone
            poses.append(parents[finger])
    poses = ca.horzcat(*(whole @ pose @ inverse for pose, inverse in zip(poses, hand.inverse)))  # 3 x 4 bones
    corners = [poses @ hand.weighted[:, c].reshape(hand.POINTS, -1).T for c in range(3 if complicated else 1)]
    seen = corners[0]
    if complicated:
        u, v = (ca.repmat((x[hand.PARAMETERS + i] + hand.within[:, i]).T, 3, 1) for i in (0, 1))
        seen = u * corners[0] + v * corners[1] + (1 - u - v) * corners[2]
    return ca.vec(hand.measured.T - seen)


def hands(row, complicated):
    x = ca.SX.sym("x", hand.PARAMETERS + (2 if complicated else 0))
    at = np.append(hand.angles, np.zeros(x.numel() - hand.PARAMETERS))
    add(row, [x], ca.jacobian(hand_errors(x, complicated), x), [at], result=lambda j: j, ways=(False,))  # compiling it takes many minutes


mixture()
bundle()
recurrent()
hands("hand tracking simple", False)
hands("hand tracking complicated", True)
suite.version("casadi", ca.__version__)
suite.run()

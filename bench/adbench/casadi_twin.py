#!/usr/bin/env python3
"""ADBench's gradients in CasADi: expression graphs of scalars, differentiated once, evaluated by its virtual machine."""

import twin

suite = twin.Suite()

import casadi as ca  # noqa: E402  (after the affinity is set)
import numpy as np  # noqa: E402

D, K, N = 10, 5, 1000


def drawn(stream, shape):
    return twin.uniform(stream, shape, 0.5, "float64")


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
    whole = ca.Function("whole", [theta, points], [ca.sum2(of_point.map(N)(theta, points)) + of_prior(theta)])
    inputs = ca.DM(drawn(1, (size,))), ca.DM(drawn(2, (N, D)).T)
    suite.add("Gaussian mixture", "CasADi", call=lambda: whole(*inputs), result=lambda g: g.full())


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
    inputs = ca.DM((base + 0.2 * drawn(3, (1000, 15))).T)
    suite.add("bundle adjustment", "CasADi", call=lambda: each(inputs), result=lambda j: j.full().T)


mixture()
bundle()
suite.version("casadi", ca.__version__)
suite.run()

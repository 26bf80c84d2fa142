"""Smiles: hyperbolas of five numbers fitted to 1000 curves of 21 variances, 12 steps of Levenberg and Marquardt, double.

Bound: vectors of doubles: roots, derivatives of 21 numbers along 5 directions, and systems of five numbers.
"""

import jax
import jax.numpy as jnp
import numpy as np

START = np.array([0.02, -2.0, -0.2, 0.0, -1.5])


def variances(p, k):
    away = k - p[3]
    return p[0] + jnp.exp(p[1]) * (jnp.tanh(p[2]) * away + jnp.sqrt(away * away + jnp.exp(2 * p[4])))


def arguments(random):
    k = np.linspace(-0.5, 0.5, 21)
    true = START + random.normal(size=(1000, 5)) * [0.005, 0.2, 0.2, 0.05, 0.2]
    p = true.T[:, :, None]
    away = k - p[3]
    seen = p[0] + np.exp(p[1]) * (np.tanh(p[2]) * away + np.sqrt(away**2 + np.exp(2 * p[4])))
    return [START, k, seen + 1e-3 * random.normal(size=(1000, 21))]


def fit(start, rest, jacobian, solve, dot):
    def step(carry, _):
        p, damping = carry
        r, (normal, slope) = rest(p), jacobian(p)
        next_ = p - solve(normal, damping, slope)
        r1 = rest(next_)
        better = dot(r1, r1) < dot(r, r)
        return (jnp.where(better, next_, p), damping * jnp.where(better, 0.3, 4)), None

    return step


def members(start, k, seen, solver=jnp.linalg.solve):
    def own(y):
        rest = lambda p: variances(p, k) - y

        def jacobian(p):
            j = jax.jacfwd(rest)(p)
            return j.T @ j, j.T @ rest(p)

        solve = lambda n, damping, g: solver(n + damping * jnp.diag(jnp.diag(n) + 1e-6), g)
        p = jax.lax.scan(fit(start, rest, jacobian, solve, jnp.dot), (start, 0.1), None, length=12)[0][0]
        return variances(p, k), jnp.linalg.norm(rest(p))

    return jax.vmap(own)(seen)


def members_cholesky(*a):
    return members(*a, solver=lambda m, g: jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(m), True), g))


def eliminate(m, g):  # rows of numbers of all members
    n = len(g)
    m, g = [list(row) for row in m], list(g)
    for i in range(n):
        inverse = 1 / m[i][i]
        for j in range(i + 1, n):
            f = m[j][i] * inverse
            for c in range(i + 1, n):
                m[j][c] = m[j][c] - f * m[i][c]
            g[j] = g[j] - f * g[i]
    x = [None] * n
    for i in reversed(range(n)):
        x[i] = (g[i] - sum(m[i][c] * x[c] for c in range(i + 1, n))) / m[i][i]
    return x


members_eliminate = lambda *a: members(*a, solver=lambda m, g: jnp.stack(eliminate(m, g)))


def columns(start, k, seen, unroll=1):  # strikes in rows, members in columns; the Jacobian by hand
    y, k = seen.T, k[:, None]
    count = y.shape[1]
    rest = lambda p: variances(p, k) - y

    def jacobian(p):
        away, wide = k - p[3], jnp.exp(2 * p[4])
        root = jnp.sqrt(away * away + wide)
        tilt, slope = jnp.tanh(p[2]), jnp.exp(p[1])
        curve = tilt * away + root
        r = p[0] + slope * curve - y
        j = [jnp.ones_like(away), slope * curve, slope * away * (1 - tilt * tilt), -slope * (tilt + away / root), slope * wide / root]
        normal = [[None] * 5 for _ in j]
        for a in range(5):
            for b in range(a + 1):
                normal[a][b] = normal[b][a] = jnp.sum(j[a] * j[b], 0)
        return normal, [jnp.sum(c * r, 0) for c in j]

    def solve(normal, damping, g):
        damped = [[n + damping * (n + 1e-6) if a == b else n for b, n in enumerate(row)] for a, row in enumerate(normal)]
        return jnp.stack(eliminate(damped, g))

    begin = (jnp.broadcast_to(start[:, None], (5, count)), jnp.full(count, 0.1))
    p = jax.lax.scan(fit(start, rest, jacobian, solve, lambda a, b: jnp.sum(a * b, 0)), begin, None, length=12, unroll=unroll)[0][0]
    return variances(p, k).T, jnp.sqrt(jnp.sum(jnp.square(rest(p)), 0))


twins = {"members": members, "members_cholesky": members_cholesky, "members_eliminate": members_eliminate, "columns": columns}

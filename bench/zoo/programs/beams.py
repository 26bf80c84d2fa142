"""Beams: deflections of 500 beams of 32 finite elements by block elimination, errors and gradients by the thicknesses, double.

Bound: 32 systems of two numbers there and back, in vectors over beams.
"""

import jax
import jax.numpy as jnp
import numpy as np

NEARER, FURTHER, BETWEEN = (np.array(m, float) for m in ([[12, 6], [6, 4]], [[12, -6], [-6, 4]], [[-12, 6], [-6, 2]]))


def arguments(random):
    thickness, load = random.uniform(2, 4, (500, 32)), random.uniform(0, 1e-3, (500, 32))
    return [thickness, load, np.cumsum(np.cumsum(random.uniform(0, 0.02, (500, 32)), 1), 1)]


def deflections(thickness, load, unroll=1, by_hand=False):
    if by_hand:
        def solve(a, b):
            det = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
            return jnp.array([[a[1, 1], -a[0, 1]], [-a[1, 0], a[0, 0]]]) @ b / det
    else:
        solve = jnp.linalg.solve

    def condense(behind, element):
        (block, force), (s, own) = behind, element
        total = block + s * FURTHER
        to, from_ = solve(total, s * BETWEEN.T), solve(total, force + jnp.array([own, 0.0]))
        return (s * NEARER - s * BETWEEN @ to, -s * BETWEEN @ from_), (to, from_)

    def bend(at, element):
        at = element[1] - element[0] @ at
        return at, at[0]

    start = jnp.zeros((2, 2)), jnp.zeros(2)
    kept = jax.lax.scan(condense, start, (thickness**3 / 12, load), reverse=True, unroll=unroll)[1]
    return jax.lax.scan(bend, jnp.zeros(2), kept, unroll=unroll)[1]


def each(unroll=1, by_hand=False):
    error = lambda t, load, seen: jnp.mean(jnp.square(deflections(t, load, unroll, by_hand) - seen))
    return jax.vmap(jax.value_and_grad(error))


def dense(thickness, load, seen):  # the whole matrix of a beam
    def error(t, load, seen):
        s = t**3 / 12
        k = jnp.zeros((33, 2, 33, 2))
        i = jnp.arange(32)
        for a, b, m in ((0, 0, NEARER), (1, 1, FURTHER), (0, 1, BETWEEN), (1, 0, BETWEEN.T)):
            k = k.at[i + a, :, i + b].add(s[:, None, None] * m)
        f = jnp.stack([load, jnp.zeros(32)], 1).ravel()
        return jnp.mean(jnp.square(jnp.linalg.solve(k[1:, :, 1:].reshape(64, 64), f)[::2] - seen))

    return jax.vmap(jax.value_and_grad(error))(thickness, load, seen)


def columns(thickness, load, seen, unroll=1):  # beams in vectors, the systems by hand
    def own_errors(t):
        def condense(behind, element):
            (a, b, d, f, g), (s, own) = behind, element
            a, b, d, f = a + 12 * s, b - 6 * s, d + 4 * s, f + own
            r = s / (a * d - b * b)
            t00, t01, t10, t11 = r * (-12 * d - 6 * b), r * (-6 * d - 2 * b), r * (12 * b + 6 * a), r * (6 * b + 2 * a)
            q = 1 / (a * d - b * b)
            u, v = q * (d * f - b * g), q * (a * g - b * f)
            a, b, d = s * (12 + 12 * t00 - 6 * t10), s * (6 + 12 * t01 - 6 * t11), s * (4 + 6 * t01 - 2 * t11)
            return (a, b, d, s * (12 * u - 6 * v), s * (6 * u - 2 * v)), (t00, t01, t10, t11, u, v)

        def bend(at, element):
            (x, y), (t00, t01, t10, t11, u, v) = at, element
            x, y = u - t00 * x - t01 * y, v - t10 * x - t11 * y
            return (x, y), x

        none = jnp.zeros(len(thickness))
        kept = jax.lax.scan(condense, (none,) * 5, (t**3 / 12, load.T), reverse=True, unroll=unroll)[1]
        w = jax.lax.scan(bend, (none,) * 2, kept, unroll=unroll)[1]
        errors = jnp.mean(jnp.square(w - seen.T), 0)
        return jnp.sum(errors), errors

    slope, errors = jax.grad(own_errors, has_aux=True)(thickness.T)
    return errors, slope.T


def columns_by_two(*a):
    return columns(*a, unroll=2)


twins = {"members": each(), "by_hand": each(by_hand=True), "dense": dense, "columns": columns, "columns_by_two": columns_by_two}

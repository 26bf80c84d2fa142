"""Kinetics: 20 implicit steps of three stiff reactions in 2000 vessels, and the gradient by their rates, double.

Bound: solving 60 systems of three numbers there and back, in vectors over vessels.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    starts = random.dirichlet([5, 1, 1], size=2000)
    return [np.log([0.04, 3.0, 8.0]), starts, starts + 0.05 * random.normal(size=starts.shape)]


def speeds(k, a, b, c):
    first, second, third = k[0] * a, k[1] * b * c, k[2] * b * b
    return second - first, first - second - third, third


def members(rates, starts, seen):
    k = jnp.exp(rates)

    def error(start, wanted):
        def step(y, _):
            off = lambda following: following - y - 0.05 * jnp.stack(speeds(k, *following))
            newton = lambda z, _: (z - jnp.linalg.solve(jax.jacfwd(off)(z), off(z)), None)
            return jax.lax.scan(newton, y, None, length=3)[0], None

        return jnp.sum(jnp.square(jax.lax.scan(step, start, None, length=20)[0] - wanted))

    return jnp.mean(jax.vmap(error)(starts, seen))


def columns(rates, starts, seen, unroll=3, checkpoint=False):  # the Jacobian and its system by hand, vessels in vectors
    k = jnp.exp(rates)

    def newton(z, y):
        a, b, c = z
        f = [n - o - 0.05 * v for n, o, v in zip(z, y, speeds(k, *z))]
        k0, kb, kc, k2 = 0.05 * k[0], 0.05 * k[1] * b, 0.05 * k[1] * c, 0.1 * k[2] * b
        m = [[1 + k0, -kc, -kb], [-k0, 1 + kc + k2, kb], [0.0, -k2, 1.0]]
        minor = lambda i, j, r, s: m[i][r] * m[j][s] - m[i][s] * m[j][r]
        c0, c1, c2 = minor(1, 2, 1, 2), minor(1, 2, 0, 2), minor(1, 2, 0, 1)
        det = m[0][0] * c0 - m[0][1] * c1 + m[0][2] * c2
        x0 = f[0] * c0 - f[1] * minor(0, 2, 1, 2) + f[2] * minor(0, 1, 1, 2)
        x1 = -f[0] * c1 + f[1] * minor(0, 2, 0, 2) - f[2] * minor(0, 1, 0, 2)
        x2 = f[0] * c2 - f[1] * minor(0, 2, 0, 1) + f[2] * minor(0, 1, 0, 1)
        return tuple(n - x / det for n, x in zip(z, (x0, x1, x2)))

    def step(y, _):
        return jax.lax.fori_loop(0, 3, lambda _, z: newton(z, y), y, unroll=unroll), None

    step = jax.checkpoint(step) if checkpoint else step
    last = jax.lax.scan(step, tuple(starts.T), None, length=20)[0]
    return jnp.mean(sum(jnp.square(a - b) for a, b in zip(last, seen.T)))


def columns_again(*a):
    return columns(*a, checkpoint=True)


def forward(rates, starts, seen):
    value, push = jax.linearize(lambda r: columns(r, starts, seen), rates)
    return value, jax.vmap(push)(jnp.eye(3))


def tangents(rates, starts, seen):
    along = lambda direction: jax.jvp(lambda r: columns(r, starts, seen), (rates,), (direction,))
    return jax.vmap(along, out_axes=(None, 0))(jnp.eye(3))


twins = {f.__name__: jax.value_and_grad(f) for f in (members, columns, columns_again)}
twins |= {"forward": forward, "tangents": tangents}

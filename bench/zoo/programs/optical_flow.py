"""Optical flow: 30 sweeps of Horn and Schunck over 64 pairs of 48x48, end-point error and its derivative by the stiffness, float.

Bound: stencils over fields of 9 KB: about 40 operations a pixel in each sweep, and as many for the tangents.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    k = random.normal(size=(64, 6, 2)) * 0.4
    phase = random.uniform(0, 6, size=(64, 6))
    y, x = np.meshgrid(np.arange(48), np.arange(48), indexing="ij")
    at = lambda d: np.mean(np.sin(k[:, :, 0, None, None] * (y - d) + k[:, :, 1, None, None] * (x - d) + phase[:, :, None, None]), 1)
    return [np.float32(-2.0), at(0.0).astype(np.float32), at(0.5).astype(np.float32)]


def by_roll(u):
    roll = lambda a, n, axis: jnp.roll(a, n, axis)
    beside = roll(u, 1, -2) + roll(u, -1, -2) + roll(u, 1, -1) + roll(u, -1, -1)
    row = roll(u, 1, -1) + roll(u, -1, -1)
    return beside / 6 + (roll(row, 1, -2) + roll(row, -1, -2)) / 12


def by_rows(u):  # separable: rows, then columns
    row = jnp.roll(u, 1, -1) + jnp.roll(u, -1, -1)
    mixed = u / 6 + row / 12
    return jnp.roll(mixed, 1, -2) + jnp.roll(mixed, -1, -2) + row / 6


def by_slices(u):
    p = jnp.pad(u, [(0, 0)] * (u.ndim - 2) + [(1, 1), (1, 1)], mode="wrap")
    row = p[..., :-2] + p[..., 2:]
    mixed = p[..., 1:-1] / 6 + row / 12
    return mixed[..., :-2, :] + mixed[..., 2:, :] + row[..., 1:-1, :] / 6


def error(around, unroll):
    def f(stiffness, first, second):
        s = jnp.exp(stiffness)
        mean = 0.5 * (first + second)
        x = 0.5 * (jnp.roll(mean, -1, -1) - jnp.roll(mean, 1, -1))
        y = 0.5 * (jnp.roll(mean, -1, -2) - jnp.roll(mean, 1, -2))
        weight = 1 / (s + jnp.square(x) + jnp.square(y))

        def sweep(carry, _):
            u, v = around(carry[0]), around(carry[1])
            off = weight * (x * u + y * v + second - first)
            return (u - x * off, v - y * off), None

        zero = jnp.zeros_like(first)
        u, v = jax.lax.scan(sweep, (zero, zero), None, length=30, unroll=unroll)[0]
        return jnp.mean(jnp.sqrt(jnp.square(u - 0.5) + jnp.square(v - 0.5) + 1e-4))

    return f


def forward(f):
    return lambda s, *d: jax.jvp(lambda t: f(t, *d), (s,), (jnp.ones_like(s),))


def one_by_one(f):
    return lambda s, a, b: tuple(jnp.mean(r) for r in jax.lax.map(lambda d: forward(f)(s, *d), (a, b)))


twins = {"reverse": jax.value_and_grad(error(by_rows, 1)), "forward": forward(error(by_rows, 1)), "roll": forward(error(by_roll, 1)),
         "slices": forward(error(by_slices, 1)), "unrolled": forward(error(by_rows, 3)),
         "one_by_one": one_by_one(error(by_rows, 1)), "slices_one_by_one": one_by_one(error(by_slices, 1))}

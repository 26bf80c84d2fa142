"""Shallow water: 20 steps in eight basins of 64 x 64, and the gradient by the initial height, float.

Bound: cache: some ten arrays of 16 KB are read and written in each step.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [(1 + 0.1 * random.normal(size=(8, 64, 64))).astype(np.float32)]


def by_rolls(x, by, axis):
    return jnp.roll(x, by, axis)


def energy(roll, unroll):
    def of(h):
        def ahead(state, _):
            h, u, v = state
            u = u - 0.1 * (roll(h, -1, 1) - roll(h, 1, 1))
            v = v - 0.1 * (roll(h, -1, 0) - roll(h, 1, 0))
            hu, hv = h * u, h * v
            return (h - 0.1 * (roll(hu, -1, 1) - roll(hu, 1, 1) + roll(hv, -1, 0) - roll(hv, 1, 0)), u, v), None

        h, u, v = jax.lax.scan(ahead, (h, jnp.zeros_like(h), jnp.zeros_like(h)), None, length=20, unroll=unroll)[0]
        return jnp.mean(jnp.square(h) + h * (jnp.square(u) + jnp.square(v)))

    return of


def batched(f):
    def slope(heights):
        value, gradient = jax.vmap(jax.value_and_grad(f))(heights)
        return jnp.mean(value), jnp.sum(gradient, 0)

    return slope


def one_by_one(f):
    def slope(heights):
        value, gradient = jax.lax.map(jax.value_and_grad(f), heights)
        return jnp.mean(value), jnp.sum(gradient, 0)

    return slope


twins = {"batched": batched(energy(by_rolls, 1)), "one by one": one_by_one(energy(by_rolls, 1)),
         "unrolled": one_by_one(energy(by_rolls, 4))}

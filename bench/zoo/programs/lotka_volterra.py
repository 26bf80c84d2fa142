"""Predators and prey: fit of four rates to 1000 runs of 100 Runge-Kutta steps, loss and gradient, double.

Bound: vectors of doubles in a chain of 100 steps.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [np.array([0.7, 0.4, 0.3, 0.5]), random.uniform(0.5, 2, (1000, 2)), random.uniform(0.5, 2, (1000, 2))]


def end(r, start, unroll=1):
    def slope(z):
        x, y = z
        return jnp.stack([x * (r[0] - r[1] * y), y * (r[2] * x - r[3])])

    def step(z, _):
        h = 0.02
        a = slope(z)
        b = slope(z + h / 2 * a)
        c = slope(z + h / 2 * b)
        d = slope(z + h * c)
        return z + h / 6 * (a + 2 * b + 2 * c + d), None

    return jax.lax.scan(step, start, None, length=100, unroll=unroll)[0]


def members(r, start, seen):
    return jnp.mean(jax.vmap(lambda s, e: jnp.sum(jnp.square(end(r, s) - e)))(start, seen))


def columns(r, start, seen):  # members along the last axis
    return jnp.mean(jnp.sum(jnp.square(end(r, start.T) - seen.T), 0))


def unrolled(r, start, seen):
    return jnp.mean(jnp.sum(jnp.square(end(r, start.T, 4) - seen.T), 0))


def forward(r, start, seen):
    return columns(r, start, seen), jax.jacfwd(columns)(r, start, seen)


twins = {f.__name__: jax.value_and_grad(f) for f in (members, columns, unrolled)} | {"forward": forward}

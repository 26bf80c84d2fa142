"""Heat equation: conductivities of 65 cells from 300 rods after 100 steps, loss and gradient, float.

Bound: vectors of floats in a chain of 100 steps.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.uniform(0.5, 1.5, 65).astype(np.float32), random.normal(size=(300, 64)).astype(np.float32),
            (0.2 * random.normal(size=(300, 64))).astype(np.float32)]


def rows(conductivity, start, seen, unroll=1):
    def step(t, _):
        flow = conductivity * jnp.diff(jnp.pad(t, ((0, 0), (1, 1))), axis=1)
        return t + 0.2 * jnp.diff(flow, axis=1), None

    return jnp.mean(jnp.square(jax.lax.scan(step, start, None, length=100, unroll=unroll)[0] - seen))


def columns(conductivity, start, seen, unroll=1):
    def step(t, _):
        flow = conductivity[:, None] * jnp.diff(jnp.pad(t, ((1, 1), (0, 0))), axis=0)
        return t + 0.2 * jnp.diff(flow, axis=0), None

    return jnp.mean(jnp.square(jax.lax.scan(step, start.T, None, length=100, unroll=unroll)[0] - seen.T))


def one_by_one(conductivity, start, seen):
    return jnp.mean(jax.lax.map(lambda d: rows(conductivity, d[0][None], d[1][None]), (start, seen)))


twins = {f.__name__: jax.value_and_grad(f) for f in (rows, columns, one_by_one)} | {
    "columns, unrolled": jax.value_and_grad(lambda *a: columns(*a, 4))}

#!/usr/bin/env python3
"""Many small simulations in JAX: vmap of a scan, differentiated."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import jax  # noqa: E402  (after the affinity is set)
import jax.numpy as jnp  # noqa: E402

RUNS, STEPS, STEP = 20000, 100, 0.02


def error(c, q, p, seen):
    def slope(q, p):
        return p, -(c[0] * jnp.sin(q)) - c[1] * p

    def one_step(state, _):
        q, p = state
        q1, p1 = slope(q, p)
        q2, p2 = slope(q + STEP / 2 * q1, p + STEP / 2 * p1)
        q3, p3 = slope(q + STEP / 2 * q2, p + STEP / 2 * p2)
        q4, p4 = slope(q + STEP * q3, p + STEP * p3)
        return (q + STEP / 6 * (q1 + 2 * q2 + 2 * q3 + q4), p + STEP / 6 * (p1 + 2 * p2 + 2 * p3 + p4)), None

    (q, p), _ = jax.lax.scan(one_step, (q, p), None, length=STEPS)
    return jnp.square(q - seen)


def mean_error(c, q, p, seen):
    return jnp.mean(jax.vmap(error, in_axes=(None, 0, 0, 0))(c, q, p, seen))


constants = jnp.array([9.81, 0.1], jnp.float32)
runs = (twin.uniform(1, (RUNS,)), twin.uniform(2, (RUNS,)), twin.uniform(3, (RUNS,), 0.5))
inputs = jax.block_until_ready(jax.device_put((constants, *runs)))


def mean_slope(c, q, p, seen):
    return jnp.mean(jax.vmap(jax.jacfwd(error), in_axes=(None, 0, 0, 0))(c, q, p, seen), axis=0)


suite.add_jitted("gradient", "JAX, forward", mean_slope, inputs)
suite.add_jitted("gradient", "JAX, reverse", jax.grad(mean_error), inputs)
suite.version("jax", jax.__version__)
suite.run()

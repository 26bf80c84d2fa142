#!/usr/bin/env python3
"""The MLP's value and gradient in JAX, on one core."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import jax  # noqa: E402  (after the affinity is set)
import jax.numpy as jnp  # noqa: E402

from mlp_inputs import model, x, y  # noqa: E402

jax.config.update("jax_enable_x64", True)


def loss(m, x, y):
    w1, b1, w2, b2 = m
    return jnp.mean(jnp.square(jnp.tanh(x @ w1 + b1) @ w2 + b2 - y))


inputs = jax.block_until_ready(jax.device_put((model, x, y)))
suite.add_jitted("value and gradient", "JAX", jax.value_and_grad(loss), inputs)
suite.version("jax", jax.__version__)
suite.run()

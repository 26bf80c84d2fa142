#!/usr/bin/env python3
"""The gradient of a product of 1000 variables in JAX, jitted; the time is that of dispatching it, too."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import jax  # noqa: E402  (after the affinity is set)
import jax.numpy as jnp  # noqa: E402

jax.config.update("jax_enable_x64", True)
x = jnp.asarray(1 + twin.uniform(1, (1000,), 0.125, "float64"))
suite.add_jitted("1000 variables", "JAX", jax.value_and_grad(jnp.prod), (x,), result=lambda r: r[1])
suite.version("jax", jax.__version__)
suite.run()

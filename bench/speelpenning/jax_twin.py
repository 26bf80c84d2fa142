#!/usr/bin/env python3
"""The gradient of a product of 1000 variables in JAX, jitted; the time is that of dispatching it, too."""

import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import jax  # noqa: E402  (after the affinity is set)
import jax.numpy as jnp  # noqa: E402

jax.config.update("jax_enable_x64", True)
x = jnp.asarray(1 + twin.uniform(1, (1000,), 0.125, "float64"))
begin = time.perf_counter()
compiled = jax.jit(jax.value_and_grad(jnp.prod)).lower(x).compile()
jax.block_until_ready(compiled(x))
suite.add("1000 variables", "JAX", call=lambda: jax.block_until_ready(compiled(x)), result=lambda r: r[1],
          temp_bytes=compiled.memory_analysis().temp_size_in_bytes, compile_s=time.perf_counter() - begin)
suite.version("jax", jax.__version__)
suite.run()

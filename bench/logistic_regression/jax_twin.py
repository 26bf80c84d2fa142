#!/usr/bin/env python3
"""The logistic regression's loss and gradient in JAX, on as many cores as there are threads."""

import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import jax  # noqa: E402  (after the affinity is set)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

FEATURES = 100
jax.config.update("jax_enable_x64", True)


def loss(w, x, y):
    z = x @ w
    return jnp.mean(jnp.logaddexp(z, 0) - y * z)


def add(row, dtype, rows):
    w = twin.uniform(1, (FEATURES,), 0.25).astype(dtype)
    x = twin.uniform(2, (rows, FEATURES)).astype(dtype)
    y = (twin.uniform(3, (rows,)) > 0).astype(dtype)
    inputs = jax.block_until_ready(jax.device_put((w, x, y)))
    begin = time.perf_counter()
    compiled = jax.jit(jax.value_and_grad(loss)).lower(*inputs).compile()
    jax.block_until_ready(compiled(*inputs))
    suite.add(row, "JAX", call=lambda: jax.block_until_ready(compiled(*inputs)), result=lambda y: y,
              temp_bytes=compiled.memory_analysis().temp_size_in_bytes, compile_s=time.perf_counter() - begin)


add("float, 1e6 rows", np.float32, 1_000_000)
add("double, 5e5 rows", np.float64, 500_000)
suite.version("jax", jax.__version__)
suite.run()

#!/usr/bin/env python3
"""The mean of clipped gradients in JAX: vmap of grad, as for differentially private training."""

import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import jax  # noqa: E402  (after the affinity is set)
import jax.numpy as jnp  # noqa: E402

BATCH, SIDE, CHANNELS, CLASSES, BOUND = 256, 8, 8, 10, 1.0
POOLED = SIDE * SIDE // 4 * CHANNELS


def loss(m, x, y):
    kernel, shift, w, b = m
    h = jax.lax.conv_general_dilated(x[None], kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))[0]
    h = jnp.tanh(h + shift)
    p = h.reshape(SIDE // 2, 2, SIDE // 2, 2, CHANNELS).mean((1, 3)).reshape(POOLED)
    return -jax.nn.log_softmax(p @ w + b)[y]


def clipped(m, x, y):
    g = jax.grad(loss)(m, x, y)
    norm = jnp.sqrt(sum(jnp.sum(jnp.square(part)) for part in g))
    return jax.tree.map(lambda part: part * jnp.minimum(BOUND / norm, 1), g)


def mean_of_clipped(m, x, y):
    return jax.tree.map(lambda part: part.mean(0), jax.vmap(clipped, in_axes=(None, 0, 0))(m, x, y))


model = (twin.uniform(1, (3, 3, 1, CHANNELS), 0.5), twin.uniform(2, (CHANNELS,), 0.1), twin.uniform(3, (POOLED, CLASSES), 0.2),
         twin.uniform(4, (CLASSES,), 0.1))
x = twin.uniform(5, (BATCH, SIDE, SIDE, 1))
y = (twin.hashed(6, BATCH) % CLASSES).astype("int32")
inputs = jax.block_until_ready(jax.device_put((model, x, y)))
begin = time.perf_counter()
compiled = jax.jit(mean_of_clipped).lower(*inputs).compile()
jax.block_until_ready(compiled(*inputs))
suite.add("mean of clipped gradients", "JAX", call=lambda: jax.block_until_ready(compiled(*inputs)), result=lambda y: y,
          temp_bytes=compiled.memory_analysis().temp_size_in_bytes, compile_s=time.perf_counter() - begin)
suite.version("jax", jax.__version__)
suite.run()

#!/usr/bin/env python3
"""The mean of clipped gradients in JAX: vmap of grad, as for differentially private training."""

import pathlib
import sys
from functools import partial

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import jax  # noqa: E402  (after the affinity is set)
import jax.numpy as jnp  # noqa: E402

BATCH, SIDE, CHANNELS, CLASSES, BOUND = 256, 8, 8, 10, 1.0
POOLED = SIDE * SIDE // 4 * CHANNELS


def of_hidden(h, w, b, y):
    p = h.reshape(SIDE // 2, 2, SIDE // 2, 2, CHANNELS).mean((1, 3)).reshape(POOLED)
    return -jax.nn.log_softmax(p @ w + b)[y]


def loss(m, x, y):
    kernel, shift, w, b = m
    h = jax.lax.conv_general_dilated(x[None], kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))[0]
    return of_hidden(jnp.tanh(h + shift), w, b, y)


def loss_of_patches(m, patches, y):
    """The same with the convolution as a product: a patch of 3 x 3 in each row."""
    kernel, shift, w, b = m
    h = (patches @ kernel.reshape(9, CHANNELS)).reshape(SIDE, SIDE, CHANNELS)
    return of_hidden(jnp.tanh(h + shift), w, b, y)


def patches_of(x):
    padded = jnp.pad(x[..., 0], ((0, 0), (1, 1), (1, 1)))
    return jnp.stack([padded[:, i:i + SIDE, j:j + SIDE] for i in range(3) for j in range(3)], -1).reshape(-1, SIDE * SIDE, 9)


def clipped(loss, m, x, y):
    g = jax.grad(loss)(m, x, y)
    norm = jnp.sqrt(sum(jnp.sum(jnp.square(part)) for part in g))
    return jax.tree.map(lambda part: part * jnp.minimum(BOUND / norm, 1), g)


def mean_of_clipped(loss, m, x, y):
    return jax.tree.map(lambda part: part.mean(0), jax.vmap(lambda x, y: clipped(loss, m, x, y))(x, y))


def by_patches(m, x, y):
    return mean_of_clipped(loss_of_patches, m, patches_of(x), y)


def derived_by_hand(m, x, y):
    """The backward pass written out. The dense layer's gradient is an outer product, whose norm is that of its factors, and is never made for one example."""
    kernel, shift, w, b = m
    patches = patches_of(x)
    h = jnp.tanh(patches @ kernel.reshape(9, CHANNELS) + shift)
    p = h.reshape(-1, SIDE // 2, 2, SIDE // 2, 2, CHANNELS).mean((2, 4)).reshape(-1, POOLED)
    of_logits = jax.nn.softmax(p @ w + b) - jax.nn.one_hot(y, CLASSES)
    of_pooled = (of_logits @ w.T).reshape(-1, SIDE // 2, 1, SIDE // 2, 1, CHANNELS) / 4
    of_hidden = jnp.broadcast_to(of_pooled, (BATCH, SIDE // 2, 2, SIDE // 2, 2, CHANNELS)).reshape(BATCH, -1, CHANNELS) * (1 - h * h)
    of_kernel, of_shift = jnp.einsum("npi,npc->nic", patches, of_hidden), of_hidden.sum(1)
    square = jnp.square(of_kernel).sum((1, 2)) + jnp.square(of_shift).sum(1) + jnp.square(of_logits).sum(1) * (jnp.square(p).sum(1) + 1)
    weight = jnp.minimum(BOUND / jnp.sqrt(square), 1) / BATCH
    weighted = of_logits * weight[:, None]
    return jnp.einsum("n,nic->ic", weight, of_kernel).reshape(kernel.shape), weight @ of_shift, p.T @ weighted, weighted.sum(0)


model = (twin.uniform(1, (3, 3, 1, CHANNELS), 0.5), twin.uniform(2, (CHANNELS,), 0.1), twin.uniform(3, (POOLED, CLASSES), 0.2),
         twin.uniform(4, (CLASSES,), 0.1))
x = twin.uniform(5, (BATCH, SIDE, SIDE, 1))
y = (twin.hashed(6, BATCH) % CLASSES).astype("int32")
inputs = jax.block_until_ready(jax.device_put((model, x, y)))
sides = {"JAX": partial(mean_of_clipped, loss), "JAX, convolution by patches": by_patches, "JAX, derived by hand": derived_by_hand}
for side, f in sides.items():
    suite.add_jitted("mean of clipped gradients", side, f, inputs)
suite.version("jax", jax.__version__)
suite.run()

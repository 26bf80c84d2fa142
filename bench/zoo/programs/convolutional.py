"""Convolutional network on 28 x 28 images, two layers with pooling, 8 images in each of 16 clients, loss and gradient, float.

Bound: products of floats.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [(0.2 * random.normal(size=s)).astype(np.float32) for s in ((3, 3, 1, 8), (3, 3, 8, 16), (784, 10))] + [
        random.normal(size=(16, 8, 28, 28, 1)).astype(np.float32), random.integers(0, 10, (16, 8)).astype(np.int32)]


def loss(first, second, out, x, labels):
    def layer(h, w):
        h = jax.nn.relu(jax.lax.conv_general_dilated(h, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        return jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    logits = layer(layer(x, first), second).reshape(x.shape[0], 784) @ out
    return jnp.mean(-jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))


def clients(first, second, out, x, labels):
    return jnp.mean(jax.vmap(lambda a, b: loss(first, second, out, a, b))(x, labels))


def flat(first, second, out, x, labels):
    return loss(first, second, out, x.reshape(128, 28, 28, 1), labels.reshape(128))


def reshaped(first, second, out, x, labels):  # pooling as a maximum over an axis
    def layer(h, w):
        h = jax.nn.relu(jax.lax.conv_general_dilated(h, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        n, a, b, c = h.shape
        return jnp.max(h.reshape(n, a // 2, 2, b // 2, 2, c), (2, 4))

    logits = layer(layer(x.reshape(128, 28, 28, 1), first), second).reshape(128, 784) @ out
    return jnp.mean(-jnp.take_along_axis(jax.nn.log_softmax(logits), labels.reshape(128, 1), 1))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2)) for f in (clients, flat, reshaped)}

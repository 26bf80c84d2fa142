"""Separable convolutions: two layers, depthwise then pointwise, on 300 pictures of 16 x 16 x 8, loss and gradient by the network, float.

Bound: depthwise sums, which wait for memory, and products of floats.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [(0.3 * random.normal(size=s)).astype(np.float32) for s in ((3, 3, 8), (8, 24), (3, 3, 24), (24, 32), (32, 10))] + [
        random.normal(size=(300, 16, 16, 8)).astype(np.float32), random.integers(0, 10, 300).astype(np.int32)]


def grouped(x, kernel):
    c = kernel.shape[2]
    return jax.lax.conv_general_dilated(x, kernel[:, :, None], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=c)


def shifted(x, kernel):
    h, w = x.shape[1:3]
    wide = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return sum(wide[:, i:i + h, j:j + w] * kernel[i, j] for i in range(3) for j in range(3))


def full(x, kernel):  # a kernel of all pairs of channels, most of it zeros
    dense = kernel[:, :, :, None] * jnp.eye(kernel.shape[2], dtype=jnp.float32)
    return jax.lax.conv_general_dilated(x, dense, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def halved(x):
    n, h, w, c = x.shape
    return jnp.mean(x.reshape(n, h // 2, 2, w // 2, 2, c), (2, 4))


def loss(depthwise):
    def f(first, mix, second, mix_again, out, x, labels):
        half = halved(jax.nn.relu(depthwise(x, first) @ mix))
        g = jax.nn.relu(depthwise(half, second) @ mix_again)
        logits = jnp.mean(g, (1, 2)) @ out
        return jnp.mean(-jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))

    return f


def in_tens(*a):  # in batches of 10, for the cache
    f = jax.value_and_grad(loss(shifted), tuple(range(5)))
    each = jax.lax.map(lambda d: f(*a[:5], *d), (a[5].reshape(30, 10, 16, 16, 8), a[6].reshape(30, 10)))
    return jax.tree.map(lambda s: jnp.mean(s, 0), each)


twins = {f.__name__: jax.value_and_grad(loss(f), tuple(range(5))) for f in (grouped, shifted, full)} | {"in_tens": in_tens}

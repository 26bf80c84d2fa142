"""Waveforms: two strided convolutions of 500 clips of 1024 samples, ten classes, loss and gradient, float.

Bound: products of floats, of 9 and 40 terms.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [(random.normal(size=(9, 1, 8)) / 3).astype(np.float32), (random.normal(size=(5, 8, 16)) / 6).astype(np.float32),
            (random.normal(size=(16, 10)) / 4).astype(np.float32), random.normal(size=(500, 1024)).astype(np.float32),
            random.integers(0, 10, size=500).astype(np.int32)]


def library(x, w, stride):  # x: [clips, samples, channels]
    return jax.lax.conv_general_dilated(x, w, (stride,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"))


def slices(x, w, stride):  # a product for each tap
    taps, n = w.shape[0], (x.shape[1] - w.shape[0]) // stride + 1
    return sum(x[:, t:t + (n - 1) * stride + 1:stride] @ w[t] for t in range(taps))


def patches(x, w, stride):  # one product of all taps
    taps, n = w.shape[0], (x.shape[1] - w.shape[0]) // stride + 1
    seen = jnp.concatenate([x[:, t:t + (n - 1) * stride + 1:stride] for t in range(taps)], -1)
    return seen @ w.reshape(-1, w.shape[-1])


def loss_by(convolution):
    def loss(first, second, out, clips, labels):
        h = jax.nn.relu(convolution(clips[..., None], first, 4))
        logits = jnp.mean(jax.nn.relu(convolution(h, second, 2)), 1) @ out
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))

    return loss


def one_by_one(convolution):
    loss = loss_by(convolution)

    def mean(first, second, out, clips, labels):
        return jnp.mean(jax.lax.map(lambda c: loss(first, second, out, *c), (clips.reshape(50, 10, -1), labels.reshape(50, 10))))

    return mean


twins = {name: jax.value_and_grad(f, (0, 1, 2)) for name, f in {
    "library": loss_by(library), "slices": loss_by(slices), "patches": loss_by(patches), "patches, ten at a time": one_by_one(patches)}.items()}

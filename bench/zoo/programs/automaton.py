"""A neural automaton: 12 steps of 16 grids of 32 x 32 cells with eight numbers by a network 24-32-8, errors and gradients, float.

Bound: products of 1024 x 24 x 32 and 1024 x 32 x 8 for each grid and step, there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    def normal(scale, *shape):
        return (scale * random.normal(size=shape)).astype(np.float32)

    start = np.zeros((16, 32, 32, 8), np.float32)
    start[:, 12:20, 12:20] = 1 + normal(0.1, 16, 8, 8, 8)
    return [normal(0.2, 24, 32), normal(0.1, 32), normal(0.03, 32, 8), start, random.uniform(size=(16, 32, 32, 4)).astype(np.float32)]


def seen(x):
    slopes = [jnp.roll(x, -1, axis) - jnp.roll(x, 1, axis) for axis in (-2, -3)]
    return jnp.concatenate([x, *slopes], -1)


def by_parts(x, w1):  # a product for each part
    across, down = (jnp.roll(x, -1, axis) - jnp.roll(x, 1, axis) for axis in (-2, -3))
    return x @ w1[:8] + across @ w1[8:16] + down @ w1[16:]


def padded(x, w1):  # neighbours as slices of one padded array
    p = jnp.pad(x, [(0, 0)] * (x.ndim - 3) + [(1, 1), (1, 1), (0, 0)], mode="wrap")
    across, down = p[..., 1:-1, 2:, :] - p[..., 1:-1, :-2, :], p[..., 2:, 1:-1, :] - p[..., :-2, 1:-1, :]
    return jnp.concatenate([x, across, down], -1) @ w1


def by_convolution(x, w1):
    kernel = jnp.zeros((3, 3, 8, 32), x.dtype).at[1, 1].set(w1[:8])
    kernel = kernel.at[1, 2].set(w1[8:16]).at[1, 0].set(-w1[8:16]).at[2, 1].set(w1[16:]).at[0, 1].set(-w1[16:])
    batch = x if x.ndim == 4 else x[None]
    wide = jnp.pad(batch, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="wrap")
    y = jax.lax.conv_general_dilated(wide, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y if x.ndim == 4 else y[0]


def loss(hidden, one_by_one=False, unroll=1):
    def error(rule, x, target):
        w1, b, w2 = rule

        def step(x, _):
            return x + jax.nn.relu(hidden(x, w1) + b) @ w2, None

        x = jax.lax.scan(step, x, None, length=12, unroll=unroll)[0]
        return jnp.mean(jnp.square(x[..., :4] - target))

    def mean(rule, starts, targets):
        if one_by_one:
            return jnp.mean(jax.lax.map(lambda a: error(rule, *a), (starts, targets)))
        return error(rule, starts, targets)

    return lambda *a: jax.value_and_grad(mean)(a[:3], *a[3:])


def channels_first(*a):
    def error(rule, x, target):
        w1, b, w2 = rule

        def step(x, _):
            slopes = [jnp.roll(x, -1, axis) - jnp.roll(x, 1, axis) for axis in (-1, -2)]
            seen = jnp.concatenate([x, *slopes], 1).reshape(16, 24, 1024)
            return x + (w2.T @ jax.nn.relu(w1.T @ seen + b[:, None])).reshape(x.shape), None

        x = jax.lax.scan(step, jnp.moveaxis(x, -1, 1), None, length=12)[0]
        return jnp.mean(jnp.square(jnp.moveaxis(x[:, :4], 1, -1) - target))

    return jax.value_and_grad(error)(a[:3], *a[3:])


together = lambda x, w1: seen(x) @ w1
twins = {"batch": loss(together), "one_by_one": loss(together, True), "unrolled": loss(together, False, 12),
         "parts": loss(by_parts), "parts_one_by_one": loss(by_parts, True), "convolution": loss(by_convolution), "padded": loss(padded),
         "channels_first": channels_first}

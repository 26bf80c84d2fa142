"""Structural similarity of 100 pairs of pictures of 64 x 64, and its gradient by the first ones, float.

Bound: vectors of floats: ten blurs by seven taps along two axes, there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np

TAPS = np.array([0.037, 0.111, 0.216, 0.272, 0.216, 0.111, 0.037], np.float32)


def arguments(random):
    x = random.uniform(size=(100, 64, 64))
    return [x.astype(np.float32), np.clip(x + 0.1 * random.normal(size=x.shape), 0, 1).astype(np.float32)]


def library(x):
    dims = ("NHWC", "HWIO", "NHWC")
    down = jax.lax.conv_general_dilated(x[..., None], TAPS.reshape(7, 1, 1, 1), (1, 1), "VALID", dimension_numbers=dims)
    return jax.lax.conv_general_dilated(down, TAPS.reshape(1, 7, 1, 1), (1, 1), "VALID", dimension_numbers=dims)[..., 0]


def shifts(x):
    down = sum(t * x[:, i : i + 58] for i, t in enumerate(TAPS))
    return sum(t * down[:, :, i : i + 58] for i, t in enumerate(TAPS))


def banded(x):  # products with a banded matrix
    m = np.zeros((58, 64), np.float32)
    for i in range(58):
        m[i, i : i + 7] = TAPS
    return jnp.einsum("ij,njk,lk->nil", m, x, m)


def alike(blur):
    def mean(x, y):
        mx, my = blur(x), blur(y)
        vx, vy, both = blur(x * x) - mx * mx, blur(y * y) - my * my, blur(x * y) - mx * my
        return jnp.mean((2 * mx * my + 1e-4) * (2 * both + 9e-4) / ((mx * mx + my * my + 1e-4) * (vx + vy + 9e-4)))

    return mean


def one_by_one(x, y):  # value and gradient of each pair
    f = jax.value_and_grad(alike(shifts))
    values, slopes = jax.lax.map(lambda d: f(d[0][None], d[1][None]), (x, y))
    return jnp.mean(values), slopes[:, 0] / len(x)


twins = {f.__name__: jax.value_and_grad(alike(f)) for f in (library, shifts, banded)} | {"one_by_one": one_by_one}

"""Non-local means: 7 x 7 shifts with patches of 3 x 3 on 32 images of 64 x 64, error and its slope by the strength, float.

Bound: vectors of floats: an exponential and some 20 operations for each of 49 shifts of each place.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    x, y = np.meshgrid(np.arange(64), np.arange(64))
    clean = np.stack([np.sign(np.sin(a * x + b * y)) for a, b in random.uniform(0.05, 0.3, size=(32, 2))])
    return [np.float32(0.3), (clean + 0.4 * random.normal(size=clean.shape)).astype(np.float32), clean.astype(np.float32)]


def patch_sum(x, rows=-2, columns=-1):
    y = x + jnp.roll(x, 1, rows) + jnp.roll(x, -1, rows)
    return y + jnp.roll(y, 1, columns) + jnp.roll(y, -1, columns)


def patch_sum_padded(x, rows=-2, columns=-1):
    pad = [(0, 0)] * x.ndim
    pad[rows] = pad[columns] = (1, 1)
    w = jnp.pad(x, pad, mode="wrap")
    n, m = x.shape[rows], x.shape[columns]
    y = sum(jax.lax.slice_in_dim(w, i, i + n, axis=rows % x.ndim) for i in range(3))
    return sum(jax.lax.slice_in_dim(y, i, i + m, axis=columns % x.ndim) for i in range(3))


def added(strength, x, sums, axes):
    total, weights = 0, 0
    for i in range(-3, 4):
        for j in range(-3, 4):
            other = jnp.roll(x, (i, j), axes)
            w = jnp.exp(-strength * sums(jnp.square(other - x), *axes))
            total, weights = total + w * other, weights + w
    return total / weights


def looped(strength, x, sums, axes):  # one body for all shifts
    wide = jnp.pad(x, [(3, 3) if a - x.ndim in axes else (0, 0) for a in range(x.ndim)], mode="wrap")

    def add(c, k):
        start = [0] * x.ndim
        start[axes[0]], start[axes[1]] = k // 7, k % 7
        other = jax.lax.dynamic_slice(wide, start, x.shape)
        w = jnp.exp(-strength * sums(jnp.square(other - x), *axes))
        return (c[0] + w * other, c[1] + w), None

    total, weights = jax.lax.scan(add, (0 * x, 0 * x), jnp.arange(49))[0]
    return total / weights


def loss(clean, sums, kind, forward=True):
    def mean(strength, noisy, wanted):
        if kind == "last":
            noisy, wanted = jnp.moveaxis(noisy, 0, -1), jnp.moveaxis(wanted, 0, -1)
            return jnp.mean(jnp.square(clean(strength, noisy, sums, (-3, -2)) - wanted))
        if kind == "one by one":
            return jnp.mean(jax.lax.map(lambda a: jnp.mean(jnp.square(clean(strength, a[0], sums, (-2, -1)) - a[1])), (noisy, wanted)))
        return jnp.mean(jnp.square(clean(strength, noisy, sums, (-2, -1)) - wanted))

    if not forward:
        return jax.value_and_grad(mean)
    return lambda s, *a: jax.jvp(lambda t: mean(t, *a), (s,), (jnp.float32(1),))


twins = {"reverse": loss(added, patch_sum, "all", False), "flat": loss(added, patch_sum, "all"),
         "one_by_one": loss(added, patch_sum, "one by one"), "padded_one_by_one": loss(added, patch_sum_padded, "one by one"),
         "looped": loss(looped, patch_sum_padded, "all"), "looped_one_by_one": loss(looped, patch_sum_padded, "one by one"),
         "images_last": loss(added, patch_sum, "last"), "padded": loss(added, patch_sum_padded, "all")}

"""Wavelets: 2000 signals of 256 numbers without noise by five shrunk levels of Haar's, error and gradient by five limits, float.

Bound: memory in the cache: each number is read and written a few times.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    truth = np.cumsum(random.normal(size=(2000, 256)) * (random.uniform(size=(2000, 256)) < 0.05), 1)
    return [np.log(np.full(5, 0.5)).astype(np.float32), (truth + 0.3 * random.normal(size=truth.shape)).astype(np.float32), truth.astype(np.float32)]


def rows(x, limits, level=0):
    if level == 5:
        return x
    even, odd = x[..., ::2], x[..., 1::2]
    detail = (even - odd) * 0.70710678
    kept = jax.nn.relu(detail - limits[level]) - jax.nn.relu(-detail - limits[level])
    rest = rows((even + odd) * 0.70710678, limits, level + 1)
    return jnp.stack([rest + kept, rest - kept], -1).reshape(x.shape) * 0.70710678


def columns(x, limits, level=0):  # signals last
    if level == 5:
        return x
    pairs = x.reshape(-1, 2, x.shape[-1])
    even, odd = pairs[:, 0], pairs[:, 1]
    detail = (even - odd) * 0.70710678
    kept = jax.nn.relu(detail - limits[level]) - jax.nn.relu(-detail - limits[level])
    rest = columns((even + odd) * 0.70710678, limits, level + 1)
    return jnp.stack([rest + kept, rest - kept], 1).reshape(x.shape) * 0.70710678


def by_rows(limits, noisy, truth):
    return jnp.mean(jnp.square(rows(noisy, jnp.exp(limits)) - truth))


def by_columns(limits, noisy, truth):
    return jnp.mean(jnp.square(columns(noisy.T, jnp.exp(limits)) - truth.T))


def by_details(limits, noisy, truth):  # the transform keeps lengths: the error is one of coefficients
    limits, x, y, total = jnp.exp(limits), noisy, truth, 0
    for level in range(5):
        detail, true = (x[..., ::2] - x[..., 1::2]) * 0.70710678, (y[..., ::2] - y[..., 1::2]) * 0.70710678
        kept = jax.nn.relu(detail - limits[level]) - jax.nn.relu(-detail - limits[level])
        total += jnp.sum(jnp.square(kept - true))
        x, y = (x[..., ::2] + x[..., 1::2]) * 0.70710678, (y[..., ::2] + y[..., 1::2]) * 0.70710678
    return (total + jnp.sum(jnp.square(x - y))) / noisy.size


def forward(f):
    def both(limits, *data):
        value, slope = jax.vmap(lambda t: jax.jvp(lambda l: f(l, *data), (limits,), (t,)), out_axes=(None, 0))(jnp.eye(5, dtype=np.float32))
        return value, slope

    return both


twins = {f.__name__: jax.value_and_grad(f) for f in (by_rows, by_columns, by_details)} | {"forward": forward(by_rows)}

"""A temporal network: four causal convolutions with three taps 1 to 8 steps apart, 16 channels, 64 series of 256, loss and gradient, float.

Bound: products of 255 x 48 and 48 x 16 for each layer and series, forward and twice back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    series = np.cumsum(0.1 * random.normal(size=(64, 256, 4)), 1)
    taps = [0.1 * random.normal(size=(3, 16, 16)) for _ in range(4)]
    return [a.astype(np.float32) for a in (0.5 * random.normal(size=(4, 16)), *taps, 0.3 * random.normal(size=(16, 4)), series)]


def library(x, w, apart):
    return jax.lax.conv_general_dilated(x, w, (1,), [(2 * apart, 0)], rhs_dilation=(apart,), dimension_numbers=("NWC", "WIO", "NWC"))


def by_taps(x, w, apart):  # a product for each tap
    p = jnp.pad(x, ((0, 0), (2 * apart, 0), (0, 0)))
    n = x.shape[1]
    return sum(p[:, k * apart:k * apart + n] @ w[k] for k in range(3))


def as_rows(x, w, apart):  # one product with all taps beside each other
    p = jnp.pad(x, ((0, 0), (2 * apart, 0), (0, 0)))
    n = x.shape[1]
    return jnp.concatenate([p[:, k * apart:k * apart + n] for k in range(3)], -1) @ w.reshape(48, 16)


def loss(net, series, conv):
    h = series[:, :-1] @ net[0]
    for i in range(4):
        h = h + jax.nn.relu(conv(h, net[1 + i], 2**i))
    return jnp.mean(jnp.square(h @ net[5] - series[:, 1:]))


def batch(conv):
    return lambda *a: jax.value_and_grad(loss)(a[:6], a[6], conv)


def one_by_one(conv):
    mean = lambda net, series: jnp.mean(jax.lax.map(lambda x: loss(net, x[None], conv), series))
    return lambda *a: jax.value_and_grad(mean)(a[:6], a[6])


twins = {"library": batch(library), "by_taps": batch(by_taps), "as_rows": batch(as_rows), "one_by_one": one_by_one(as_rows),
         "one_by_one_by_taps": one_by_one(by_taps)}

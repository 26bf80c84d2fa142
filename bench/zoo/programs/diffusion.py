"""A denoiser: a small U-net with 16 and 32 channels, 8 images of 16 x 16 in each of 16 clients, loss and gradient, float.

Bound: products of floats: convolutions of 3 x 3, some 600 million operations there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    def normal(scale, *shape):
        return (scale * random.normal(size=shape)).astype(np.float32)

    return [normal(0.3, 3, 3, 1, 16), normal(0.2, 16, 32), normal(0.08, 3, 3, 16, 16), normal(0.08, 3, 3, 16, 32),
            normal(0.06, 3, 3, 32, 16), normal(0.06, 3, 3, 32, 16), normal(0.08, 3, 3, 16, 1),
            normal(0.5, 16, 8, 16, 16, 1), normal(1, 16, 8, 16, 16, 1), random.uniform(0.02, 0.98, size=(16, 8)).astype(np.float32)]


def library(x, k):
    return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def by_products(x, k):  # neighbours beside each place, then one product
    rows, columns = x.shape[1:3]
    wide = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    parts = [wide[:, i:i + rows, j:j + columns] for i in range(3) for j in range(3)]
    return jnp.concatenate(parts, -1) @ k.reshape(-1, k.shape[-1])


def by_taps(x, k):  # a product for each of the nine places
    rows, columns = x.shape[1:3]
    wide = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return sum(wide[:, i:i + rows, j:j + columns] @ k[i, j] for i in range(3) for j in range(3))


def normed(x):
    off = x - jnp.mean(x, (1, 2), keepdims=True)
    return off * jax.lax.rsqrt(jnp.mean(jnp.square(off), (1, 2), keepdims=True) + 1e-5)


def error(net, x, noise, times, conv, apart):
    within, clock, first, down, middle, up, out = net
    share = jnp.square(jnp.cos(1.5 * times))[:, None, None, None]
    seen = jnp.sqrt(share) * x + jnp.sqrt(1 - share) * noise
    phases = 100 * times[:, None] * jnp.exp(-0.5 * jnp.arange(8, dtype=jnp.float32))
    shift = jnp.concatenate([jnp.sin(phases), jnp.cos(phases)], 1) @ clock
    h = conv(seen, within)
    h = h + conv(jax.nn.silu(normed(h)), first)
    pooled = h.reshape(-1, 8, 2, 8, 2, 16).mean((2, 4))
    low = conv(jax.nn.silu(normed(conv(pooled, down)) + shift[:, None, None]), middle)
    wide = jnp.repeat(jnp.repeat(low, 2, 1), 2, 2)
    both = conv(h, up[:, :, :16]) + conv(wide, up[:, :, 16:]) if apart else conv(jnp.concatenate([h, wide], -1), up)
    return jnp.mean(jnp.square(conv(jax.nn.silu(normed(both)), out) - noise))


def loss(conv, kind, apart=False):
    def mean(net, x, noise, times):
        if kind == "flat":
            return error(net, *(a.reshape(128, *a.shape[2:]) for a in (x, noise, times)), conv, apart)
        if kind == "members":
            return jnp.mean(jax.vmap(lambda *a: error(net, *a, conv, apart))(x, noise, times))
        return jnp.mean(jax.lax.map(lambda a: error(net, *a, conv, apart), (x, noise, times)))

    return lambda *a: jax.value_and_grad(mean)(a[:7], *a[7:])


twins = {"members": loss(library, "members"), "flat": loss(library, "flat"), "flat_apart": loss(library, "flat", True),
         "products": loss(by_products, "flat"), "taps": loss(by_taps, "flat"), "one_by_one": loss(library, "one"),
         "products_one_by_one": loss(by_products, "one"), "taps_one_by_one": loss(by_taps, "one")}

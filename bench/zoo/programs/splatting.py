"""Splatting: 16 pictures of 32 x 32 by 48 turned Gaussians that hide each other, errors and their gradients, float.

Bound: vectors of floats: an exponential and some forty operations for each spot and pixel, there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    f = lambda *shape: random.normal(size=shape).astype(np.float32)
    return [random.uniform(0, 32, (16, 48, 2)).astype(np.float32), 1 + 0.3 * f(16, 48, 2), f(16, 48), random.uniform(0, 1, (16, 48, 3)).astype(np.float32),
            f(16, 48), random.uniform(1, 2, (16, 48)).astype(np.float32), random.uniform(0, 1, (16, 32, 32, 3)).astype(np.float32)]


def alphas(centre, size, angle, opacity):  # of all spots, or of one
    wide = lambda x: x[..., None, None]
    across = jnp.arange(32, dtype=np.float32)[None, :] - wide(centre[..., 0])
    down = jnp.arange(32, dtype=np.float32)[:, None] - wide(centre[..., 1])
    sine, cosine = wide(jnp.sin(angle)), wide(jnp.cos(angle))
    u = (cosine * across + sine * down) * wide(jnp.exp(-size[..., 0]))
    v = (cosine * down - sine * across) * wide(jnp.exp(-size[..., 1]))
    return wide(jax.nn.sigmoid(opacity)) * jnp.exp(-0.5 * (u * u + v * v))


def products(alpha):
    return jnp.cumprod(1 - alpha, 0)


def logarithms(alpha):
    return jnp.exp(jnp.cumsum(jnp.log1p(-alpha), 0))


def at_once(behind):
    def drawn(centre, size, angle, colour, opacity):
        alpha = alphas(centre, size, angle, opacity)
        through = jnp.concatenate([jnp.ones((1, 32, 32), np.float32), behind(alpha)[:-1]])
        return jnp.einsum("gyx,gc->yxc", alpha * through, colour)

    return drawn


def spot_by_spot(checkpoint):
    def drawn(*spots):
        def step(carry, spot):
            through, picture = carry
            centre, size, angle, colour, opacity = spot
            alpha = alphas(centre, size, angle, opacity)
            return (through * (1 - alpha), picture + (alpha * through)[None] * colour[:, None, None]), None

        step = jax.checkpoint(step) if checkpoint else step
        start = (jnp.ones((32, 32), np.float32), jnp.zeros((3, 32, 32), np.float32))
        return jnp.moveaxis(jax.lax.scan(step, start, spots)[0][1], 0, 2)

    return drawn


def slopes(drawn, over):
    def error(spots, target):
        order = jnp.argsort(spots[5])
        return jnp.mean(jnp.square(drawn(*(x[order] for x in spots[:5])) - target))

    def of_all(*a):
        return over(lambda b: jax.value_and_grad(error)(b[:6], b[6]), a)

    return of_all


def members(f, a):
    return jax.vmap(lambda *b: f(b))(*a)


twins = {"members": slopes(at_once(products), members), "one_by_one": slopes(at_once(products), jax.lax.map),
         "logarithms": slopes(at_once(logarithms), members), "logarithms_one_by_one": slopes(at_once(logarithms), jax.lax.map),
         "spots": slopes(spot_by_spot(False), members), "spots_one_by_one": slopes(spot_by_spot(False), jax.lax.map),
         "spots_again": slopes(spot_by_spot(True), jax.lax.map)}

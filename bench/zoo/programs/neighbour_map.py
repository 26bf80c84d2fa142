"""Maps of neighbours: 30 steps of t-SNE for 32 sets of 96 points in a plane, float.

Bound: vectors of floats: three divisions and some 20 operations for each of 9216 pairs in each step.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    x = random.normal(size=(32, 96, 5)) + 3 * random.integers(0, 3, size=(32, 96, 1))
    near = np.exp(-np.square(x[:, :, None] - x[:, None]).sum(-1) / 4) * (1 - np.eye(96))
    return [np.float32(20), (0.1 * random.normal(size=(32, 96, 2))).astype(np.float32),
            (near / near.sum((1, 2), keepdims=True)).astype(np.float32)]


def kernel(y):
    return (1 - jnp.eye(96, dtype=y.dtype)) / (1 + jnp.sum(jnp.square(y[:, None] - y[None]), -1))


def kernel_by_product(y):
    squares = jnp.sum(y * y, -1)
    return (1 - jnp.eye(96, dtype=y.dtype)) / (1 + squares[:, None] + squares[None] - 2 * y @ y.T)


def kernel_by_coordinates(y):
    d, e = y[:, 0], y[:, 1]
    return (1 - jnp.eye(96, dtype=y.dtype)) / (1 + jnp.square(d[:, None] - d[None]) + jnp.square(e[:, None] - e[None]))


def divergence(y, p, kernel):
    k = kernel(y)
    return jnp.sum(p * (jnp.log(p + 1e-9) - jnp.log(k / jnp.sum(k) + 1e-9)))


def by_hand(y, p, kernel):  # the gradient, without the small numbers' part
    k = kernel(y)
    total = jnp.sum(k)
    q = k / total
    pull = p * q / (q + 1e-9)  # by log k
    w = (pull - q * jnp.sum(pull)) * k
    return 4 * (jnp.sum(w, 1)[:, None] * y - w @ y)


def mapped(kernel, slopes=None, one_by_one=False):
    slopes = slopes or jax.grad(divergence)

    def end(rate, y, p):
        def step(_, c):
            at, speed = c
            speed = 0.8 * speed - rate * slopes(at, p, kernel)
            return at + speed, speed

        y = jax.lax.fori_loop(0, 30, step, (y, jnp.zeros_like(y)))[0]
        return divergence(y, p, kernel), y

    def f(rate, starts, near):
        if one_by_one:
            errors, ends = jax.lax.map(lambda a: end(rate, *a), (starts, near))
        else:
            errors, ends = jax.vmap(end, (None, 0, 0))(rate, starts, near)
        return jnp.mean(errors), jnp.mean(ends, 0)

    return f


twins = {"members": mapped(kernel), "one_by_one": mapped(kernel, None, True), "products": mapped(kernel_by_product),
         "coordinates": mapped(kernel_by_coordinates), "coordinates_one_by_one": mapped(kernel_by_coordinates, None, True),
         "by_hand": mapped(kernel_by_coordinates, by_hand), "by_hand_one_by_one": mapped(kernel_by_coordinates, by_hand, True)}

"""Registration of images: 64 of 32x32 turned and shifted onto targets, errors and gradients by the motions, float.

Bound: gathering of single floats.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    i, j = np.mgrid[:32, :32] / 5
    a, b, c = random.normal(size=(3, 64, 1, 1))
    pictures = np.sin(a + i + 0.3 * b * j) + np.cos(j + c)
    targets = np.sin(a + i + 0.2 + 0.3 * b * j) + np.cos(j + c + 0.1)
    motions = [0.3 * random.normal(size=64), random.normal(size=64), random.normal(size=64)]
    return [x.astype(np.float32) for x in (*motions, pictures, targets)]


def places(angle, down, right):
    i, j = jnp.mgrid[:32, :32].astype(jnp.float32) - 15.5
    c, s = jnp.cos(angle), jnp.sin(angle)
    return c * i - s * j + down + 15.5, s * i + c * j + right + 15.5


def by_hand(image, y, x):
    top, left = jnp.floor(y), jnp.floor(x)

    def pixel(row, column):
        at = 32 * jnp.clip(row, 0, 31) + jnp.clip(column, 0, 31)
        return jnp.take(image.ravel(), at.astype(jnp.int32), mode="clip")

    v, u = y - top, x - left
    return (1 - v) * ((1 - u) * pixel(top, left) + u * pixel(top, left + 1)) + v * (
        (1 - u) * pixel(top + 1, left) + u * pixel(top + 1, left + 1))


def library(image, y, x):
    return jax.scipy.ndimage.map_coordinates(image, [y, x], 1, "nearest")


def two_rows(image, y, x):  # the four pixels of each place are gathered together
    top, left = jnp.floor(y), jnp.floor(x)
    padded = jnp.pad(image, ((0, 1), (0, 1)), "edge").ravel()
    t, l = jnp.clip(top, -1, 31), jnp.clip(left, -1, 31)
    at = (33 * jnp.maximum(t, 0) + jnp.maximum(l, 0)).astype(jnp.int32)
    dy, dx = jnp.where(t < 0, 0, 33).astype(jnp.int32), jnp.where(l < 0, 0, 1).astype(jnp.int32)
    p, q, r, s = jnp.take(padded, jnp.stack([at, at + dx, at + dy, at + dy + dx]), mode="clip")
    v, u = y - top, x - left
    return (1 - v) * ((1 - u) * p + u * q) + v * ((1 - u) * r + u * s)


def error(sample, angle, down, right, image, target):
    return jnp.mean(jnp.square(sample(image, *places(angle, down, right)) - target))


def reverse(sample):
    def errors(angles, downs, rights, pictures, targets):
        f = jax.value_and_grad(lambda *a: error(sample, *a), (0, 1, 2))
        values, slopes = jax.vmap(f)(angles, downs, rights, pictures, targets)
        return jnp.mean(values), slopes

    return errors


def forward(sample):
    def errors(angles, downs, rights, pictures, targets):
        def f(*a):
            return error(sample, *a), jax.jacfwd(lambda *m: error(sample, *m, *a[3:]), (0, 1, 2))(*a[:3])

        values, slopes = jax.vmap(f)(angles, downs, rights, pictures, targets)
        return jnp.mean(values), slopes

    return errors


twins = {"library": reverse(library), "by hand": reverse(by_hand), "together": reverse(two_rows), "forward": forward(by_hand)}

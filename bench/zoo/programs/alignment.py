"""Alignment: 2000 pairs of clouds of 20 points, turned onto each other by Kabsch's rotations, distance and gradient by a bend, float.

Bound: singular values and vectors of 2000 matrices of 3 x 3.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    x = random.normal(size=(2000, 20, 3))
    q = np.linalg.qr(random.normal(size=(2000, 3, 3)))[0]
    return [(np.eye(3) + 0.1 * random.normal(size=(3, 3))).astype(np.float32), x.astype(np.float32),
            (x @ q + 0.1 * random.normal(size=x.shape)).astype(np.float32)]


def by_svd(h):
    u, _, vt = jnp.linalg.svd(h)
    flip = jnp.sign(jnp.linalg.det(u @ vt))
    one = jnp.ones_like(flip)
    return (u * jnp.stack([one, one, flip], -1)[..., None, :]) @ vt


def distances(bend, x, y, turn):
    x = (x - x.mean(-2, keepdims=True)) @ bend
    y = y - y.mean(-2, keepdims=True)
    r = turn(jnp.swapaxes(x, -1, -2) @ y)
    return jnp.mean(jnp.square(x @ r - y))


def enveloped(bend, x, y):  # the rotation is the best there is, so that the distance's gradient needs none of its own
    x = (x - x.mean(-2, keepdims=True)) @ bend
    y = y - y.mean(-2, keepdims=True)
    r = jax.lax.stop_gradient(by_svd(jnp.swapaxes(x, -1, -2) @ y))
    return jnp.mean(jnp.square(x @ r - y))


def flat(turn):
    return lambda *a: jax.value_and_grad(lambda *b: distances(*b, turn))(*a)


def one_by_one(turn):
    def f(bend, x, y):
        return jax.value_and_grad(lambda b: jnp.mean(jax.lax.map(lambda a: distances(b, *a, turn), (x, y))))(bend)

    return f


twins = {"flat": flat(by_svd), "one_by_one": one_by_one(by_svd), "envelope": lambda *a: jax.value_and_grad(enveloped)(*a)}

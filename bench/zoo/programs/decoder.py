"""A decoder of letters: two layers of width 256, four heads, four workers with eight texts of 64, loss and gradient, float.

Bound: products of floats.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    shapes = (96, 256), (64, 256), (2, 256, 768), (2, 256, 256), (2, 256, 1024), (2, 1024, 256)
    return [*((0.06 * random.normal(size=s)).astype(np.float32) for s in shapes), random.integers(0, 96, size=(4, 8, 65)).astype(np.int32)]


def norm(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def layer(x, w):
    qkv, out, up, down = w
    q, k, v = jnp.transpose((norm(x) @ qkv).reshape(*x.shape[:-1], 3, 4, 64), (2, 0, 3, 1, 4))
    scores = jnp.where(jnp.tril(jnp.ones((64, 64), bool)), 0.125 * jnp.einsum("bhqd,bhkd->bhqk", q, k), -1e9)
    y = x + jnp.einsum("bhqk,bhkd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape) @ out
    return y + jax.nn.gelu(norm(y) @ up, approximate=False) @ down


def loss(letter, place, *rest, scanned):
    *layers, texts = rest
    x = letter[texts[:, :-1]] + place
    if scanned:
        x = jax.lax.scan(lambda y, w: (layer(y, w), None), x, layers)[0]
    else:
        for i in range(2):
            x = layer(x, [w[i] for w in layers])
    scores = jax.nn.log_softmax(norm(x) @ letter.T)
    return -jnp.mean(jnp.take_along_axis(scores, texts[:, 1:, None], 2))


def batched(*arguments, scanned):
    of_worker = lambda texts: loss(*arguments[:-1], texts, scanned=scanned)
    return jnp.mean(jax.vmap(of_worker)(arguments[-1]))


def flat(*arguments, scanned):  # the texts of all workers as one batch
    return loss(*arguments[:-1], arguments[-1].reshape(-1, 65), scanned=scanned)


def twin(f, scanned):
    return jax.value_and_grad(lambda *a: f(*a, scanned=scanned), tuple(range(6)))


twins = {"batched, unrolled": twin(batched, False), "flat, unrolled": twin(flat, False), "flat, scanned": twin(flat, True)}

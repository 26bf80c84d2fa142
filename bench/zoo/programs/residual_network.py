"""Residual network: four blocks of width 64 with layer norm, 32 clients of 32 examples, loss and gradient, float.

Bound: products of floats, and gelu by the error function.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    vector, matrix = lambda: 0.1 * random.normal(size=(4, 64)), lambda: 0.12 * random.normal(size=(4, 64, 64))
    blocks = [1 + vector(), vector(), matrix(), vector(), matrix(), vector()]
    floats = [*blocks, 0.2 * random.normal(size=(64, 10)), random.normal(size=(32, 32, 64))]
    return [a.astype(np.float32) for a in floats] + [random.integers(0, 10, (32, 32)).astype(np.int32)]


def block(h, weights):
    scale, shift, w1, b1, w2, b2 = weights
    centred = h - jnp.mean(h, -1, keepdims=True)
    normal = scale * centred * jax.lax.rsqrt(jnp.mean(jnp.square(centred), -1, keepdims=True) + 1e-5) + shift
    return h + jax.nn.gelu(normal @ w1 + b1, approximate=False) @ w2 + b2


def scanned(h, blocks):
    return jax.lax.scan(lambda h, w: (block(h, w), None), h, blocks)[0]


def unrolled(h, blocks):
    for i in range(4):
        h = block(h, [w[i] for w in blocks])
    return h


def error(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))


def members(apply):
    def loss(blocks, out, x, labels):
        return jnp.mean(jax.vmap(lambda u, v: error(apply(u, blocks) @ out, v))(x, labels))

    return loss


def flat(apply):
    def loss(blocks, out, x, labels):
        return error(apply(x.reshape(-1, 64), blocks) @ out, labels.reshape(-1))

    return loss


def slopes(loss):
    return lambda *a: jax.value_and_grad(loss, (0, 1))(list(a[:6]), *a[6:])


twins = {"members": slopes(members(scanned)), "flat": slopes(flat(scanned)), "members, unrolled": slopes(members(unrolled)),
         "flat, unrolled": slopes(flat(unrolled))}

"""An encoder's layer with root-mean-square norms, rotary places and a gate: width 64, 256 texts of 16, loss and gradient, float.

Bound: products of floats.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    shapes = (64,), (64, 192), (64, 64), (64,), (64, 256), (128, 64)
    w = [1 + 0.1 * random.normal(size=s) if len(s) == 1 else random.normal(size=s) / np.sqrt(s[0]) for s in shapes]
    return [a.astype(np.float32) for a in (*w, random.normal(size=(256, 16, 64)), random.normal(size=(256, 16, 64)))]


def scaled(x, gain):
    return gain * x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-5)


def rotated(x):
    angle = jnp.arange(16.0)[:, None] * jnp.exp(-9.21034 / 8 * jnp.arange(8.0))
    a, b = x[..., :8], x[..., 8:]
    return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1)


def layer(first, into, out, second, up, down, x):  # places in rows, of one text or of all
    n = len(x) // 16
    q, k, v = jnp.moveaxis((scaled(x, first) @ into).reshape(n, 16, 3, 4, 16), (2, 3), (0, 2))
    scores = jax.nn.softmax(0.25 * jnp.einsum("nhid,nhjd->nhij", rotated(q), rotated(k)))
    y = x + jnp.einsum("nhij,nhjd->nihd", scores, v).reshape(len(x), 64) @ out
    gate, value = jnp.split(scaled(y, second) @ up, 2, -1)
    return y + (jax.nn.silu(gate) * value) @ down


def members(*a):
    *w, x, y = a
    return jnp.mean(jax.vmap(lambda p, q: jnp.mean(jnp.square(layer(*w, p) - q)))(x, y))


def flat(*a):
    *w, x, y = a
    return jnp.mean(jnp.square(layer(*w, x.reshape(-1, 64)) - y.reshape(-1, 64)))


def in_blocks(*a, texts=32):  # so many texts at a time, there and back
    *w, x, y = a

    def block(total, xy):
        own = jax.value_and_grad(lambda *w: jnp.mean(jnp.square(layer(*w, xy[0]) - xy[1])), tuple(range(6)))(*w)
        return jax.tree.map(jnp.add, total, own), None

    split = lambda a: a.reshape(-1, texts * 16, 64)
    zero = (jnp.zeros((), x.dtype), tuple(jnp.zeros_like(v) for v in w))
    total = jax.lax.scan(block, zero, (split(x), split(y)))[0]
    return jax.tree.map(lambda a: a * (texts / len(x)), total)


twins = {f.__name__: jax.value_and_grad(f, tuple(range(6))) for f in (members, flat)} | {"in_blocks": in_blocks}

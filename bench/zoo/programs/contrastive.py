"""Contrastive learning: 32 clients of 64 pairs of views of 48 numbers, a network 48-96-32, value and gradient, float.

Bound: products, 190 million operations.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    f = lambda s, *shape: (s * random.normal(size=shape)).astype(np.float32)
    x = f(1, 32, 64, 48)
    return [f(0.15, 48, 96), f(0.15, 96, 32), x, x + f(0.3, 32, 64, 48)]


def embedded(w, out, x):
    y = jax.nn.relu(x @ w) @ out
    return y * jax.lax.rsqrt(jnp.sum(jnp.square(y), -1, keepdims=True) + 1e-6)


def confusion(a, b):
    logits = 5 * a @ jnp.swapaxes(b, -1, -2)
    pairs = jnp.diagonal(logits, axis1=-2, axis2=-1)
    return jnp.mean(jax.nn.logsumexp(logits, -1) + jax.nn.logsumexp(logits, -2) - 2 * pairs) / 2


def members(w, out, x, y):
    return jnp.mean(jax.vmap(lambda a, b: confusion(embedded(w, out, a), embedded(w, out, b)))(x, y))


def batched(w, out, x, y):
    return confusion(embedded(w, out, x), embedded(w, out, y))


def together(w, out, x, y):  # both views in one product of all rows
    both = embedded(w, out, jnp.concatenate([x.reshape(-1, 48), y.reshape(-1, 48)])).reshape(2, 32, 64, 32)
    return confusion(both[0], both[1])


def one_by_one(w, out, x, y):
    one = lambda pair: confusion(embedded(w, out, pair[0]), embedded(w, out, pair[1]))
    return jnp.mean(jax.lax.map(one, (x, y)))


def gradient_one_by_one(w, out, x, y):
    one = lambda a, b, c, d: confusion(embedded(a, b, c), embedded(a, b, d))

    def add(total, pair):
        value, slopes = jax.value_and_grad(one, (0, 1))(w, out, *pair)
        return jax.tree.map(jnp.add, total, (value, slopes)), None

    start = (jnp.float32(0), (jnp.zeros_like(w), jnp.zeros_like(out)))
    return jax.tree.map(lambda v: v / len(x), jax.lax.scan(add, start, (x, y))[0])


twins = {f.__name__: jax.value_and_grad(f, (0, 1)) for f in (members, batched, together, one_by_one)}
twins["gradient one by one"] = gradient_one_by_one

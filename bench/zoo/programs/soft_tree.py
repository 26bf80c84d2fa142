"""A soft decision tree: four levels of gates over 16 features, 20000 rows of four classes, likelihood and gradient, float.

Bound: a product of 16 x 15 numbers for each row, there and back, and 15 sigmoids.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    f = lambda *s: random.normal(size=s).astype(np.float32)
    return [0.3 * f(15, 16), 0.1 * f(15), f(16, 4), f(20000, 16), random.integers(0, 4, size=20000).astype(np.int32)]


def of_rows(weights, offsets, leaves, x, labels):  # all rows at once, rows first
    right = jax.nn.sigmoid(x @ weights.T + offsets)
    chances = jnp.ones((len(x), 1))
    for level in range(4):
        turn = right[:, (1 << level) - 1:(2 << level) - 1]
        chances = jnp.stack([chances * (1 - turn), chances * turn], 2).reshape(len(x), -1)
    return -jnp.mean(jnp.log(jnp.sum(chances * jax.nn.softmax(leaves).T[labels], 1)))


def by_class(weights, offsets, leaves, x):  # the classes' chances, rows last
    right = jax.nn.sigmoid(weights @ x.T + offsets[:, None])
    chances = jnp.ones((1, len(x)))
    for level in range(4):
        turn = right[(1 << level) - 1:(2 << level) - 1]
        chances = jnp.stack([chances * (1 - turn), chances * turn], 1).reshape(-1, len(x))
    return jax.nn.softmax(leaves).T @ chances


def of_columns(weights, offsets, leaves, x, labels):
    each = by_class(weights, offsets, leaves, x)
    return -jnp.mean(jnp.log(jnp.take_along_axis(each, labels[None], 0)[0]))


def one_hot(weights, offsets, leaves, x, labels):
    each = by_class(weights, offsets, leaves, x)
    return -jnp.mean(jnp.log(jnp.sum(each * jax.nn.one_hot(labels, 4, axis=0), 0)))


def members(weights, offsets, leaves, x, labels):
    return jnp.mean(jax.vmap(lambda a, b: of_rows(weights, offsets, leaves, a[None], b[None]))(x, labels))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2)) for f in (of_rows, of_columns, one_hot, members)}

"""Label propagation: 20 steps of ten labels over a graph of 2000 points with eight neighbours each, loss and slope by a width, float.

Bound: reading ten floats at each of 16000 neighbours, 20 times there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    x = random.normal(size=(2000, 2)) + 3 * random.normal(size=(10, 2))[np.arange(2000) % 10]
    d = np.square(x[:, None] - x[None]).sum(2)
    near = np.argsort(d, 1)[:, 1:9]
    seeds = np.full((2000, 10), 0.1)
    seeds[::20] = np.eye(10)[np.arange(0, 2000, 20) % 10]
    return [np.float32(-2), np.take_along_axis(d, near, 1).astype(np.float32), near.astype(np.int32), seeds.astype(np.float32),
            (np.arange(2000) % 10).astype(np.int32)]


def weights(log_width, squares):
    return jax.nn.softmax(-squares * jnp.exp(-log_width))


def error(f, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(jnp.log(f + 1e-3)), labels[:, None], 1))


def repeated(around, seeds, unroll=1):
    return jax.lax.scan(lambda f, _: (0.9 * around(f) + 0.1 * seeds, None), seeds, None, length=20, unroll=unroll)[0]


def gathered(log_width, squares, near, seeds, labels):
    w = weights(log_width, squares)
    return error(repeated(lambda f: jnp.sum(w[:, :, None] * f[near], 1), seeds), labels)


def dense(log_width, squares, near, seeds, labels):
    w = jnp.zeros((2000, 2000), jnp.float32).at[jnp.arange(2000)[:, None], near].set(weights(log_width, squares))
    return error(repeated(lambda f: w @ f, seeds), labels)


def neighbour_by_neighbour(log_width, squares, near, seeds, labels):
    w = weights(log_width, squares)
    around = lambda f: sum(w[:, k, None] * f[near[:, k]] for k in range(8))
    return error(repeated(around, seeds), labels)


def columns(log_width, squares, near, seeds, labels):  # points last
    w = weights(log_width, squares)
    around = lambda f: sum(w[:, k] * jnp.take(f, near[:, k], 1, mode="clip") for k in range(8))
    return error(repeated(around, seeds.T).T, labels)


def tangent(f):
    return lambda width, *a: jax.jvp(lambda x: f(x, *a), (width,), (jnp.float32(1),))


twins = {f.__name__: jax.value_and_grad(f) for f in (gathered, dense, neighbour_by_neighbour)}
twins |= {f.__name__ + "_forward": tangent(f) for f in (gathered, neighbour_by_neighbour, columns)}

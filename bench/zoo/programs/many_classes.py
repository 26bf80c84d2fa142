"""Softmax regression of 500 classes from 128 numbers, 32 rows in each of 32 clients, loss and gradient, float.

Bound: products of floats.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [(0.1 * random.normal(size=(128, 500))).astype(np.float32), random.normal(size=(32, 32, 128)).astype(np.float32),
            random.integers(0, 500, (32, 32)).astype(np.int32)]


def loss(w, x, labels):
    return jnp.mean(-jnp.take_along_axis(jax.nn.log_softmax(x @ w), labels[:, None], 1))


def clients(w, x, labels):
    return jnp.mean(jax.vmap(loss, (None, 0, 0))(w, x, labels))


def flat(w, x, labels):
    return loss(w, x.reshape(-1, 128), labels.reshape(-1))


twins = {"clients": jax.value_and_grad(clients), "flat": jax.value_and_grad(flat)}

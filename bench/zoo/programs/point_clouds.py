"""Classes of 64 clouds of 128 points: a network for each point, the largest numbers over the points, loss and gradient, float.

Bound: products of 128 x 32 and 32 x 64 for each cloud, forward and back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    def normal(scale, *shape):
        return (scale * random.normal(size=shape)).astype(np.float32)

    return [normal(0.5, 3, 32), normal(0.1, 32), normal(0.2, 32, 64), normal(0.1, 64), normal(0.2, 64, 10), normal(0.1, 10),
            normal(1, 64, 128, 3), random.integers(0, 10, 64).astype(np.int32)]


def loss(net, points, labels):
    w1, b1, w2, b2, w3, b3 = net
    seen = jnp.max(jax.nn.relu(jax.nn.relu(points @ w1 + b1) @ w2 + b2), -2)
    logits = jax.nn.log_softmax(seen @ w3 + b3)
    return -jnp.mean(jnp.take_along_axis(logits, labels[..., None], -1))


def batch(*a):
    return jax.value_and_grad(loss)(a[:6], *a[6:])


def members(*a):
    def mean(net, points, labels):
        return jnp.mean(jax.vmap(loss, (None, 0, 0))(net, points, labels))

    return jax.value_and_grad(mean)(a[:6], *a[6:])


def flat(*a):  # points of all clouds as rows of one product
    def mean(net, points, labels):
        w1, b1, w2, b2, w3, b3 = net
        h = jax.nn.relu(jax.nn.relu(points.reshape(-1, 3) @ w1 + b1) @ w2 + b2)
        logits = jax.nn.log_softmax(jnp.max(h.reshape(64, 128, 64), 1) @ w3 + b3)
        return -jnp.mean(jnp.take_along_axis(logits, labels[:, None], 1))

    return jax.value_and_grad(mean)(a[:6], *a[6:])


twins = {"batch": batch, "members": members, "flat": flat}

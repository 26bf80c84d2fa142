"""Mixture density network: 4-32-15 with five normals, likelihood of 8000 examples and its gradient, float.

Bound: hyperbolic tangents and exponentials of floats, and products with a layer of 32 units.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    net = [0.5 * random.normal(size=s) for s in ((4, 32), 32, (32, 15), 15)]
    x = random.normal(size=(8000, 4))
    y = np.sin(2 * x[:, 0]) * np.sign(random.normal(size=8000)) + 0.2 * random.normal(size=8000)
    return [a.astype(np.float32) for a in (*net, x, y)]


def surprise(out, y, axis):
    means, log_scales, weights = jnp.split(out, 3, axis)
    z = (y - means) * jnp.exp(-log_scales)
    return -jax.nn.logsumexp(jax.nn.log_softmax(weights, axis) - 0.5 * jnp.square(z) - log_scales, axis)


def members(w1, b1, w2, b2, x, y):
    return jnp.mean(jax.vmap(lambda u, v: surprise(jnp.tanh(u @ w1 + b1) @ w2 + b2, v, 0))(x, y))


def rows(w1, b1, w2, b2, x, y):
    return jnp.mean(surprise(jnp.tanh(x @ w1 + b1) @ w2 + b2, y[:, None], 1))


def columns(w1, b1, w2, b2, x, y):
    return jnp.mean(surprise(w2.T @ jnp.tanh(w1.T @ x.T + b1[:, None]) + b2[:, None], y, 0))


def late_columns(w1, b1, w2, b2, x, y):  # examples come to lie side by side after the second product
    return jnp.mean(surprise((jnp.tanh(x @ w1 + b1) @ w2).T + b2[:, None], y, 0))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2, 3)) for f in (members, rows, columns, late_columns)}

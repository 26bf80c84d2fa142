"""Soft k-means: distortion of 100000 points of 16 numbers by 32 centres, and its derivative by the temperature, float.

Bound: vectors of floats: 16 differences and squares for each of 3.2e6 pairs, and an exponential.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [np.float32(3), random.normal(size=(32, 16)).astype(np.float32), random.normal(size=(100000, 16)).astype(np.float32)]


def weighed(squares, heat):
    return jnp.mean(jnp.sum(jax.nn.softmax(-squares / heat, axis=1) * squares, axis=1))


def direct(heat, c, x):
    return weighed(jnp.sum(jnp.square(x[:, None] - c), 2), heat)


def products(heat, c, x):
    return weighed(jnp.sum(x * x, 1)[:, None] - 2 * x @ c.T + jnp.sum(c * c, 1), heat)


def member(heat, c, x):
    squares = jnp.sum(jnp.square(x - c), 1)
    return jnp.dot(jax.nn.softmax(-squares / heat), squares)


def forward(f):
    return lambda heat, c, x: jax.jvp(lambda h: f(h, c, x), (heat,), (jnp.float32(1),))


twins = {
    "distances": jax.value_and_grad(direct),
    "products": jax.value_and_grad(products),
    "products, forward": forward(products),
    "members": jax.value_and_grad(lambda h, c, x: jnp.mean(jax.vmap(member, (None, None, 0))(h, c, x))),
}

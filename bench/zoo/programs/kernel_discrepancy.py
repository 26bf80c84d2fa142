"""Kernel score: pairwise distances of 4000 samples to 256 points, and the gradient by these and the width, float.

Bound: vectors of floats: an exponential and 12 operations for each of 1e6 pairs, twice.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [np.float32(1.5), random.normal(size=(256, 4)).astype(np.float32), random.normal(size=(4000, 4)).astype(np.float32)]


def distances(width, theirs, ours):
    return jnp.log(jnp.mean(jnp.exp(-jnp.sum(jnp.square(ours[:, None] - theirs), 2) / (2 * jnp.square(width)))))


def products(width, theirs, ours):
    squares = jnp.sum(ours * ours, 1)[:, None] - 2 * ours @ theirs.T + jnp.sum(theirs * theirs, 1)
    return jnp.log(jnp.mean(jnp.exp(-squares / (2 * jnp.square(width)))))


def columns(width, theirs, ours):
    squares = sum(jnp.square(ours[:, None, i] - theirs[:, i]) for i in range(4))
    return jnp.log(jnp.mean(jnp.exp(-squares / (2 * jnp.square(width)))))


twins = {f.__name__: jax.value_and_grad(f, (0, 1)) for f in (distances, products, columns)}

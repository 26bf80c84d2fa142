"""Matrix factorisation: 24 ratings of each of 4000 users, 500 items, 16 factors, loss and gradient by both, float.

Bound: gathering and scattering of rows of 64 bytes.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [(0.3 * random.normal(size=(500, 16))).astype(np.float32), (0.3 * random.normal(size=(4000, 16))).astype(np.float32),
            random.integers(0, 500, size=(4000, 24)).astype(np.int32), random.normal(size=(4000, 24)).astype(np.float32)]


def batched(items, own, which, stars):
    seen = items[which]
    return (jnp.sum(jnp.square(jnp.einsum("urf,uf->ur", seen, own) - stars)) + 0.1 * (jnp.sum(seen * seen) + jnp.sum(own * own)))


def flat(items, own, which, stars):
    seen = items[which.reshape(-1)]
    predicted = jnp.sum(seen * jnp.repeat(own, 24, 0), -1)
    return jnp.sum(jnp.square(predicted - stars.reshape(-1))) + 0.1 * (jnp.sum(seen * seen) + jnp.sum(own * own))


def dense(items, own, which, stars):  # all products at once, of which some are read
    predicted = jnp.take_along_axis(own @ items.T, which, 1)
    squares = jnp.sum(items * items, 1)
    return jnp.sum(jnp.square(predicted - stars)) + 0.1 * (jnp.sum(squares[which]) + jnp.sum(own * own))


twins = {f.__name__: jax.value_and_grad(f, (0, 1)) for f in (batched, flat, dense)}

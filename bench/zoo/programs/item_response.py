"""Item response: 5000 pupils who answer 24 of 40 items each, likelihood and gradient by the items, float.

Bound: vectors of floats, and gathering and scattering of numbers.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [(0.2 * random.normal(size=40)).astype(np.float32), random.normal(size=40).astype(np.float32),
            random.normal(size=5000).astype(np.float32), random.integers(0, 40, (5000, 24)).astype(np.int32),
            random.integers(0, 2, (5000, 24)).astype(np.float32)]


def gathered(steepness, difficulty, ability, item, right):
    score = jnp.exp(steepness[item]) * (ability[:, None] - difficulty[item])
    return -jnp.mean(jnp.sum(right * score - jax.nn.softplus(score), 1) - 0.5 * jnp.square(ability))


def exponentials_first(steepness, difficulty, ability, item, right):
    score = jnp.exp(steepness)[item] * (ability[:, None] - difficulty[item])
    return -jnp.mean(jnp.sum(right * score - jax.nn.softplus(score), 1) - 0.5 * jnp.square(ability))


def one_hot(steepness, difficulty, ability, item, right):
    chosen = jax.nn.one_hot(item.reshape(-1), 40, dtype=jnp.float32)
    both = (chosen @ jnp.stack([jnp.exp(steepness), difficulty], 1)).reshape(5000, 24, 2)
    score = both[:, :, 0] * (ability[:, None] - both[:, :, 1])
    return -jnp.mean(jnp.sum(right * score - jax.nn.softplus(score), 1) - 0.5 * jnp.square(ability))


twins = {f.__name__: jax.value_and_grad(f, (0, 1)) for f in (gathered, exponentials_first, one_hot)}

"""A factorisation machine: 10000 rows of 10 of 2000 features with 16 factors each, value and gradient, float.

Bound: gathering and scattering of rows of 16 floats.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    f = lambda s, *shape: (s * random.normal(size=shape)).astype(np.float32)
    features = random.integers(0, 2000, size=(10000, 10)).astype(np.int32)
    return [np.float32(0.1), f(0.1, 2000), f(0.1, 2000, 16), features, random.integers(0, 2, size=10000).astype(np.float32)]


def of_row(bias, weights, factors, features, clicked):
    own = factors[features]
    pairs = jnp.sum(jnp.square(jnp.sum(own, 0)) - jnp.sum(jnp.square(own), 0))
    score = bias + jnp.sum(weights[features]) + 0.5 * pairs
    return jax.nn.softplus(score) - clicked * score


def members(bias, weights, factors, features, clicked):
    return jnp.mean(jax.vmap(lambda f, c: of_row(bias, weights, factors, f, c))(features, clicked))


def flat(bias, weights, factors, features, clicked):
    own = factors[features]
    pairs = jnp.sum(jnp.square(jnp.sum(own, 1)) - jnp.sum(jnp.square(own), 1), 1)
    score = bias + jnp.sum(weights[features], 1) + 0.5 * pairs
    return jnp.mean(jax.nn.softplus(score) - clicked * score)


def one_table(bias, weights, factors, features, clicked):  # weights beside factors: one gather, one scatter
    own = jnp.concatenate([factors, weights[:, None]], 1)[features]
    sums = jnp.sum(own, 1)
    pairs = jnp.sum(jnp.square(sums[:, :16]) - jnp.sum(jnp.square(own[..., :16]), 1), 1)
    score = bias + sums[:, 16] + 0.5 * pairs
    return jnp.mean(jax.nn.softplus(score) - clicked * score)


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2)) for f in (members, flat, one_table)}

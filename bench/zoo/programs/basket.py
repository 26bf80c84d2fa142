"""A basket of five correlated assets: option on the best over 10000 paths of 12 dates with keys, price and gradient, float.

Bound: vectors of integers: random bits, and the inverse error function.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    correlation = 0.6 * np.eye(5) + 0.4
    return [np.linspace(0.9, 1.1, 5, dtype=np.float32), np.linspace(0.1, 0.4, 5, dtype=np.float32), correlation.astype(np.float32),
            np.arange(10000, dtype=np.int32)]


def noise(i):
    return jax.random.normal(jax.random.fold_in(jax.random.key(3), i), (12, 5), jnp.float32)


def members(start, spread, correlation, numbers):
    factor = jnp.linalg.cholesky(correlation)

    def payoff(i):
        step = lambda logs, n: (logs + 0.29 * spread * (factor @ n) - 0.042 * spread**2, None)
        return jax.nn.relu(jnp.max(start * jnp.exp(jax.lax.scan(step, jnp.zeros(5, jnp.float32), noise(i))[0])) - 1.2)

    return jnp.mean(jax.vmap(payoff)(numbers))


def summed(start, spread, correlation, numbers):  # the steps' sum at once
    factor = jnp.linalg.cholesky(correlation)
    total = jnp.sum(jax.vmap(noise)(numbers), 1)
    ends = start * jnp.exp(0.29 * spread * (total @ factor.T) - 12 * 0.042 * spread**2)
    return jnp.mean(jax.nn.relu(jnp.max(ends, 1) - 1.2))


def columns(start, spread, correlation, numbers):
    factor = jnp.linalg.cholesky(correlation)
    total = jnp.sum(jax.vmap(noise)(numbers), 1).T
    s, p = spread[:, None], start[:, None]
    ends = p * jnp.exp(0.29 * s * (factor @ total) - 12 * 0.042 * s**2)
    return jnp.mean(jax.nn.relu(jnp.max(ends, 0) - 1.2))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2)) for f in (members, summed, columns)}

"""Evolution strategy: a step by 4096 antithetic pairs of 32 numbers, with keys, float.

Bound: vectors of integers: random bits and the inverse error function.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.normal(size=32).astype(np.float32), np.arange(4096, dtype=np.int32)]


def rosenbrock(x):
    return jnp.sum(100 * jnp.square(x[..., 1:] - jnp.square(x[..., :-1])) + jnp.square(1 - x[..., :-1]), -1)


def noise(i):
    return jax.random.normal(jax.random.fold_in(jax.random.key(7), i), 32, jnp.float32)


def members(x, i):
    def direction(k):
        n = noise(k)
        return n * (rosenbrock(x + 0.05 * n) - rosenbrock(x - 0.05 * n)) / 0.1

    return x - 1e-4 * jnp.mean(jax.vmap(direction)(i), 0)


def product(x, i):
    n = jax.vmap(noise)(i)
    return x - 1e-3 * ((rosenbrock(x + 0.05 * n) - rosenbrock(x - 0.05 * n)) @ n) / i.shape[0]


twins = {"members": members, "product": product}

"""Ensemble Kalman filter: 100 runs of ten cycles with 16 states of Lorenz's 40 numbers, of which 20 are seen, float.

Bound: vectors of floats: 20 evaluations of 640 numbers, 320 random numbers and a system of 20 x 20 in each cycle.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    start = 2.0 + random.normal(size=(16, 40))
    return [start.astype(np.float32), np.arange(100, dtype=np.int64), (2.0 + random.normal(size=(100, 10, 20))).astype(np.float32)]


def speed(x):
    return (jnp.roll(x, -1, 1) - jnp.roll(x, 2, 1)) * jnp.roll(x, 1, 1) - x + 8


def forecast(x, _):
    a = speed(x)
    b = speed(x + 0.005 * a)
    c = speed(x + 0.005 * b)
    d = speed(x + 0.01 * c)
    return x + 0.01 / 6 * (a + 2 * b + 2 * c + d), None


def run(batch, unroll, solve):
    def one(start, key, observed):
        def cycle(carry, y):
            x, number = carry
            x = jax.lax.scan(forecast, x, None, length=5, unroll=unroll)[0]
            drawn = jax.random.normal(jax.random.fold_in(jax.random.key(key), number), (16, 20), jnp.float32)
            at = x[:, ::2]
            apart, heights = x - jnp.mean(x, 0), at - jnp.mean(at, 0)
            own = heights.T @ heights / 15 + jnp.eye(20, dtype=jnp.float32)
            following = x + (y + drawn - at) @ solve(own, heights.T @ apart / 15)
            return (following, number + 1), jnp.mean(jnp.square(jnp.mean(at, 0) - y))

        (last, _), errors = jax.lax.scan(cycle, (start, 0), observed)
        return jnp.mean(last, 0), jnp.mean(errors)

    def both(start, keys, observed):
        means, errors = batch(lambda d: one(start, *d), (keys, observed))
        return jnp.mean(means, 0), jnp.mean(errors)

    return both


cholesky = lambda a, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), b)
vmapped = lambda f, xs: jax.vmap(f)(xs)
twins = {"members": run(vmapped, 1, jnp.linalg.solve), "cholesky": run(vmapped, 5, cholesky),
         "one_by_one": run(jax.lax.map, 5, cholesky)}

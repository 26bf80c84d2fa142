"""Kalman filter of 4 states: likelihood of 1000 series of 200 steps and its gradient, double.

Bound: vectors of doubles in a chain of 200 steps.
"""

import jax
import jax.numpy as jnp
import numpy as np

F = np.eye(4) + 0.1 * np.eye(4, k=2)
H = np.eye(2, 4)


def arguments(random):
    return [np.float64(-2), np.float64(-1), np.cumsum(random.normal(size=(1000, 200, 2)), axis=1) * 0.3]


def likelihood(inverse_and_logdet, unroll):
    def of_one(moved, seen, y):
        q, r = jnp.exp(moved) * jnp.eye(4), jnp.exp(seen) * jnp.eye(2)

        def step(carry, z):
            x, p, total = carry
            ahead, spread = F @ x, F @ p @ F.T + q
            e, s = z - H @ ahead, H @ spread @ H.T + r
            inverse, logdet = inverse_and_logdet(s)
            gain = spread @ H.T @ inverse
            return (ahead + gain @ e, spread - gain @ H @ spread, total - 0.5 * (logdet + e @ inverse @ e)), None

        return jax.lax.scan(step, (jnp.zeros(4), jnp.eye(4), 0.0), y, unroll=unroll)[0][2]

    return of_one


def library(s):
    return jnp.linalg.inv(s), jnp.linalg.slogdet(s)[1]


def closed(s):
    (a, b), (c, d) = s
    determinant = a * d - b * c
    return jnp.array([[d, -b], [-c, a]]) / determinant, jnp.log(determinant)


def mean(f):
    return lambda moved, seen, y: jnp.mean(jax.vmap(f, (None, None, 0))(moved, seen, y))


twins = {
    "library": jax.value_and_grad(mean(likelihood(library, 1)), (0, 1)),
    "closed forms": jax.value_and_grad(mean(likelihood(closed, 1)), (0, 1)),
    "closed forms, forward": lambda m, s, y: (
        mean(likelihood(closed, 1))(m, s, y), jax.jacfwd(mean(likelihood(closed, 1)), (0, 1))(m, s, y)),
    "closed forms, unrolled": jax.value_and_grad(mean(likelihood(closed, 4)), (0, 1)),
}

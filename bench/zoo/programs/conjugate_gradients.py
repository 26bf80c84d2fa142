"""Conjugate gradients: five steps on the normal equations of 20000 rows of 64 numbers, float.

Bound: cache or memory: 5 MB are read once in each step.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.normal(size=64).astype(np.float32), random.normal(size=(20000, 64)).astype(np.float32)]


def solved(times):
    def of(b, x):
        def step(_, state):
            w, r, p = state
            ap = times(p, x)
            rate = r @ r / (p @ ap)
            after = r - rate * ap
            return w + rate * p, after, after + p * (after @ after / (r @ r))

        return jax.lax.fori_loop(0, 5, step, (jnp.zeros_like(b), b, b))[0]

    return of


def products(v, x):
    return v + (x @ v) @ x / x.shape[0]


def gram(b, x):  # the matrix once
    a = x.T @ x / x.shape[0]
    return solved(lambda v, _: v + a @ v)(b, x)


def blocks(v, x):  # each block of rows is read from the first cache the second time
    def add(total, part):
        return total + (part @ v) @ part, None

    return v + jax.lax.scan(add, jnp.zeros_like(v), x.reshape(-1, 100, 64))[0] / x.shape[0]


twins = {"products": solved(products), "blocks": solved(blocks), "the matrix": gram}

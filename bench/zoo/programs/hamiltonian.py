"""Hamiltonian Monte Carlo: eight moves of ten leapfrog steps in 1000 chains on a funnel of 10 numbers, float.

Bound: vectors of floats in a chain of 80 steps.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [(0.3 * random.normal(size=(1000, 10))).astype(np.float32), np.arange(1000, dtype=np.int32)]


def energy(x):
    v = x[0]
    return jnp.square(v) / 18 + 0.5 * jnp.exp(-v) * jnp.sum(jnp.square(x[1:]), 0) + 4.5 * v


def sample(x, i, slope, unroll):  # of one chain, or of all with chains along the last axis
    def draw(k):
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(5), i), k)
        return jax.random.normal(key, 10, jnp.float32), jax.random.uniform(jax.random.fold_in(key, 1), 1)[0]

    return moved(x, draw, slope, unroll)


def moved(x, draw, slope, unroll):
    def move(k, x):
        p, u = draw(k)

        def leap(state, _):
            q, speed = state
            half = speed - 0.05 * slope(q)
            q = q + 0.1 * half
            return (q, half - 0.05 * slope(q)), None

        q, speed = jax.lax.scan(leap, (x, p), None, length=10, unroll=unroll)[0]
        gain = energy(x) - energy(q) + 0.5 * (jnp.sum(p * p, 0) - jnp.sum(speed * speed, 0))
        return jnp.where(jnp.log(u) < gain, q, x)

    return jax.lax.fori_loop(0, 8, move, x)


def columns(x, i, unroll=1):
    def draw(k):
        keys = jax.vmap(lambda j: jax.random.fold_in(jax.random.fold_in(jax.random.key(5), j), k))(i)
        p = jax.vmap(lambda key: jax.random.normal(key, 10, jnp.float32))(keys)
        return p.T, jax.vmap(lambda key: jax.random.uniform(jax.random.fold_in(key, 1), 1)[0])(keys)

    return jnp.mean(moved(x.T, draw, jax.grad(lambda q: jnp.sum(energy(q))), unroll), 1)


twins = {"members": lambda x, i: jnp.mean(jax.vmap(lambda a, k: sample(a, k, jax.grad(energy), 1))(x, i), 0),
         "columns": columns, "columns, unrolled": lambda x, i: columns(x, i, 10)}

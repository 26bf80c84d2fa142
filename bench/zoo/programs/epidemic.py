"""Epidemic: Poisson likelihood of 60 days of cases in 2000 regions, gradient by the rates and each start, float.

Bound: vectors of floats in a chain of 60 steps, a logarithm in each.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [np.float32(-1.2), np.float32(-2.3), np.float32(-1), random.uniform(1e-4, 1e-3, 2000).astype(np.float32),
            random.poisson(200, size=(2000, 60)).astype(np.float32)]


def of(contacts, recoveries, reported, start, cases, unroll=1):  # cases: days first
    beta, gamma, scale = jnp.exp(contacts), jnp.exp(recoveries), 1e5 * jnp.exp(reported)

    def day(state, seen):
        healthy, ill = state
        fresh = beta * healthy * ill
        expected = scale * fresh
        return (healthy - fresh, ill + fresh - gamma * ill), seen * jnp.log(expected) - expected

    return jnp.sum(jax.lax.scan(day, (1 - start, start), cases, unroll=unroll)[1], 0)


def members(contacts, recoveries, reported, start, cases):
    return jnp.mean(jax.vmap(lambda s, c: of(contacts, recoveries, reported, s, c))(start, cases))


def columns(contacts, recoveries, reported, start, cases):
    return jnp.mean(of(contacts, recoveries, reported, start, cases.T))


def unrolled(contacts, recoveries, reported, start, cases):
    return jnp.mean(of(contacts, recoveries, reported, start, cases.T, unroll=6))


def logarithms_last(contacts, recoveries, reported, start, cases):  # one loop for the states, and all logarithms at once
    beta, gamma, scale = jnp.exp(contacts), jnp.exp(recoveries), 1e5 * jnp.exp(reported)

    def day(state, _):
        healthy, ill = state
        fresh = beta * healthy * ill
        return (healthy - fresh, ill + fresh - gamma * ill), fresh

    expected = scale * jax.lax.scan(day, (1 - start, start), None, length=60)[1]
    return jnp.mean(jnp.sum(cases.T * jnp.log(expected) - expected, 0))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2, 3)) for f in (members, columns, unrolled, logarithms_last)}

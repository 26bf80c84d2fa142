"""Bandit of ten arms: 1000 runs of 100 pulls by a gradient policy, with keys, float.

Bound: vectors of integers: random bits, and logarithms.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.normal(size=10).astype(np.float32), np.float32(0.3), np.arange(1000, dtype=np.int32)]


def reward(means, rate, seed, unroll=1):
    key = jax.random.fold_in(jax.random.key(3), seed)

    def pull(state, i):
        preference, total, average = state
        own = jax.random.fold_in(key, i)
        policy = jax.nn.softmax(preference)
        chosen = jax.nn.one_hot(jnp.argmax(preference + jax.random.gumbel(own, 10, jnp.float32)), 10, dtype=jnp.float32)
        got = jnp.dot(chosen, means) + jax.random.uniform(jax.random.fold_in(own, 1), 1, jnp.float32, -0.5, 0.5)[0]
        return (preference + rate * (got - average) * (chosen - policy), total + got, average + 0.1 * (got - average)), None

    zero = jnp.float32(0)
    return jax.lax.scan(pull, (jnp.zeros(10, jnp.float32), zero, zero), jnp.arange(100), unroll=unroll)[0][1]


def drawn_before(means, rate, seeds):  # all random numbers in one go
    def keys(seed):
        own = jax.vmap(lambda i: jax.random.fold_in(jax.random.fold_in(jax.random.key(3), seed), i))(jnp.arange(100))
        draws = jax.vmap(lambda k: jax.random.gumbel(k, 10, jnp.float32))(own)
        noise = jax.vmap(lambda k: jax.random.uniform(jax.random.fold_in(k, 1), 1, jnp.float32, -0.5, 0.5)[0])(own)
        return draws, noise

    draws, noise = jax.vmap(keys)(seeds)

    def pull(state, drawn):
        preference, total, average = state
        chosen = jax.nn.one_hot(jnp.argmax(preference + drawn[0], 1), 10, dtype=jnp.float32)
        got = chosen @ means + drawn[1]
        gain = rate * (got - average)
        return (preference + gain[:, None] * (chosen - jax.nn.softmax(preference)), total + got, average + 0.1 * (got - average)), None

    zero = jnp.zeros(seeds.shape, jnp.float32)
    return jnp.mean(jax.lax.scan(pull, (jnp.zeros((*seeds.shape, 10), jnp.float32), zero, zero), (draws.swapaxes(0, 1), noise.T))[0][1])


twins = {"members": lambda m, r, s: jnp.mean(jax.vmap(reward, (None, None, 0))(m, r, s)), "drawn before": drawn_before}

"""Ising model: 20 sweeps of Metropolis on 64 lattices of 32x32 spins, with keys, float.

Bound: vectors of integers: random bits; and exponentials of floats.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [np.float32(0.45), random.choice(np.float32([-1, 1]), size=(64, 32, 32)), np.arange(64, dtype=np.int32)]


ODD = (np.arange(32)[:, None] + np.arange(32)) % 2


def half(heat, s, u, chosen):
    around = jnp.roll(s, 1, -2) + jnp.roll(s, -1, -2) + jnp.roll(s, 1, -1) + jnp.roll(s, -1, -1)
    return jnp.where(chosen & (u < jnp.exp(-2 * heat * s * around)), -s, s)


def keys(number, i):
    own = jax.random.fold_in(jax.random.fold_in(jax.random.key(3), number), i)
    return jax.random.fold_in(own, 0), jax.random.fold_in(own, 1)


def uniform(key):
    return jax.random.uniform(key, (32, 32), jnp.float32)


def members(heat, spins, numbers):
    def chain(s, number):
        def sweep(i, s):
            first, second = keys(number, i)
            return half(heat, half(heat, s, uniform(first), ODD == 0), uniform(second), ODD == 1)

        return jnp.abs(jnp.mean(jax.lax.fori_loop(0, 20, sweep, s)))

    return jnp.mean(jax.vmap(chain)(spins, numbers))


def drawn_before(heat, spins, numbers):
    draws = jax.vmap(jax.vmap(lambda number, i: jax.tree.map(uniform, keys(number, i)), (0, None)), (None, 0))(numbers, jnp.arange(20))
    sweep = lambda s, u: (half(heat, half(heat, s, u[0], ODD == 0), u[1], ODD == 1), None)
    return jnp.mean(jnp.abs(jnp.mean(jax.lax.scan(sweep, spins, draws)[0], (1, 2))))


def one_by_one(heat, spins, numbers):
    return jnp.mean(jax.lax.map(lambda own: members(heat, own[0][None], own[1][None]), (spins, numbers)))


twins = {"members": members, "drawn before": drawn_before, "one by one": one_by_one}

"""Permutation tests: 100 shuffles of 40 numbers for each of 500 genes, with keys, mean p and the share below 0.05, float.

Bound: vectors of integers: random bits and sorts of 40 of them, 50000 times.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    x = random.normal(size=(500, 40))
    x[:50, :20] += 1
    return [np.int64(7), x.astype(np.float32)]


def difference(x):
    return jnp.mean(x[..., :20], -1) - jnp.mean(x[..., 20:], -1)


def keys(seed):
    of_gene = jax.vmap(lambda i: jax.random.fold_in(jax.random.key(seed), i))(jnp.arange(500))
    return jax.vmap(lambda k: jax.vmap(lambda i: jax.random.fold_in(k, i))(jnp.arange(100)))(of_gene)


def result(more):
    p = (1 + more) / 101
    return jnp.mean((p <= 0.05).astype(jnp.float32)), jnp.mean(p)


def members(seed, data):
    def p(i, x):
        key, seen = jax.random.fold_in(jax.random.key(seed), i), jnp.abs(difference(x))

        def one(j, count):
            return count + (jnp.abs(difference(x[jax.random.permutation(jax.random.fold_in(key, j), 40)])) >= seen)

        return jax.lax.fori_loop(0, 100, one, jnp.float32(0))

    return result(jax.vmap(p)(jnp.arange(500), data))


def drawn_before(seed, data, one_by_one=False):
    def p(key, x):
        order = jax.vmap(lambda k: jax.random.permutation(k, 40))(key)
        return jnp.sum(jnp.abs(difference(x[order])) >= jnp.abs(difference(x)), dtype=jnp.float32)

    if one_by_one:
        return result(jax.lax.map(lambda a: p(*a), (keys(seed), data)))
    return result(jax.vmap(p)(keys(seed), data))


def shuffled(seed, data, one_by_one=False):  # the numbers themselves instead of their places
    def p(key, x):
        shuffles = jax.vmap(lambda k: jax.random.permutation(k, x))(key)
        return jnp.sum(jnp.abs(difference(shuffles)) >= jnp.abs(difference(x)), dtype=jnp.float32)

    if one_by_one:
        return result(jax.lax.map(lambda a: p(*a), (keys(seed), data)))
    return result(jax.vmap(p)(keys(seed), data))


twins = {"members": members, "drawn_before": drawn_before, "shuffled": shuffled,
         "one_by_one": lambda *a: drawn_before(*a, True), "shuffled_one_by_one": lambda *a: shuffled(*a, True)}

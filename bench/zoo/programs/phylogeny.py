"""Phylogeny: likelihood of a tree of 16 species over 2000 sites by pruning, gradient by rates and lengths of branches, double.

Bound: products of matrices of 4 x 4 with vectors, 30 for each site there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [0.3 * random.normal(size=(4, 4)), -2 + 0.3 * random.normal(size=30),
            random.integers(0, 4, (2000, 16)).astype(np.int32)]


def transitions(raw, length):
    exchange = jnp.exp(raw + raw.T) * (1 - jnp.eye(4))
    q = exchange - jnp.diag(jnp.sum(exchange, 1))
    small = jnp.exp(length)[:, None, None] * q / 64
    term, series = small, jnp.eye(4) + small
    for n in range(2, 8):
        term = term @ small / n
        series = series + term
    for _ in range(6):
        series = series @ series
    return series


def members(raw, length, states):
    moves = transitions(raw, length)

    def site(own):
        partials, begin = jax.nn.one_hot(own, 4, dtype=float), 0
        while len(partials) > 1:
            n = len(partials)
            partials = jnp.einsum("bij,bj->bi", moves[begin:begin + n], partials).reshape(n // 2, 2, 4).prod(1)
            begin += n
        return jnp.log(jnp.mean(partials))

    return -jnp.mean(jax.vmap(site)(states))


def columns(product, first):
    def loss(raw, length, states):
        moves = transitions(raw, length)
        below, begin = first(moves[:16], states), 16
        partials = below[0::2] * below[1::2]
        while len(partials) > 1:
            n = len(partials)
            below = product(moves[begin:begin + n], partials)
            partials = below[0::2] * below[1::2]
            begin += n
        return -jnp.mean(jnp.log(jnp.mean(partials[0], 0)))

    return loss


def sums(moves, partials):
    return sum(moves[:, :, j, None] * partials[:, None, j] for j in range(4))


def one_hot(product):
    return lambda moves, states: product(moves, jax.nn.one_hot(states.T, 4, axis=1, dtype=float))


def taken(moves, states):
    return jax.vmap(lambda m, s: m[:, s])(moves, states.T)


twins = {"members": members, "columns": columns(jnp.matmul, one_hot(jnp.matmul)), "columns_taken": columns(jnp.matmul, taken),
         "sums": columns(sums, one_hot(sums)), "sums_taken": columns(sums, taken)}
twins = {name: jax.value_and_grad(f, (0, 1)) for name, f in twins.items()}

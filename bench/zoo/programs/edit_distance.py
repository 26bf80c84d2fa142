"""Edit distances of 2000 pairs of words of 32 letters, whole numbers.

Bound: a chain of 32 steps of running minima, in vectors over pairs.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.integers(0, 6, size=(2000, 32)).astype(np.int32), random.integers(0, 6, size=(2000, 32)).astype(np.int32)]


def step(running, b, places, before, letter):
    best = jnp.minimum(before[:-1] + (b != letter), before[1:] + 1)
    return running(jnp.concatenate([before[:1] + 1, best]) - places) + places


def rows(a, b):
    places = jnp.arange(33, dtype=jnp.int32)
    one = lambda x, y: jax.lax.scan(lambda d, letter: (step(jax.lax.cummin, y, places, d, letter), None), places, x)[0][32]
    d = jax.vmap(one)(a, b)
    return jnp.sum(d).astype(jnp.int32), jnp.max(d)


def columns(a, b):  # pairs in the last axis
    places = jnp.arange(33, dtype=jnp.int32)[:, None]
    first = jnp.broadcast_to(places, (33, len(a)))
    d = jax.lax.scan(lambda d, letter: (step(jax.lax.cummin, b.T, places, d, letter), None), first, a.T)[0][32]
    return jnp.sum(d).astype(jnp.int32), jnp.max(d)


def cells(a, b):  # each row a scan over its places
    y = b.T

    def row(d, letter):
        best = jnp.minimum(d[:-1] + (y != letter), d[1:] + 1)
        along = lambda left, x: (jnp.minimum(left + 1, x),) * 2
        return jnp.concatenate([d[:1] + 1, jax.lax.scan(along, d[0] + 1, best, unroll=8)[1]]), None

    first = jnp.broadcast_to(jnp.arange(33, dtype=jnp.int32)[:, None], (33, len(a)))
    d = jax.lax.scan(row, first, a.T)[0][32]
    return jnp.sum(d).astype(jnp.int32), jnp.max(d)


def smallest_so_far(x):  # by shifts of 1, 2, 4, ... places
    for k in (1, 2, 4, 8, 16, 32):
        x = jnp.concatenate([x[:k], jnp.minimum(x[k:], x[:-k])])
    return x


def shifted(a, b):
    places = jnp.arange(33, dtype=jnp.int32)[:, None]
    first = jnp.broadcast_to(places, (33, len(a)))
    d = jax.lax.scan(lambda d, letter: (step(smallest_so_far, b.T, places, d, letter), None), first, a.T)[0][32]
    return jnp.sum(d).astype(jnp.int32), jnp.max(d)


def diagonals(a, b):  # place i of diagonal k is cell (i, k - i)
    i = jnp.arange(33, dtype=jnp.int32)[:, None]
    letters, other = jnp.pad(a.T, ((1, 0), (0, 0))), jnp.pad(b.T[::-1], ((33, 33), (0, 0)), constant_values=-1)
    down = lambda x: jnp.concatenate([x[:1], x[:-1]])

    def along(diagonals, k):
        two, one = diagonals
        differ = letters != jax.lax.dynamic_slice_in_dim(other, 65 - k, 33)
        cell = jnp.minimum(down(two) + differ, jnp.minimum(one, down(one)) + 1)
        now = jnp.where((i == 0) | (i == k), k, cell)
        return (one, now), None

    shape = (33, len(a))
    first = jnp.zeros(shape, jnp.int32), jnp.ones(shape, jnp.int32)
    d = jax.lax.scan(along, first, jnp.arange(2, 65, dtype=jnp.int32), unroll=2)[0][1][32]
    return jnp.sum(d).astype(jnp.int32), jnp.max(d)


twins = {"rows": rows, "columns": columns, "cells": cells, "shifted": shifted, "diagonals": diagonals}

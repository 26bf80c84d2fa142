"""Histograms of 64 bins: of 2000 records of 256 numbers each, their sum and their fullest bins, float.

Bound: additions to bins, one after the other.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.normal(size=(2000, 256)).astype(np.float32)]


def bins(x):
    return jnp.clip(jnp.floor(8 * x + 32), 0, 63).astype(jnp.int32)


def scattered(x):
    return jnp.zeros(64, jnp.int32).at[bins(x)].add(1)


def compared(x):
    return jnp.sum(bins(x)[:, None] == jnp.arange(64), 0, dtype=jnp.int32)


def sorted_bins(x):
    ends = jnp.searchsorted(jnp.sort(bins(x)), jnp.arange(65))
    return jnp.diff(ends).astype(jnp.int32)


def spread(count):
    def both(data):
        own = jax.vmap(count)(data)
        return jnp.cumsum(jnp.sum(own, 0)).astype(jnp.int32), jnp.mean(jnp.max(own, 1).astype(jnp.float32))

    return both


def at_once(data):  # all records in one scatter
    own = jnp.zeros((len(data), 64), jnp.int32).at[jnp.arange(len(data))[:, None], bins(data)].add(1)
    return jnp.cumsum(jnp.sum(own, 0)).astype(jnp.int32), jnp.mean(jnp.max(own, 1).astype(jnp.float32))


twins = {"scattered": spread(scattered), "compared": spread(compared), "sorted": spread(sorted_bins), "at once": at_once}

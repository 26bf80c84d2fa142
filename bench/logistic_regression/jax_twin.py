#!/usr/bin/env python3
"""The logistic regression's loss and gradient in JAX, on as many cores as there are threads.

With --mesh the rows are split over as many host devices as threads.
"""

import os
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()
use_mesh = "--mesh" in suite.more and suite.threads > 1
if use_mesh:
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={suite.threads}"

import jax  # noqa: E402  (after the affinity is set)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import AxisType, NamedSharding, PartitionSpec  # noqa: E402

FEATURES, BLOCK_BYTES = 100, 400_000  # a block stays in the second cache; from 200 to 5000 rows it matters little
jax.config.update("jax_enable_x64", True)
if use_mesh:
    mesh = jax.make_mesh((suite.threads,), ("rows",), axis_types=(AxisType.Auto,))


def total(w, x, y):
    z = x.astype(w.dtype) @ w
    return jnp.sum(jnp.logaddexp(z, 0) - y * z)


def at_once(w, x, y):
    return jax.value_and_grad(total)(w, x, y)


def by_blocks(w, x, y):
    """One pass over the rows: value and gradient of a block while it is in a cache, added up by a scan."""
    rows = BLOCK_BYTES // (FEATURES * x.dtype.itemsize)
    blocks = x.reshape(-1, rows, FEATURES), y.reshape(-1, rows)
    add_block = lambda sums, block: (jax.tree.map(jnp.add, sums, jax.value_and_grad(total)(w, *block)), None)
    return jax.lax.scan(add_block, (jnp.zeros((), w.dtype), jnp.zeros_like(w)), blocks)[0]


def by_blocks_of_bits(w, x, y):
    """The same of bfloat16s given as their bits: XLA for CPUs makes floats of a whole array of bfloat16s, ahead of the scan."""
    widened = lambda bits: jax.lax.bitcast_convert_type(bits.astype(jnp.uint32) << 16, jnp.float32)
    blocks = x.reshape(-1, 500, FEATURES), y.reshape(-1, 500)
    add_block = lambda sums, block: (jax.tree.map(jnp.add, sums, jax.value_and_grad(total)(w, widened(block[0]), block[1])), None)
    return jax.lax.scan(add_block, (jnp.zeros((), w.dtype), jnp.zeros_like(w)), blocks)[0]


def mean(f):
    def g(w, x, y):
        sums = f(w, x, y)
        return jax.lax.psum(sums, "rows") if use_mesh else sums

    if use_mesh:
        whole, split = PartitionSpec(), PartitionSpec("rows")
        g = jax.shard_map(g, mesh=mesh, in_specs=(whole, split, split), out_specs=whole, check_vma=False)
    return lambda w, x, y: jax.tree.map(lambda leaf: leaf / len(y), g(w, x, y))


def add(row, dtype, rows, rows_dtype=None):
    w = twin.uniform(1, (FEATURES,), 0.25).astype(dtype)
    x = twin.uniform(2, (rows, FEATURES)).astype(rows_dtype or dtype)
    y = (twin.uniform(3, (rows,)) > 0).astype(dtype)
    places = [NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), ("rows",), ("rows",))] if use_mesh else [None] * 3
    sides = {"JAX": (at_once, x), "JAX, scan over blocks": (by_blocks, x)}
    if x.dtype == jnp.bfloat16:
        sides["JAX, scan over blocks of bits"] = by_blocks_of_bits, x.view(np.uint16)
    for side, (f, rows_of_side) in sides.items():
        inputs = jax.block_until_ready([jax.device_put(value, place) for value, place in zip((w, rows_of_side, y), places)])
        suite.add_jitted(row, f"{side}, {suite.threads} devices" if use_mesh else side, mean(f), inputs)


if use_mesh or "--mesh" not in suite.more:
    add("float, 1e6 rows", np.float32, 1_000_000)
    add("double, 5e5 rows", np.float64, 500_000)
    add("bfloat16, 2e6 rows", np.float32, 2_000_000, jnp.bfloat16)
suite.version("jax", jax.__version__)
suite.run()

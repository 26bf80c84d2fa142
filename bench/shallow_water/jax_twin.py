#!/usr/bin/env python3
"""Shallow water in JAX: the whole basin in one process, or rows of it on each rank, whose neighbours' rows come by mpi4jax."""

import math
import os
import pathlib
import random
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import jax  # noqa: E402  (after the affinity is set)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

jax.config.update("jax_enable_x64", True)
ROWS = COLUMNS = 256
STRIPS, STEPS, EVERY = 8, 40, 10
CELL, SECONDS, GRAVITY, ROTATION = 20e3, 360.0, 9.81, 1e-4
RANKS = int(os.environ.get("OMPI_COMM_WORLD_SIZE", 1))


def inputs():
    y, x = 2 * math.pi * np.arange(ROWS)[:, None] / ROWS, 2 * math.pi * np.arange(COLUMNS) / COLUMNS
    water = 100 + 5 * np.sin(2 * y + x) + 3 * np.cos(3 * x), np.sin(y + 2 * x), np.cos(3 * y - x)
    return water, 100 + 5 * np.sin(y + 2 * x)


west, east = lambda x: jnp.roll(x, 1, 1), lambda x: jnp.roll(x, -1, 1)
south, north = lambda x: x[:-1], lambda x: x[1:]
mean = lambda x, y: 0.5 * (x + y)


def slope_of_rows(h, u, v):  # of all rows but the first and the last
    depth = mean(h, west(h))
    across, along = depth * u, mean(south(h), north(h)) * north(v)
    turn = (ROTATION + (north(v - west(v)) - north(u) + south(u)) / CELL) / mean(south(depth), north(depth))
    head = south(GRAVITY * h + 0.5 * mean(u * u, east(u * u))) + 0.5 * mean(south(v * v), north(v * v))
    turned_u, turned_v = turn * mean(along, west(along)), turn * mean(south(across), north(across))
    return ((south(north(across - east(across))) + south(along) - north(along)) / CELL,
            mean(south(turned_u), north(turned_u)) + north(west(head) - head) / CELL,
            -south(mean(turned_v, east(turned_v))) + (south(head) - north(head)) / CELL)


def slope_by_rolls(h, u, v):  # the same with the rows' neighbours by rolls, too
    up, down = lambda x: jnp.roll(x, -1, 0), lambda x: jnp.roll(x, 1, 0)
    depth = mean(h, west(h))
    across, along = depth * u, mean(h, up(h)) * up(v)
    turn = (ROTATION + (up(v - west(v)) - up(u) + u) / CELL) / mean(depth, up(depth))
    head = GRAVITY * h + 0.5 * mean(u * u, east(u * u)) + 0.5 * mean(v * v, up(v * v))
    turned_u, turned_v = turn * mean(along, west(along)), turn * mean(across, up(across))
    return ((across - east(across) + down(along) - along) / CELL, mean(down(turned_u), turned_u) + (west(head) - head) / CELL,
            -down(mean(turned_v, east(turned_v))) + (down(head) - head) / CELL)


def wrapped(water):
    return slope_of_rows(*(jnp.concatenate([x[-1:], x, x[:1]]) for x in water))


def exchanged(water):
    from mpi4py import MPI
    import mpi4jax

    comm, x = MPI.COMM_WORLD, jnp.stack(water)
    before, behind = (comm.rank - 1) % RANKS, (comm.rank + 1) % RANKS
    last = mpi4jax.sendrecv(x[:, -1], x[:, -1], source=before, dest=behind, comm=comm)
    first = mpi4jax.sendrecv(x[:, 0], x[:, 0], source=behind, dest=before, comm=comm)
    return slope_of_rows(*jnp.concatenate([last[:, None], x, first[:, None]], 1))


def forecast(slope, water, keep, unroll=1):
    ahead = lambda water, seconds, by: tuple(w + seconds * d for w, d in zip(water, by))

    def step(now, _):
        third = ahead(now, SECONDS / 3, slope(now))
        half = ahead(now, SECONDS / 2, slope(third))
        return ahead(now, SECONDS, slope(half)), None

    steps = lambda water, n: jax.lax.scan(step, water, None, length=n, unroll=unroll)[0]
    if keep == "all":
        return steps(water, STEPS)
    some = jax.checkpoint(lambda water, _: (steps(water, EVERY), None))
    if keep == "every step":
        some = jax.checkpoint(lambda water, _: (jax.lax.scan(jax.checkpoint(step), water, None, length=EVERY)[0], None))
    return jax.lax.scan(some, water, None, length=STEPS // EVERY)[0]


def misfit(slope, keep, water, wanted):
    return jnp.sum(jnp.square(forecast(slope, water, keep)[0] - wanted)) / (ROWS * COLUMNS)


def in_strips(water):  # as drx has it: strips x fields x rows x columns
    x = np.stack([np.asarray(w) for w in water])
    return x.reshape(3, STRIPS // RANKS, -1, COLUMNS).transpose(1, 0, 2, 3)


def add(row, side, f, inputs):
    suite.add_jitted(row, side, f, inputs, in_strips, ahead=RANKS == 1)  # (what is compiled ahead of time does not take mpi4jax's token)


water, wanted = inputs()
if RANKS == 1:
    water, wanted = jax.block_until_ready(jax.device_put((water, wanted)))
    for name, slope in {"rolls": lambda water: slope_by_rolls(*water), "rows around": wrapped}.items():
        add("forecast", f"JAX, {name}", lambda water, slope=slope: forecast(slope, water, "all"), (water,))
    for keep in ("all", "every tenth step", "every step"):  # (with rolls, JAX's derivative takes ten times as long)
        of_water = lambda water, wanted, keep=keep: jax.grad(misfit, argnums=2)(wrapped, keep, water, wanted)
        add("slope", f"JAX, keeps {keep}", of_water, (water, wanted))
else:
    try:
        from mpi4py import MPI
        import mpi4jax
    except ImportError:
        print("without JAX on ranks: there is no mpi4jax")
        sys.exit(0)
    random.seed(1)  # ranks take the sides in one order
    rank, each = MPI.COMM_WORLD.rank, ROWS // RANKS
    own = lambda x: x[rank * each:(rank + 1) * each]
    water, wanted = jax.block_until_ready(jax.device_put((tuple(map(own, water)), own(wanted))))
    add("forecast", "mpi4jax", lambda water: forecast(exchanged, water, "all"), (water,))
    of_water = lambda water, wanted: jax.grad(misfit, argnums=2)(exchanged, "all", water, wanted)
    add("slope", "mpi4jax", of_water, (water, wanted))  # (jax.checkpoint takes none of mpi4jax's operations)
    suite.version("mpi4jax", mpi4jax.__version__)
    if rank != 0:
        suite.args.data = pathlib.Path(f"{suite.args.data}-of-rank-{rank}")
        suite.args.benchmark_out = os.devnull
suite.version("jax", jax.__version__)
suite.run()

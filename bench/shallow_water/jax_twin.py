#!/usr/bin/env python3
"""The forecast of examples/shallow_water, and its gradient, in JAX: the whole grid as one array that goes round."""

import functools
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import jax  # noqa: E402  (after the affinity is set)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

jax.config.update("jax_enable_x64", True)
STRIPS, ROWS, COLUMNS, STEPS, READINGS = 8, 16, 128, 60, 8
CELL, SECONDS, GRAVITY, ROTATION = 20e3, 360.0, 9.81, 1e-4
ALL = STRIPS * ROWS


def south(x):
    return jnp.roll(x, 1, 0)


def north(x):
    return jnp.roll(x, -1, 0)


def west(x):
    return jnp.roll(x, 1, 1)


def east(x):
    return jnp.roll(x, -1, 1)


def mean(x, y):
    return 0.5 * (x + y)


def slope(water):
    h, u, v = water
    depth = mean(h, west(h))
    across = depth * u
    along = mean(south(h), h) * v
    spin = ROTATION + (v - west(v) - u + south(u)) / CELL
    turn = spin / mean(south(depth), depth)
    head = GRAVITY * h + 0.5 * mean(u * u, east(u * u)) + 0.5 * mean(v * v, north(v * v))
    turned_u, turned_v = turn * mean(along, west(along)), turn * mean(south(across), across)
    dh = across - east(across) + along - north(along)
    du = CELL * mean(turned_u, north(turned_u)) + west(head) - head
    dv = -CELL * mean(turned_v, east(turned_v)) + south(head) - head
    return tuple(x / CELL for x in (dh, du, dv))


def step(water):
    def ahead(part, by):
        return tuple(x + SECONDS / part * d for x, d in zip(water, by))

    return ahead(1, slope(ahead(2, slope(ahead(3, slope(water))))))


def next_step(water, cells):
    water = step(water)
    return water, water[0].reshape(-1)[cells]


def forecast(water, cells, blocks):
    if not blocks:  # keeps everything
        return jax.lax.scan(next_step, water, cells)
    block = jax.checkpoint(functools.partial(jax.lax.scan, next_step))
    water, depths = jax.lax.scan(block, water, cells.reshape(blocks, STEPS // blocks, -1))
    return water, depths.reshape(STEPS, -1)


def squares(water, cells, blocks):
    return jnp.mean(jnp.square(forecast(water, cells, blocks)[1] - 100))


def inputs():
    y, x = np.meshgrid(np.arange(ALL) / ALL, np.arange(COLUMNS) / COLUMNS, indexing="ij")
    turn = 2 * np.pi
    h = 100 + np.sin(turn * (x + 2 * y)) + 0.5 * np.cos(turn * (3 * x - y))
    u, v = 0.1 * np.sin(turn * y), 0.1 * np.cos(turn * 2 * x)
    cells = twin.hashed(1, STRIPS * STEPS * READINGS).reshape(STRIPS, STEPS, READINGS) % (ROWS * COLUMNS)
    cells = cells.astype(np.int64) + np.arange(STRIPS)[:, None, None] * ROWS * COLUMNS
    return (h, u, v), cells.transpose(1, 0, 2).reshape(STEPS, -1)


def by_strips(fields):
    return np.stack([np.asarray(f).reshape(STRIPS, ROWS, COLUMNS) for f in fields], axis=1).reshape(-1)


water, cells = jax.block_until_ready(jax.device_put(inputs()))


def add(row, side, function, numbers):
    begin = time.perf_counter()
    compiled = jax.jit(function).lower(water, cells).compile()
    jax.block_until_ready(compiled(water, cells))
    suite.add(row, side, call=lambda: jax.block_until_ready(compiled(water, cells)), result=numbers,
              temp_bytes=compiled.memory_analysis().temp_size_in_bytes, compile_s=time.perf_counter() - begin)


def forecast_all(water, cells):
    end, depths = forecast(water, cells, 0)
    return end, jnp.sum(depths)


add("forecast", "JAX", forecast_all, lambda r: [np.asarray(r[1]), by_strips(r[0])])
for name, blocks in (("JAX, all kept", 0), ("JAX, every tenth kept", 6)):
    add("gradient", name, jax.value_and_grad(functools.partial(squares, blocks=blocks)),
        lambda r: [np.asarray(r[0]), by_strips(r[1]) * STRIPS])
suite.version("jax", jax.__version__)
suite.run()

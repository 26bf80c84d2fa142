#!/usr/bin/env python3
"""The forecast of examples/shallow_water, and its gradient, in JAX: the whole grid as one array, padded by its other side."""

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


def mean(x, y):
    return 0.5 * (x + y)


def slope(water):  # by slices of padded arrays: with roll, the gradient takes ten times as long
    h, u, v = (jnp.pad(x, 1, mode="wrap") for x in water)
    depth = mean(h[:, :-1], h[:, 1:])
    across = depth * u[:, 1:]
    along = mean(h[:-1], h[1:]) * v[1:]
    spin = ROTATION + (v[1:, 1:] - v[1:, :-1] - u[1:, 1:] + u[:-1, 1:]) / CELL
    turn = spin / mean(depth[:-1], depth[1:])
    of_cell = GRAVITY * h[:, :-1] + 0.5 * mean(jnp.square(u[:, :-1]), jnp.square(u[:, 1:]))
    head = of_cell[:-1] + 0.5 * mean(jnp.square(v[:-1, :-1]), jnp.square(v[1:, :-1]))
    turned_u, turned_v = turn * mean(along[:, :-1], along[:, 1:]), turn * mean(across[:-1], across[1:])
    dh = across[1:-1, :-1] - across[1:-1, 1:] + along[:-1, 1:-1] - along[1:, 1:-1]
    du = CELL * mean(turned_u[:-1, :-1], turned_u[1:, :-1]) + head[1:, :-1] - head[1:, 1:]
    dv = -CELL * mean(turned_v[:-1, :-1], turned_v[:-1, 1:]) + head[:-1, 1:] - head[1:, 1:]
    return tuple(x / CELL for x in (dh, du, dv))


def step(water):
    def ahead(part, by):
        return tuple(x + SECONDS / part * d for x, d in zip(water, by))

    return ahead(1, slope(ahead(2, slope(ahead(3, slope(water))))))


def forecast(water, cells, ahead=step):
    def next_step(now, here):
        now = ahead(now)
        return now, now[0].reshape(-1)[here]

    return jax.lax.scan(next_step, water, cells)


def squares(water, cells, ahead):
    return jnp.mean(jnp.square(forecast(water, cells, ahead)[1] - 100))


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
    end, depths = forecast(water, cells)
    return end, jnp.sum(depths)


add("forecast", "JAX", forecast_all, lambda r: [np.asarray(r[1]), by_strips(r[0])])
for name, ahead in (("JAX", jax.checkpoint(step)), ("JAX, all kept", step)):
    add("gradient", name, jax.value_and_grad(functools.partial(squares, ahead=ahead)),
        lambda r: [np.asarray(r[0]), by_strips(r[1]) * STRIPS])
suite.version("jax", jax.__version__)
suite.run()

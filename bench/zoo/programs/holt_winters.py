"""Exponential smoothing with trend and season: errors of 2000 series of 96 months, and their gradient, float.

Bound: a chain of 96 short steps, and memory of what the backward pass needs.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    t = np.arange(96)
    season = np.tile(random.normal(size=(2000, 12)), 8)
    y = random.normal(size=(2000, 1)) + 0.02 * random.normal(size=(2000, 1)) * t + season + 0.3 * random.normal(size=(2000, 96))
    return [np.float32(-1), np.float32(-2), np.float32(-1.5), y.astype(np.float32)]


def month(a, b, c, level, trend, now, seen):
    following = a * (seen - now) + (1 - a) * (level + trend)
    slope = b * (following - level) + (1 - b) * trend
    return following, slope, c * (seen - following) + (1 - c) * now, jnp.square(seen - level - trend - now)


def start(y):  # months in front
    level = jnp.mean(y[:12], 0)
    return level, (jnp.mean(y[12:24], 0) - level) / 12, y[:12] - level


def error(a, b, c, y, unroll=1):  # of one series, or of all in columns
    a, b, c = jax.nn.sigmoid(a), jax.nn.sigmoid(b), jax.nn.sigmoid(c)

    def step(state, seen):
        level, trend, season = state
        level, trend, later, e = month(a, b, c, level, trend, season[0], seen)
        return (level, trend, jnp.concatenate([season[1:], later[None]])), e

    return jnp.mean(jax.lax.scan(step, start(y), y, unroll=unroll)[1])


def members(a, b, c, y):
    return jnp.mean(jax.vmap(error, (None, None, None, 0))(a, b, c, y))


def columns(a, b, c, y):
    return error(a, b, c, y.T)


def years(a, b, c, y):  # a scan over years, whose months are written out
    a, b, c = jax.nn.sigmoid(a), jax.nn.sigmoid(b), jax.nn.sigmoid(c)

    def step(state, seen):
        level, trend, total, *season = state
        for i in range(12):
            level, trend, season[i], e = month(a, b, c, level, trend, season[i], seen[i])
            total = total + e
        return (level, trend, total, *season), None

    level, trend, season = start(y.T)
    state = (level, trend, jnp.zeros_like(level), *season)
    return jnp.mean(jax.lax.scan(step, state, y.T.reshape(8, 12, -1))[0][2]) / 96


def forward(f):
    return lambda a, b, c, y: (f(a, b, c, y), jax.jacfwd(f, (0, 1, 2))(a, b, c, y))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2)) for f in (members, columns, years)}
twins |= {"columns, forward": forward(columns), "years, forward": forward(years)}

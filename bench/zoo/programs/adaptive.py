"""Brusselators: 2000 cells to time 10 by steps of their own size, mean concentrations and their slope by a rate, double.

Bound: vectors of doubles over cells: four rates and a cube root in each of some hundred steps, and their tangents.
"""

import jax
import jax.numpy as jnp


def arguments(random):
    return [2.5, random.uniform(0.5, 3.0, size=(2000, 2))]


def rates(y, b):
    u, v = y
    made = u * u * v
    return jnp.stack([1 + made - (b + 1) * u, b * u - made])


def norm(y):
    return jnp.sqrt(jnp.sum(jnp.square(y), 0))


def step(c, b):
    t, h, y, first = c
    k2 = rates(y + h / 2 * first, b)
    k3 = rates(y + 0.75 * h * k2, b)
    new = y + h / 9 * (2 * first + 3 * k2 + 4 * k3)
    last = rates(new, b)
    error = norm(h / 72 * (-5 * first + 6 * k2 + 8 * k3 - 9 * last)) / (1e-5 + 1e-5 * norm(new))
    taken = error <= 1
    factor = jnp.clip(0.9 / jnp.cbrt(jnp.maximum(error, 1e-6)), 0.2, 5.0)
    time = jnp.where(taken, t + h, t)
    return time, jnp.minimum(h * jax.lax.stop_gradient(factor), 10 - time), jnp.where(taken, new, y), jnp.where(taken, last, first)


def start(b, y):
    return jnp.zeros(y.shape[1:]), jnp.full(y.shape[1:], 0.01), y, rates(y, b)


def alone(b, y):
    return jax.lax.while_loop(lambda c: c[0] < 10, lambda c: step(c, b), start(b, y))[2]


def members(b, starts):
    return jnp.mean(jax.vmap(alone, (None, 0))(b, starts), 0)


def one_by_one(b, starts):
    return jnp.mean(jax.lax.map(lambda y: alone(b, y), starts), 0)


def columns(b, starts, steps=1):  # those that have arrived take steps of length zero
    def some(c):
        for _ in range(steps):
            c = step(c, b)
        return c

    return jnp.mean(jax.lax.while_loop(lambda c: jnp.any(c[0] < 10), some, start(b, starts.T))[2], 1)


def blocks(b, starts, width=50):
    return jnp.mean(jax.lax.map(lambda y: columns(b, y), starts.reshape(-1, width, 2)), 0)


def with_slope(f):
    return lambda b, starts: jax.jvp(lambda x: f(x, starts), (b,), (1.0,))


twins = {"members": with_slope(members), "one_by_one": with_slope(one_by_one), "columns": with_slope(columns),
         "columns_unrolled": with_slope(lambda b, y: columns(b, y, 4)), "blocks": with_slope(blocks),
         "small_blocks": with_slope(lambda b, y: blocks(b, y, 16)), "large_blocks": with_slope(lambda b, y: blocks(b, y, 200))}

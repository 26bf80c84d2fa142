"""Polytropes: radii of 1000 stars by Runge-Kutta steps to where their density ends, their mean and its slope by the index, double.

Bound: vectors of doubles over stars: four powers and as many tangents in each of some 500 steps.
"""

import jax
import jax.numpy as jnp


def arguments(random):
    return [0.01, random.uniform(1.0, 4.0, 1000)]


H = 0.01


def rate(at, y, v, n):
    return v, -(jnp.maximum(y, 0) ** n) - 2 * v / at


def by_logarithm(at, y, v, n):
    density = jnp.where(y > 0, jnp.exp(n * jnp.log(jnp.where(y > 0, y, 1.0))), 0.0)
    return v, -density - 2 * v / at


def step(at, y, v, n, rate):
    a, p = rate(at, y, v, n)
    b, q = rate(at + H / 2, y + H / 2 * a, v + H / 2 * p, n)
    c, r = rate(at + H / 2, y + H / 2 * b, v + H / 2 * q, n)
    d, s = rate(at + H, y + H * c, v + H * r, n)
    return at + H, y + H / 6 * (a + 2 * b + 2 * c + d), v + H / 6 * (p + 2 * q + 2 * r + s)


def start(like):
    one = jnp.ones_like(like)
    return H * one, (1 - H * H / 6) * one, -H / 3 * one


def end(at, y, last):
    return at - H * y / (y - last)


def alone(n, rate=rate):
    def go(c):
        at, y, v, _ = c
        return *step(at, y, v, n, rate), y

    at, y, v = start(n)
    at, y, v, last = jax.lax.while_loop(lambda c: c[1] > 0, go, (at, y, v, y))
    return end(at, y, last)


def columns(n, rate=rate, unroll=1):  # those that have ended stay
    def go(c):
        for _ in range(unroll):
            at, y, v, last = c
            new = (*step(at, y, v, n, rate), y)
            c = tuple(jnp.where(y > 0, p, q) for p, q in zip(new, c))
        return c

    at, y, v = start(n)
    at, y, v, last = jax.lax.while_loop(lambda c: jnp.any(c[1] > 0), go, (at, y, v, y))
    return end(at, y, last)


def with_slope(radii):
    return lambda s, n: jax.jvp(lambda t: jnp.mean(radii(n + t)), (s,), (1.0,))


def blocks(n, width, **how):
    return jax.lax.map(lambda m: columns(m, **how), n.reshape(-1, width))


twins = {"members": with_slope(jax.vmap(alone)), "one_by_one": with_slope(lambda n: jax.lax.map(alone, n)),
         "columns": with_slope(columns), "columns_by_logarithm": with_slope(lambda n: columns(n, by_logarithm)),
         "blocks": with_slope(lambda n: blocks(n, 50)), "blocks_by_logarithm": with_slope(lambda n: blocks(n, 50, rate=by_logarithm)),
         "blocks_by_logarithm_unrolled": with_slope(lambda n: blocks(n, 50, rate=by_logarithm, unroll=2)),
         "blocks_unrolled": with_slope(lambda n: blocks(n, 50, unroll=2))}

"""American puts: prices of 300 options by binomial trees of 128 steps, derivatives by rate and volatility, double.

Bound: exponentials of doubles, 129 for each step, in a chain of 128.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [np.float64(0.04), np.float64(0.3), random.uniform(0.8, 1.2, size=300)]


def price(spot, rate, volatility, roll=True, unroll=1):
    dt = 1.0 / 128
    up, discount = jnp.exp(volatility * jnp.sqrt(dt)), jnp.exp(-rate * dt)
    chance = (1 / discount - 1 / up) / (up - 1 / up)
    steps = jnp.arange(129.0)
    move = (lambda v: jnp.roll(v, -1)) if roll else (lambda v: jnp.concatenate([v[1:], v[:1]]))

    def back(value, depth):
        held = discount * (chance * move(value) + (1 - chance) * value)
        return jnp.maximum(held, 1 - spot * jnp.exp((2 * steps - depth) * jnp.log(up))), None

    ends = jnp.maximum(0.0, 1 - spot * jnp.exp((2 * steps - 128) * jnp.log(up)))
    return jax.lax.scan(back, ends, jnp.arange(127.0, -1, -1), unroll=unroll)[0][0]


def triangle(spot, rate, volatility):  # the tree in exact sizes
    dt = 1.0 / 128
    up, discount = jnp.exp(volatility * jnp.sqrt(dt)), jnp.exp(-rate * dt)
    chance = (1 / discount - 1 / up) / (up - 1 / up)
    v = jnp.maximum(0.0, 1 - spot * jnp.exp((2 * jnp.arange(129.0) - 128) * jnp.log(up)))
    for depth in range(127, -1, -1):
        held = discount * (chance * v[1:] + (1 - chance) * v[:-1])
        v = jnp.maximum(held, 1 - spot * jnp.exp((2 * jnp.arange(depth + 1.0) - depth) * jnp.log(up)))
    return v[0]


def reverse(f):
    return jax.value_and_grad(lambda r, v, spots: jnp.mean(jax.vmap(f, (0, None, None))(spots, r, v)), (0, 1))


def forward(f):
    def both(r, v, spots):
        mean = lambda r, v: jnp.mean(jax.vmap(f, (0, None, None))(spots, r, v))
        value, by_rate = jax.jvp(mean, (r, v), (1.0, 0.0))
        return value, (by_rate, jax.jvp(mean, (r, v), (0.0, 1.0))[1])

    return both


def forward_at_once(f):  # the value once, both tangents beside it
    def both(r, v, spots):
        mean = lambda p: jnp.mean(jax.vmap(f, (0, None, None))(spots, p[0], p[1]))
        value, along = jax.vmap(lambda t: jax.jvp(mean, (jnp.stack([r, v]),), (t,)), out_axes=(None, 0))(jnp.eye(2))
        return value, (along[0], along[1])

    return both


twins = {"forward, at once": forward_at_once(price), "reverse": reverse(price), "reverse, slices": reverse(lambda *a: price(*a, roll=False, unroll=4)), "forward": forward(price),
         "forward, triangle": forward(triangle)}

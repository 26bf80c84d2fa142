"""Monte Carlo with keys: price of an Asian option over 20000 paths of 32 dates, and its sensitivities, float.

Bound: vectors of integers: random bits, and the inverse error function.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [np.float32(1.05), np.float32(0.8), np.arange(20000, dtype=np.int32)]


def noise(i):
    return jax.random.normal(jax.random.fold_in(jax.random.key(11), i), 32, jnp.float32)


def payoff(start, spread, drawn, axis=-1):
    logs = jnp.cumsum(0.1 * spread * drawn - 0.005 * jnp.square(spread), axis)
    return jnp.mean(jax.nn.relu(start * jnp.mean(jnp.exp(logs), axis) - 1))


def members(start, spread, numbers):
    return payoff(start, spread, jax.vmap(noise)(numbers))


def columns(start, spread, numbers):
    return payoff(start, spread, jax.vmap(noise)(numbers).T, 0)


def forward(start, spread, numbers):
    return members(start, spread, numbers), jax.jacfwd(members, (0, 1))(start, spread, numbers)


twins = {"members": jax.value_and_grad(members, (0, 1)), "columns": jax.value_and_grad(columns, (0, 1)), "forward": forward}

"""Kuramoto's 48 coupled oscillators: 100 steps of Heun's method from 16 starts, their order and its gradient by couplings and speeds, float.

Bound: a sine and a cosine for each pair, twice in each step; or of each oscillator, and products with the couplings.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.uniform(0, 3, (48, 48)).astype(np.float32), random.normal(size=48).astype(np.float32),
            random.uniform(-3, 3, (16, 48)).astype(np.float32)]


def pairs(pull, x):
    return jnp.sum(pull * jnp.sin(x[None, :] - x[:, None]), 1) / 48


def products(pull, x):  # sin(a - b) by the sines and cosines of a and b
    s, c = jnp.sin(x), jnp.cos(x)
    return (c * (pull @ s) - s * (pull @ c)) / 48


def by(forces, memory):
    def order(pull, speeds, start):
        def step(x, _):
            first = speeds + forces(pull, x)
            return x + 0.025 * (first + speeds + forces(pull, x + 0.05 * first)), None

        end = jax.lax.scan(memory(step), start, length=100)[0]
        return jnp.square(jnp.mean(jnp.cos(end))) + jnp.square(jnp.mean(jnp.sin(end)))

    return jax.value_and_grad(lambda p, s, x: jnp.mean(jax.vmap(order, (None, None, 0))(p, s, x)), (0, 1))


twins = {"pairs": by(pairs, lambda f: f), "pairs_checkpointed": by(pairs, jax.checkpoint),
         "products": by(products, lambda f: f), "products_checkpointed": by(products, jax.checkpoint)}

"""Hidden Markov model of 8 states: likelihood of 500 sequences of 100 steps and its gradient, float.

Bound: vectors of floats: 16 exponentials and logarithms for each step, in a chain of 100.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.normal(size=(8, 8)).astype(np.float32), np.linspace(-2, 2, 8, dtype=np.float32),
            random.normal(size=(500, 100)).astype(np.float32)]


def by_logarithms(move, mean, y):
    ahead = jax.nn.log_softmax(move)

    def step(alpha, seen):
        return jax.nn.logsumexp(alpha[:, None] + ahead, 0) - 0.5 * jnp.square(seen - mean), None

    return jax.nn.logsumexp(jax.lax.scan(step, jnp.zeros(8, jnp.float32), y)[0])


def scaled(move, mean, y):  # products of probabilities, scaled at each step
    ahead = jax.nn.softmax(move)

    def step(carry, seen):
        p, total = carry
        p = (p @ ahead) * jnp.exp(-0.5 * jnp.square(seen - mean))
        scale = jnp.sum(p)
        return (p / scale, total + jnp.log(scale)), None

    return jax.lax.scan(step, (jnp.full(8, 0.125, jnp.float32), jnp.float32(np.log(8))), y)[0][1]


def loss(f):
    return jax.value_and_grad(lambda move, mean, y: -jnp.mean(jax.vmap(f, (None, None, 0))(move, mean, y)), (0, 1))


twins = {"logarithms": loss(by_logarithms), "scaled": loss(scaled)}

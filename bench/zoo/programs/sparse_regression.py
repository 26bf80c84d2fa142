"""Sparse regression: 60 steps of soft thresholds in 64 tasks of 60 x 100; the error's slope by the penalty, float.

Bound: products with matrices of 24 KB in the first cache, two in each step.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    f = lambda *shape: random.normal(size=shape).astype(np.float32)
    x, other, w = f(64, 60, 100), f(64, 60, 100), f(64, 100, 1) * (random.random(size=(64, 100, 1)) < 0.1)
    y, wanted = (np.squeeze((m @ w).astype(np.float32) + 0.1 * f(64, 60, 1), 2) for m in (x, other))
    return [np.float32(3), x, y, other, wanted]


def steps(penalty, slope, none):
    def step(carry, _):
        w, v = carry
        moved = v - 0.004 * slope(v)
        following = jnp.sign(moved) * jax.nn.relu(jnp.abs(moved) - 0.004 * penalty)
        return (following, following + 0.8 * (following - w)), None

    return jax.lax.scan(step, (none, none), None, length=60)[0][0]


def of_task(penalty, x, y, other, wanted):
    w = steps(penalty, lambda v: x.T @ (x @ v - y), jnp.zeros(100, jnp.float32))
    return jnp.mean(jnp.square(other @ w - wanted))


def members(penalty, *data):
    return jnp.mean(jax.vmap(lambda *d: of_task(penalty, *d))(*data))


def one_by_one(penalty, *data):
    return jnp.mean(jax.lax.map(lambda d: of_task(penalty, *d), data))


def of_gram(penalty, x, y, other, wanted):  # multiplies the rows once
    gram, b = x.T @ x, x.T @ y
    w = steps(penalty, lambda v: gram @ v - b, jnp.zeros(100, jnp.float32))
    return jnp.mean(jnp.square(other @ w - wanted))


def grams(penalty, *data):
    return jnp.mean(jax.vmap(lambda *d: of_gram(penalty, *d))(*data))


def grams_one_by_one(penalty, *data):
    return jnp.mean(jax.lax.map(lambda d: of_gram(penalty, *d), data))


def forward(f):
    return lambda penalty, *data: jax.jvp(lambda p: f(p, *data), (penalty,), (jnp.float32(1),))


twins = {f.__name__: jax.value_and_grad(f) for f in (members, one_by_one, grams, grams_one_by_one)}
twins |= {f.__name__ + " forward": forward(f) for f in (members, one_by_one, grams, grams_one_by_one)}

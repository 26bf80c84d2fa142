"""Portfolios of 20 assets: 30 projected steps to the best weights in 500 markets, mean value and its derivative by the caution, float.

Bound: sorting 20 numbers and a product of 20 x 20 in each step.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    factors = random.normal(size=(500, 60, 3)) @ random.normal(size=(500, 3, 20))
    past = 0.3 * factors + random.normal(size=(500, 60, 20)) + 0.2
    return [np.float32(0.5), past.astype(np.float32), (past[:, -1] + random.normal(size=(500, 20))).astype(np.float32)]


def by_sorting(x):
    ordered = jnp.flip(jnp.sort(x))
    over = (jnp.cumsum(ordered) - 1) / jnp.arange(1, 21)
    return jax.nn.relu(x - over[jnp.sum(ordered > over) - 1])


def by_pairs(x):  # without sorting: sums over the larger ones
    larger = (x[None, :] >= x[:, None]).astype(np.float32)
    over = (larger @ x - 1) / jnp.sum(larger, 1)
    return jax.nn.relu(x - jnp.max(jnp.where(x > over, over, -jnp.inf)))


def run(projected, unroll):
    def value(caution, past, following):
        mean = jnp.mean(past, 0)
        off = past - mean
        covariance = off.T @ off / 60
        step = lambda w, _: (projected(w + 0.2 * (mean - caution * (covariance @ w))), None)
        return jax.lax.scan(step, jnp.full(20, 1 / 20, jnp.float32), None, length=30, unroll=unroll)[0] @ following

    return lambda caution, past, following: jnp.mean(jax.vmap(value, (None, 0, 0))(jnp.exp(caution), past, following))


def forward(f):
    return lambda s, *d: jax.jvp(lambda t: f(t, *d), (s,), (jnp.ones_like(s),))


twins = {"sorting": jax.value_and_grad(run(by_sorting, 1)), "sorting_forward": forward(run(by_sorting, 1)),
         "pairs": jax.value_and_grad(run(by_pairs, 1)), "pairs_forward": forward(run(by_pairs, 1)), "pairs_unrolled": forward(run(by_pairs, 3))}

"""GARCH(1, 1): likelihood of 1000 assets over 250 days, and its gradient, double.

Bound: vectors of doubles in a chain of 250 steps: a logarithm and a division in each.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [np.log(np.array([0.1, 0.1, 0.8])), random.normal(size=(1000, 250))]


def chain(p, start, returns, unroll):
    def day(variance, r):
        return p[0] + p[1] * r * r + p[2] * variance, variance

    return jax.lax.scan(day, start, returns, unroll=unroll)[1]


def both(logs, returns, unroll=1):  # sums along with the chain
    p = jnp.exp(logs)

    def day(state, r):
        variance, total = state
        return (p[0] + p[1] * r * r + p[2] * variance, total - 0.5 * (jnp.log(variance) + r * r / variance)), None

    n = returns.shape[0]
    return -jnp.mean(jax.lax.scan(day, (jnp.ones(n), jnp.zeros(n)), returns.T, unroll=unroll)[0][1])


def variances_first(logs, returns, unroll=8):
    x = returns.T
    variance = chain(jnp.exp(logs), jnp.ones(returns.shape[0]), x, unroll)
    return 0.5 * jnp.mean(jnp.sum(jnp.log(variance) + x * x / variance, 0))


twins = {"carried sum": jax.value_and_grad(both), "variances first": jax.value_and_grad(variances_first),
         "forward": lambda logs, r: (both(logs, r), jax.jacfwd(both)(logs, r))}

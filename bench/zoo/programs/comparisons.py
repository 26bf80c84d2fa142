"""Comparisons: one step of Newton's for the strengths of 300 players from 20000 games, by conjugate gradients, double.

Bound: gathering and scattering of single numbers, eleven times.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    a = random.integers(0, 300, size=20000)
    return [0.3 * random.normal(size=300), a.astype(np.int32), ((a + random.integers(1, 300, size=20000)) % 300).astype(np.int32)]


def newton(slope, times, s):
    def step(carry, _):
        x, r, p = carry
        ap = times(p)
        a = (r @ r) / (p @ ap)
        following = r - a * ap
        return (x + a * p, following, following + p * ((following @ following) / (r @ r))), None

    return s - jax.lax.scan(step, (jnp.zeros_like(s), slope, slope), None, length=10)[0][0]


def loss(s, winners, losers):
    return jnp.mean(jax.nn.softplus(s[losers] - s[winners])) + 1e-4 * s @ s


def members(s, winners, losers):
    slope, times = jax.linearize(lambda x: jax.grad(loss)(x, winners, losers), s)
    return newton(slope, times, s)


def again(s, winners, losers):
    g = lambda x: jax.grad(loss)(x, winners, losers)
    return newton(g(s), lambda p: jax.jvp(g, (s,), (p,))[1], s)


def laplacian(s, winners, losers):  # the Hessian as a matrix, once
    odds = jax.nn.sigmoid(s[losers] - s[winners])
    n, curves = len(winners), odds * (1 - odds) / len(winners)
    slope = (jnp.zeros(300).at[losers].add(odds) - jnp.zeros(300).at[winners].add(odds)) / n + 2e-4 * s
    pairs = jnp.zeros((300, 300)).at[winners, losers].add(curves)
    pairs = pairs + pairs.T
    hessian = jnp.diag(jnp.sum(pairs, 1) + 2e-4) - pairs
    return newton(slope, lambda p: hessian @ p, s)


def segments(s, winners, losers):  # both scatters at once
    both = jnp.concatenate([losers, winners])
    odds = jax.nn.sigmoid(s[losers] - s[winners])
    n, curves = len(winners), odds * (1 - odds) / len(winners)
    add = lambda v: jax.ops.segment_sum(jnp.concatenate([v, -v]), both, 300)
    return newton(add(odds) / n + 2e-4 * s, lambda p: add(curves * (p[losers] - p[winners])) + 2e-4 * p, s)


twins = {f.__name__: f for f in (members, again, laplacian, segments)}

"""American puts on two assets: 20 alternating implicit steps on a grid of 64 x 64, 32 options, derivatives by the volatilities, double.

Bound: divisions and vectors of doubles, 40 tridiagonal systems of 64 columns there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.uniform(0.1, 0.4, (32, 2)), random.uniform(0, 0.05, 32), random.uniform(25, 40, 32)]


def rates(vol, rate):
    s = jnp.arange(64.0)
    inside = jnp.where((s > 0) & (s < 63), 0.0125, 0.0)
    diffusion, drift = 0.5 * inside * jnp.square(vol * s), 0.5 * inside * rate * s
    return diffusion - drift, -2 * diffusion - 0.00625 * rate, diffusion + drift


def payoff(strike):
    return jax.nn.relu(strike - 0.5 * (jnp.arange(64.0)[:, None] + jnp.arange(64.0)))


def explicitly(m, u):
    below, on, above = (a[:, None] for a in m)
    return u + below * jnp.roll(u, 1, 0) + on * u + above * jnp.roll(u, -1, 0)


def thomas(unroll):
    def implicitly(m, u):
        def eliminate(before, now):
            below, on, above, row = now
            scale = 1 / (1 - on + below * before[0])
            following = -above * scale, (row + below * before[1]) * scale
            return following, following

        def back(behind, now):
            x = now[1] - now[0] * behind
            return x, x

        kept = jax.lax.scan(eliminate, (jnp.zeros(()), jnp.zeros(64)), (*m, u), unroll=unroll)[1]
        return jax.lax.scan(back, jnp.zeros(64), kept, reverse=True, unroll=unroll)[1]

    return implicitly


def price(vols, rate, strike, implicitly=thomas(1), checkpoint=False):
    first, second = rates(vols[0], rate), rates(vols[1], rate)

    start = payoff(strike)

    def step(u, _):
        v = implicitly(first, explicitly(second, u.T).T)
        return jnp.maximum(implicitly(second, explicitly(first, v).T).T, start), None

    step = jax.checkpoint(step) if checkpoint else step
    return jax.lax.scan(step, start, None, length=20)[0][32, 32]


def each(f):
    return jax.vmap(jax.value_and_grad(f))


def unrolled(vols, rate, strike):
    return price(vols, rate, strike, thomas(16))


def one_by_one(vols, rate, strike):
    return jax.lax.map(lambda a: jax.value_and_grad(price)(*a), (vols, rate, strike))


def one_by_one_forward(vols, rate, strike):
    return jax.lax.map(lambda a: forward(*a), (vols, rate, strike))


def forward(vols, rate, strike, f=price):
    value, push = jax.linearize(lambda v: f(v, rate, strike), vols)
    return value, jax.vmap(push)(jnp.eye(2))


def tangents(vols, rate, strike, f=price):
    along = lambda d: jax.jvp(lambda v: f(v, rate, strike), (vols,), (d,))
    return jax.vmap(along, out_axes=(None, 0))(jnp.eye(2))


def products(vols, rate, strike):  # a step along each asset is a product with a matrix, inverted once
    def matrix(m):
        below, on, above = m
        a = jnp.diag(on) + jnp.diag(below[1:], -1) + jnp.diag(above[:-1], 1)
        return jnp.linalg.inv(jnp.eye(64) - a), jnp.eye(64) + a

    (p, q), (r, s) = matrix(rates(vols[0], rate)), matrix(rates(vols[1], rate))
    start = payoff(strike)
    step = lambda u, _: (jnp.maximum(q @ (p @ (u @ s.T)) @ r.T, start), None)
    return jax.lax.scan(step, start, None, length=20)[0][32, 32]


twins = {"members": each(price), "members_again": each(lambda *a: price(*a, checkpoint=True)), "unrolled": each(unrolled), "one_by_one": one_by_one,
         "one_by_one_forward": one_by_one_forward, "forward": jax.vmap(forward), "tangents": jax.vmap(tangents), "products": each(products)}

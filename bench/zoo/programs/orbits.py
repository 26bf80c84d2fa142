"""Orbits: squared errors of 30 velocities of each of 777 stars, Kepler's equation by six of Newton's steps, and each star's gradient, double.

Bound: sines and cosines of doubles: fifteen of each number, there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    n = 777
    when = np.sort(random.uniform(0, 400, size=(n, 30)), axis=1)
    own = [random.uniform(2, 5, size=n), random.uniform(2, 4, size=n), random.uniform(-2, 0.5, size=n), random.uniform(-3, 3, size=n),
           random.uniform(-3, 3, size=n), random.normal(size=n)]
    return [*own, when, 20 * random.normal(size=(n, 30))]


def velocities(period, amplitude, logit, phase, direction, system, when, loop):
    e = jax.nn.sigmoid(logit)
    mean = when * (2 * np.pi * jnp.exp(-period)) + phase
    newton = lambda x: x - (x - e * jnp.sin(x) - mean) / (1 - e * jnp.cos(x))
    half = 0.5 * loop(newton, mean + e * jnp.sin(mean))
    angle = 2 * jnp.arctan2(jnp.sqrt(1 + e) * jnp.sin(half), jnp.sqrt(1 - e) * jnp.cos(half))
    return jnp.exp(amplitude) * (jnp.cos(angle + direction) + e * jnp.cos(direction)) + system


def scanned(f, x):
    return jax.lax.scan(lambda c, _: (f(c), None), x, None, length=6)[0]


def unrolled(f, x):
    for _ in range(6):
        x = f(x)
    return x


def members(loop):
    def f(*a):
        error = lambda *b: jnp.sum(jnp.square(velocities(*b[:6], b[6], loop) - b[7]))
        return jax.vmap(jax.value_and_grad(error, tuple(range(6))))(*a)

    return f


def columns(loop):  # nights in front, stars in vectors
    def f(*a):
        def errors(own):
            each = jnp.sum(jnp.square(velocities(*own, a[6].T, loop) - a[7].T), 0)
            return jnp.sum(each), each

        slopes, each = jax.grad(errors, has_aux=True)(a[:6])
        return each, slopes

    return f


def forward(*a):  # six tangents of each star
    errors = lambda own: jnp.sum(jnp.square(velocities(*own, a[6].T, unrolled) - a[7].T), 0)
    each, push = jax.linearize(errors, a[:6])
    along = lambda k: push(tuple(jnp.ones(777) if i == k else jnp.zeros(777) for i in range(6)))
    return each, tuple(along(k) for k in range(6))


twins = {"members": members(scanned), "members_unrolled": members(unrolled), "columns": columns(scanned), "columns_unrolled": columns(unrolled),
         "columns_again": columns(lambda f, x: unrolled(jax.checkpoint(f), x)), "forward": forward}

"""Particle filter: likelihood of 500 series of 30 steps by 64 particles, systematic resampling, with keys, float.

Bound: vectors of integers: random bits, and the inverse error function; comparisons of all particles with all.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    x, y = random.normal(size=500), np.empty((500, 30))
    for t in range(30):
        x = 0.9 * x + 0.4 * random.normal(size=500)
        y[:, t] = np.exp(x) + random.normal(size=500)
    return [y.astype(np.float32), np.arange(500, dtype=np.int32)]


def compared(ends, at):
    return jnp.sum(at[:, None] > ends, 1)


def searched(method):
    return lambda ends, at: jnp.searchsorted(ends, at, method=method)


def moved_and_seen(x, noise, y):
    moved = 0.9 * x + 0.4 * noise
    return moved, -0.5 * jnp.square(y - jnp.exp(moved))


def resampled(find, moved, logs, u):
    at = (jnp.arange(64, dtype=jnp.float32) + u) / 64
    return jnp.take(moved, find(jnp.cumsum(jax.nn.softmax(logs)), at), mode="clip")


def members(find):
    def likelihood(y, number):
        key = jax.random.fold_in(jax.random.key(5), number)

        def step(state, inputs):
            x, total = state
            i, seen = inputs
            own = jax.random.fold_in(key, i)
            moved, logs = moved_and_seen(x, jax.random.normal(own, 64, jnp.float32), seen)
            u = jax.random.uniform(jax.random.fold_in(own, 1), (), jnp.float32)
            return (resampled(find, moved, logs, u), total + jax.nn.logsumexp(logs) - np.float32(np.log(64))), None

        first = jax.random.normal(jax.random.fold_in(key, 30), 64, jnp.float32)
        return jax.lax.scan(step, (first, jnp.float32(0)), (jnp.arange(30), y))[0][1]

    return lambda data, numbers: jnp.mean(jax.vmap(likelihood)(data, numbers))


def drawn_before(find):  # all random numbers in one go
    def draws(number):
        key = jax.random.fold_in(jax.random.key(5), number)
        own = jax.vmap(lambda i: jax.random.fold_in(key, i))(jnp.arange(31))
        return (jax.vmap(lambda k: jax.random.normal(k, 64, jnp.float32))(own),
                jax.vmap(lambda k: jax.random.uniform(jax.random.fold_in(k, 1), (), jnp.float32))(own))

    def mean(data, numbers):
        noise, u = jax.vmap(draws, out_axes=1)(numbers)

        def step(state, inputs):
            x, total = state
            n, own, seen = inputs
            moved, logs = moved_and_seen(x, n, seen[:, None])
            x = jax.vmap(lambda *a: resampled(find, *a))(moved, logs, own)
            return (x, total + jax.nn.logsumexp(logs, 1) - np.float32(np.log(64))), None

        return jnp.mean(jax.lax.scan(step, (noise[30], jnp.zeros(len(numbers), jnp.float32)), (noise[:30], u[:30], data.T))[0][1])

    return mean


twins = {"compared": members(compared), "searched": members(searched("scan_unrolled")), "drawn before": drawn_before(compared),
         "drawn before, searched": drawn_before(searched("scan_unrolled"))}

"""Lattice Boltzmann: 20 steps of eight flows on 64 x 64 places, nine directions, forward, float.

Bound: cache: nine arrays of 16 KB are read and written in each step, some 100 operations for each place.
"""

import jax
import jax.numpy as jnp
import numpy as np

EAST, NORTH = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1]), np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
SHARE = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, np.float32)


def arguments(random):
    starts = SHARE[:, None, None] * (1 + 0.05 * random.normal(size=(8, 9, 64, 64)))
    return [np.float32(1.2), starts.astype(np.float32)]


def collide(f, rate):
    e, n, w = (jnp.asarray(a, jnp.float32)[:, None, None] for a in (EAST, NORTH, SHARE))
    density = jnp.sum(f, 0)
    u, v = jnp.sum(e * f, 0) / density, jnp.sum(n * f, 0) / density
    speed = e * u + n * v
    return f + rate * (w * density * (1 - 1.5 * (u * u + v * v) + 3 * speed + 4.5 * speed * speed) - f)


def stream(f):
    return jnp.stack([jnp.roll(f[i], (EAST[i], NORTH[i]), (0, 1)) for i in range(9)])


def separate(fs, rate):  # nine arrays
    density = sum(fs)
    u = (fs[1] + fs[5] + fs[8] - fs[3] - fs[6] - fs[7]) / density
    v = (fs[2] + fs[5] + fs[6] - fs[4] - fs[7] - fs[8]) / density
    still = 1 - 1.5 * (u * u + v * v)
    after = []
    for i, f in enumerate(fs):
        speed = int(EAST[i]) * u + int(NORTH[i]) * v
        after.append(f + rate * (SHARE[i] * density * (still + 3 * speed + 4.5 * speed * speed) - f))
    return [jnp.roll(f, (EAST[i], NORTH[i]), (-2, -1)) for i, f in enumerate(after)]


def ends(run):
    def whole(rate, starts):
        last = run(rate, starts)
        along = jnp.asarray(EAST, jnp.float32)[:, None, None]
        return last, jnp.mean(jnp.square(jnp.sum(along * last, 1)))

    return whole


def members(rate, starts):
    one = lambda f: jax.lax.fori_loop(0, 20, lambda _, f: stream(collide(f, rate)), f)
    return jax.vmap(one)(starts)


def one_by_one(rate, starts):
    return jax.lax.map(lambda f: jax.lax.fori_loop(0, 20, lambda _, f: stream(collide(f, rate)), f), starts)


def arrays(rate, starts):
    one = lambda f: jnp.stack(jax.lax.fori_loop(0, 20, lambda _, fs: separate(fs, rate), [f[i] for i in range(9)]))
    return jax.lax.map(one, starts)


twins = {f.__name__: ends(f) for f in (members, one_by_one, arrays)}

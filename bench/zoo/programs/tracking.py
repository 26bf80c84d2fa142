"""Tracking by distances and bearings: an extended Kalman filter's likelihood of 500 tracks of 60 steps, gradient by three noises, double.

Bound: vectors of doubles in a chain of 60 steps: products of 4 x 4, a system of two numbers and an arc tangent in each.
"""

import jax
import jax.numpy as jnp
import numpy as np

MOTION = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1.0]])
SHAKE = np.array([[0.25, 0, 0.5, 0], [0, 0.25, 0, 0.5], [0.5, 0, 1, 0], [0, 0.5, 0, 1]])


def arguments(random):
    start = np.concatenate([random.uniform(40, 80, size=(500, 2)), random.normal(0, 0.3, size=(500, 2))], 1)
    states, seen = start.copy(), []
    for _ in range(60):
        push = 0.05 * random.normal(size=(500, 2))
        states = states @ MOTION.T + np.concatenate([0.5 * push, push], 1)
        x, y = states[:, 0], states[:, 1]
        seen.append(np.stack([np.hypot(x, y) + 0.5 * random.normal(size=500), np.arctan2(y, x) + 0.02 * random.normal(size=500)], -1))
    logs = np.log([0.01, 0.2, 0.001])
    return [*logs, start + 0.3 * random.normal(size=start.shape), np.stack(seen, 1)]


def sight(s):
    return jnp.stack([jnp.sqrt(s[0] * s[0] + s[1] * s[1]), jnp.arctan2(s[1], s[0])])


def slopes(s):  # by hand
    x, y = s[0], s[1]
    squared = x * x + y * y
    r = jnp.sqrt(squared)
    zero = jnp.zeros_like(x)
    return jnp.stack([jnp.stack([x / r, y / r, zero, zero]), jnp.stack([-y / squared, x / squared, zero, zero])])


def inverse_of_two(s):
    det = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]
    return jnp.stack([jnp.stack([s[1, 1], -s[0, 1]]), jnp.stack([-s[1, 0], s[0, 0]])]) / det, jnp.log(det)


def library(s):
    return jnp.linalg.inv(s), jnp.linalg.slogdet(s)[1]


def step(noise, c, z, inverse, slope):
    walk, far, wide = (jnp.exp(x) for x in noise)
    mean, spread = c
    m, p = MOTION @ mean, MOTION @ spread @ MOTION.T + walk * SHAKE
    h = slope(m)
    s = h @ p @ h.T + jnp.diag(jnp.stack([far, wide]))
    off = z - sight(m)
    back, logdet = inverse(s)
    gain = p @ h.T @ back
    return (m + gain @ off, p - gain @ h @ p), logdet + off @ back @ off


def likelihood(noise, start, seen, inverse, slope, unroll):
    return -0.5 * jnp.sum(jax.lax.scan(lambda c, z: step(noise, c, z, inverse, slope), (start, jnp.eye(4)), seen, unroll=unroll)[1])


def columns(inverse, slope, unroll=1):  # tracks last: vectors along them
    def f(noise, starts, seen):
        move = lambda x: jnp.einsum("ij,j...->i...", MOTION, x)
        walk, far, wide = (jnp.exp(x) for x in noise)

        def one(c, z):
            mean, spread = c
            m, p = move(mean), jnp.swapaxes(move(jnp.swapaxes(move(spread), 0, 1)), 0, 1) + walk * SHAKE[..., None]
            h = slope(m)
            ph = jnp.sum(p[:, None] * h[None], 2)  # rows of P H^T
            s = jnp.sum(h[:, None, :] * jnp.swapaxes(ph, 0, 1)[None], 2) + jnp.diag(jnp.stack([far, wide]))[..., None]
            off = z - sight(m)
            back, logdet = inverse(s)
            gain = jnp.sum(ph[:, :, None] * back[None], 1)
            hp = jnp.sum(h[:, :, None] * p[None], 1)  # (not P H^T turned: what P lacks of symmetry would grow)
            last = m + jnp.sum(gain * off, 1), p - jnp.sum(gain[:, :, None] * hp[None], 1)
            return last, logdet + jnp.sum(off * jnp.sum(back * off, 1), 0)

        start = starts.T, jnp.broadcast_to(jnp.eye(4)[..., None], (4, 4, 500))
        return -0.5 * jnp.mean(jnp.sum(jax.lax.scan(one, start, jnp.moveaxis(seen, 0, -1), unroll=unroll)[1], 0))

    return f


def members(inverse, slope, unroll=1):
    return lambda noise, *data: jnp.mean(jax.vmap(lambda *d: likelihood(noise, *d, inverse, slope, unroll))(*data))


def reverse(mean):
    return lambda *a: jax.value_and_grad(mean)(a[:3], *a[3:])


def forward(mean):  # three tangents
    def f(*a):
        along = lambda t: jax.jvp(lambda n: mean(n, *a[3:]), (a[:3],), (tuple(t),))
        values, slopes = jax.vmap(along)(jnp.eye(3))
        return values[0], tuple(slopes)

    return f


twins = {"library": reverse(members(library, jax.jacfwd(sight))), "members": reverse(members(inverse_of_two, jax.jacfwd(sight))),
         "members_by_hand": reverse(members(inverse_of_two, slopes, 4)), "columns": reverse(columns(inverse_of_two, slopes)),
         "columns_unrolled": reverse(columns(inverse_of_two, slopes, 4)), "forward": forward(members(inverse_of_two, slopes)),
         "columns_forward": forward(columns(inverse_of_two, slopes))}

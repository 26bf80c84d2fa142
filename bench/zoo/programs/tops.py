"""Rigid bodies: 1000 tops through 50 Runge-Kutta steps with quaternions, and the Jacobians by the first spin, double.

Bound: vectors of doubles over bodies: 400 rates of seven numbers, forward and along three directions.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    q = random.normal(size=(1000, 4))
    return [random.uniform(1, 3, (1000, 3)), q / np.linalg.norm(q, axis=1, keepdims=True), 2 * random.normal(size=(1000, 3))]


def after(inertia, q, spin, unroll=1):
    def motion(s):
        q, w = s
        turn = jnp.concatenate([-jnp.dot(q[1:], w)[None], q[0] * w + jnp.cross(q[1:], w)])
        return 0.5 * turn, jnp.cross(inertia * w, w) / inertia

    move = lambda s, h, m: jax.tree.map(lambda x, v: x + h * v, s, m)

    def step(s, _):
        a = motion(s)
        b = motion(move(s, 0.01, a))
        c = motion(move(s, 0.01, b))
        d = motion(move(s, 0.02, c))
        q, w = jax.tree.map(lambda x, a, b, c, d: x + 0.02 / 6 * (a + 2 * b + 2 * c + d), s, a, b, c, d)
        return (q / jnp.linalg.norm(q), w), None

    return jax.lax.scan(step, (q, spin), None, length=50, unroll=unroll)[0]


def members(inertia, q, spin):
    own = lambda i, q, w: (after(i, q, w), jax.jacfwd(after, 2)(i, q, w))
    return jax.vmap(own)(inertia, q, spin)


def columns_after(inertia, q, spin):  # seven numbers, bodies in vectors
    i1, i2, i3 = inertia

    def motion(a, b, c, d, x, y, z):
        return (-0.5 * (b * x + c * y + d * z), 0.5 * (a * x + c * z - d * y), 0.5 * (a * y + d * x - b * z), 0.5 * (a * z + b * y - c * x),
                (i2 - i3) * y * z / i1, (i3 - i1) * z * x / i2, (i1 - i2) * x * y / i3)

    def step(_, s):
        move = lambda h, m: tuple(u + h * v for u, v in zip(s, m))
        k1 = motion(*s)
        k2 = motion(*move(0.01, k1))
        k3 = motion(*move(0.01, k2))
        k4 = motion(*move(0.02, k3))
        q0, q1, q2, q3, x, y, z = (u + 0.02 / 6 * (a + 2 * b + 2 * c + d) for u, a, b, c, d in zip(s, k1, k2, k3, k4))
        r = jax.lax.rsqrt(q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3)
        return q0 * r, q1 * r, q2 * r, q3 * r, x, y, z

    s = jax.lax.fori_loop(0, 50, step, tuple(q) + tuple(spin))
    return jnp.stack(s[:4]), jnp.stack(s[4:])


def tangents(inertia, q, spin, out=-1, both=False):
    f = lambda w: columns_after(inertia.T, q.T, w)
    along = lambda d: jax.jvp(f, (spin.T,), (jnp.broadcast_to(d[:, None], spin.T.shape),))
    (q1, w1), (dq, dw) = jax.vmap(along, out_axes=(None, 0))(jnp.eye(3))
    turned = lambda a: jnp.transpose(a, (2, 1, 0))
    return (q1.T, w1.T), (turned(dq), turned(dw))


def in_blocks(inertia, q, spin):  # 40 bodies at a time through all steps
    split = lambda a: a.reshape(25, 40, -1)
    joined = jax.lax.map(lambda a: tangents(*a), (split(inertia), split(q), split(spin)))
    return jax.tree.map(lambda a: a.reshape(1000, *a.shape[2:]), joined)


twins = {f.__name__: f for f in (members, tangents, in_blocks)}

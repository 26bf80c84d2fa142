"""Linear-quadratic control: 50 Riccati steps for 1000 plants of 4 states and 2 inputs, cost and gradient by its weights, double.

Bound: vectors of doubles: products of 4 x 4 in a chain of 50 steps there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    a = 0.9 * np.eye(4) + 0.1 * random.normal(size=(1000, 4, 4))
    return [np.log([1.0, 0.5, 2.0, 1.0]), np.log([0.3, 0.6]), a, random.normal(size=(1000, 4, 2)), random.normal(size=(1000, 4))]


def members(own, effort, a, b, starts):
    q, r = jnp.diag(jnp.exp(own)), jnp.diag(jnp.exp(effort))

    def cost(a, b, x):
        def riccati(p, _):
            gain = jnp.linalg.solve(r + b.T @ p @ b, b.T @ p @ a)
            return q + a.T @ (p @ a - p @ b @ gain), None

        p = jax.lax.scan(riccati, q, None, length=50)[0]
        return x @ p @ x

    return jnp.mean(jax.vmap(cost)(a, b, starts))


def columns(own, effort, a, b, starts):  # plants in the last axis; systems of two by Cramer's rule
    q, r = jnp.diag(jnp.exp(own))[:, :, None], jnp.exp(effort)
    a, b, x = jnp.moveaxis(a, 0, -1), jnp.moveaxis(b, 0, -1), starts.T
    product = lambda u, v: jnp.sum(u[:, :, None] * v[None], 1)
    inner = lambda u, v: jnp.sum(u[:, :, None] * v[:, None], 0)

    def riccati(p, _):
        pa, pb = product(p, a), product(p, b)
        s, t = inner(b, pb), inner(b, pa)
        m00, m11, m01, m10 = s[0, 0] + r[0], s[1, 1] + r[1], s[0, 1], s[1, 0]
        det = m00 * m11 - m01 * m10
        gain = jnp.stack([(m11 * t[0] - m01 * t[1]) / det, (m00 * t[1] - m10 * t[0]) / det])
        return q + inner(a, pa - product(pb, gain)), None

    p = jax.lax.scan(riccati, jnp.broadcast_to(q, (4, 4, len(starts))), None, length=50)[0]
    return jnp.mean(jnp.sum(x[:, None] * p * x[None], (0, 1)))


twins = {f.__name__: jax.value_and_grad(f, (0, 1)) for f in (members, columns)}

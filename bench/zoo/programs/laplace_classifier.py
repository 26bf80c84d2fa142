"""Laplace classifier: evidence of Gaussian-process classification of 50 tasks of 24 points, eight of Newton's steps, gradient by four parameters, double.

Bound: products of doubles: nine factorisations of 24 x 24 and their derivatives for each task.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    x = random.normal(size=(50, 24, 3))
    y = np.where(np.sin(2 * x[:, :, 0]) + x[:, :, 1] + 0.5 * random.normal(size=(50, 24)) > 0, 1.0, -1.0)
    return [np.float64(0.7), np.array([-0.2, 0.1, 0.6]), x, y]


def solve(l, b, trans=0):
    return jax.scipy.linalg.solve_triangular(l, b, lower=True, trans=trans)


def evidence(variance, widths, x, y, again=False):
    scaled = x * jnp.exp(-widths)
    k = jnp.exp(variance - 0.5 * jnp.sum(jnp.square(scaled[:, None] - scaled), 2)) + 1e-4 * jnp.eye(24)
    factor = lambda root: jnp.linalg.cholesky(jnp.eye(24) + jnp.outer(root, root) * k)

    def newton(carry, _):
        f, _ = carry
        p = jax.nn.sigmoid(f)
        weight = p * (1 - p)
        root = jnp.sqrt(weight)
        b = weight * f + 0.5 * (y + 1) - p
        l = factor(root)
        a = b - root * solve(l, solve(l, root * (k @ b)), 1)
        return (k @ a, a), None

    (f, a), _ = jax.lax.scan(jax.checkpoint(newton) if again else newton, (jnp.zeros(24), jnp.zeros(24)), None, length=8)
    p = jax.nn.sigmoid(f)
    return -0.5 * jnp.dot(a, f) - jnp.sum(jax.nn.softplus(-y * f)) - jnp.sum(jnp.log(jnp.diagonal(factor(jnp.sqrt(p * (1 - p))))))


def batched(variance, widths, x, y, again=False):
    return jnp.mean(jax.vmap(lambda *d: evidence(variance, widths, *d, again=again))(x, y))


def again(*a):
    return batched(*a, again=True)


def one_by_one(variance, widths, x, y):
    slopes = jax.lax.map(lambda d: jax.value_and_grad(evidence, (0, 1))(variance, widths, *d), (x, y))
    return jax.tree.map(lambda s: jnp.mean(s, 0), slopes)


def forward(variance, widths, x, y):
    value, push = jax.linearize(lambda h: batched(h[0], h[1:], x, y), jnp.concatenate([variance[None], widths]))
    slopes = jax.vmap(push)(jnp.eye(4))
    return value, (slopes[0], slopes[1:])


def one_by_one_forward(variance, widths, x, y):
    def each(d):
        value, push = jax.linearize(lambda h: evidence(h[0], h[1:], *d), jnp.concatenate([variance[None], widths]))
        return value, jax.vmap(push)(jnp.eye(4))

    value, slopes = jax.tree.map(lambda s: jnp.mean(s, 0), jax.lax.map(each, (x, y)))
    return value, (slopes[0], slopes[1:])


twins = {f.__name__: jax.value_and_grad(f, (0, 1)) for f in (batched, again)}
twins |= {f.__name__: f for f in (one_by_one, forward, one_by_one_forward)}

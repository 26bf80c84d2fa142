"""Optimal transport: 20 Sinkhorn steps between 100 pairs of clouds of 64 points, cost and gradient by one cloud, float.

Bound: cache: a kernel of 16 KB is read twice in each step.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [np.float32(2), *(random.normal(size=(100, 64, 3)).astype(np.float32) for _ in range(2))]


def plan(width, cost):  # cost: [..., 64, 64]
    kernel = jnp.exp(-cost / width)
    turned = jnp.swapaxes(kernel, -1, -2)

    def v_of(u):
        return 1 / jnp.einsum("...i,...ij->...j", u, kernel)

    def step(u, _):
        return 1 / jnp.einsum("...ij,...j->...i", kernel, v_of(u)), None

    def step_by_rows(u, _):
        return 1 / jnp.einsum("...ji,...j->...i", turned, v_of(u)), None

    return kernel, step, step_by_rows, v_of


def end(width, cost, rows):
    kernel, step, step_by_rows, v_of = plan(width, cost)
    u, _ = jax.lax.scan(step_by_rows if rows else step, jnp.ones(cost.shape[:-1], jnp.float32), None, length=20)
    return jnp.mean(jnp.sum(u * jnp.einsum("...ij,...j->...i", kernel * cost, v_of(u)), -1) / 64)


def differences(x, y):
    return jnp.sum(jnp.square(x[..., :, None, :] - y[..., None, :, :]), -1)


def products(x, y):
    return jnp.sum(x * x, -1)[..., :, None] - 2 * jnp.einsum("...ic,...jc->...ij", x, y) + jnp.sum(y * y, -1)[..., None, :]


def batched(width, x, y):
    return end(width, differences(x, y), False)


def by_products(width, x, y):
    return end(width, products(x, y), False)


def turned(width, x, y):
    return end(width, products(x, y), True)


def one_by_one(width, x, y):
    return jnp.mean(jax.lax.map(lambda c: end(width, products(*c), False), (x, y)))


twins = {f.__name__: jax.value_and_grad(f, (0, 1)) for f in (batched, by_products, turned, one_by_one)}

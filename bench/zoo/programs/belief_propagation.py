"""Mean field of Ising models: 20 sweeps over 100 grids of 32x32, free energy and its derivative by the coupling, float.

Bound: hyperbolic tangents of floats, in a chain of 20 sweeps.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [np.float32(0.2), (0.5 * random.normal(size=(100, 32, 32))).astype(np.float32)]


def padded(m):
    p = jnp.pad(m, [(0, 0)] * (m.ndim - 2) + [(1, 1), (1, 1)])
    return p[..., :-2, 1:-1] + p[..., 2:, 1:-1] + p[..., 1:-1, :-2] + p[..., 1:-1, 2:]


def grids_last(m):  # rows and columns in front
    p = jnp.pad(m, [(1, 1), (1, 1), (0, 0)])
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]


def by_products(m):
    beside = jnp.eye(32, k=1, dtype=jnp.float32) + jnp.eye(32, k=-1, dtype=jnp.float32)
    return beside @ m + m @ beside


def loss(neighbours, last=False):
    def of(coupling, fields):
        field = fields.transpose(1, 2, 0) if last else fields

        def sweep(m, _):
            return 0.5 * m + 0.5 * jnp.tanh(coupling * neighbours(m) + field), None

        m = jax.lax.scan(sweep, jnp.zeros_like(field), None, 20)[0]
        up, down = 0.5 * (1 + m), 0.5 * (1 - m)
        energy = -jnp.sum(m * (0.5 * coupling * neighbours(m) + field))
        return (energy + jnp.sum(up * jnp.log(up) + down * jnp.log(down))) / fields.shape[0]

    return of


def members(coupling, fields):
    return jnp.mean(jax.vmap(lambda f: loss(padded)(coupling, f[None]))(fields))


def forward(f):
    return lambda coupling, fields: jax.jvp(lambda c: f(c, fields), (coupling,), (jnp.ones_like(coupling),))


twins = {"members": jax.value_and_grad(members), "forward": forward(loss(padded)), "products, forward": forward(loss(by_products)),
         "grids last, forward": forward(loss(grids_last, True)), "grids last": jax.value_and_grad(loss(grids_last, True))}

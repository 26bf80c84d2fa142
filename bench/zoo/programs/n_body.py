"""N bodies: ten leapfrog steps of 200 systems of 32 bodies, float.

Bound: vectors of floats: 1024 pairs with a reciprocal square root in each step.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.normal(size=(200, 32, 3)).astype(np.float32), 0.1 * random.normal(size=(200, 32, 3)).astype(np.float32)]


def energy(x):
    return -0.5 * jnp.sum(jax.lax.rsqrt(jnp.sum(jnp.square(x[:, None] - x), 2) + 0.01))


def force(x):  # by hand, with the coordinates in front
    apart = x.T[:, :, None] - x.T[:, None, :]
    s = jax.lax.rsqrt(jnp.sum(jnp.square(apart), 0) + 0.01)
    return jnp.sum(apart * (s * s * s), 2).T


def leap(slope):
    def of_one(x, v):
        def step(_, state):
            p, q = state
            q = q - 0.01 * slope(p)
            return p + 0.01 * q, q

        x, v = jax.lax.fori_loop(0, 10, step, (x, v))
        return energy(x) + 0.5 * jnp.sum(jnp.square(v))

    return of_one


def batched(f):
    return lambda x, v: jnp.mean(jax.vmap(f)(x, v))


def one_by_one(f):
    return lambda x, v: jnp.mean(jax.lax.map(lambda xv: f(*xv), (x, v)))


twins = {"gradient": batched(leap(jax.grad(energy))), "by hand": batched(leap(force)), "one by one": one_by_one(leap(force))}

"""Two streams of a plasma: 64 rings of 1024 particles in 64 cells, 30 steps, the field's energy and its slope by the push, float.

Bound: gathering and scattering of single numbers, four for each particle and step.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    x = np.tile(64 * (np.arange(1024) + 0.5) / 1024, (64, 1)) + 0.1 * random.normal(size=(64, 1024))
    v = np.where(np.arange(1024) % 2, 0.3, -0.3) + 0.05 * random.normal(size=(64, 1024))
    return [np.float32(0.1), np.mod(x, 64).astype(np.float32), v.astype(np.float32)]


def scattered(left, share):
    return jnp.zeros(64, share.dtype).at[left].add(1 - share).at[(left + 1) % 64].add(share)


def rolled(left, share):  # one scattering of pairs, of which one is turned
    both = jnp.zeros((64, 2), share.dtype).at[left].add(jnp.stack([1 - share, share], 1))
    return both[:, 0] + jnp.roll(both[:, 1], 1)


def compared(left, share):  # by a product with ones where a particle is in a cell
    here = (left[:, None] == jnp.arange(64)).astype(share.dtype)
    return (1 - share) @ here + jnp.roll(share @ here, 1)


def gathered(e, left, share):
    return (1 - share) * e[left] + share * e[(left + 1) % 64]


def by_slopes(e, left, share):
    both = jnp.stack([e, jnp.roll(e, -1) - e], 1)[left]
    return both[:, 0] + share * both[:, 1]


def by_product(e, left, share):
    here = (left[:, None] == jnp.arange(64)).astype(share.dtype)
    return (1 - share) * (here @ e) + share * (here @ jnp.roll(e, -1))


def by_mod(x):
    to = jnp.mod(x, 64)
    return jnp.where(to < 64, to, 0)


def by_floor(x):  # exact for a power of two, too, and no call for each number
    to = x - 64 * jnp.floor(x / 64)
    return jnp.where(to < 64, to, 0)


def energy(charge, force, one_by_one=False, on_ring=by_mod, unroll=1):
    def run(push, x, v):
        def step(_, c):
            x, v, energy = c
            below = jnp.floor(x)
            left, share = below.astype(jnp.int32) % 64, x - below
            field = jnp.cumsum(1 - charge(left, share) / 16)
            e = field - jnp.mean(field)
            v = v - push * force(e, left, share)
            return on_ring(x + v), v, energy + jnp.mean(jnp.square(e))

        return jax.lax.fori_loop(0, 30, step, (x, v, 0 * push), unroll=unroll)[2]

    def mean(push, x, v):
        if one_by_one:
            return jnp.mean(jax.lax.map(lambda a: run(push, *a), (x, v)))
        return jnp.mean(jax.vmap(run, (None, 0, 0))(push, x, v))

    return mean


def reverse(*how):
    return lambda push, x, v: jax.value_and_grad(energy(*how))(push, x, v)


def forward(*how):
    return lambda push, x, v: jax.jvp(lambda p: energy(*how)(p, x, v), (push,), (jnp.ones_like(push),))


twins = {"reverse": reverse(scattered, gathered), "forward": forward(scattered, gathered), "forward_rolled": forward(rolled, by_slopes),
         "forward_one_by_one": forward(scattered, gathered, True), "forward_products": forward(compared, by_product),
         "floor_one_by_one": forward(scattered, gathered, True, by_floor), "floor_rolled": forward(rolled, by_slopes, False, by_floor),
         "floor_unrolled": forward(scattered, gathered, True, by_floor, 5)}

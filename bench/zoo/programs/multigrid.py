"""Multigrid: four cycles on three grids for the heat of eight plates of 64 x 64 with conductivities of their own, and gradients by these, double.

Bound: cache: some ten arrays of 32 KB are read and written in each of 24 sweeps, there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [0.5 * random.normal(size=(8, 64, 64)), random.normal(size=(8, 64, 64)) / 100]


def faces_of(k):
    both = lambda a, b: (a + b) / 2
    return (both(jnp.concatenate([k[:1], k]), jnp.concatenate([k, k[-1:]])),
            both(jnp.concatenate([k[:, :1], k], 1), jnp.concatenate([k, k[:, -1:]], 1)))


def by_flows(faces, u):
    v, h = faces
    a, b = v * jnp.diff(jnp.pad(u, ((1, 1), (0, 0))), axis=0), h * jnp.diff(jnp.pad(u, ((0, 0), (1, 1))), axis=1)
    return -jnp.diff(a, axis=0) - jnp.diff(b, axis=1)


def by_neighbours(faces, u):
    v, h = faces
    p = jnp.pad(u, 1)
    return diagonal_of(faces) * u - v[:-1] * p[:-2, 1:-1] - v[1:] * p[2:, 1:-1] - h[:, :-1] * p[1:-1, :-2] - h[:, 1:] * p[1:-1, 2:]


def diagonal_of(faces):
    v, h = faces
    return v[:-1] + v[1:] + h[:, :-1] + h[:, 1:]


def blocks(x):
    n = len(x) // 2
    return x.reshape(n, 2, n, 2).sum((1, 3))


def heat(applied, loop):
    def cycle(k, f):
        faces = faces_of(k)
        diagonal = diagonal_of(faces)
        smooth = lambda u: u + 0.8 * (f - applied(faces, u)) / diagonal
        u = loop(smooth, jnp.zeros_like(f), 3)
        if len(k) > 16:
            u = u + jnp.repeat(jnp.repeat(cycle(blocks(k) / 4, blocks(f - applied(faces, u))), 2, 0), 2, 1)
        return loop(smooth, u, 3)

    def of(log_k, source):
        k = jnp.exp(log_k)
        faces = faces_of(k)
        u = jax.lax.scan(lambda v, _: (v + cycle(k, source - applied(faces, v)), None), jnp.zeros_like(source), None, length=4)[0]
        return jnp.mean(u * source)

    return of


def scanned(f, x, n):
    return jax.lax.scan(lambda u, _: (f(u), None), x, None, length=n)[0]


def written(f, x, n):
    for _ in range(n):
        x = f(x)
    return x


def members(f):
    return lambda k, source: jax.vmap(jax.value_and_grad(f))(k, source)


def one_by_one(f):
    return lambda k, source: jax.lax.map(lambda a: jax.value_and_grad(f)(*a), (k, source))


twins = {"members": members(heat(by_flows, scanned)), "one_by_one": one_by_one(heat(by_flows, scanned)),
         "neighbours": one_by_one(heat(by_neighbours, scanned)), "neighbours_members": members(heat(by_neighbours, scanned)),
         "written_out": one_by_one(heat(by_neighbours, written)), "flows_written_out": one_by_one(heat(by_flows, written))}

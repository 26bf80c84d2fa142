"""Non-negative factors: six parts of 128 films of 48 pixels and 60 pictures by 25 multiplicative steps, float.

Bound: products of 48 x 60 numbers with six columns, in the first cache.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    w, h = random.gamma(1, 1, (128, 48, 6)), random.gamma(1, 1, (128, 6, 60))
    x = w @ h + 0.1 * random.uniform(size=(128, 48, 60))
    starts = random.uniform(0.5, 1.5, (128, 48, 6)), random.uniform(0.5, 1.5, (128, 6, 60))
    return [a.astype(np.float32) for a in (x, *starts)]


def split(x, w, h, unroll=1, gram_first=True):
    def step(c, _):
        w, h = c
        below = (w.T @ w) @ h if gram_first else w.T @ (w @ h)
        h = h * (w.T @ x) / (below + 1e-6)
        below = w @ (h @ h.T) if gram_first else (w @ h) @ h.T
        return (w * (x @ h.T) / (below + 1e-6), h), None

    w, h = jax.lax.scan(step, (w, h), None, length=25, unroll=unroll)[0]
    return jnp.sum(jnp.square(x - w @ h)), w, h


def split_turned(x, w, h):  # both factors with six numbers in a row
    xt, v = x.T, h.T

    def step(c, _):
        w, v = c
        v = v * (xt @ w) / (v @ (w.T @ w) + 1e-6)
        return (w * (x @ v) / (w @ (v.T @ v) + 1e-6), v), None

    w, v = jax.lax.scan(step, (w, v), None, length=25)[0]
    return jnp.sum(jnp.square(x - w @ v.T)), w, v.T


def split_in_rows(x, w, h, unroll=1):  # both factors with long rows
    xt, u = x.T, w.T

    def step(c, _):
        u, h = c
        h = h * (u @ x) / ((u @ u.T) @ h + 1e-6)
        return (u * (h @ xt) / ((h @ h.T) @ u + 1e-6), h), None

    u, h = jax.lax.scan(step, (u, h), None, length=25, unroll=unroll)[0]
    return jnp.sum(jnp.square(x - u.T @ h)), u.T, h


def mean(f, one_by_one=False):
    def g(*a):
        r = jax.lax.map(lambda m: f(*m), a) if one_by_one else jax.vmap(f)(*a)
        return jax.tree.map(lambda v: jnp.mean(v, 0), r)

    return g


twins = {"members": mean(split), "one_by_one": mean(split, True), "unrolled": mean(lambda *a: split(*a, 5)),
         "turned": mean(split_turned), "turned_one_by_one": mean(split_turned, True), "in_rows": mean(split_in_rows),
         "in_rows_one_by_one": mean(split_in_rows, True), "in_rows_unrolled": mean(lambda *a: split_in_rows(*a, 5))}

"""Tensor factors: eight sweeps of alternating least squares for rank 6 of eight tensors of 20 x 24 x 28, double.

Bound: products of doubles: three of 20 x 24 x 28 with six columns in each sweep.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    f = [random.normal(size=(n, 6)) for n in (20, 24, 28)]
    own = [random.normal(size=(8, n, 6)) for n in (20, 24, 28)]
    return f + [np.einsum("nir,njr,nkr->nijk", *own) + 0.1 * random.normal(size=(8, 20, 24, 28))]


def solved(products, b, c):
    return jnp.linalg.solve((b.T @ b) * (c.T @ c) + 1e-3 * jnp.eye(6), products.T).T


def solved_cholesky(products, b, c):
    return jax.scipy.linalg.cho_solve((jnp.linalg.cholesky((b.T @ b) * (c.T @ c) + 1e-3 * jnp.eye(6)), True), products.T).T


def factored(x, a, b, c, products, solved):
    first, second, third = products(x)

    def sweep(f, _):
        a, b, c = f
        a = solved(first(b, c), b, c)
        b = solved(second(a, c), a, c)
        return (a, b, solved(third(a, b), a, b)), None

    a, b, c = jax.lax.scan(sweep, (a, b, c), None, length=8)[0]
    return a, b, c, jnp.linalg.norm(x - jnp.einsum("ir,jr,kr->ijk", a, b, c))


def by_einsum(x):
    return (lambda b, c: jnp.einsum("ijk,jr,kr->ir", x, b, c), lambda a, c: jnp.einsum("ijk,ir,kr->jr", x, a, c),
            lambda a, b: jnp.einsum("ijk,ir,jr->kr", x, a, b))


def unfolded(x):  # the tensor as three matrices, times pairs of columns
    pairs = lambda u, v: (u[:, None] * v[None]).reshape(-1, 6)
    one, two, three = x.reshape(20, -1), x.transpose(1, 0, 2).reshape(24, -1), x.transpose(2, 0, 1).reshape(28, -1)
    return lambda b, c: one @ pairs(b, c), lambda a, c: two @ pairs(a, c), lambda a, b: three @ pairs(a, b)


def last_first(x):  # x c is shared by two
    def over_c(c):
        return (x.reshape(-1, 28) @ c).reshape(20, 24, 6)

    three = x.reshape(480, 28).T
    return (lambda b, c: jnp.sum(over_c(c) * b, 1), lambda a, c: jnp.sum(over_c(c) * a[:, None], 0),
            lambda a, b: three @ (a[:, None] * b[None]).reshape(-1, 6))


def members(*how):
    return lambda a, b, c, x: jax.vmap(lambda own: factored(own, a, b, c, *how))(x)


def one_by_one(*how):
    return lambda a, b, c, x: jax.lax.map(lambda own: factored(own, a, b, c, *how), x)


twins = {"members": members(by_einsum, solved), "one_by_one": one_by_one(by_einsum, solved),
         "unfolded": members(unfolded, solved), "unfolded_one_by_one": one_by_one(unfolded, solved),
         "shared": one_by_one(last_first, solved), "shared_cholesky": one_by_one(last_first, solved_cholesky),
         "shared_members": members(last_first, solved_cholesky)}

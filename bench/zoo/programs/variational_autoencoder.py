"""Variational autoencoder of 64 numbers by 8, layers of 48, 4096 examples with keys: bound and gradient, float.

Bound: products of floats.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    def matrix(rows, columns):
        return (random.normal(size=(rows, columns)) / np.sqrt(rows)).astype(np.float32)

    return [matrix(64, 48), np.zeros(48, np.float32), 0.5 * matrix(48, 16), matrix(8, 48), matrix(48, 64),
            np.arange(4096, dtype=np.int32), random.uniform(size=(4096, 64)).astype(np.float32)]


def noise(i):
    return jax.random.normal(jax.random.fold_in(jax.random.key(5), i), 8, jnp.float32)


def of(w, b, second, back, out, drawn, x):
    code = jax.nn.relu(x @ w + b) @ second
    mean, log_sd = code[..., :8], code[..., 8:]
    logits = jax.nn.relu((mean + jnp.exp(log_sd) * drawn) @ back) @ out
    wrong = jnp.sum(jax.nn.softplus(logits) - x * logits, -1)
    return jnp.mean(wrong + 0.5 * jnp.sum(jnp.exp(2 * log_sd) + jnp.square(mean) - 1 - 2 * log_sd, -1))


def batched(w, b, second, back, out, i, x):
    return of(w, b, second, back, out, jax.vmap(noise)(i), x)


def chunks(w, b, second, back, out, i, x):
    def one(c):
        return of(w, b, second, back, out, jax.vmap(noise)(c[0]), c[1])

    return jnp.mean(jax.lax.map(one, (i.reshape(8, -1), x.reshape(8, -1, 64))))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2, 3, 4)) for f in (batched, chunks)}

"""Causal attention: four heads of 16 over 64 places, 32 texts, loss and gradient, float.

Bound: products of floats.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [(0.1 * random.normal(size=(64, 192))).astype(np.float32), (0.1 * random.normal(size=(64, 64))).astype(np.float32),
            random.normal(size=(32, 64, 64)).astype(np.float32)]


def attend(qkv, out, x):
    q, k, v = jnp.transpose((x @ qkv).reshape(64, 3, 4, 16), (1, 2, 0, 3))
    scores = jnp.where(jnp.tril(jnp.ones((64, 64), bool)), 0.25 * jnp.einsum("hqd,hkd->hqk", q, k), -1e9)
    mixed = jnp.einsum("hqk,hkd->qhd", jax.nn.softmax(scores), v)
    return jnp.mean(jnp.square(x + mixed.reshape(64, 64) @ out))


def batched(qkv, out, x):
    return jnp.mean(jax.vmap(attend, (None, None, 0))(qkv, out, x))


def flat(qkv, out, x):  # the projections as one product over all texts
    y = (x.reshape(-1, 64) @ qkv).reshape(32, 64, 3, 4, 16)
    q, k, v = jnp.transpose(y, (2, 0, 3, 1, 4))
    scores = jnp.where(jnp.tril(jnp.ones((64, 64), bool)), 0.25 * jnp.einsum("bhqd,bhkd->bhqk", q, k), -1e9)
    mixed = jnp.einsum("bhqk,bhkd->bqhd", jax.nn.softmax(scores), v)
    return jnp.mean(jnp.square(x.reshape(-1, 64) + mixed.reshape(-1, 64) @ out))


twins = {"batched": jax.value_and_grad(batched, (0, 1)), "flat": jax.value_and_grad(flat, (0, 1))}

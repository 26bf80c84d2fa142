"""Recurrent network of 32 units over 48 steps, 8 sequences in each of 16 clients, loss and gradient, float.

Bound: products of floats in a chain of 48 steps.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [(0.3 * random.normal(size=s)).astype(np.float32) for s in ((8, 32), (32, 32), (32,))] + [
        random.normal(size=(16, 48, 8, 8)).astype(np.float32), random.normal(size=(16, 8)).astype(np.float32)]


def run(inner, across, out, x, unroll=1):
    h = jnp.zeros((x.shape[1], 32), jnp.float32)
    return jax.lax.scan(lambda h, seen: (jnp.tanh(seen @ inner + h @ across), None), h, x, unroll=unroll)[0] @ out


def clients(inner, across, out, x, y):
    return jnp.mean(jax.vmap(lambda a, b: jnp.mean(jnp.square(run(inner, across, out, a) - b)))(x, y))


def flat(inner, across, out, x, y):
    return jnp.mean(jnp.square(run(inner, across, out, x.transpose(1, 0, 2, 3).reshape(48, 128, 8)) - y.reshape(-1)))


def ahead(inner, across, out, x, y):  # all products with inputs before the loop
    z = x.transpose(1, 0, 2, 3).reshape(-1, 8) @ inner
    h = jax.lax.scan(lambda h, a: (jnp.tanh(a + h @ across), None), jnp.zeros((128, 32), jnp.float32), z.reshape(48, 128, 32), unroll=4)[0]
    return jnp.mean(jnp.square(h @ out - y.reshape(-1)))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2)) for f in (clients, flat, ahead)}

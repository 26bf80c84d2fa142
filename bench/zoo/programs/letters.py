"""Letters by a network with long short-term memory: 48 units, 16 clients with eight texts of 32, loss and gradient, float.

Bound: products of floats in a chain of 32 steps.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    shapes = (64, 24), (72, 192), (192,), (48, 64)
    net = [(0.2 * random.normal(size=s)).astype(np.float32) for s in shapes]
    return [*net, random.integers(0, 64, size=(16, 8, 33)).astype(np.int32)]


def errors(net, texts, unroll, hoisted):  # texts: any number of rows
    embedding, weights, bias, last = net
    seen, wanted = texts[:, :-1].T, texts[:, 1:].T
    inputs = embedding[seen]
    if hoisted:
        inputs = inputs @ weights[:24] + bias

    def step(carry, x):
        h, c = carry
        gates = x + h @ weights[24:] if hoisted else jnp.concatenate([x, h], 1) @ weights + bias
        i, k, f, o = jnp.split(gates, 4, 1)
        c = jax.nn.sigmoid(k + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(f)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((len(texts), 48), jnp.float32)
    hidden = jax.lax.scan(step, (zero, zero), inputs, unroll=unroll)[1]
    logs = jax.nn.log_softmax(hidden @ last)
    return -jnp.mean(jnp.take_along_axis(logs, wanted[:, :, None], 2))


def members(*a):
    return jnp.mean(jax.vmap(lambda t: errors(a[:4], t, 1, False))(a[4]))


def flat(*a):
    return errors(a[:4], a[4].reshape(-1, 33), 1, False)


def hoisted(*a):
    return errors(a[:4], a[4].reshape(-1, 33), 1, True)


def unrolled(*a):
    return errors(a[:4], a[4].reshape(-1, 33), 4, True)


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2, 3)) for f in (members, flat, hoisted, unrolled)}

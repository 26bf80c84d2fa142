"""Graph network: three rounds of messages over 200 graphs of 32 nodes and 96 edges, loss and gradient, float.

Bound: products of floats, and gathering and scattering of rows.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [(0.3 * random.normal(size=s)).astype(np.float32) for s in ((16, 16), (16, 16), (16,))] + [
        random.normal(size=(200, 32, 16)).astype(np.float32), random.integers(0, 32, (200, 96)).astype(np.int32),
        random.integers(0, 32, (200, 96)).astype(np.int32), random.normal(size=200).astype(np.float32)]


def rounds(message, own, x, start, end):
    for _ in range(3):
        sent = jax.nn.relu(x[start] @ message)
        x = jnp.tanh(x @ own + jnp.zeros_like(x).at[end].add(sent))
    return x


def members(message, own, out, nodes, start, end, y):
    predicted = jax.vmap(lambda x, s, e: jnp.mean(rounds(message, own, x, s, e), 0) @ out)(nodes, start, end)
    return jnp.mean(jnp.square(predicted - y))


def one_graph(message, own, out, nodes, start, end, y):  # all graphs as one of 6400 nodes
    first = 32 * jnp.arange(200, dtype=jnp.int32)[:, None]
    h = rounds(message, own, nodes.reshape(-1, 16), (start + first).reshape(-1), (end + first).reshape(-1))
    return jnp.mean(jnp.square(jnp.mean(h.reshape(200, 32, 16), 1) @ out - y))


def matrices(message, own, out, nodes, start, end, y):  # gathers and scatters as products
    def of_one(x, s, e):
        gather, scatter = jax.nn.one_hot(s, 32), jax.nn.one_hot(e, 32).T
        for _ in range(3):
            x = jnp.tanh(x @ own + scatter @ jax.nn.relu(gather @ (x @ message)))
        return jnp.mean(x, 0) @ out

    return jnp.mean(jnp.square(jax.vmap(of_one)(nodes, start, end) - y))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2)) for f in (members, one_graph, matrices)}

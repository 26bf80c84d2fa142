"""Graph attention with four heads: 128 graphs of 48 nodes and 192 edges, loss and gradient, float.

Bound: reads and additions of 32 numbers for each edge, at places of the graph's own.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    def normal(scale, *shape):
        return (scale * random.normal(size=shape)).astype(np.float32)

    return [normal(0.3, 16, 32), normal(0.3, 4, 8), normal(0.3, 4, 8), normal(1, 32), normal(1, 128, 48, 16)] + [
        random.integers(0, 48, (128, 192)).astype(np.int32) for _ in range(2)] + [normal(1, 128)]


def predict(net, nodes, from_, to):
    w, by_from, by_to, out = net
    n = nodes.shape[0]
    h = (nodes @ w).reshape(n, 4, 8)
    scores = jnp.sum(h * by_from, 2)[from_] + jnp.sum(h * by_to, 2)[to]
    weights = jnp.exp(jnp.where(scores > 0, scores, 0.2 * scores))
    total = jnp.full((n, 4), 1e-6, jnp.float32).at[to].add(weights)
    received = jnp.zeros((n, 4, 8), jnp.float32).at[to].add(h[from_] * (weights / total[to])[..., None])
    return jnp.tanh(received.reshape(n, 32))


def members(*a):
    def loss(net, nodes, from_, to, y):
        one = jax.vmap(lambda x, f, t: jnp.mean(predict(net, x, f, t), 0) @ net[3])
        return jnp.mean(jnp.square(one(nodes, from_, to) - y))

    return jax.value_and_grad(loss)(a[:4], *a[4:])


def one_graph(*a):  # all graphs as one, with nodes one after the other
    def loss(net, nodes, from_, to, y):
        first = 48 * jnp.arange(128, dtype=jnp.int32)[:, None]
        h = predict(net, nodes.reshape(-1, 16), (from_ + first).ravel(), (to + first).ravel())
        return jnp.mean(jnp.square(jnp.mean(h.reshape(128, 48, 32), 1) @ net[3] - y))

    return jax.value_and_grad(loss)(a[:4], *a[4:])


def in_turn(*a):
    def loss(net, nodes, from_, to, y):
        one = lambda m: jnp.mean(predict(net, *m), 0) @ net[3]  # noqa: E731
        return jnp.mean(jnp.square(jax.lax.map(one, (nodes, from_, to)) - y))

    return jax.value_and_grad(loss)(a[:4], *a[4:])


twins = {"members": members, "one_graph": one_graph, "in_turn": in_turn}

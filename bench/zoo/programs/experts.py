"""A mixture of six experts 32-48-8 behind a gate: 100 clients of 40 rows, value and gradient, float.

Bound: products, 300 million operations.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    f = lambda s, *shape: (s * random.normal(size=shape)).astype(np.float32)
    return [f(0.3, 32, 6), f(0.2, 6, 32, 48), f(0.2, 6, 48, 8), f(1, 100, 40, 32), f(1, 100, 40, 8)]


def each(gate, first, second, x):  # a product for each expert
    all = jax.vmap(lambda w, v: jax.nn.gelu(x @ w, approximate=False) @ v)(first, second)
    return jnp.einsum("nk,knd->nd", jax.nn.softmax(x @ gate), all)


def joined(gate, first, second, x):  # one product for all experts: the shares scale the hidden units
    shares = jnp.repeat(jax.nn.softmax(x @ gate), 48, axis=1)
    hidden = jax.nn.gelu(x @ jnp.swapaxes(first, 0, 1).reshape(32, 288), approximate=False)
    return (shares * hidden) @ second.reshape(288, 8)


def flat(mixed):
    return lambda g, f, s, x, y: jnp.mean(jnp.square(mixed(g, f, s, x.reshape(-1, 32)) - y.reshape(-1, 8)))


def members(mixed):
    return lambda g, f, s, x, y: jnp.mean(jax.vmap(lambda a, b: jnp.mean(jnp.square(mixed(g, f, s, a) - b)))(x, y))


def one_by_one(mixed):
    one = jax.value_and_grad(lambda net, a, b: jnp.mean(jnp.square(mixed(*net, a) - b)))

    def total(g, f, s, x, y):
        add = lambda sums, data: (jax.tree.map(jnp.add, sums, one((g, f, s), *data)), None)
        start = (jnp.float32(0), tuple(map(jnp.zeros_like, (g, f, s))))
        return jax.tree.map(lambda v: v / len(x), jax.lax.scan(add, start, (x, y))[0])

    return total


twins = {}
for mixed in (each, joined):
    twins["flat " + mixed.__name__] = jax.value_and_grad(flat(mixed), (0, 1, 2))
    twins["members " + mixed.__name__] = jax.value_and_grad(members(mixed), (0, 1, 2))
    twins["one by one " + mixed.__name__] = one_by_one(mixed)

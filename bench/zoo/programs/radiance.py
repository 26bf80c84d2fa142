"""A radiance field: colours of 256 rays by a network 24-48-48-4 at 32 places of each, errors and the gradient, float.

Bound: products of floats, 180 million operations, and 24 sines and cosines for each place.
"""

import jax
import jax.numpy as jnp
import numpy as np

DEPTHS = np.linspace(0.5, 3.5, 32, dtype=np.float32)


def arguments(random):
    net = []
    for n, m in ((24, 48), (48, 48), (48, 4)):
        net += [random.normal(size=(n, m)) / np.sqrt(n), 0.1 * random.normal(size=m)]
    along = random.normal(size=(256, 3)) + [0, 0, 3]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    return [a.astype(np.float32) for a in (*net, 0.1 * random.normal(size=(256, 3)), along, random.uniform(size=(256, 3)))]


def colours(net, places, joined=True):  # of rays in front
    w1, b1, w2, b2, w3, b3 = net
    waves = jnp.concatenate([places, 2 * places, 4 * places, 8 * places], -1)
    if joined:
        first = jnp.concatenate([jnp.sin(waves), jnp.cos(waves)], -1) @ w1
    else:
        first = jnp.sin(waves) @ w1[:12] + jnp.cos(waves) @ w1[12:]
    out = jax.nn.relu(jax.nn.relu(first + b1) @ w2 + b2) @ w3 + b3
    dims = 0.1 * jax.nn.softplus(out[..., 3])
    weights = jnp.exp(dims - jnp.cumsum(dims, -1)) * (1 - jnp.exp(-dims))
    return jnp.sum(weights[..., None] * jax.nn.sigmoid(out[..., :3]), -2)


def error(net, start, along, seen, joined=True):
    places = start[..., None, :] + DEPTHS[:, None] * along[..., None, :]
    return jnp.sum(jnp.square(colours(net, places, joined) - seen), -1)


def batch(joined):
    return lambda net, *data: jnp.mean(error(net, *data, joined))


def members(net, *data):
    return jnp.mean(jax.vmap(error, (None, 0, 0, 0))(net, *data))


def in_blocks(size):
    def f(net, *data):
        split = [x.reshape(-1, size, 3) for x in data]
        return jnp.mean(jax.lax.map(lambda d: jnp.mean(error(net, *d)), split))

    return f


def gradient(f):
    return lambda *a: jax.value_and_grad(f)(a[:6], *a[6:])


twins = {"batch": gradient(batch(True)), "batch_in_two": gradient(batch(False)), "members": gradient(members), "blocks_of_16": gradient(in_blocks(16)),
         "blocks_of_64": gradient(in_blocks(64))}

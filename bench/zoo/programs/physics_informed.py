"""Physics-informed network of two layers of 32: squared residual of Poisson's equation at 4096 places and gradient, float.

Bound: products of floats.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    shapes = (2, 32), (32,), (32, 32), (32,), (32,)
    return [(0.3 * random.normal(size=s)).astype(np.float32) for s in shapes] + [random.uniform(-1, 1, (4096, 2)).astype(np.float32)]


def potential(net, x):
    w1, b1, w2, b2, w3 = net
    return jnp.tanh(jnp.tanh(x @ w1 + b1) @ w2 + b2) @ w3


def source(x):
    return jnp.sin(3 * x[..., 0]) * jnp.sin(3 * x[..., 1])


def hessian(net, x):
    return jnp.trace(jax.hessian(potential, 1)(net, x))


def along(net, x):  # twice forward along each axis
    def second(v):
        return jax.jvp(lambda y: jax.jvp(lambda z: potential(net, z), (y,), (v,))[1], (x,), (v,))[1]

    e = jnp.eye(2, dtype=x.dtype)
    return second(e[0]) + second(e[1])


def loss(laplacian):
    def mean(*a):
        net, x = a[:5], a[5]
        return jnp.mean(jnp.square(jax.vmap(laplacian, (None, 0))(net, x) - source(x)))

    return jax.value_and_grad(mean, tuple(range(5)))


def batched(*a):  # the same, by hand: value, tangent and second derivative of each layer at all places at once
    net, x = a[:5], a[5]
    w1, b1, w2, b2, w3 = net
    h = jnp.tanh(x @ w1 + b1)
    d = 1 - h * h
    p = jnp.tanh(h @ w2 + b2)
    first = jnp.stack([d * w1[0], d * w1[1]])
    second = -2 * h * d * (w1[0] ** 2 + w1[1] ** 2)
    q, r = first @ w2, second @ w2
    e = 1 - p * p
    laplacian = (e * r - 2 * p * e * jnp.sum(q * q, 0)) @ w3
    return jnp.mean(jnp.square(laplacian - source(x)))


twins = {"hessian": loss(hessian), "forward": loss(along), "by hand": jax.value_and_grad(batched, tuple(range(5)))}

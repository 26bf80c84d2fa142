"""Selective state space: a layer of 32 channels with 8 states each over 64 sequences of 128 steps, loss and gradient, float.

Bound: an exponential for each of 256 states in each step, in vectors.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    def normal(scale, *shape):
        return (scale * random.normal(size=shape)).astype(np.float32)

    return [normal(0.5, 32, 8), normal(0.5, 32), normal(0.5, 32), normal(0.2, 32, 8), normal(0.2, 32, 8), normal(1, 32),
            normal(1, 64, 128, 32), normal(1, 64, 128, 32)]


def by_steps(net, x, memory, unroll=1):
    rates, weight, bias, write, read, skip = net
    decay = -jnp.exp(rates)

    def step(h, seen):
        dt = jax.nn.softplus(weight * seen + bias)
        h = jnp.exp(dt[..., None] * decay) * h + (dt * seen)[..., None] * (seen @ write)[..., None, :]
        return h, jnp.einsum("...dn,...n->...d", h, seen @ read) + skip * seen

    return jax.lax.scan(memory(step), jnp.zeros(x.shape[1:] + (8,), jnp.float32), x, unroll=unroll)[1]


def at_once(net, x, _):  # an associative scan, as on wide machines
    rates, weight, bias, write, read, skip = net
    dt = jax.nn.softplus(weight * x + bias)
    kept = jnp.exp(dt[..., None] * -jnp.exp(rates))
    h = jax.lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]),
                                 (kept, (dt * x)[..., None] * (x @ write)[..., None, :]))[1]
    return jnp.einsum("tdn,tn->td", h, x @ read) + skip * x


def of_members(outputs, memory):
    def loss(net, x, y):
        return jnp.mean(jax.vmap(lambda a, b: jnp.mean(jnp.square(outputs(net, a, memory) - b)))(x, y))

    return lambda *a: jax.value_and_grad(loss)(a[:6], *a[6:])


def batch(memory):
    def loss(net, x, y):
        return jnp.mean(jnp.square(by_steps(net, x.transpose(1, 0, 2), memory) - y.transpose(1, 0, 2)))

    return lambda *a: jax.value_and_grad(loss)(a[:6], *a[6:])


def in_turn(*a):  # a sequence's work stays in a cache
    def loss(net, x, y):
        one = lambda m: jnp.mean(jnp.square(by_steps(net, m[0], lambda f: f) - m[1]))  # noqa: E731
        return jnp.mean(jax.lax.map(one, (x, y)))

    return jax.value_and_grad(loss)(a[:6], *a[6:])


def unrolled(net, x, memory):
    return by_steps(net, x, memory, 8)


twins = {"members": of_members(by_steps, lambda f: f), "checkpointed": of_members(by_steps, jax.checkpoint),
         "unrolled": of_members(unrolled, jax.checkpoint), "associative": of_members(at_once, None), "in_turn": in_turn,
         "batch": batch(jax.checkpoint), "batch_kept": batch(lambda f: f)}

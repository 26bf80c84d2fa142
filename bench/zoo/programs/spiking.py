"""Spiking neurons: 96 that fire at one another over 50 steps, 16 examples in each of 16 clients, loss and surrogate gradient, float.

Bound: products of floats in a chain of 50 steps.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    def normal(scale, *shape):
        return (scale * random.normal(size=shape)).astype(np.float32)

    return [normal(0.2, 64, 96), normal(0.05, 96, 96), normal(0.2, 96, 10),
            (random.uniform(size=(16, 50, 16, 64)) < 0.1).astype(np.float32), random.integers(0, 10, size=(16, 16)).astype(np.int32)]


@jax.custom_jvp
def fire(v):
    return (v > 1).astype(jnp.float32)


@fire.defjvp
def _(primals, tangents):
    (v,), (t,) = primals, tangents
    return fire(v), t / jnp.square(1 + 10 * jnp.abs(v - 1))


def error(net, x, labels, before, unroll):  # x: steps first
    within, around, out = net
    batch = x.shape[1]

    def step(c, x):
        voltage, fired, score = c
        now = 0.9 * voltage * (1 - fired) + (x if before else x @ within) + fired @ around
        new = fire(now)
        return (now, new, 0.95 * score + new @ out), None

    rest = jnp.zeros((batch, 96), jnp.float32)
    end = jax.lax.scan(step, (rest, rest, jnp.zeros((batch, 10), jnp.float32)), x @ within if before else x, unroll=unroll)[0]
    logits = jax.nn.log_softmax(0.1 * end[2])
    return -jnp.mean(jnp.take_along_axis(logits, labels[:, None], 1))


def loss(kind, before=False, unroll=1):
    def mean(net, inputs, labels):
        if kind == "flat":
            x = jnp.swapaxes(inputs, 0, 1).reshape(50, 256, 64)
            return error(net, x, labels.reshape(256), before, unroll)
        if kind == "members":
            return jnp.mean(jax.vmap(lambda x, l: error(net, x, l, before, unroll))(inputs, labels))
        return jnp.mean(jax.lax.map(lambda a: error(net, *a, before, unroll), (inputs, labels)))

    return lambda *a: jax.value_and_grad(mean)(a[:3], *a[3:])


twins = {"members": loss("members"), "flat": loss("flat"), "flat_before": loss("flat", True), "flat_unrolled": loss("flat", False, 5),
         "flat_before_unrolled": loss("flat", True, 5), "members_before": loss("members", True),
         "one_by_one_before": loss("one by one", True), "one_by_one": loss("one by one")}

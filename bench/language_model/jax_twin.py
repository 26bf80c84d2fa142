#!/usr/bin/env python3
"""A round of local SGD of a decoder in JAX: over the clients, SGD's steps of value_and_grad, then the mean of their models."""

import pathlib
import sys
from functools import partial

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import jax  # noqa: E402  (after the affinity is set)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from inputs import LAYER, RATE, TASKS, make_inputs  # noqa: E402


def normalised(x, scale, shift):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-5) * scale + shift


def through_layer(x, l, heads):
    texts, context, width = x.shape
    all = (normalised(x, l["scale1"], l["shift1"]) @ l["qkv"]).reshape(texts, context, 3, heads, width // heads)
    q, k, v = jnp.transpose(all, (2, 0, 3, 1, 4))
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(jnp.float32(width // heads))
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((context, context), bool)), scores, -1e9))
    y = x + jnp.einsum("bhqk,bhkd->bqhd", weights, v).reshape(x.shape) @ l["out"]
    hidden = jax.nn.gelu(normalised(y, l["scale2"], l["shift2"]) @ l["up"] + l["up_bias"], approximate=False)
    return y + hidden @ l["down"] + l["down_bias"]


def loss(m, texts, heads, layers, unrolled):
    x = m["letter"][texts[:, :-1]] + m["place"]
    of_layers = {name: m[name] for name in LAYER}
    if unrolled:
        for i in range(layers):
            x = through_layer(x, {name: part[i] for name, part in of_layers.items()}, heads)
    else:
        x = jax.lax.scan(lambda y, l: (through_layer(y, l, heads), None), x, of_layers)[0]
    scores = jax.nn.log_softmax(normalised(x, m["scale"], m["shift"]) @ m["letter"].T)
    return -jnp.mean(jnp.take_along_axis(scores, texts[:, 1:, None], 2))


def trained(m, batches, unrolled, **sizes):
    def step(m, batch):
        return jax.tree.map(lambda p, g: p - RATE * g, m, jax.grad(partial(loss, unrolled=unrolled, **sizes))(m, batch)), None

    if not unrolled:
        return jax.lax.scan(step, m, batches)[0]
    for batch in batches:
        m = step(m, batch)[0]
    return m


def batched(m, text, **options):
    ends = jax.vmap(lambda batches: trained(m, batches, **options))(text)
    return jax.tree.map(lambda part: part.mean(0), ends)


def one_by_one(m, text, **options):
    def add(total, batches):
        return jax.tree.map(jnp.add, total, trained(m, batches, **options)), None

    total = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, m), text)[0]
    return jax.tree.map(lambda part: part / len(text), total)


def in_turn(m, text, **options):  # the clients written out, one after the other
    ends = [trained(m, batches, **options) for batches in text]
    return jax.tree.map(lambda *parts: sum(parts) / len(parts), *ends)


for row, task in TASKS.items():
    model, text = make_inputs(*task)
    inputs = jax.block_until_ready(jax.device_put((model, text)))
    sides = {"JAX, clients as a batch": partial(batched, unrolled=False), "JAX, clients as a batch, unrolled": partial(batched, unrolled=True),
             "JAX, clients one by one": partial(one_by_one, unrolled=False), "JAX, clients in turn, unrolled": partial(in_turn, unrolled=True)}
    for side, f in sides.items():
        suite.add_jitted(row, side, partial(f, heads=task[1], layers=task[3]), inputs,
                         lambda y, model=model: [np.asarray(y[name], np.float64) - model[name] for name in model])
suite.version("jax", jax.__version__)
suite.run()

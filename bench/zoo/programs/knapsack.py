"""Knapsacks: the best of 40 things in each of 500 sacks by dynamic programming over 256 weights, and which they are, float.

Bound: vectors of floats: a sum and a maximum of 256 places for each thing, and its way back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.uniform(1, 10, (500, 40)).astype(np.float32), random.integers(1, 64, (500, 40)).astype(np.int32)]


def best(values, weights, checkpoint=False, unroll=1):
    def step(table, thing):
        value, weight = thing
        before = jax.lax.dynamic_slice(jnp.pad(table, (63, 0), constant_values=-1e9), (63 - weight,), (256,))
        return jnp.maximum(table, before + value), None

    step = jax.checkpoint(step) if checkpoint else step
    return jax.lax.scan(step, jnp.zeros(256, jnp.float32), (values, weights), unroll=unroll)[0][255]


def members(values, weights):
    return jax.vmap(jax.value_and_grad(best))(values, weights)


def members_again(values, weights):
    return jax.vmap(jax.value_and_grad(lambda v, w: best(v, w, True)))(values, weights)


def one_by_one(values, weights):
    return jax.lax.map(lambda a: jax.value_and_grad(best)(*a), (values, weights))


def one_by_one_unrolled(values, weights):
    return jax.lax.map(lambda a: jax.value_and_grad(lambda v, w: best(v, w, unroll=40))(*a), (values, weights))


def traced_back(values, weights):  # by hand: what was better at each place, and the way back from the last one
    places = jnp.arange(256)

    def forth(table, thing):
        value, weight = thing
        from_ = places[None] - weight[:, None]
        with_it = jnp.where(from_ < 0, -1e9, jnp.take_along_axis(table, jnp.maximum(from_, 0), 1)) + value[:, None]
        return jnp.maximum(table, with_it), with_it > table

    def back(place, step):
        weight, better = step
        taken = jnp.take_along_axis(better, place[:, None], 1)[:, 0]
        return place - jnp.where(taken, weight, 0), taken.astype(jnp.float32)

    last, better = jax.lax.scan(forth, jnp.zeros((len(values), 256), jnp.float32), (values.T, weights.T))
    taken = jax.lax.scan(back, jnp.full(len(values), 255), (weights.T, better), reverse=True)[1]
    return last[:, 255], taken.T


def traced_back_one_by_one(values, weights):
    def own(a):
        def forth(table, thing):
            value, weight = thing
            with_it = jax.lax.dynamic_slice(jnp.pad(table, (63, 0), constant_values=-1e9), (63 - weight,), (256,)) + value
            return jnp.maximum(table, with_it), with_it > table

        def back(place, step):
            weight, better = step
            return place - jnp.where(better[place], weight, 0), better[place].astype(jnp.float32)

        last, better = jax.lax.scan(forth, jnp.zeros(256, jnp.float32), a)
        return last[255], jax.lax.scan(back, 255, (a[1], better), reverse=True)[1]

    return jax.lax.map(own, (values, weights))


twins = {f.__name__: f for f in (members, members_again, one_by_one, one_by_one_unrolled, traced_back, traced_back_one_by_one)}

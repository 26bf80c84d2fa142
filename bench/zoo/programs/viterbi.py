"""Viterbi decoding: the likeliest paths of 500 sequences of 100 steps through 8 states, float.

Bound: vectors of floats: 64 additions and comparisons for each step, in a chain of 100.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.normal(size=(8, 8)).astype(np.float32), np.linspace(-2, 2, 8, dtype=np.float32),
            random.normal(size=(500, 100)).astype(np.float32)]


def decode(ahead, mean, y, unroll):
    def step(best, seen):
        paths = best[:, None] + ahead
        return jnp.max(paths, 0) - 0.5 * jnp.square(seen - mean), jnp.argmax(paths, 0).astype(jnp.int32)

    best, origins = jax.lax.scan(step, jnp.zeros(8, jnp.float32), y, unroll=unroll)
    states = jax.lax.scan(lambda state, before: (before[state], state), jnp.argmax(best), origins, reverse=True, unroll=unroll)[1]
    return jnp.max(best), states.astype(jnp.int32)


def members(unroll):
    def both(move, mean, data):
        ahead = jax.nn.log_softmax(move)
        score, states = jax.vmap(lambda y: decode(ahead, mean, y, unroll))(data)
        return jnp.mean(score), jnp.sum(states, 0)

    return both


def columns(move, mean, data):  # sequences in the last axis
    ahead = jax.nn.log_softmax(move)

    def step(best, seen):
        paths = best[:, None] + ahead[:, :, None]
        return jnp.max(paths, 0) - 0.5 * jnp.square(seen - mean[:, None]), jnp.argmax(paths, 0).astype(jnp.int32)

    best, origins = jax.lax.scan(step, jnp.zeros((8, len(data)), jnp.float32), data.T)
    back = lambda state, before: (jnp.take_along_axis(before, state[None], 0)[0], state)
    states = jax.lax.scan(back, jnp.argmax(best, 0), origins, reverse=True)[1]
    return jnp.mean(jnp.max(best, 0)), jnp.sum(states, 1).astype(jnp.int32)


twins = {"members": members(1), "unrolled": members(4), "columns": columns}

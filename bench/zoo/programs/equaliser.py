"""An equaliser of six filters of second order: 64 sounds of 1024 samples, error and gradient by the filters, float.

Bound: a chain of six filters in each of 1024 samples, in vectors over the sounds.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    f = 0.3 * random.normal(size=(6, 5)) + np.array([1, 0, 0, 0, 0])
    return [f.astype(np.float32)] + [random.normal(size=(64, 1024)).astype(np.float32) for _ in range(2)]


def heard(f, sound, unroll):  # sound: samples, then any
    def sample(states, x):
        after = []
        for i in range(6):
            out = f[i, 0] * x + states[i, 0]
            after.append(jnp.stack([f[i, 1] * x - f[i, 3] * out + states[i, 1], f[i, 2] * x - f[i, 4] * out]))
            x = out
        return jnp.stack(after), x

    return jax.lax.scan(sample, jnp.zeros((6, 2) + sound.shape[1:], jnp.float32), sound, unroll=unroll)[1]


def filter_by_filter(f, sound, unroll=1):
    for i in range(6):
        def sample(state, x, i=i):
            out = f[i, 0] * x + state[0]
            return (f[i, 1] * x - f[i, 3] * out + state[1], f[i, 2] * x - f[i, 4] * out), out

        zero = jnp.zeros(sound.shape[1:], jnp.float32)
        sound = jax.lax.scan(sample, (zero, zero), sound, unroll=unroll)[1]
    return sound


def error(of):
    return jax.value_and_grad(lambda f, x, y: jnp.mean(jnp.square(of(f, x.T) - y.T)))


twins = {
    "members": jax.value_and_grad(
        lambda f, x, y: jnp.mean(jax.vmap(lambda a, b: jnp.mean(jnp.square(heard(f, a, 1) - b)))(x, y))),
    "samples": error(lambda f, x: heard(f, x, 1)), "unrolled": error(lambda f, x: heard(f, x, 8)),
    "filter_by_filter": error(filter_by_filter),
    "filter_by_filter_unrolled": error(lambda f, x: filter_by_filter(f, x, 8))}

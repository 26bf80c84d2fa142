"""Linear bandit: 300 runs of LinUCB, 50 steps among ten arms of 8 features, with keys, float.

Bound: products of matrices of 10x8 and 8x8, in a chain of 50 steps.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    truth = random.normal(size=8).astype(np.float32)
    return [truth, np.float32(0.5), (0.4 * random.normal(size=(300, 10, 8))).astype(np.float32), np.arange(300, dtype=np.int32)]


def noise(number):
    key = jax.random.fold_in(jax.random.key(9), number)
    return jax.vmap(lambda i: jax.random.normal(jax.random.fold_in(key, i), (), jnp.float32))(jnp.arange(50))


def pull(truth, width, x, state, drawn):
    inverse, b, total = state
    bound = x @ (inverse @ b) + width * jnp.sqrt(jnp.sum(x @ inverse * x, 1))
    chosen = x[jnp.argmax(bound)]
    reward = jnp.dot(chosen, truth) + 0.3 * drawn
    v = inverse @ chosen
    return inverse - jnp.outer(v, v) / (1 + jnp.dot(v, chosen)), b + reward * chosen, total + reward


def members(truth, width, x, numbers):
    def run(own, number):
        key = jax.random.fold_in(jax.random.key(9), number)

        def step(i, state):
            return pull(truth, width, own, state, jax.random.normal(jax.random.fold_in(key, i), (), jnp.float32))

        return jax.lax.fori_loop(0, 50, step, (jnp.eye(8, dtype=jnp.float32), jnp.zeros(8, jnp.float32), jnp.float32(0)))[2]

    return jnp.mean(jax.vmap(run)(x, numbers)) / 50


def drawn_before(truth, width, x, numbers):
    def run(own, number):
        start = (jnp.eye(8, dtype=jnp.float32), jnp.zeros(8, jnp.float32), jnp.float32(0))
        return jax.lax.scan(lambda s, n: (pull(truth, width, own, s, n), None), start, noise(number))[0][2]

    return jnp.mean(jax.vmap(run)(x, numbers)) / 50


def columns(truth, width, x, numbers):  # runs last, sums of products in their vectors
    x, drawn = x.transpose(1, 2, 0), jax.vmap(noise)(numbers).T

    def step(state, n):
        inverse, b, total = state
        seen = jnp.sum(x[:, :, None] * inverse, 1)
        bound = jnp.sum(seen * b, 1) + width * jnp.sqrt(jnp.sum(seen * x, 1))
        best = jnp.arange(10)[:, None] == jnp.argmax(bound, 0)
        chosen = jnp.sum(jnp.where(best[:, None], x, 0), 0)
        v = jnp.sum(jnp.where(best[:, None], seen, 0), 0)
        reward = truth @ chosen + 0.3 * n
        return (inverse - v[:, None] * v / (1 + jnp.sum(v * chosen, 0)), b + reward * chosen, total + reward), None

    runs = numbers.shape[0]
    start = (jnp.broadcast_to(jnp.eye(8, dtype=jnp.float32)[..., None], (8, 8, runs)), jnp.zeros((8, runs), jnp.float32),
             jnp.zeros(runs, jnp.float32))
    return jnp.mean(jax.lax.scan(step, start, drawn)[0][2]) / 50


twins = {f.__name__: f for f in (members, drawn_before, columns)}

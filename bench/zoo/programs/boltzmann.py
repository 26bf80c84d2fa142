"""A restricted Boltzmann machine 64-32: a round of contrastive divergence by three steps, 100 clients of 20 rows, float.

Bound: random bits for 96 numbers in each of three steps of each row, their sigmoids and small products.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    f = lambda *s: random.normal(size=s).astype(np.float32)
    return [0.2 * f(64, 32), 0.1 * f(64), 0.1 * f(32), np.arange(100, dtype=np.int64), (random.uniform(size=(100, 20, 64)) < 0.3).astype(np.float32)]


def run(batch, unroll):
    def update(weights, of_seen, of_hidden, key, seen):
        hidden = lambda v: jax.nn.sigmoid(v @ weights + of_hidden)
        visible = lambda h: jax.nn.sigmoid(h @ weights.T + of_seen)

        def step(v, i):
            own = jax.random.fold_in(jax.random.key(key), i)
            h = jax.random.bernoulli(jax.random.fold_in(own, 0), hidden(v)).astype(np.float32)
            return jax.random.bernoulli(jax.random.fold_in(own, 1), visible(h)).astype(np.float32), None

        dreamt = jax.lax.scan(step, seen, jnp.arange(3), unroll=unroll)[0]
        before, after = hidden(seen), hidden(dreamt)
        return (seen.T @ before - dreamt.T @ after) / 20, jnp.mean(seen - dreamt, 0), jnp.mean(before - after, 0)

    def round(weights, of_seen, of_hidden, keys, seen):
        a, b, c = batch(lambda d: update(weights, of_seen, of_hidden, *d), (keys, seen))
        return weights + 0.1 * jnp.mean(a, 0), of_seen + 0.1 * jnp.mean(b, 0), of_hidden + 0.1 * jnp.mean(c, 0)

    return round


vmapped = lambda f, xs: jax.vmap(f)(xs)
twins = {"members": run(vmapped, 1), "unrolled": run(vmapped, 3), "one_by_one": run(jax.lax.map, 3)}

"""Echo states: 24 units driven by 300 series of 100 values, a ridge readout fitted to each, gradient of its error by four scales, double.

Bound: products of doubles: 24 x 24 in each step, there and back, and a system of 24 for each series.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    w = random.normal(size=(24, 24))
    t = np.arange(100)
    x = np.sin(random.uniform(0.1, 0.6, (300, 1)) * t + random.uniform(0, 6, (300, 1))) + 0.5 * np.sin(random.uniform(0.3, 0.9, (300, 1)) * t)
    return [np.float64(-0.1), np.float64(-0.5), np.float64(-4), np.float64(0.8), w / np.max(np.abs(np.linalg.eigvals(w))), random.normal(size=24),
            x + 0.05 * random.normal(size=x.shape)]


def errors_of(ridge, states, x):  # one series' states: 99 x 24
    fit = states[10:69]
    readout = jnp.linalg.solve(fit.T @ fit + jnp.exp(ridge) * jnp.eye(24), fit.T @ x[11:70])
    return jnp.mean(jnp.square(states[69:] @ readout - x[70:]))


def by_cholesky(ridge, states, x):
    fit = states[10:69]
    factor = jax.scipy.linalg.cho_factor(fit.T @ fit + jnp.exp(ridge) * jnp.eye(24))
    return jnp.mean(jnp.square(states[69:] @ jax.scipy.linalg.cho_solve(factor, fit.T @ x[11:70]) - x[70:]))


def run(recurrent, leak, input, w, v, x, unroll=1, again=False):  # x: the last axis is time
    scaled, inputs, slow = (w * jnp.exp(recurrent)).T, v * jnp.exp(input), jax.nn.sigmoid(leak)

    def step(state, now):
        state = (1 - slow) * state + slow * jnp.tanh(state @ scaled + inputs * now[..., None])
        return state, state

    start = jnp.zeros((*x.shape[:-1], 24))
    return jax.lax.scan(jax.checkpoint(step) if again else step, start, jnp.moveaxis(x[..., :99], -1, 0), unroll=unroll)[1]


def members(recurrent, input, ridge, leak, w, v, x):
    return jnp.mean(jax.vmap(lambda x: errors_of(ridge, run(recurrent, leak, input, w, v, x), x))(x))


def batched(recurrent, input, ridge, leak, w, v, x, solved=by_cholesky, **options):
    states = run(recurrent, leak, input, w, v, x, **options)
    return jnp.mean(jax.vmap(lambda s, x: solved(ridge, s, x), (1, 0))(states, x))


def batched_solve(*a):
    return batched(*a, solved=errors_of)


def unrolled(*a):
    return batched(*a, unroll=3)


def again(*a):
    return batched(*a, again=True)


def forward(f):
    def both(*a):
        value, push = jax.linearize(lambda h: f(*h, *a[4:]), jnp.stack(a[:4]))
        return value, tuple(jax.vmap(push)(jnp.eye(4)))

    return both


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2, 3)) for f in (members, batched, batched_solve, unrolled, again)}
twins |= {"forward": forward(batched), "forward_solve": forward(batched_solve)}

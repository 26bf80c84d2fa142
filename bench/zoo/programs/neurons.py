"""Neurons: 1000 of Hodgkin's and Huxley's over 500 steps, squared errors of mean voltages and the gradient by three conductances, float.

Bound: vectors of floats: six exponentials and three divisions in each step, and tangents along three numbers.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    current = random.uniform(5, 15, size=1000)
    return [np.array([120, 36, 0.3], np.float32), current.astype(np.float32), (-62 + current / 4 + random.normal(size=1000)).astype(np.float32)]


def gate(x, opening, closing):
    return x + 0.02 * (opening * (1 - x) - closing * x)


def loss(unroll, kept=False):
    def f(g, current, seen):
        def step(carry, _):
            v, m, h, n, total = carry
            a, b, off = v + 40, v + 55, v + 65
            sodium, potassium = g[0] * m * m * m * h * (v - 50), g[1] * jnp.square(jnp.square(n)) * (v + 77)
            following = v + 0.02 * (current - sodium - potassium - g[2] * (v + 54.4))
            m = gate(m, 0.1 * a / (1 - jnp.exp(-0.1 * a)), 4 * jnp.exp(off * (-1 / 18)))
            h = gate(h, 0.07 * jnp.exp(-0.05 * off), 1 / (1 + jnp.exp(-0.1 * (v + 35))))
            n = gate(n, 0.01 * b / (1 - jnp.exp(-0.1 * b)), 0.125 * jnp.exp(-0.0125 * off))
            return (following, m, h, n, total + following), None

        start = tuple(jnp.full(current.shape, x, jnp.float32) for x in (-64.0, 0.05, 0.6, 0.32, 0.0))
        body = jax.checkpoint(step) if kept else step
        return jnp.mean(jnp.square(jax.lax.scan(body, start, None, length=500, unroll=unroll)[0][4] / 500 - seen))

    return f


def forward(f, batch=jax.vmap):
    def both(g, *data):
        tangents = batch(lambda t: jax.jvp(lambda l: f(l, *data), (g,), (t,)))(jnp.eye(3, dtype=np.float32))
        return tangents[0][0], tangents[1]

    return both


twins = {"reverse": jax.value_and_grad(loss(1)), "unrolled": jax.value_and_grad(loss(4)), "checkpoint": jax.value_and_grad(loss(1, True)),
         "forward": forward(loss(1)), "forward_unrolled": forward(loss(4))}

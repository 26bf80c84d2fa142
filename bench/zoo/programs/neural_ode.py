"""Neural differential equation: a network of 16 units, 1000 runs of 20 Runge-Kutta steps, loss and gradient, float.

Bound: vectors of floats in a chain of 80 evaluations, 16 hyperbolic tangents in each.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [random.normal(size=(2, 16)).astype(np.float32), (0.1 * random.normal(size=16)).astype(np.float32),
            (random.normal(size=(16, 2)) / 4).astype(np.float32), random.normal(size=(1000, 2)).astype(np.float32),
            random.normal(size=(1000, 20, 2)).astype(np.float32)]


def errors(field, start, seen, axis, unroll=1):  # seen: steps first
    h = np.float32(0.1)

    def step(x, there):
        k1 = field(x)
        k2 = field(x + h / 2 * k1)
        k3 = field(x + h / 2 * k2)
        k4 = field(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x, jnp.sum(jnp.square(x - there), axis)

    return jnp.sum(jax.lax.scan(step, start, seen, unroll=unroll)[1], 0)


def members(w, b, out, start, seen):
    return jnp.mean(jax.vmap(lambda x, y: errors(lambda z: jnp.tanh(z @ w + b) @ out, x, y, -1))(start, seen))


def rows(w, b, out, start, seen):
    return jnp.mean(errors(lambda z: jnp.tanh(z @ w + b) @ out, start, seen.transpose(1, 0, 2), -1))


def columns(w, b, out, start, seen):
    return jnp.mean(errors(lambda z: out.T @ jnp.tanh(w.T @ z + b[:, None]), start.T, seen.transpose(1, 2, 0), 0))


def columns_unrolled(w, b, out, start, seen):
    return jnp.mean(errors(lambda z: out.T @ jnp.tanh(w.T @ z + b[:, None]), start.T, seen.transpose(1, 2, 0), 0, 4))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2)) for f in (members, rows, columns, columns_unrolled)}

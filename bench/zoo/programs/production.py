"""Production functions: 50000 firms with five inputs, constant elasticity of substitution, errors and their gradient, float.

Bound: vectors of floats: seven exponentials and six logarithms for each firm.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    a = np.array([0.3, 0.25, 0.2, 0.15, 0.1], np.float32)
    x = random.uniform(0.5, 4, size=(50000, 5)).astype(np.float32)
    return [a, np.float32(0.6), x, (random.uniform(0.8, 1.2, size=50000) * np.sum(x * a, 1)).astype(np.float32)]


def flat(a, rho, x, made):
    loss = lambda b, r: jnp.mean(jnp.square(jnp.power(jnp.sum(b * jnp.power(x, r), 1), 1 / r) - made))
    return jax.value_and_grad(loss, (0, 1))(a, rho)


def columns(a, rho, x, made):
    across = x.T
    loss = lambda b, r: jnp.mean(jnp.square(jnp.power(b @ jnp.power(across, r), 1 / r) - made))
    return jax.value_and_grad(loss, (0, 1))(a, rho)


def logarithms(a, rho, x, made):  # of the inputs, once
    logs = jnp.log(x.T)
    loss = lambda b, r: jnp.mean(jnp.square(jnp.exp(jnp.log(b @ jnp.exp(r * logs)) / r) - made))
    return jax.value_and_grad(loss, (0, 1))(a, rho)


def forward(a, rho, x, made):
    logs = jnp.log(x.T)

    def loss(both):
        b, r = both[:5], both[5]
        v = jnp.mean(jnp.square(jnp.exp(jnp.log(b @ jnp.exp(r * logs)) / r) - made))
        return v, v

    g, v = jax.jacfwd(loss, has_aux=True)(jnp.append(a, rho))
    return v, g[:5], g[5]


twins = {f.__name__: f for f in (flat, columns, logarithms, forward)}

"""A variational quantum circuit: four layers of turns of eight qubits from 64 starts, least energy and all slopes, float.

Bound: vectors of floats: 32 turns of 256 amplitudes there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np

QUBITS, SIZE = 8, 256


def arguments(random):
    bits = (np.arange(SIZE)[:, None] >> np.arange(QUBITS - 1, -1, -1)) & 1
    signs = (-1.0) ** np.sum(bits[:, 1:] * bits[:, :-1], 1)
    spins = 1 - 2 * bits
    bonds = -np.sum(spins[:, 1:] * spins[:, :-1], 1)
    return [random.normal(size=(64, 4, QUBITS)).astype(np.float32), signs.astype(np.float32), bonds.astype(np.float32)]


def by_parts(state, row):
    for q in range(QUBITS):
        parts = state.reshape(1 << q, 2, SIZE >> (q + 1))
        c, s = jnp.cos(row[q] / 2), jnp.sin(row[q] / 2)
        zero, one = parts[:, 0], parts[:, 1]
        state = jnp.stack([c * zero - s * one, s * zero + c * one], 1).reshape(SIZE)
    return state


def by_products(state, row):
    for q in range(QUBITS):
        c, s = jnp.cos(row[q] / 2), jnp.sin(row[q] / 2)
        state = jnp.einsum("ab,xby->xay", jnp.array([[c, -s], [s, c]]), state.reshape(1 << q, 2, SIZE >> (q + 1))).reshape(SIZE)
    return state


def by_matrices(state, row):  # four qubits at a time: Kronecker's products of turns
    def matrix(r):
        m = jnp.ones((1, 1))
        for t in r:
            c, s = jnp.cos(t / 2), jnp.sin(t / 2)
            m = jnp.kron(m, jnp.array([[c, -s], [s, c]]))
        return m

    return (matrix(row[:4]) @ state.reshape(16, 16) @ matrix(row[4:]).T).reshape(SIZE)


def run(turned, unroll):
    def energy(turns, signs, bonds):
        start = jnp.zeros(SIZE, jnp.float32).at[0].set(1)
        state = jax.lax.scan(lambda s, r: (signs * turned(s, r), None), start, turns, unroll=unroll)[0]
        flipped = sum(jnp.flip(state.reshape(1 << q, 2, SIZE >> (q + 1)), 1).reshape(SIZE) for q in range(QUBITS))
        return state @ (bonds * state - 0.7 * flipped)

    def both(turns, signs, bonds):
        values, slopes = jax.vmap(jax.value_and_grad(energy), (0, None, None))(turns, signs, bonds)
        return jnp.min(values), slopes

    return both


twins = {"parts": run(by_parts, 1), "parts_unrolled": run(by_parts, 4), "products": run(by_products, 1),
         "matrices": run(by_matrices, 1), "matrices_unrolled": run(by_matrices, 4)}

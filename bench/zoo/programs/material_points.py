"""A soft body by the material point method: 64 points, 30 steps, 32 throws, error and gradient by stiffness and places, float.

Bound: additions to, and reads of, 9 nodes for each of 64 points, 30 times there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np

DT = 0.004
NODES = np.array([[i, j] for i in range(3) for j in range(3)], np.float32)


def arguments(random):
    square = np.stack(np.meshgrid(np.linspace(0.4, 0.6, 8), np.linspace(0.4, 0.6, 8), indexing="ij"), -1).reshape(64, 2)
    return [np.float32(50), (square + 0.003 * random.normal(size=(64, 2))).astype(np.float32),
            random.normal(size=(32, 64, 2)).astype(np.float32), random.uniform(0.3, 0.7, (32, 2)).astype(np.float32)]


def ends_of(stiffness, start, speed, memory, grids=1):  # of points that lie in so many grids, one after the other
    n = start.shape[0]
    first = 256 * (np.arange(n, dtype=np.int32) // 64)

    def step(carry, _):
        x, v, affine, volume = carry
        base = jnp.floor(16 * x - 0.5)
        f = 16 * x - base
        a = jnp.stack([0.5 * jnp.square(1.5 - f), 0.75 - jnp.square(f - 1), 0.5 * jnp.square(f - 0.5)], 1)
        w = (a[:, :, None, 0] * a[:, None, :, 1]).reshape(n, 9, 1)
        corner = base.astype(jnp.int32)
        cells = (first + 16 * corner[:, 0] + corner[:, 1])[:, None] + np.array([0, 1, 2, 16, 17, 18, 32, 33, 34], np.int32)
        apart = (NODES - f[:, None]) / 16
        moved = affine + (-1024 * DT * stiffness * (volume - 1))[:, None, None] * jnp.eye(2)
        sent = w * (v[:, None] + jnp.einsum("pij,pnj->pni", moved, apart))
        grid = jnp.zeros((256 * grids, 3), jnp.float32).at[cells].add(jnp.concatenate([sent, w], 2))
        speeds = grid[:, :2] / (grid[:, 2:] + 1e-6)
        got = w * (speeds[cells] - jnp.array([0, 10 * DT]))
        slope = 1024 * jnp.einsum("pni,pnj->pij", got, apart)
        faster = jnp.sum(got, 1)
        return (x + DT * faster, faster, slope, volume * (1 + DT * jnp.trace(slope, axis1=1, axis2=2))), None

    still = (start, speed, jnp.zeros((n, 2, 2), jnp.float32), jnp.ones(n, jnp.float32))
    return jax.lax.scan(memory(step), still, length=30)[0][0]


def by(memory, of_all):
    def error(stiffness, start, speeds, wanted):
        ends = of_all(lambda v: ends_of(stiffness, start, v, memory), speeds)
        return jnp.mean(jnp.square(ends - wanted[:, None]))

    return jax.value_and_grad(error, (0, 1))


def together(f, x):
    return jax.vmap(f)(x)


def together_in_one_array(memory):
    def error(stiffness, start, speeds, wanted):
        ends = ends_of(stiffness, jnp.tile(start, (32, 1)), speeds.reshape(-1, 2), memory, 32)
        return jnp.mean(jnp.square(ends.reshape(32, 64, 2) - wanted[:, None]))

    return jax.value_and_grad(error, (0, 1))


twins = {"members": by(lambda f: f, together), "checkpointed": by(jax.checkpoint, together),
         "in_turn": by(lambda f: f, jax.lax.map), "in_turn_checkpointed": by(jax.checkpoint, jax.lax.map),
         "one_array": together_in_one_array(lambda f: f), "one_array_checkpointed": together_in_one_array(jax.checkpoint)}

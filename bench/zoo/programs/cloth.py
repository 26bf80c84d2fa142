"""Cloth: 60 steps of 24 x 24 points on springs in 16 winds; the mean height and its gradient by the first places, float.

Bound: some forty operations for each point and step, in the first caches.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    y, x = np.mgrid[:24, :24]
    start = np.stack([x, y, 0 * x]) + 0.05 * random.normal(size=(3, 24, 24))
    winds = random.normal(size=(16, 3)) * 0.3 + np.array([0, 0, -0.5])
    return [np.float32(20), start.astype(np.float32), winds.astype(np.float32)]


def rolled(x, stiffness, axis):
    far = jnp.roll(x, -1, axis) - x
    length = jnp.sqrt(jnp.sum(jnp.square(far), 0, keepdims=True) + 1e-6)
    places = jax.lax.broadcasted_iota(jnp.float32, x.shape, axis)
    pull = jnp.where(places < 22.5, stiffness * (1 - 1 / length), 0.0) * far
    return pull - jnp.roll(pull, 1, axis)


def sliced(x, stiffness, axis):
    far = jax.lax.slice_in_dim(x, 1, 24, axis=axis) - jax.lax.slice_in_dim(x, 0, 23, axis=axis)
    length = jnp.sqrt(jnp.sum(jnp.square(far), 0, keepdims=True) + 1e-6)
    pull = stiffness * (1 - 1 / length) * far
    pad = lambda a, b: [(a, b, 0) if i == axis else (0, 0, 0) for i in range(x.ndim)]
    return jax.lax.pad(pull, jnp.float32(0), pad(0, 1)) - jax.lax.pad(pull, jnp.float32(0), pad(1, 0))


def height(springs, stiffness, start, wind, unroll=1, checkpoint=False):
    loose = (jax.lax.broadcasted_iota(jnp.int32, start.shape[-2:], 0) > 0).astype(jnp.float32)

    def step(carry, _):
        x, v = carry
        force = springs(x, stiffness, x.ndim - 2) + springs(x, stiffness, x.ndim - 1) + wind[..., None, None] - 0.2 * v
        faster = (v + 0.02 * force) * loose
        return (x + 0.02 * faster, faster), None

    step = jax.checkpoint(step) if checkpoint else step
    return jax.lax.scan(step, (start, jnp.zeros_like(start)), None, length=60, unroll=unroll)[0][0][2]


def members(springs, **options):
    def mean(stiffness, start, winds):
        return jnp.mean(jax.vmap(lambda w: height(springs, stiffness, start, w, **options))(winds))

    return mean


def one_by_one(springs):
    def mean(stiffness, start, winds):
        return jnp.mean(jax.lax.map(lambda w: jnp.mean(height(springs, stiffness, start, w)), winds))

    return mean


def batched(springs):  # winds behind the coordinates
    def mean(stiffness, start, winds):
        all = jnp.broadcast_to(start[:, None], (3, 16, 24, 24))
        return jnp.mean(height(springs, stiffness, all, winds.T))

    return mean


twins = {}
for springs in (rolled, sliced):
    twins["members " + springs.__name__] = jax.value_and_grad(members(springs), 1)
    twins["checkpointed " + springs.__name__] = jax.value_and_grad(members(springs, checkpoint=True), 1)
    twins["one by one " + springs.__name__] = jax.value_and_grad(one_by_one(springs), 1)
    twins["batched " + springs.__name__] = jax.value_and_grad(batched(springs), 1)

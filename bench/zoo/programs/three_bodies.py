"""Silicon by Stillinger and Weber: 20 steps downhill of 32 clusters of 24 atoms, with angles at each, float.

Bound: vectors of floats: some ten operations for each of 13824 angles in each step, there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    grid = np.stack(np.meshgrid(*[np.arange(3.0)] * 3, indexing="ij"), -1).reshape(27, 3)[:24]
    return [np.float32(21), (1.1 * grid + 0.05 * random.normal(size=(32, 24, 3))).astype(np.float32)]


def parts(x, at_last):
    self = jnp.eye(24, dtype=x.dtype)
    d = x[:, None] - x[None] if not at_last else x.T[:, :, None] - x.T[:, None]
    axis = 0 if at_last else 2
    r = jnp.sqrt(jnp.sum(jnp.square(d), axis) + self)
    near = (r < 1.79) * (1 - self)
    gap = jnp.where(near > 0, r - 1.8, -1)
    pairs = near * 7.05 * (0.602 / r**4 - 1) * jnp.exp(1 / gap)
    return jnp.sum(pairs) / 2, near * jnp.exp(1.2 / gap), d / jnp.expand_dims(r, axis)


def by_cosines(stiffness, x, at_last=False):
    pairs, reach, unit = parts(x, at_last)
    cosines = jnp.einsum("cij,cik->ijk", unit, unit) if at_last else unit @ jnp.swapaxes(unit, 1, 2)
    both = reach[:, :, None] * reach[:, None] * (1 - jnp.eye(24, dtype=x.dtype))
    return pairs + stiffness * jnp.sum(both * jnp.square(cosines + 1 / 3)) / 2


def by_moments(stiffness, x, at_last=False):  # the square multiplied out: sums over j and k are products of sums over one
    pairs, reach, unit = parts(x, at_last)
    w = reach if at_last else reach[:, :, None]
    u = unit if at_last else jnp.moveaxis(unit, 2, 0)
    w = reach
    second = jnp.einsum("ij,aij,bij->iab", w, u, u)
    first = jnp.einsum("ij,aij->ia", w, u)
    zeroth = jnp.sum(w, 1)
    whole = jnp.sum(jnp.square(second)) + 2 / 3 * jnp.sum(jnp.square(first)) + jnp.sum(jnp.square(zeroth)) / 9
    return pairs + stiffness * (whole - 16 / 9 * jnp.sum(jnp.square(w))) / 2


def relaxed(energy, one_by_one=False, unroll=1):
    def end(stiffness, x):
        x = jax.lax.scan(lambda y, _: (y - 0.001 * jax.grad(energy, 1)(stiffness, y), None), x, None, length=20, unroll=unroll)[0]
        return energy(stiffness, x), x

    def f(stiffness, starts):
        if one_by_one:
            energies, ends = jax.lax.map(lambda x: end(stiffness, x), starts)
        else:
            energies, ends = jax.vmap(end, (None, 0))(stiffness, starts)
        return jnp.mean(energies), jnp.mean(ends, 0)

    return f


def last(energy):
    return lambda stiffness, x: energy(stiffness, x, True)


twins = {"members": relaxed(by_cosines), "one_by_one": relaxed(by_cosines, True), "coordinates_first": relaxed(last(by_cosines)),
         "coordinates_first_one_by_one": relaxed(last(by_cosines), True), "moments": relaxed(last(by_moments)),
         "moments_one_by_one": relaxed(last(by_moments), True)}

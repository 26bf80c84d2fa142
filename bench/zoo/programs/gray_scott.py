"""Spots and stripes: 40 steps of Gray's and Scott's reaction in 16 dishes of 64 x 64, errors and slopes by the two rates, float.

Bound: some thirty operations for each place and step, and tangents along two numbers, in the first caches.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    cells = np.zeros((16, 64, 64), np.float32)
    for dish in cells:
        for x, y in random.integers(0, 56, size=(6, 2)):
            dish[x:x + 8, y:y + 8] = 0.25
    food = 1 - 2 * cells + random.uniform(-0.02, 0.02, size=cells.shape)
    seen = np.roll(cells, 3, 1) + random.uniform(0, 0.05, size=cells.shape)
    return [np.float32(0.035), np.float32(0.062), food.astype(np.float32), cells, seen.astype(np.float32)]


def spread(x):
    return jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0) + jnp.roll(x, 1, 1) + jnp.roll(x, -1, 1) - 4 * x


def spread_padded(x):  # neighbours as slices of one padded array
    p = jnp.pad(x, 1, mode="wrap")
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * x


def end(rates, food, cells, around, every=1):
    feed, kill = rates

    def step(c, _):
        for _ in range(every):
            food, cells = c
            eaten = food * jnp.square(cells)
            c = (food + 0.16 * around(food) - eaten + feed * (1 - food), cells + 0.08 * around(cells) + eaten - (feed + kill) * cells)
        return c, None

    return jax.lax.scan(step, (food, cells), None, length=40 // every)[0][1]


def error(rates, food, cells, seen, around, every=1):
    return jnp.mean(jnp.square(end(rates, food, cells, around, every) - seen))


def loss(one_by_one, around, every=1):
    def mean(rates, *data):
        of_dish = lambda d: error(rates, *d, around, every)
        return jnp.mean(jax.lax.map(of_dish, data) if one_by_one else jax.vmap(of_dish)(data))

    return mean


def reverse(*how):
    return lambda *a: jax.value_and_grad(loss(*how))(a[:2], *a[2:])


def forward(*how):
    def f(*a):
        mean, zero, one = loss(*how), jnp.zeros_like(a[0]), jnp.ones_like(a[0])
        along = lambda feed, kill: jax.jvp(lambda r: mean(r, *a[2:]), (a[:2],), ((feed, kill),))
        values, slopes = jax.vmap(along)(jnp.stack([one, zero]), jnp.stack([zero, one]))
        return values[0], (slopes[0], slopes[1])

    return f


twins = {"reverse": reverse(False, spread), "reverse_padded": reverse(False, spread_padded), "one_by_one": reverse(True, spread),
         "forward": forward(False, spread), "forward_one_by_one": forward(True, spread), "forward_padded": forward(True, spread_padded),
         "forward_in_fours": forward(True, spread, 4)}

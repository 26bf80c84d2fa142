"""Ray marching: 64 x 64 pixels of six melting balls on a floor, with soft shadows: error and gradient by the balls, float.

Bound: vectors of floats over pixels: 49 distances of six square roots and exponentials, there and back.
"""

import jax
import jax.numpy as jnp
import numpy as np

LIGHT, EYE = np.array([0.48, 0.8, -0.36], np.float32), np.array([0, 1, -4], np.float32)


def arguments(random):
    y, x = np.meshgrid(np.linspace(0.45, -0.65, 64), np.linspace(-0.6, 0.6, 64), indexing="ij")
    rays = np.stack([x, y - 0.1, np.ones_like(x)], 2).reshape(-1, 3)
    balls = np.concatenate([random.uniform((-1.2, 0.3, -0.8), (1.2, 1.2, 0.8), (6, 3)), random.uniform(0.2, 0.5, (6, 1))], 1)
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    return [a.astype(np.float32) for a in (balls, rays, random.uniform(0, 1, 4096))]


def distance(scene, p):
    each = jnp.linalg.norm(p - scene[:, :3], axis=1) - scene[:, 3]
    return jnp.minimum(p[1], -0.1 * jax.nn.logsumexp(-10 * each))


def shade(scene, ray, march):
    t = march(32, lambda at: at + distance(scene, EYE + at * ray), jnp.float32(1))
    p = EYE + t * ray
    normal = jax.grad(distance, 1)(scene, p)

    def step(c):
        at, light = c
        free = distance(scene, p + at * LIGHT)
        return at + jnp.maximum(free, 0.05), jnp.minimum(light, 8 * jax.nn.relu(free) / at)

    lit = march(16, step, (jnp.float32(0.1), jnp.float32(1)))[1]
    return jnp.exp(-0.1 * t) * (0.2 + 0.8 * lit * jax.nn.relu(jnp.dot(normal, LIGHT)))


def marching(checkpoint=False, unroll=1):
    def march(n, f, start):
        f = jax.checkpoint(f) if checkpoint else f
        return jax.lax.scan(lambda c, _: (f(c), None), start, None, length=n, unroll=unroll)[0]

    return march


def members(scene, rays, seen, **options):
    each = jax.vmap(lambda r, s: jnp.square(shade(scene, r, marching(**options)) - s))
    return jnp.mean(each(rays, seen))


def members_again(*a):
    return members(*a, checkpoint=True)


def apart(scene, x, y, z):  # pixels in vectors; a softened minimum without its own maximum's derivative
    each = [jnp.sqrt((x - s[0])**2 + (y - s[1])**2 + (z - s[2])**2) - s[3] for s in scene]
    least = jax.lax.stop_gradient(jnp.stack(each).min(0))
    return jnp.minimum(y, least - 0.1 * jnp.log(sum(jnp.exp(-10 * (e - least)) for e in each)))


def columns(scene, rays, seen, checkpoint=False, unroll=1):
    march, ray = marching(checkpoint, unroll), rays.T
    along = lambda p, t, d: [a + t * b for a, b in zip(p, d)]
    t = march(32, lambda at: at + apart(scene, *along(EYE, at, ray)), jnp.ones(len(seen), jnp.float32))
    p = along(EYE, t, ray)
    normal = jax.grad(lambda q: jnp.sum(apart(scene, *q)))(p)

    def step(c):
        at, light = c
        free = apart(scene, *along(p, at, LIGHT))
        return at + jnp.maximum(free, 0.05), jnp.minimum(light, 8 * jax.nn.relu(free) / at)

    lit = march(16, step, (jnp.full(len(seen), 0.1, jnp.float32), jnp.ones(len(seen), jnp.float32)))[1]
    shades = jnp.exp(-0.1 * t) * (0.2 + 0.8 * lit * jax.nn.relu(sum(n * s for n, s in zip(normal, LIGHT))))
    return jnp.mean(jnp.square(shades - seen))


def columns_again(*a):
    return columns(*a, checkpoint=True)


def in_blocks(scene, rays, seen):  # 256 pixels at a time, there and back
    def block(total, a):
        return jax.tree.map(jnp.add, total, jax.value_and_grad(columns_again)(scene, *a)), None

    parts = rays.reshape(16, 256, 3), seen.reshape(16, 256)
    return jax.tree.map(lambda a: a / 16, jax.lax.scan(block, (jnp.float32(0), jnp.zeros_like(scene)), parts)[0])


twins = {f.__name__: jax.value_and_grad(f) for f in (members, members_again, columns, columns_again)} | {"in_blocks": in_blocks}

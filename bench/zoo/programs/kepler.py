"""Kepler's equation: an orbit's errors at 20000 sightings and their gradient, by Newton's steps until they stand, double.

Bound: vectors of doubles over sightings: a sine, a cosine and a division in each of some four steps, and as many beside them.
"""

import jax
import jax.numpy as jnp
import numpy as np

TURN = 6.283185307179586


def arguments(random):
    return [np.array([0.3, 1.7, 0.6, 0.5, 1.2]), random.uniform(0, 100, 20000), random.normal(size=(20000, 2))]


def off(e, mean, eccentricity):
    return e - eccentricity * jnp.sin(e) - mean


def newton(e, mean, eccentricity):
    return e - off(e, mean, eccentricity) / (1 - eccentricity * jnp.cos(e))


def steps(mean, eccentricity, most=20):  # each until its own end; reverse mode goes through all of the steps there may be
    def step(e, _):
        return jnp.where(jnp.abs(off(e, mean, eccentricity)) > 1e-12, newton(e, mean, eccentricity), e), None

    return jax.lax.scan(step, mean + eccentricity * jnp.sin(mean), None, length=most)[0]


def until(mean, eccentricity):  # until all stand
    return jax.lax.while_loop(lambda e: jnp.any(jnp.abs(off(e, mean, eccentricity)) > 1e-12),
                              lambda e: newton(e, mean, eccentricity), mean + eccentricity * jnp.sin(mean))


@jax.custom_jvp
def implicit(mean, eccentricity):
    return until(mean, eccentricity)


@implicit.defjvp
def _(primals, tangents):
    mean, eccentricity = primals
    e = implicit(mean, eccentricity)
    return e, (tangents[0] + jnp.sin(e) * tangents[1]) / (1 - eccentricity * jnp.cos(e))


def errors(o, times, seen, anomaly):
    turns = (o[0] + o[1] * times) / TURN
    e = anomaly((turns - jnp.round(turns)) * TURN, o[2])
    x, y = jnp.cos(e) - o[2], jnp.sqrt(1 - o[2]**2) * jnp.sin(e)
    c, s = jnp.cos(o[3]), jnp.sin(o[3])
    return jnp.square(o[4] * (c * x - s * y) - seen[..., 0]) + jnp.square(o[4] * (s * x + c * y) - seen[..., 1])


def loss(anomaly, kind="flat", forward=False):
    def mean(o, times, seen):
        if kind == "members":
            return jnp.mean(jax.vmap(lambda t, s: errors(o, t, s, anomaly))(times, seen))
        if kind == "blocks":
            return jnp.mean(jax.lax.map(lambda a: errors(o, *a, anomaly), (times.reshape(-1, 500), seen.reshape(-1, 500, 2))))
        return jnp.mean(errors(o, times, seen, anomaly))

    if forward:
        return lambda o, *a: (mean(o, *a), jax.jacfwd(lambda p: mean(p, *a))(o))
    return jax.value_and_grad(mean)


twins = {"members": loss(steps, "members"), "flat": loss(steps), "forward": loss(until, forward=True),
         "blocks_forward": loss(until, "blocks", True), "implicit": loss(implicit), "implicit_blocks": loss(implicit, "blocks"),
         "blocks": loss(steps, "blocks")}

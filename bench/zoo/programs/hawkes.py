"""A Hawkes process: likelihood of 2000 series of 200 events, and its gradient by three numbers, double.

Bound: an exponential and a logarithm for each event, in vectors over series.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    return [np.log([0.5, 0.4, 1.2]), random.exponential(size=(2000, 200))]


def chain(p, waits, unroll):
    base, jump, decay = jnp.exp(p)

    def step(carry, wait):
        excited, total = carry
        left = excited * jnp.exp(-decay * wait)
        gone = base * wait + (excited - left) / decay
        return (left + jump, total + jnp.log(base + left) - gone), None

    none = jnp.zeros(waits.shape[1:])
    return jax.lax.scan(step, (none, none), waits, unroll=unroll)[0][1]


def members(p, waits):
    return -jnp.mean(jax.vmap(lambda w: chain(p, w, 1))(waits))


def columns(p, waits):
    return -jnp.mean(chain(p, waits.T, 1))


def columns_unrolled(p, waits):
    return -jnp.mean(chain(p, waits.T, 8))


def whole(p, waits):  # exponentials and logarithms of all events at once, a chain of multiplications alone
    base, jump, decay = jnp.exp(p)
    fades = jnp.exp(-decay * waits.T)
    excited = jax.lax.scan(lambda e, f: ((e + jump) * f,) * 2, jnp.zeros(len(waits)), fades[1:], unroll=8)[1]
    excited = jnp.concatenate([jnp.zeros((1, len(waits))), excited])
    gone = (excited[1:] / fades[1:] - excited[1:]) / decay
    return -jnp.mean(jnp.sum(jnp.log(base + excited), 0) - base * jnp.sum(waits, 1) - jnp.sum(gone, 0))


def associative(p, waits):  # in rows, by shifts
    base, jump, decay = jnp.exp(p)
    fades = jnp.exp(-decay * waits[:, 1:])
    join = lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1])
    excited = jax.lax.associative_scan(join, (fades, jump * fades), axis=1)[1]
    excited = jnp.concatenate([jnp.zeros((len(waits), 1)), excited], 1)
    gone = (excited[:, 1:] / fades - excited[:, 1:]) / decay
    return -jnp.mean(jnp.sum(jnp.log(base + excited), 1) - base * jnp.sum(waits, 1) - jnp.sum(gone, 1))


def forward(f):
    def all(p, waits):
        along = lambda direction: jax.jvp(lambda q: f(q, waits), (p,), (direction,))
        return jax.vmap(along, out_axes=(None, 0))(jnp.eye(3))

    return all


twins = {f.__name__: jax.value_and_grad(f) for f in (members, columns, columns_unrolled, whole, associative)}
twins |= {f.__name__ + " forward": forward(f) for f in (columns, columns_unrolled, whole)}

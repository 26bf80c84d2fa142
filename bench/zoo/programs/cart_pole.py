"""A cart that balances a pole: gradient of 60 steps by a policy 4-16-1, from 1024 starts, float.

Bound: functions of a chain of 60 steps there and back, in vectors over starts.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    f = lambda s, *shape: (s * random.normal(size=shape)).astype(np.float32)
    return [f(0.3, 4, 16), f(0.1, 16), f(0.3, 16), f(0.1, 1024, 4)]


def run(policy, s, unroll, checkpoint=False):  # s: the four numbers of a state, or of many
    def step(carry, _):
        (x, v, angle, turn), total = carry
        force = 10 * jnp.tanh(policy(x, v, angle, turn))
        sine, cosine = jnp.sin(angle), jnp.cos(angle)
        pushed = (force + 0.05 * turn * turn * sine) / 1.1
        turned = (9.8 * sine - cosine * pushed) / (0.5 * (1.333333 - cosine * cosine / 11))
        moved = pushed - turned * cosine * 0.0454545
        x, angle = x + 0.02 * v, angle + 0.02 * turn
        return ((x, v + 0.02 * moved, angle, turn + 0.02 * turned), total + 1 - jnp.cos(angle) + 0.01 * x * x), None

    step = jax.checkpoint(step) if checkpoint else step
    return jax.lax.scan(step, (tuple(s), jnp.zeros_like(s[0])), None, length=60, unroll=unroll)[0][1]


def members(w, b, out, starts):
    policy = lambda *s: jnp.tanh(jnp.stack(s) @ w + b) @ out
    return jnp.mean(jax.vmap(lambda s: run(policy, s, 1))(starts))


def columns(w, b, out, starts, **kw):  # hidden units in rows, starts in columns
    policy = lambda *s: out @ jnp.tanh(w.T @ jnp.stack(s) + b[:, None])
    return jnp.mean(run(policy, starts.T, kw.get("unroll", 1), kw.get("checkpoint", False)))


def rows(w, b, out, starts):
    policy = lambda *s: jnp.tanh(jnp.stack(s, 1) @ w + b) @ out
    return jnp.mean(run(policy, starts.T, 1))


def sums(w, b, out, starts):  # products of four numbers as sums
    policy = lambda *s: jnp.sum(out[:, None] * jnp.tanh(sum(w[i][:, None] * s[i] for i in range(4)) + b[:, None]), 0)
    return jnp.mean(run(policy, starts.T, 1))


def columns_unrolled(*a):
    return columns(*a, unroll=5)


def columns_again(*a):
    return columns(*a, checkpoint=True)


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2)) for f in (members, columns, rows, sums, columns_unrolled, columns_again)}

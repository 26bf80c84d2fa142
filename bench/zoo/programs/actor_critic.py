"""Actor and critic: generalised advantages and a clipped loss of 64 runs of 64 steps by a network 8-32-5, and gradient, float.

Bound: products of floats and hyperbolic tangents, and a chain of 64 short steps.
"""

import jax
import jax.numpy as jnp
import numpy as np


def arguments(random):
    f = lambda s, *shape: (s * random.normal(size=shape)).astype(np.float32)
    return [f(0.3, 8, 32), f(0.1, 32), f(0.3, 32, 5), f(0.1, 5), f(1, 64, 64, 8), random.integers(0, 4, (64, 64)).astype(np.int32),
            f(1, 64, 64), (np.log(0.25) + f(0.1, 64, 64)).astype(np.float32)]


def by_scan(surprise):  # runs in rows
    step = lambda ahead, own: (own + 0.9405 * ahead,) * 2
    return jax.lax.scan(step, jnp.zeros(len(surprise), np.float32), surprise.T, reverse=True)[1].T


def by_scan_unrolled(surprise):
    step = lambda ahead, own: (own + 0.9405 * ahead,) * 2
    return jax.lax.scan(step, jnp.zeros(len(surprise), np.float32), surprise.T, reverse=True, unroll=16)[1].T


def by_product(surprise):  # with the matrix of all discounts
    ahead = np.arange(64)[:, None] - np.arange(64)[None]
    return surprise @ np.where(ahead < 0, 0, 0.9405 ** np.maximum(ahead, 0)).astype(np.float32)


def taken(logs, action):
    return jnp.take_along_axis(logs, action[..., None], -1)[..., 0]


def chosen(logs, action):
    return jnp.sum(logs * jax.nn.one_hot(action, 4), -1)


def loss(gather, pick):
    def of(w, b, out, c, states, action, reward, before):
        both = jnp.tanh(states @ w + b) @ out + c
        logs, value = jax.nn.log_softmax(both[..., :4]), both[..., 4]
        fixed = jax.lax.stop_gradient(value)
        gain = gather(reward + 0.99 * jnp.pad(fixed[:, 1:], ((0, 0), (0, 1))) - fixed)
        mean = jnp.mean(gain)
        better = (gain - mean) * jax.lax.rsqrt(jnp.mean(gain * gain) - mean * mean + 1e-6)
        ratio = jnp.exp(pick(logs, action) - before)
        kept = jnp.minimum(ratio * better, jnp.clip(ratio, 0.8, 1.2) * better)
        return jnp.mean(0.5 * jnp.square(value - fixed - gain) - kept + 0.01 * jnp.sum(jnp.exp(logs) * logs, -1))

    return jax.value_and_grad(of, (0, 1, 2, 3))


twins = {"scan": loss(by_scan, taken), "unrolled": loss(by_scan_unrolled, chosen), "product": loss(by_product, taken),
         "product_chosen": loss(by_product, chosen)}

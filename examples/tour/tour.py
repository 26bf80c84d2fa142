"""The tour in JAX, on the host's devices: prints the numbers as JSON. (pmap takes no more members than there are devices.)"""
import json
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=3"
import jax
import jax.numpy as jnp
from jax import lax

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)  # drx's seeds have 64 bits


def convolve(x, w):
    return jnp.array([jnp.dot(x[i - 1:i + 2], w) for i in range(1, len(x) - 1)])


def complex_computation(x):
    y = jnp.sin(x) * jnp.cos(x)
    z = jnp.tanh(y) + jnp.sqrt(jnp.abs(x))
    return z * 2.0


def loss_fn(params, x, y):
    w, b = params
    return jnp.mean((w * x + b - y) ** 2)


def update(params, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    return lax.pmean(loss, "devices"), lax.pmean(grads, "devices")


def train(params, x, y):
    def step(_, q):
        grads = lax.pmean(jax.grad(loss_fn)(q, x, y), "devices")
        return jax.tree_util.tree_map(lambda a, g: a - 0.02 * g, q, grads)
    return lax.fori_loop(0, 2000, step, params)


def shares(x):
    return x / lax.psum(x, "parts"), x / lax.psum(x, "devices")


f32 = jnp.float32
x, w = jnp.arange(5, dtype=f32), jnp.array([2, 3, 4], f32)
xs, ws = jnp.stack([x, x, x]), jnp.stack([w, w, w])
data = jnp.arange(8, dtype=f32).reshape(2, 4)
y = 3 * data + 2 + f32(0.5) * jax.random.normal(jax.random.key(0), (2, 4), f32)
params = (f32(2), f32(1))
parallel = dict(axis_name="devices", in_axes=(None, 0, 0), out_axes=None)
loss, grads = jax.pmap(update, **parallel)(params, data, y)
trained = jax.pmap(train, **parallel)(params, data, y)
items = jnp.arange(24, dtype=f32).reshape(2, 3, 4)
numbers = {
    "convolve": [convolve(x, w), jax.vmap(convolve)(xs, ws), jax.pmap(convolve)(xs, ws)],
    "complex_computation": jax.pmap(complex_computation)(data),
    "measured": y,
    "update": [loss, *grads],
    "trained": [*trained, jax.pmap(update, **parallel)(trained, data, y)[0]],
    "process_batches": jax.pmap(jax.vmap(lambda item: jnp.tanh(item) * 2.0))(items),
    # nested pmaps want six devices; an axis of vmap has the same collectives
    "shares": jax.vmap(jax.vmap(shares, axis_name="parts"), axis_name="devices")(jnp.arange(6, dtype=f32).reshape(2, 3)),
}
print(json.dumps(jax.tree_util.tree_map(lambda a: jnp.asarray(a, jnp.float64).tolist(), numbers), indent=1))

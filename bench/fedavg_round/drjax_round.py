"""The FedAvg round in DrJAX, on the inputs of inputs.hpp, for the twins of this folder and of ../hypergradient.

With --mesh the clients are also sharded over as many host devices as threads (--xla_force_host_platform_device_count),
which is DrJAX at its fastest on CPUs. XLA's fast-math and oneDNN flags gain nothing.
"""

import logging
import os
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()
use_mesh = "--mesh" in suite.more and suite.threads > 1
if use_mesh:
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={suite.threads}"

import drjax  # noqa: E402  (after the affinity is set)
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import AxisType, NamedSharding, PartitionSpec  # noqa: E402

logging.getLogger("absl").setLevel(logging.ERROR)  # without a mesh DrJAX says so at every primitive
suite.version("drjax", drjax.__version__)
suite.version("jax", jax.__version__)

if use_mesh:
    mesh = jax.make_mesh((suite.threads,), ("clients",), axis_types=(AxisType.Auto,))
    jax.set_mesh(mesh)
STEPS, BATCH, FEATURES, HIDDEN, CLASSES, RATE = 8, 32, 64, 128, 10, np.float32(0.1)

model = {
    "w1": twin.uniform(1, (FEATURES, HIDDEN), 0.125),
    "b1": twin.uniform(2, (HIDDEN,), 0.125),
    "w2": twin.uniform(3, (HIDDEN, CLASSES), 0.125),
    "b2": twin.uniform(4, (CLASSES,), 0.125),
}


def data(*clients):
    """A batch for each; clients, steps: for each step of each."""
    shape = (*clients, BATCH)
    x = twin.uniform(5, (*shape, FEATURES))
    y = np.eye(CLASSES, dtype=np.float32)[twin.hashed(6, np.prod(shape)) % CLASSES].reshape(*shape, CLASSES)
    return x, y


def loss(m, x, y):
    logits = jnp.tanh(x @ m["w1"] + m["b1"]) @ m["w2"] + m["b2"]
    return -jnp.mean(jnp.sum(y * jax.nn.log_softmax(logits), axis=-1))


def step(m, rate, x, y):
    return jax.tree.map(lambda p, g: p - rate * g, m, jax.grad(loss)(m, x, y))


def local_sgd(m, rate, x, y, step=step):
    return jax.lax.fori_loop(0, STEPS, lambda _, m: step(m, rate, x, y), m)


def unrolled_sgd(m, rate, x, y):
    for _ in range(STEPS):
        m = step(m, rate, x, y)
    return m


def checkpointed_sgd(m, rate, x, y):
    """Keeps the model at the beginning of each step for reverse mode, and computes the rest again."""
    return local_sgd(m, rate, x, y, jax.checkpoint(step))


def carried_sgd(m, rate, x, y):
    """The algebra of carried_twin.hpp: x w1 + b1 is carried from step to step; w1 and b1 are computed behind the last."""
    square = x @ x.T + 1

    def carried_step(_, carry):
        z, changes, w2, b2 = carry
        h = jnp.tanh(z)
        of_logits = (jax.nn.softmax(h @ w2 + b2) - y) / BATCH
        change = (of_logits @ w2.T) * (1 - h * h)
        return z - rate * (square @ change), changes + change, w2 - rate * (h.T @ of_logits), b2 - rate * of_logits.sum(0)

    z = x @ m["w1"] + m["b1"]
    _, changes, w2, b2 = jax.lax.fori_loop(0, STEPS, carried_step, (z, jnp.zeros_like(z), m["w2"], m["b2"]))
    return {"w1": m["w1"] - rate * (x.T @ changes), "b1": m["b1"] - rate * changes.sum(0), "w2": w2, "b2": b2}


def sgd_over_batches(m, rate, x, y):
    return jax.lax.scan(lambda m, batch: (step(m, rate, *batch), None), m, (x, y))[0]


def all_at_once(local, m, rate, x, y):
    """The mean over the clients as DrJAX computes it: a step of all clients is one batched operation."""
    return drjax.reduce_mean(drjax.map_fn(lambda m, x, y: local(m, rate, x, y), (drjax.broadcast(m), x, y)))


def in_turn(local, m, rate, x, y):
    """The same mean in plain JAX, one client after the other on each device: what a client works on stays in a cache."""
    def of_device(m, rate, x, y):
        return jax.lax.map(lambda rows: local(m, rate, *rows), (x, y))

    if use_mesh:
        whole, split = PartitionSpec(), PartitionSpec("clients")
        of_device = jax.shard_map(of_device, mesh=mesh, in_specs=(whole, whole, split, split), out_specs=split, check_vma=False)
    return jax.tree.map(lambda leaf: leaf.mean(0), of_device(m, rate, x, y))


def fedavg_round(m, rate, x, y, local=local_sgd, over=all_at_once):
    return over(local, m, rate, x, y)


def add(row, clients, f, result, batches=(), side="DrJAX"):
    """Adds f(model, rate, x, y), compiled, for this many clients; batches: (STEPS,) where each step has its own."""
    if "--mesh" in suite.more and not use_mesh:
        return
    places = [None] * 4
    if use_mesh:
        places = [NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), (), ("clients",), ("clients",))]
    inputs = jax.block_until_ready([jax.device_put(value, place) for value, place in zip((model, RATE, *data(clients, *batches)), places)])
    suite.add_jitted(row, f"{side}, {suite.threads} devices" if use_mesh else side, drjax.program(placements={"clients": clients})(f), inputs, result)

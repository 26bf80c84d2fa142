"""The FedAvg round in DrJAX, on the inputs of inputs.hpp, for the twins of this folder and of ../hypergradient.

With --mesh the clients are also sharded over as many host devices as threads (--xla_force_host_platform_device_count),
which is DrJAX at its fastest on CPUs. Unrolling the local steps, XLA's fast-math and oneDNN flags gain nothing.
"""

import logging
import os
import pathlib
import sys
import time

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


def local_sgd(m, rate, x, y):
    return jax.lax.fori_loop(0, STEPS, lambda _, m: step(m, rate, x, y), m)


def sgd_over_batches(m, rate, x, y):
    return jax.lax.scan(lambda m, batch: (step(m, rate, *batch), None), m, (x, y))[0]


def fedavg_round(m, rate, x, y, local=local_sgd):
    return drjax.reduce_mean(drjax.map_fn(lambda m, x, y: local(m, rate, x, y), (drjax.broadcast(m), x, y)))


def add(row, clients, f, result, batches=()):
    """Adds f(model, rate, x, y), compiled, for this many clients; batches: (STEPS,) where each step has its own."""
    if "--mesh" in suite.more and not use_mesh:
        return
    places = [None] * 4
    if use_mesh:
        mesh = jax.make_mesh((suite.threads,), ("clients",), axis_types=(AxisType.Auto,))
        jax.set_mesh(mesh)
        places = [NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), (), ("clients",), ("clients",))]
    inputs = jax.block_until_ready([jax.device_put(value, place) for value, place in zip((model, RATE, *data(clients, *batches)), places)])
    begin = time.perf_counter()
    compiled = jax.jit(drjax.program(placements={"clients": clients})(f)).lower(*inputs).compile()
    jax.block_until_ready(compiled(*inputs))
    suite.add(row, f"DrJAX, {suite.threads} devices" if use_mesh else "DrJAX",
              call=lambda: jax.block_until_ready(compiled(*inputs)), result=result,
              temp_bytes=compiled.memory_analysis().temp_size_in_bytes, compile_s=time.perf_counter() - begin)

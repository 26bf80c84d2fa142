#!/usr/bin/env python3
"""The FedAvg round in DrJAX: the peer of eigen_twin.hpp and hand_twin.hpp, on the same inputs (inputs.hpp).

With --mesh the clients are also sharded over as many host devices (--xla_force_host_platform_device_count), which is
DrJAX at its fastest on CPUs: almost twice as fast as without. Unrolling the local steps, XLA's fast-math and oneDNN flags
gain nothing.
"""

import logging
import os
import time

import twin

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

CLIENTS, STEPS, BATCH, FEATURES, HIDDEN, CLASSES, RATE = 64, 8, 32, 64, 128, 10, 0.1

model = {
    "w1": twin.uniform(1, (FEATURES, HIDDEN), 0.125),
    "b1": twin.uniform(2, (HIDDEN,), 0.125),
    "w2": twin.uniform(3, (HIDDEN, CLASSES), 0.125),
    "b2": twin.uniform(4, (CLASSES,), 0.125),
}
x = twin.uniform(5, (CLIENTS, BATCH, FEATURES))
y = np.eye(CLASSES, dtype=np.float32)[twin.hashed(6, CLIENTS * BATCH) % CLASSES].reshape(CLIENTS, BATCH, CLASSES)


def loss(m, x, y):
    logits = jnp.tanh(x @ m["w1"] + m["b1"]) @ m["w2"] + m["b2"]
    return -jnp.mean(jnp.sum(y * jax.nn.log_softmax(logits), axis=-1))


def local_sgd(m, x, y):
    def step(_, m):
        return jax.tree.map(lambda p, g: p - RATE * g, m, jax.grad(loss)(m, x, y))

    return jax.lax.fori_loop(0, STEPS, step, m)


@drjax.program(placements={"clients": CLIENTS})
def fedavg_round(m, x, y):
    return drjax.reduce_mean(drjax.map_fn(local_sgd, (drjax.broadcast(m), x, y)))


where = None, None, None
if use_mesh:
    mesh = jax.make_mesh((suite.threads,), ("clients",), axis_types=(AxisType.Auto,))
    jax.set_mesh(mesh)
    where = tuple(NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), ("clients",), ("clients",)))
inputs = jax.block_until_ready([jax.device_put(value, place) for value, place in zip((model, x, y), where)])
begin = time.perf_counter()
compiled = jax.jit(fedavg_round).lower(*inputs).compile()
jax.block_until_ready(compiled(*inputs))
compile_s = time.perf_counter() - begin

if use_mesh or "--mesh" not in suite.more:
    suite.add("64 clients", f"DrJAX, {suite.threads} devices" if use_mesh else "DrJAX",
              call=lambda: jax.block_until_ready(compiled(*inputs)), result=lambda m: [m["w1"], m["b1"], m["w2"], m["b2"]],
              temp_bytes=compiled.memory_analysis().temp_size_in_bytes, compile_s=compile_s)
suite.version("drjax", drjax.__version__)
suite.version("jax", jax.__version__)
suite.run()

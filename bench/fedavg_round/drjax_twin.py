#!/usr/bin/env python3
"""The FedAvg round in DrJAX: the peer of eigen_twin.hpp and hand_twin.hpp, on the same inputs (inputs.hpp).

Threads: the process is restricted to --threads CPUs (sched_setaffinity) before jax starts; XLA sizes its pool by them.
With --mesh the clients are also sharded over as many host devices (--xla_force_host_platform_device_count), which is
DrJAX at its fastest on CPUs: almost twice as fast as without. Unrolling the local steps, XLA's fast-math and oneDNN flags
gain nothing. Prints one line of JSON, as bench_fedavg_round does.
"""

import argparse
import json
import logging
import os
import statistics
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--reps", type=int, default=200)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--mesh", action="store_true", help="shard the clients over a mesh of --threads host devices")
parser.add_argument("--compare", help="file written by bench_fedavg_round --write; a difference is an error")
args = parser.parse_args()
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.threads])
os.environ["JAX_PLATFORMS"] = "cpu"
if args.mesh:
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={args.threads}"

import drjax  # noqa: E402  (after the affinity is set)
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import AxisType, NamedSharding, PartitionSpec  # noqa: E402

logging.getLogger("absl").setLevel(logging.ERROR)  # without a mesh DrJAX says so at every primitive

CLIENTS, STEPS, BATCH, FEATURES, HIDDEN, CLASSES, RATE = 64, 8, 32, 64, 128, 10, 0.1
TOLERANCE = 2e-6  # as in main.cpp


def hashed(stream, n):
    h = np.arange(n, dtype=np.uint32) + np.uint32(stream * 0x9E3779B9 & 0xFFFFFFFF)
    h = (h ^ (h >> 16)) * np.uint32(0x7FEB352D)
    h = (h ^ (h >> 15)) * np.uint32(0x846CA68B)
    return h ^ (h >> 16)


def uniform(stream, shape, scale):
    h = hashed(stream, int(np.prod(shape)))
    values = (h >> 8).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)
    return (np.float32(scale) * values).reshape(shape)


model = {
    "w1": uniform(1, (FEATURES, HIDDEN), 0.125),
    "b1": uniform(2, (HIDDEN,), 0.125),
    "w2": uniform(3, (HIDDEN, CLASSES), 0.125),
    "b2": uniform(4, (CLASSES,), 0.125),
}
x = uniform(5, (CLIENTS, BATCH, FEATURES), 1.0)
y = np.eye(CLASSES, dtype=np.float32)[hashed(6, CLIENTS * BATCH) % CLASSES].reshape(CLIENTS, BATCH, CLASSES)


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
if args.mesh:
    mesh = jax.make_mesh((args.threads,), ("clients",), axis_types=(AxisType.Auto,))
    jax.set_mesh(mesh)
    where = tuple(NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), ("clients",), ("clients",)))
inputs = jax.block_until_ready([jax.device_put(value, place) for value, place in zip((model, x, y), where)])
begin = time.perf_counter()
compiled = jax.jit(fedavg_round).lower(*inputs).compile()
compile_s = time.perf_counter() - begin

result = jax.block_until_ready(compiled(*inputs))
row = {
    "bench": "fedavg_round",
    "side": f"DrJAX, {args.threads} devices" if args.mesh else "DrJAX",
    "threads": args.threads,
    "reps": args.reps,
    "version": f"drjax {drjax.__version__}, jax {jax.__version__}",
}

times = []
for rep in range(-10, args.reps):
    begin = time.perf_counter()
    jax.block_until_ready(compiled(*inputs))
    if rep >= 0:
        times.append(1e3 * (time.perf_counter() - begin))
row["min_ms"] = round(min(times), 4)
row["median_ms"] = round(statistics.median(times), 4)
row["temp_bytes"] = compiled.memory_analysis().temp_size_in_bytes
row["compile_s"] = round(compile_s, 3)
if args.compare:
    got = np.concatenate([np.ravel(result[name]) for name in ("w1", "b1", "w2", "b2")])
    diff = float(np.max(np.abs(got - np.fromfile(args.compare, np.float32))))
    if not diff <= TOLERANCE:
        sys.exit(f"DrJAX: wrong result: off by {diff}, allowed {TOLERANCE}")
    row["max_abs_diff"] = float(f"{diff:.3g}")
print(json.dumps(row))

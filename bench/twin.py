"""The common part of the Python twins of every workload: the flags, files and JSON of the C++ sides (harness.hpp).

Make the suite before jax, torch or numpy are imported: it reads the flags, answers `--help` without them, and keeps the process on as
many CPUs as it has threads.

    suite = twin.Suite()
    suite.add("64 clients", "JAX", call=lambda: jax.block_until_ready(compiled(x)), result=lambda y: y, temp_bytes=1024)
    suite.run()
"""

import argparse
import array
import json
import math
import os
import pathlib
import random
import sys
import time
from functools import partial


def hashed(stream, n):
    import numpy as np

    h = np.arange(n, dtype=np.uint32) + np.uint32(stream * 0x9E3779B9 & 0xFFFFFFFF)
    h = (h ^ (h >> 16)) * np.uint32(0x7FEB352D)
    h = (h ^ (h >> 15)) * np.uint32(0x846CA68B)
    return h ^ (h >> 16)


def uniform(stream, shape, scale=1.0, dtype="float32"):
    """The numbers of harness.hpp's uniform, times `scale`."""
    import numpy as np

    values = (hashed(stream, int(np.prod(shape))) >> 8).astype(dtype) * np.dtype(dtype).type(2.0**-23) - np.dtype(dtype).type(1)
    return (np.dtype(dtype).type(scale) * values).reshape(shape)


def has_avx512():
    processor = pathlib.Path("/proc/cpuinfo")
    return processor.exists() and "avx512f" in processor.read_text()


def flat(value):
    """All numbers of a nest of lists, tuples, dicts (in the order of their keys) and arrays."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [x for part in value for x in flat(part)]
    return [float(value)] if not getattr(value, "ndim", 0) else value.reshape(-1).tolist()


class Suite:
    def __init__(self):
        parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
        parser.add_argument("--check", action="store_true", help="write the results, time nothing")
        parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("."))
        parser.add_argument("--benchmark_out")
        parser.add_argument("--benchmark_repetitions", type=int, default=20)
        parser.add_argument("--benchmark_min_time", type=float, default=0.001)
        self.args, self.more = parser.parse_known_args()  # more: the twin's own flags
        self.threads = int(os.environ.setdefault("OMP_NUM_THREADS", "1"))
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: self.threads])
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        self.sides, self.versions = [], []

    def add(self, row, side, call, result, **counters):
        """`call` computes and waits for the end; `result` turns its result into numbers (see flat)."""
        self.sides.append({"row": row, "side": side, "call": call, "result": result, "counters": counters})

    def add_jitted(self, row, side, f, inputs, result=lambda y: y, ahead=True):
        """A side that calls f under jax.jit, with vectors of the width that XLA chooses and, where the processor has them, of 512 bits: both are
        compared, and the faster is timed. Without `ahead` f is not compiled ahead of time, which mpi4jax's operations cannot be; and it has the
        width that XLA chooses, since ranks must run the same program."""
        import jax

        jax.devices()  # the first call starts XLA
        ways = []
        for width in (None, 512) if has_avx512() and ahead else (None,):
            jax.clear_caches()
            begin, compiled, counters = time.perf_counter(), jax.jit(f, compiler_options=width and {"xla_cpu_prefer_vector_width": width}), {}
            if ahead:
                compiled = compiled.lower(*inputs).compile()
                counters["temp_bytes"] = compiled.memory_analysis().temp_size_in_bytes
            call = partial(lambda compiled: jax.block_until_ready(compiled(*inputs)), compiled)
            call()
            ways.append({"row": row, "side": f"{side}, {width} bits" if width else side, "call": call, "result": result, "calls": 1,
                         "counters": counters | {"compile_s": time.perf_counter() - begin, "vector_bits": width or 0}})
        if self.args.check:
            self.sides += ways
            return
        least = [math.inf] * len(ways)
        for _ in range(10):
            least = [min(known, seconds(way)) for known, way in zip(least, ways)]
        self.sides.append(ways[least.index(min(least))] | {"side": side})

    def version(self, name, version):
        self.versions.append(f"{name} {version}")

    def run(self):
        if self.args.check:
            for side in self.sides:
                folder = self.args.data / side["row"]
                folder.mkdir(parents=True, exist_ok=True)
                values = array.array("d", flat(side["result"](side["call"]())))
                (folder / f"{side['side']}.f64").write_bytes(values.tobytes())
            return
        rows = []
        for side in self.sides:
            side["calls"] = 1
            while (took := seconds(side)) * side["calls"] < self.args.benchmark_min_time:
                side["calls"] = max(2 * side["calls"], int(self.args.benchmark_min_time / took))
        for _ in range(self.args.benchmark_repetitions):
            for side in random.sample(self.sides, len(self.sides)):
                rows.append({"name": f"{side['row']}/{side['side']}/real_time", "run_type": "iteration",
                             "real_time": 1e3 * seconds(side), "time_unit": "ms", **side["counters"]})
        text = json.dumps({"context": {"versions": self.versions}, "benchmarks": rows})
        if self.args.benchmark_out:
            pathlib.Path(self.args.benchmark_out).write_text(text)
        else:
            print(text)


def seconds(side):
    begin = time.perf_counter()
    for _ in range(side["calls"]):
        side["call"]()
    return (time.perf_counter() - begin) / side["calls"]

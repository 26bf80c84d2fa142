"""One JAX twin of the zoo in a process of its own: twin.py NAME FOLDER [wide [on_one_device] | arguments].

It writes the arguments that the twin makes into FOLDER, one file for each leaf, and each formulation's results as doubles. Then it takes
orders: a line `formulation calls` is answered with the seconds of a call. With `wide` each formulation is there once more with vectors of 512
bits where the processor has them, which is faster for some, and, on several processors, again with its members dealt out to as many host
devices, among which XLA divides the work; not with `on_one_device`. With `arguments` it writes these and ends. run, profile and steps beside
it call it.
"""

import importlib
import itertools
import json
import os
import pathlib
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


def dealt_out(jax, arguments, devices):
    """The arguments with those that have a member each in their rows (as many as the last one's) on several devices; None if there are none."""
    rows = np.shape(arguments[-1])[:1]
    if not rows or rows[0] < devices or rows[0] % devices:
        return None
    mesh = jax.make_mesh((devices,), ("members",), axis_types=(jax.sharding.AxisType.Auto,))
    split, whole = (jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axis)) for axis in (("members",), ()))
    return jax.device_put(arguments, [split if np.shape(a)[:1] == rows else whole for a in arguments])


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    sys.path[:0] = [str(HERE / "programs"), str(HERE.parent)]
    from twin import has_avx512  # bench/twin.py

    processors = len(os.sched_getaffinity(0)) if "wide" in sys.argv[3:] and "on_one_device" not in sys.argv[3:] else 1
    if processors > 1:
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={processors}"
    import jax

    sys.dont_write_bytecode = True
    twin = importlib.import_module(name)
    arguments = [np.array(a, order="C") for a in twin.arguments(np.random.default_rng(7))]
    if any(a.dtype == np.float64 for a in arguments):
        jax.config.update("jax_enable_x64", True)
    for i, a in enumerate(arguments):
        a.tofile(folder / str(i))
    if "arguments" in sys.argv[3:]:
        return
    placed = {"": jax.device_put(arguments)}
    if processors > 1 and (split := dealt_out(jax, arguments, processors)):
        placed[", on devices"] = split
    jax.block_until_ready(placed)
    compiled, about = {}, {}
    wide = "wide" in sys.argv[3:] and has_avx512()
    options = {"": None} | ({", wide": {"xla_cpu_prefer_vector_width": 512}} if wide else {})
    for (formulation, f), (where, own), (width, option) in itertools.product(twin.twins.items(), placed.items(), options.items()):
        side = formulation + where + width
        begin = time.perf_counter()
        f = jax.jit(f).lower(*own).compile(compiler_options=option)
        compiled[side] = f, own
        about[side] = {"compile_s": time.perf_counter() - begin, "temporaries": f.memory_analysis().temp_size_in_bytes}
        results = jax.tree.leaves(f(*own))
        about[side]["sizes"] = [int(np.size(r)) for r in results]
        np.concatenate([np.asarray(r, np.float64).ravel() for r in results]).tofile(folder / f"{side}.f64")
    print(json.dumps(about), flush=True)
    for line in sys.stdin:
        side, calls = line.rsplit(maxsplit=1)
        f, own = compiled[side]
        begin = time.perf_counter()
        for _ in range(int(calls)):
            jax.block_until_ready(f(*own))
        print((time.perf_counter() - begin) / int(calls), flush=True)


main()

"""One JAX twin of the zoo in a process of its own: twin.py NAME FOLDER [wide | arguments].

It writes the arguments that the twin makes into FOLDER, one file for each leaf, and each formulation's results as doubles. Then it takes
orders: a line `formulation calls` is answered with the seconds of a call. With `wide` each formulation is there once more with vectors of 512
bits where the processor has them, which is faster for some. With `arguments` it writes these and ends. run, profile and
steps beside it call it.
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


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    sys.path[:0] = [str(HERE / "programs"), str(HERE.parent)]
    from twin import has_avx512  # bench/twin.py

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
    arguments = jax.block_until_ready(jax.device_put(arguments))
    compiled, about = {}, {}
    wide = "wide" in sys.argv[3:] and has_avx512()
    options = {"": None} | ({", wide": {"xla_cpu_prefer_vector_width": 512}} if wide else {})
    for (formulation, f), (name, option) in itertools.product(twin.twins.items(), options.items()):
        side = formulation + name
        begin = time.perf_counter()
        compiled[side] = jax.jit(f).lower(*arguments).compile(compiler_options=option)
        about[side] = {"compile_s": time.perf_counter() - begin, "temporaries": compiled[side].memory_analysis().temp_size_in_bytes}
        results = jax.tree.leaves(compiled[side](*arguments))
        about[side]["sizes"] = [int(np.size(r)) for r in results]
        np.concatenate([np.asarray(r, np.float64).ravel() for r in results]).tofile(folder / f"{side}.f64")
    print(json.dumps(about), flush=True)
    for line in sys.stdin:
        side, calls = line.rsplit(maxsplit=1)
        f = compiled[side]
        begin = time.perf_counter()
        for _ in range(int(calls)):
            jax.block_until_ready(f(*arguments))
        print((time.perf_counter() - begin) / int(calls), flush=True)


main()

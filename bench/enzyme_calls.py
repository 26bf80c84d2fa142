"""Calls of C++ that Enzyme differentiates, by the compiler inside the Python package enzyme-ad. Import this after twin."""

import pathlib
import subprocess
import time

import jax
import jax.numpy as jnp
from enzyme_ad.jax import cpp_call

jax.config.update("jax_enable_x64", True)

BENCH = pathlib.Path(__file__).resolve().parent
FEATURES = {"avx2", "fma", "bmi1", "bmi2", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"}


def flags(folder):
    """The package brings neither a compiler's own headers nor `-march=native`: g++'s, and the features that Linux tells."""
    headers = subprocess.run(["g++", "-print-file-name=include"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    told = pathlib.Path("/proc/cpuinfo").read_text().split("flags", 1)[-1].split("\n", 1)[0].split()
    features = [word for name in sorted(FEATURES & set(told)) for word in ("-target-feature", "+" + name.replace("bmi1", "bmi"))]
    return ("-std=c++20", "-O3", "-DNDEBUG", "-w", "-fgnuc-version=12.2.0", "-fno-threadsafe-statics", *features,
            "-isystem", headers, f"-I{folder}", f"-I{BENCH.parent / 'include'}")


def add(suite, row, header, function, shape, *inputs):
    """Adds `function(result, inputs...)` of a header beside the twin: the name of a template over the package's tensors."""
    inputs = jax.block_until_ready([jnp.asarray(x) for x in inputs])

    def call(*x):
        return cpp_call(*x, out_shapes=[jax.core.ShapedArray(shape, jnp.float64)], source=f'#include "{header.name}"\n', fn=function,
                        argv=flags(header.parent))[0]

    begin = time.perf_counter()
    compiled = jax.jit(call).lower(*inputs).compile()
    jax.block_until_ready(compiled(*inputs))
    suite.add(row, "Enzyme", call=lambda: jax.block_until_ready(compiled(*inputs)), result=lambda r: r, compile_s=time.perf_counter() - begin)

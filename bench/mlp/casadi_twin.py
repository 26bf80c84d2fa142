#!/usr/bin/env python3
"""The MLP's value and gradient in CasADi, on one core: matrices (MX), the gradient written as C and compiled."""

import os
import pathlib
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import casadi  # noqa: E402
import numpy as np  # noqa: E402

import mlp_inputs  # noqa: E402

os.chdir(tempfile.mkdtemp())  # the compiler's files go there
w1, b1, w2, b2 = symbols = [casadi.MX.sym(f"p{i}", *(shape if len(shape) == 2 else (1, *shape)) if shape else (1, 1))
                            for i, shape in enumerate(mlp_inputs.shapes)]
x, y = casadi.MX.sym("x", *mlp_inputs.x.shape), casadi.MX.sym("y", mlp_inputs.BATCH)
h = casadi.tanh(x @ w1 + casadi.repmat(b1, mlp_inputs.BATCH, 1))
error = h @ w2.T + b2 - y
loss = casadi.dot(error, error) / mlp_inputs.BATCH
begin = time.perf_counter()
gradient = casadi.Function("gradient", [*symbols, x, y], [loss, *(casadi.gradient(loss, p) for p in symbols)], {
    "jit": True, "compiler": "shell", "jit_options": {"flags": ["-O2", "-ftree-vectorize", "-march=native", "-ffast-math"], "linker_flags": ["-lmvec", "-lm"]}})
arguments = [np.ravel(p, order="F") for p in (*mlp_inputs.model, mlp_inputs.x, mlp_inputs.y)]
results = [np.zeros(gradient.numel_out(i)) for i in range(5)]
memory, evaluate = gradient.buffer()
for i, value in enumerate(arguments):
    memory.set_arg(i, memoryview(value))
for i, value in enumerate(results):
    memory.set_res(i, memoryview(value))
evaluate()
compile_s = time.perf_counter() - begin
suite.add("value and gradient", "CasADi, compiled", call=evaluate,
          result=lambda _: [value.reshape(gradient.size_out(i), order="F") for i, value in enumerate(results)], compile_s=compile_s)
suite.version("casadi", casadi.__version__)
suite.run()

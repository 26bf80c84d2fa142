"""Calls of CasADi's functions at their fastest: written as C, compiled for this processor, through buffers that are bound once.

Import this after twin: CasADi's flags and files are then of this process alone.
"""

import os
import tempfile
import time

import casadi
import numpy as np

_folder = tempfile.mkdtemp()  # the compiler's files go there, and CasADi removes them when it ends
FLAGS = {"flags": ["-O3", "-march=native", "-ffast-math"], "linker_flags": ["-lmvec", "-lm"]}


def add(suite, row, symbols, results, inputs, result, compiled=True):
    """Adds a side that computes the expressions `results` of `symbols` from `inputs`; result takes the list of matrices."""
    begin = time.perf_counter()
    before = os.getcwd()
    os.chdir(_folder)
    options = {"jit": True, "compiler": "shell", "jit_options": FLAGS} if compiled else {}
    function = casadi.Function("whole", symbols, [casadi.densify(r) for r in results], options)
    os.chdir(before)
    arguments = [np.array(value, dtype=float, order="F").reshape(-1, order="F") for value in inputs]
    values = [np.zeros(function.numel_out(i)) for i in range(function.n_out())]
    memory, evaluate = function.buffer()
    for i, value in enumerate(arguments):
        memory.set_arg(i, memoryview(value))
    for i, value in enumerate(values):
        memory.set_res(i, memoryview(value))
    evaluate()
    shapes = [function.size_out(i) for i in range(function.n_out())]
    bound = memory, arguments, values  # which CasADi reads and writes, and does not own

    def call(bound=bound):
        evaluate()

    suite.add(row, "CasADi, compiled" if compiled else "CasADi", call=call,
              result=lambda _: result([value.reshape(shape, order="F") for value, shape in zip(values, shapes)]),
              compile_s=time.perf_counter() - begin)

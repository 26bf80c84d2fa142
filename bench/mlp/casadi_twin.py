#!/usr/bin/env python3
"""The MLP's value and gradient in CasADi, on one core: matrices (MX), the gradient written as C and compiled."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import casadi  # noqa: E402
import numpy as np  # noqa: E402

import casadi_calls  # noqa: E402
import mlp_inputs  # noqa: E402

w1, b1, w2, b2 = symbols = [casadi.MX.sym(f"p{i}", *(shape if len(shape) == 2 else (1, *shape)) if shape else (1, 1))
                            for i, shape in enumerate(mlp_inputs.shapes)]
x, y = casadi.MX.sym("x", *mlp_inputs.x.shape), casadi.MX.sym("y", mlp_inputs.BATCH)
h = casadi.tanh(x @ w1 + casadi.repmat(b1, mlp_inputs.BATCH, 1))
error = h @ w2.T + b2 - y
loss = casadi.dot(error, error) / mlp_inputs.BATCH
casadi_calls.add(suite, "value and gradient", [*symbols, x, y], [loss, *(casadi.gradient(loss, p) for p in symbols)],
                 [np.ravel(p, order="F") for p in (*mlp_inputs.model, mlp_inputs.x, mlp_inputs.y)], result=lambda r: r)
suite.version("casadi", casadi.__version__)
suite.run()

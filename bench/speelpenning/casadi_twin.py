#!/usr/bin/env python3
"""The gradient of a product of 1000 variables in CasADi: a graph of scalars, on its virtual machine and compiled."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import casadi as ca  # noqa: E402  (after the affinity is set)

import casadi_calls  # noqa: E402

v = ca.SX.sym("v", 1000)
y = v[0]
for i in range(1, 1000):
    y = y * v[i]
x = 1 + twin.uniform(1, (1000,), 0.125, "float64")
for compiled in (False, True):
    casadi_calls.add(suite, "1000 variables", [v], [ca.gradient(y, v)], [x], result=lambda r: r[0], compiled=compiled)
suite.version("casadi", ca.__version__)
suite.run()

#!/usr/bin/env python3
"""The gradient of a product of 1000 variables in CasADi: a graph of scalars, evaluated by its virtual machine."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import casadi as ca  # noqa: E402  (after the affinity is set)

v = ca.SX.sym("v", 1000)
y = v[0]
for i in range(1, 1000):
    y = y * v[i]
gradient = ca.Function("gradient", [v], [ca.gradient(y, v)])
x = ca.DM(1 + twin.uniform(1, (1000,), 0.125, "float64"))
suite.add("1000 variables", "CasADi", call=lambda: gradient(x), result=lambda g: g.full())
suite.version("casadi", ca.__version__)
suite.run()

#!/usr/bin/env python3
"""The gradient of a product of 1000 variables by Enzyme; the time is that of dispatching the call in JAX, too."""

import importlib.metadata
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import enzyme_calls  # noqa: E402  (after the affinity is set)

enzyme_calls.add(suite, "1000 variables", pathlib.Path(__file__).with_name("enzyme_side.hpp"), "speelpenning::product_gradient", (1000,),
                 1 + twin.uniform(1, (1000,), 0.125, "float64"))
suite.version("enzyme-ad", importlib.metadata.version("enzyme-ad"))
suite.run()

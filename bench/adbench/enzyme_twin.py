#!/usr/bin/env python3
"""ADBench's gradients and Jacobians by Enzyme: the functions of main.cpp, on the same inputs (inputs.hpp)."""

import importlib.metadata
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import numpy as np  # noqa: E402  (after the affinity is set)

import enzyme_calls  # noqa: E402
import hand_inputs as hand  # noqa: E402


def drawn(stream, shape):
    return twin.uniform(stream, shape, 0.5, "float64")


def add(row, function, shape, *inputs):
    enzyme_calls.add(suite, row, pathlib.Path(__file__).with_name("enzyme_side.hpp"), "adbench::enzyme_side::" + function, shape, *inputs)


add("Gaussian mixture", "mixture_gradient", (330,), drawn(1, (330,)), drawn(2, (1000, 10)))
add("LSTM", "lstm_gradient", (266,), drawn(6, (266,)), drawn(4, (56,)), np.eye(14)[twin.hashed(5, 1024) % 14])
base = np.array([0.1, -0.3, 0.2, 1, -2, 0.5, 500, 320, 240, 0.1, -0.02, 0.4, 0.3, 5, 0.8])
add("bundle adjustment", "bundle_jacobians", (1000, 2, 15), base + 0.2 * drawn(3, (1000, 15)))
for kind, row in enumerate(("simple", "complicated")):
    # A `tracking`: bones, seen from their parents and from the hand at rest, what it does not read, points, the skin's corners.
    track = [hand.base[:, :3], hand.inverse[:, :3], np.zeros(9 + 3 * hand.BONES + 3), np.concatenate([hand.measured, hand.within], 1),
             hand.weighted if kind else hand.weighted[:, :1]]
    add(f"hand tracking {row}", f"{row}_hand", (3 * hand.POINTS, hand.PARAMETERS + 2 * kind), np.append(hand.angles, np.zeros(2 * kind)),
        np.concatenate([part.reshape(-1) for part in track]))
suite.version("enzyme-ad", importlib.metadata.version("enzyme-ad"))
suite.run()

#!/usr/bin/env python3
"""The FedAvg round in DrJAX: the peer of drx_side.hpp, eigen_twin.hpp and hand_twin.hpp."""

from drjax_round import add, fedavg_round, suite

add("64 clients", 64, fedavg_round, result=lambda m: [m["w1"], m["b1"], m["w2"], m["b2"]])
suite.run()

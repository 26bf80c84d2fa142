#!/usr/bin/env python3
"""The FedAvg round in DrJAX: the peer of drx_side.hpp, eigen_twin.hpp, hand_twin.hpp and carried_twin.hpp."""

from drjax_round import STEPS, add, fedavg_round, sgd_over_batches, suite


def parts(m):
    return [m["w1"], m["b1"], m["w2"], m["b2"]]


add("64 clients", 64, fedavg_round, result=parts)
add("64 clients, a batch for each step", 64, lambda *inputs: fedavg_round(*inputs, local=sgd_over_batches), result=parts, batches=(STEPS,))
suite.run()

#!/usr/bin/env python3
"""The FedAvg round in DrJAX and JAX: the peer of drx_side.hpp, eigen_twin.hpp, hand_twin.hpp and carried_twin.hpp."""

from functools import partial

from drjax_round import STEPS, add, carried_sgd, fedavg_round, in_turn, sgd_over_batches, suite, unrolled_sgd


def parts(m):
    return [m["w1"], m["b1"], m["w2"], m["b2"]]


def add_sides(row, sides, batches=()):
    for side, how in sides.items():
        add(row, 64, partial(fedavg_round, **how), result=parts, batches=batches, side=side)


add_sides("64 clients", {
    "DrJAX": {},
    "DrJAX, unrolled": {"local": unrolled_sgd},
    "JAX, clients in turn": {"over": in_turn},
    "DrJAX, products carried": {"local": carried_sgd},
    "JAX, products carried, clients in turn": {"local": carried_sgd, "over": in_turn},
})
add_sides("64 clients, a batch for each step", {
    "DrJAX": {"local": sgd_over_batches},
    "JAX, clients in turn": {"local": sgd_over_batches, "over": in_turn},
}, batches=(STEPS,))
suite.run()

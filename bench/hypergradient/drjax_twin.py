#!/usr/bin/env python3
"""The loss after a round and its derivative by the rate in DrJAX: the peer of drx_side.hpp and eigen_twin.hpp."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fedavg_round"))

from drjax_round import add, drjax, fedavg_round, jax, loss, suite  # noqa: E402


def loss_after(rate, m, x, y):
    new = fedavg_round(m, rate, x, y)
    return drjax.reduce_mean(drjax.map_fn(loss, (drjax.broadcast(new), x, y)))


for clients in (16, 64, 256):
    add(f"{clients} clients", clients, lambda m, rate, x, y: jax.value_and_grad(loss_after)(rate, m, x, y), result=list)
suite.run()

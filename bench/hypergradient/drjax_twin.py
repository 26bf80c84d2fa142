#!/usr/bin/env python3
"""The loss after a round and its derivative by the rate in DrJAX and JAX: the peer of drx_side.hpp and eigen_twin.hpp.

Reverse and forward mode, with all of a step kept or computed again, all clients at once or in turn, and with the algebra
of carried_twin.hpp: which is fastest depends on the machine.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fedavg_round"))

from drjax_round import add, carried_sgd, checkpointed_sgd, drjax, fedavg_round, in_turn, jax, jnp, local_sgd, loss, suite  # noqa: E402


def loss_after(rate, m, x, y, **how):
    new = fedavg_round(m, rate, x, y, **how)
    return drjax.reduce_mean(drjax.map_fn(loss, (drjax.broadcast(new), x, y)))


def reverse(**how):
    return lambda m, rate, x, y: jax.value_and_grad(lambda rate: loss_after(rate, m, x, y, **how))(rate)


def forward(**how):
    return lambda m, rate, x, y: jax.jvp(lambda rate: loss_after(rate, m, x, y, **how), (rate,), (jnp.ones_like(rate),))


sides = {
    "DrJAX": reverse(),
    "DrJAX, checkpointed": reverse(local=checkpointed_sgd),
    "JAX, checkpointed, clients in turn": reverse(local=checkpointed_sgd, over=in_turn),
    "DrJAX, forward mode": forward(),
    "JAX, forward mode, clients in turn": forward(local=local_sgd, over=in_turn),
    "DrJAX, forward mode, products carried": forward(local=carried_sgd),
    "JAX, forward mode, products carried, clients in turn": forward(local=carried_sgd, over=in_turn),
}
for clients in (16, 64, 256):
    for side, derivative in sides.items():
        add(f"{clients} clients", clients, derivative, result=list, side=side)
suite.run()

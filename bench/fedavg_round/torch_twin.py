#!/usr/bin/env python3
"""The FedAvg round in PyTorch: torch.func's vmap over the clients of eight steps of grad, compiled."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import torch  # noqa: E402
from torch.func import grad, vmap  # noqa: E402
from torch.nn import functional  # noqa: E402

torch.set_num_threads(suite.threads)
CLIENTS, STEPS, BATCH, FEATURES, HIDDEN, CLASSES, RATE = 64, 8, 32, 64, 128, 10, 0.1


def loss(m, x, y):
    w1, b1, w2, b2 = m
    return functional.cross_entropy(torch.tanh(x @ w1 + b1) @ w2 + b2, y)


def local_sgd(m, x, y):
    for _ in range(STEPS):
        m = tuple(p - RATE * g for p, g in zip(m, grad(loss)(m, x, y)))
    return m


def fedavg_round(m, x, y):
    return tuple(part.mean(0) for part in vmap(local_sgd, in_dims=(None, 0, 0))(m, x, y))


shapes = (FEATURES, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,)
model = tuple(torch.tensor(twin.uniform(1 + i, shape, 0.125)) for i, shape in enumerate(shapes))
x = torch.tensor(twin.uniform(5, (CLIENTS, BATCH, FEATURES)))
y = torch.tensor((twin.hashed(6, CLIENTS * BATCH) % CLASSES).astype("int64").reshape(CLIENTS, BATCH))
program = torch.compile(fedavg_round)
program(model, x, y)
suite.add("64 clients", "PyTorch, compiled", call=lambda: program(model, x, y), result=lambda parts: [part.numpy() for part in parts])
suite.version("torch", torch.__version__)
suite.run()

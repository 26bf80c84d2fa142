#!/usr/bin/env python3
"""The mean of clipped gradients in PyTorch: torch.func's vmap of grad, compiled."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import torch  # noqa: E402
from torch.func import grad, vmap  # noqa: E402
from torch.nn import functional  # noqa: E402

torch.set_num_threads(suite.threads)
BATCH, SIDE, CHANNELS, CLASSES, BOUND = 256, 8, 8, 10, 1.0
POOLED = SIDE * SIDE // 4 * CHANNELS


def loss(m, x, y):
    kernel, shift, w, b = m
    h = functional.conv2d(x.permute(2, 0, 1)[None], kernel.permute(3, 2, 0, 1), padding=1)[0].permute(1, 2, 0)
    h = torch.tanh(h + shift)
    p = h.reshape(SIDE // 2, 2, SIDE // 2, 2, CHANNELS).mean((1, 3)).reshape(POOLED)
    return functional.cross_entropy(p @ w + b, y)


def clipped(m, x, y):
    g = grad(loss)(m, x, y)
    norm = torch.sqrt(sum(torch.sum(torch.square(part)) for part in g))
    return tuple(part * torch.clamp(BOUND / norm, max=1) for part in g)


def mean_of_clipped(m, x, y):
    return tuple(part.mean(0) for part in vmap(clipped, in_dims=(None, 0, 0))(m, x, y))


shapes = ((3, 3, 1, CHANNELS), 0.5), ((CHANNELS,), 0.1), ((POOLED, CLASSES), 0.2), ((CLASSES,), 0.1)
model = tuple(torch.tensor(twin.uniform(1 + i, *shape)) for i, shape in enumerate(shapes))
x = torch.tensor(twin.uniform(5, (BATCH, SIDE, SIDE, 1)))
y = torch.tensor((twin.hashed(6, BATCH) % CLASSES).astype("int64"))
program = torch.compile(mean_of_clipped)
program(model, x, y)
suite.add("mean of clipped gradients", "PyTorch, compiled", call=lambda: program(model, x, y), result=lambda parts: [part.numpy() for part in parts])
suite.version("torch", torch.__version__)
suite.run()

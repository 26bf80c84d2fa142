#!/usr/bin/env python3
"""The MLP's value and gradient in PyTorch, on one core, compiled: eager takes half as long again."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import torch  # noqa: E402

import mlp_inputs  # noqa: E402

torch.set_num_threads(1)
model = [torch.tensor(p) for p in mlp_inputs.model]
x, y = torch.tensor(mlp_inputs.x), torch.tensor(mlp_inputs.y)


def loss(m):
    w1, b1, w2, b2 = m
    return torch.mean(torch.square(torch.tanh(torch.addmm(b1, x, w1)) @ w2 + b2 - y))


gradient = torch.compile(torch.func.grad_and_value(loss))
gradient(model)  # compiles: 16 s, or one where the compiler's cache has it
suite.add("value and gradient", "PyTorch, compiled", call=lambda: gradient(model),
          result=lambda answer: [part.numpy() for part in (answer[1], *answer[0])])
suite.version("torch", torch.__version__)
suite.run()

#!/usr/bin/env python3
"""A round of local SGD of a decoder in PyTorch: client by client, and clients as a batch, steps of autograd, compiled."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import torch  # noqa: E402
from inputs import LAYER, RATE, TASKS, make_inputs  # noqa: E402
from torch.func import grad, vmap  # noqa: E402
from torch.nn import functional  # noqa: E402

torch.set_num_threads(suite.threads)


def loss(m, texts, heads, layers):
    x = m["letter"][texts[:, :-1]] + m["place"]
    size = x.shape[-1:]
    for i in range(layers):
        l = {name: m[name][i] for name in LAYER}
        a = functional.layer_norm(x, size, l["scale1"], l["shift1"])
        q, k, v = (a @ l["qkv"]).reshape(*x.shape[:2], 3, heads, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + mixed.transpose(1, 2).reshape(x.shape) @ l["out"]
        hidden = functional.gelu(functional.layer_norm(x, size, l["scale2"], l["shift2"]) @ l["up"] + l["up_bias"])
        x = x + hidden @ l["down"] + l["down_bias"]
    scores = functional.layer_norm(x, size, m["scale"], m["shift"]) @ m["letter"].T
    return functional.cross_entropy(scores.flatten(0, 1), texts[:, 1:].flatten())


for row, (width, heads, context, layers, *_) in TASKS.items():
    model, text = make_inputs(*TASKS[row])
    model, text = {name: torch.tensor(part) for name, part in model.items()}, torch.tensor(text.astype("int64"))

    def step(m, batch, heads=heads, layers=layers):
        g = grad(loss)(m, batch, heads, layers)
        return {name: p - RATE * g[name] for name, p in m.items()}

    def a_round(model, text, step):
        total = None
        for batches in text:
            m = model
            for batch in batches:
                m = step(m, batch)
            total = m if total is None else {name: total[name] + p for name, p in m.items()}
        return {name: p / len(text) for name, p in total.items()}

    def a_round_of_all(model, text, step):  # each client's model is a row
        m = {name: p.expand(len(text), *p.shape) for name, p in model.items()}
        for i in range(text.shape[1]):
            m = step(m, text[:, i])
        return {name: p.mean(0) for name, p in m.items()}

    sides = {"PyTorch": (a_round, step), "PyTorch, compiled": (a_round, torch.compile(step)),
             "PyTorch, clients as a batch, compiled": (a_round_of_all, torch.compile(vmap(step)))}
    for side, (rounds, its_step) in sides.items():
        rounds(model, text, its_step)
        suite.add(row, side, call=lambda model=model, text=text, rounds=rounds, its_step=its_step: rounds(model, text, its_step),
                  result=lambda y, model=model: [(y[name] - model[name]).numpy() for name in model])
suite.version("torch", torch.__version__)
suite.run()

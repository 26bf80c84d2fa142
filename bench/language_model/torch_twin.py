#!/usr/bin/env python3
"""A round of local SGD of a decoder in PyTorch: client by client, steps of autograd, compiled."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import twin  # noqa: E402

suite = twin.Suite()

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch.func import grad  # noqa: E402
from torch.nn import functional  # noqa: E402

torch.set_num_threads(suite.threads)
RATE = 0.1
LAYER = ("scale1", "shift1", "qkv", "out", "scale2", "shift2", "up", "up_bias", "down", "down_bias")
TASKS = {"width 64": (64, 4, 32, 2, 96, 8, 4, 4), "width 256": (256, 4, 128, 4, 96, 4, 2, 4)}


def make_inputs(width, heads, context, layers, letters, clients, steps, texts):
    w, h = width, 4 * width
    shapes = {"letter": (letters, w), "place": (context, w), "scale1": (layers, w), "shift1": (layers, w), "qkv": (layers, w, 3 * w),
              "out": (layers, w, w), "scale2": (layers, w), "shift2": (layers, w), "up": (layers, w, h), "up_bias": (layers, h),
              "down": (layers, h, w), "down_bias": (layers, w), "scale": (w,), "shift": (w,)}
    flat = twin.uniform(1, (sum(int(np.prod(s)) for s in shapes.values()),), 0.06)
    model, at = {}, 0
    for name, shape in shapes.items():
        n = int(np.prod(shape))
        model[name] = torch.tensor(flat[at:at + n].reshape(shape) + np.float32("scale" in name))
        at += n
    text = (twin.hashed(2, clients * steps * texts * (context + 1)) % letters).astype("int64").reshape(clients, steps, texts, context + 1)
    return model, torch.tensor(text)


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

    for side, its_step in {"PyTorch": step, "PyTorch, compiled": torch.compile(step)}.items():
        a_round(model, text, its_step)
        suite.add(row, side, call=lambda model=model, text=text, its_step=its_step: a_round(model, text, its_step),
                  result=lambda y, model=model: [(y[name] - model[name]).numpy() for name in model])
suite.version("torch", torch.__version__)
suite.run()

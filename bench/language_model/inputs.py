"""The models and texts of the language model's twins, the numbers of inputs.hpp."""

import numpy as np

import twin

RATE = 0.1
LAYER = ("scale1", "shift1", "qkv", "out", "scale2", "shift2", "up", "up_bias", "down", "down_bias")
# width, heads, context, layers, letters, clients, steps, texts
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
        model[name] = flat[at:at + n].reshape(shape) + np.float32("scale" in name)
        at += n
    text = (twin.hashed(2, clients * steps * texts * (context + 1)) % letters).astype("int32").reshape(clients, steps, texts, context + 1)
    return model, text

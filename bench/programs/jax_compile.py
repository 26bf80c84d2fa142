#!/usr/bin/env python3
"""Seconds that JAX takes to trace and compile the programs of this folder: the median of several, each in a fresh process."""
import argparse
import statistics
import subprocess
import sys
import time


def readme():
    import jax
    import jax.numpy as jnp

    def loss(w, x, y):
        return jnp.mean(jnp.square(x @ w - y))

    def fit(w, x, y):
        return jax.lax.fori_loop(0, 100, lambda _, v: v - 0.2 * jax.grad(loss)(v, x, y), w)

    return [(fit, (jnp.zeros(2), jnp.zeros((1000, 2)), jnp.zeros(1000)))]


def derivatives(orders):
    import jax
    import jax.numpy as jnp

    def loss(p, x, y):
        return jnp.mean(jnp.square(jnp.tanh(x @ p[0]) @ p[1] - y))

    def after_round(p, rate, x, y):
        def of_client(a, b):
            def step(q, _):
                return jax.tree.map(lambda u, g: u - rate * g, q, jax.grad(loss)(q, a, b)), None
            return jax.lax.scan(step, p, None, length=3)[0]
        trained = jax.tree.map(lambda v: jnp.mean(v, 0), jax.vmap(of_client)(x, y))
        return jnp.mean(jax.vmap(loss, (None, 0, 0))(trained, x, y))

    f, all_orders = after_round, []
    values = ((jnp.zeros((4, 6)), jnp.zeros((6, 3))), 0.1, jnp.zeros((5, 8, 4)), jnp.zeros((5, 8, 3)))
    for _ in range(orders + 1):
        all_orders.append((f, values))
        f = jax.grad(f, 1)
    return all_orders


def transformer(layers, scanned):
    import jax
    import jax.numpy as jnp
    width, context, heads, letters, sequences, steps, clients = 64, 32, 4, 64, 4, 4, 8

    def norm(x, scale):
        centred = x - jnp.mean(x, 1, keepdims=True)
        return centred * jax.lax.rsqrt(jnp.mean(jnp.square(centred), 1, keepdims=True) + 1e-5) * scale

    def attention(x, qkv, out):
        q, k, v = jnp.transpose((x @ qkv).reshape(context, 3, heads, width // heads), (1, 2, 0, 3))
        scores = jnp.einsum("hqd,hkd->hqk", q, k) / (width // heads) ** 0.5
        weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((context, context), bool)), scores, -1e9))
        return jnp.einsum("hqk,hkd->hqd", weights, v).transpose(1, 0, 2).reshape(context, width) @ out

    def layer(x, p):
        qkv, out, up, down, scale1, scale2 = p
        y = x + attention(norm(x, scale1), qkv, out)
        return y + jax.nn.gelu(norm(y, scale2) @ up, approximate=False) @ down

    def loss(model, read, following):
        letter, place, parts = model

        def of_text(r, n):
            x = letter[r] + place
            if scanned:
                x = jax.lax.scan(lambda y, p: (layer(y, p), None), x, parts)[0]
            else:
                for p in parts:
                    x = layer(x, p)
            return jnp.mean(-jnp.take_along_axis(jax.nn.log_softmax(x @ letter.T), n[:, None], 1))
        return jnp.mean(jax.vmap(of_text)(read, following))

    def fed_round(model, rate, read, following):
        def of_client(own_read, own_following):
            def step(p, batch):
                value, slope = jax.value_and_grad(loss)(p, *batch)
                return jax.tree.map(lambda u, g: u - rate * g, p, slope), value
            return jax.lax.scan(step, model, (own_read, own_following))
        return jax.tree.map(lambda v: jnp.mean(v, 0), jax.vmap(of_client)(read, following))

    shapes = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width), (width,), (width,)]
    parts = [jnp.zeros((layers, *s)) for s in shapes] if scanned else [[jnp.zeros(s) for s in shapes] for _ in range(layers)]
    texts = jnp.zeros((clients, steps, sequences, context), jnp.int32)
    return [(fed_round, ((jnp.zeros((letters, width)), jnp.zeros((context, width)), parts), 0.1, texts, texts))]


PROGRAMS = {
    "readme": readme,
    "derivatives": lambda: derivatives(3),
    "scanned2": lambda: transformer(2, True),
    "unrolled2": lambda: transformer(2, False),
    "unrolled12": lambda: transformer(12, False),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--once", action="store_true", help="measure in this process")
    args = parser.parse_args()
    if not args.once:
        command = [sys.executable, __file__, args.program, "--once"]
        print(statistics.median(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(args.repetitions)))
        return
    import jax
    functions = PROGRAMS[args.program]()
    jax.jit(lambda x: x + 1).lower(1.0).compile()  # (what JAX loads once)
    begin = time.perf_counter()
    for f, values in functions:
        jax.jit(f).lower(*values).compile()
    print(time.perf_counter() - begin)


main()

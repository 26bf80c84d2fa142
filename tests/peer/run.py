"""Runs PROGRAM, which prints inputs and outputs of drx programs, computes the same with JAX, and compares.

JAX is looked for in a virtual environment in drx's cache, and installed there if need be; where that is not possible,
every row is skipped, and the reason is printed."""
import argparse, json, os, pathlib, subprocess, sys
tests = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(tests), str(tests.parent / "scripts")]
import packages
from harness.difference import largest_difference_of_leaves

VENV = packages.cache() / "venv-jax"
TOLERANCE = 1e-10
# Bits, and what is made of them by exact operations, are equal. JAX's erfinv of float loses digits near -1 and 1.
TOLERANCES = {"random_bits": 0, "random_normal_float": 3e-5}


def skip(reason):
    print(f"skipped: {reason}\n0 passed, 0 failed, {len(printed_by(args.program))} skipped")
    sys.exit(0)


def printed_by(program):
    return json.loads(subprocess.run([program], check=True, capture_output=True, text=True).stdout)


def run_in_environment():
    """Starts this script again under a Python that has JAX."""
    try:
        python = packages.environment("jax", VENV)
    except (packages.Failure, OSError) as problem:
        skip(f"JAX cannot be installed into {VENV}: {problem}")
    os.execv(python, [python, __file__, *sys.argv[1:], "--here"])


def peers():
    """For each program the function that computes its outputs from its inputs, leaf by leaf."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax import lax
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_threefry_partitionable", True)
    tree = jax.tree_util.tree_map

    def mlp(m, x, y):
        w1, b1, w2, b2 = m
        logits = jnp.tanh(x @ w1 + b1) @ w2 + b2
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1))

    def local_sgd(m, rate, x, y):
        return lax.fori_loop(0, 3, lambda _, k: tree(lambda a, g: a - rate * g, k, jax.grad(mlp)(k, x, y)), m)

    def after_round(m, rate, xs, ys):
        models = jax.vmap(local_sgd, (None, None, 0, 0))(m, rate, xs, ys)
        mean = tree(lambda a: jnp.mean(a, 0), models)
        return jnp.mean(jax.vmap(mlp, (None, 0, 0))(mean, xs, ys))

    def weighted(xs, ws):
        return jnp.sum(jnp.sin(ws @ xs / jnp.sum(ws)))

    def extremes(x, c, xs):
        return jnp.sum(x.max(1) * c) + x.min() * c.max() + jnp.sum(xs.max(0) * xs.min(0)) + jnp.sum(xs.max(0))

    def functions(x):
        return jnp.sum(jnp.exp(x) + jnp.log(x) * jnp.sqrt(x) + jnp.tanh(x) * jax.nn.sigmoid(x) + jnp.sin(x) * jnp.cos(x)
                       + jnp.tan(x) + jnp.log1p(x) * jnp.expm1(x) + lax.rsqrt(x) + x**x + jnp.abs(x - 0.5)
                       + jax.nn.relu(0.3 - x) + jnp.where(x > 0.4, x * x, 1 / x)
                       ) + jax.nn.logsumexp(x) * jnp.sum(jax.nn.log_softmax(x) * x)

    def recurrence(h0, w, xs):
        def step(h, x):
            h = jnp.tanh(w @ h + x)
            return h, jnp.sum(h * x)
        h, ys = lax.scan(step, h0, xs)
        return jnp.sum(h) + jnp.sum(ys * ys)

    def transformer(letter, place, scale1, shift1, qkv, out, scale2, shift2, up, up_bias, down, down_bias, scale, shift, texts):
        context, width, heads = texts.shape[1] - 1, letter.shape[1], 2

        def norm(x, scale, shift):
            return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift

        def layer(x, w):
            scale1, shift1, qkv, out, scale2, shift2, up, up_bias, down, down_bias = w
            q, k, v = jnp.transpose((norm(x, scale1, shift1) @ qkv).reshape(-1, context, 3, heads, width // heads), (2, 0, 3, 1, 4))
            scores = jnp.where(jnp.tril(jnp.ones((context, context), bool)), q @ jnp.swapaxes(k, 2, 3) / (width // heads) ** 0.5, -jnp.inf)
            y = x + (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ out
            return y + jax.nn.gelu(norm(y, scale2, shift2) @ up + up_bias, approximate=False) @ down + down_bias, None

        x = letter[texts[:, :-1]] + place
        x, _ = lax.scan(layer, x, (scale1, shift1, qkv, out, scale2, shift2, up, up_bias, down, down_bias))
        scores = jax.nn.log_softmax(norm(x, scale, shift) @ letter.T)
        return -jnp.mean(jnp.take_along_axis(scores, texts[:, 1:, None], 2))

    def moved(x, y):
        joined = jnp.concatenate([x[1:4, 0:5:2], y.reshape(2, 3).T], 1)
        return jnp.sum(jnp.sin(lax.pad(joined, 0.0, [(1, 2, 0), (0, 1, 1)]) + 0.5) * 2)

    def cubes(a, xs):
        return jnp.mean(jnp.sin(a**3 * xs))

    def key(words):
        return words.astype(jnp.uint32)

    def bits(words, i):
        keys = jax.random.split(key(words), 3)
        i = i.astype(jnp.int64)
        last = keys[2]
        signed = lambda x: x.view(jnp.int64 if x.dtype == jnp.uint64 else jnp.int32)
        return (signed(keys), signed(jax.random.fold_in(key(words), i)), signed(jax.random.PRNGKey(i)),
                signed(jax.random.bits(last, (3, 5), jnp.uint32)), signed(jax.random.bits(last, (7,), jnp.uint64)),
                jax.random.permutation(last, 100), jax.random.permutation(last, 2000),
                jax.random.uniform(last, (50,), jnp.float32, -1, 3), jax.random.uniform(last, (50,), jnp.float64),
                jax.random.bernoulli(last, jnp.float32(0.3), (50,)), jax.random.bernoulli(last, jnp.float64(0.3), (50,)))

    def value_and_grad(f, *arguments):
        return jax.value_and_grad(f, arguments)

    def descent(optimizer):
        def last(x, rate):
            chosen = optimizer(0.01 + 0.005 * rate)

            def step(_, c):
                x, state = c
                change, state = chosen.update(x + 2 * jnp.sin(3 * x) - 0.7, state, x)
                return optax.apply_updates(x, change), state
            return jnp.sum(lax.scan(lambda c, i: (step(i, c), None), (x, chosen.init(x)), None, 100)[0][0]**2)
        return value_and_grad(last, 0, 1)

    def schedules(t):
        return (optax.linear_schedule(0.1, 0.01, 50)(t), optax.exponential_decay(0.1, 30, 0.5)(t),
                optax.warmup_cosine_decay_schedule(0, 0.3, 20, 100, 0.05)(t))

    first = jax.grad(cubes)
    second = jax.grad(first)
    return {
        "mlp": lambda *i: value_and_grad(mlp, 0)(i[:4], *i[4:]),
        "mlp_curvature": lambda *i: jax.jvp(lambda m: jax.grad(mlp)(m, *i[8:]), (i[:4],), (i[4:8],))[1],
        "local_sgd": lambda *i: value_and_grad(after_round, 0, 1)(i[:4], *i[4:]),
        "weighted_mean": value_and_grad(weighted, 0, 1),
        "max_ties": value_and_grad(extremes, 0, 1, 2),
        "functions": value_and_grad(functions, 0),
        "functions_curvature": jax.grad(lambda x: jnp.sum(jax.grad(functions)(x) * x)),
        "recurrence": value_and_grad(recurrence, 0, 1, 2),
        "recurrence_curvature": lambda h, w, xs: jax.grad(lambda v: jnp.sum(jax.grad(recurrence, 1)(h, v, xs) * v))(w),
        "transformer": lambda *i: value_and_grad(transformer, *range(14))(*i),
        "moved": value_and_grad(moved, 0, 1),
        "random_bits": bits,
        "random_normal": lambda words: jax.random.normal(key(words), (2000,), jnp.float64),
        "random_normal_float": lambda words: jax.random.normal(key(words), (2000,), jnp.float32),
        "random_draws": lambda words: (
            jax.random.exponential(key(words), (2000,), jnp.float64), jax.random.gumbel(key(words), (2000,), jnp.float64),
            jax.random.categorical(key(words), jnp.sin(jnp.arange(12.)).reshape(3, 4)),
            jax.random.categorical(key(words), jnp.sin(jnp.arange(12.)).reshape(3, 4), shape=(100, 3))),
        "orders": lambda a, xs: (cubes(a, xs), first(a, xs), second(a, xs), jax.grad(second)(a, xs)),
        "sgd": descent(optax.sgd),
        "momentum": descent(lambda rate: optax.sgd(rate, 0.9)),
        "nesterov": descent(lambda rate: optax.sgd(rate, 0.9, nesterov=True)),
        "adam": descent(optax.adam),
        "adamw": descent(lambda rate: optax.adamw(rate, weight_decay=0.1)),
        "yogi": descent(optax.yogi),
        "adagrad": descent(optax.adagrad),
        "schedules": schedules,
        "clip_by_global_norm": jax.grad(lambda x: jnp.sum(jnp.sin(optax.clip_by_global_norm(0.7).update(x, None)[0]))),
    }


def compare_table(rows):
    """Rows of {name, python, type, slack, x, v, ct, value, jvp, vjp, second}: functions of one kind, each by its expression. What the
    compiled program gives for the last four is in `compiled`, where the row has it."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax
    from jax.scipy import special
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    names = {"jax": jax, "jnp": jnp, "lax": lax, "special": special}
    failed = 0
    for row in rows:
        f = eval(f"lambda x, y=None, z=None: {row['python']}", names)
        x, v, ct = ([np.array(a, dtype=row["type"]) for a in row[key]] for key in ("x", "v", "ct"))
        value, jvp = jax.jvp(f, tuple(x), tuple(v))
        pull = lambda *a: jax.vjp(f, *a)[1](ct[0])
        theirs = {"value": [value], "jvp": [jvp], "vjp": pull(*x), "second": jax.jvp(pull, tuple(x), tuple(v))[1]}
        worst = {}
        for key, leaves in theirs.items():
            worst[key] = max(largest_difference_of_leaves(side[key], leaves) for side in (row, row.get("compiled", row)))
        tolerance = row["slack"] * (1e-12 if row["type"] == "float64" else 4e-6)
        ok = all(w <= tolerance for w in worst.values())
        failed += not ok
        print(f"{'' if ok else 'FAILED '}{row['name']} {row['type']}: " + ", ".join(f"{key} {w:.1e}" for key, w in worst.items()))
    print(f"{len(rows) - failed} passed, {failed} failed")
    return failed > 0


def compare(program):
    import jax
    import numpy as np
    printed = printed_by(program)
    if isinstance(printed, list):
        return compare_table(printed)
    functions = peers()

    def arrays(leaves):
        flat = [np.array(leaf["data"], dtype=float).reshape(leaf["shape"]) for leaf in leaves]
        return flat

    failed = 0
    for name in sorted(functions.keys() | printed.keys()):
        if name not in functions or name not in printed:
            print(f"FAILED {name}: only on one side")
            failed += 1
            continue
        inputs = arrays(printed[name]["inputs"])
        if name in ("mlp", "mlp_curvature", "local_sgd", "transformer"):
            inputs[-1] = inputs[-1].astype(int)  # class numbers, letters
        theirs = jax.tree_util.tree_leaves(jax.jit(functions[name])(*inputs))
        ours = arrays(printed[name]["outputs"])
        compiled = arrays(printed[name]["compiled"])
        worst = max(largest_difference_of_leaves(side, map(np.asarray, theirs)) for side in (ours, compiled))
        ok = worst <= TOLERANCES.get(name, TOLERANCE)
        failed += not ok
        print(f"{'' if ok else 'FAILED '}{name}: {len(ours)} results, largest difference {worst:.1e}")
    print(f"{len(functions) - failed} passed, {failed} failed")
    return failed > 0


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("program")
parser.add_argument("--here", action="store_true", help="this Python has JAX")
args = parser.parse_args()
if not args.here:
    run_in_environment()
sys.exit(compare(args.program))

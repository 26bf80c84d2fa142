"""Tree memory: Tree-LSTM over the parses of 500 sentences of 12 words, loss and gradient by embeddings and gates, float.

Bound: products of floats in a chain of 11 steps, and gathering and scattering of children.
"""

import jax
import jax.numpy as jnp
import numpy as np


def trees(random):
    roots, all_children = list(range(12)), []
    for i in range(11):
        at = random.integers(0, len(roots) - 1)
        all_children.append(roots[at:at + 2])
        roots[at:at + 2] = [12 + i]
    return all_children


def arguments(random):
    return [(s * random.normal(size=shape)).astype(np.float32) for s, shape in ((1, (200, 16)), (0.2, (32, 80)), (0.1, (80,)), (0.3, (16, 5)))] + [
        random.integers(0, 200, (500, 12)).astype(np.int32), np.array([trees(random) for _ in range(500)], np.int32),
        random.integers(0, 5, 500).astype(np.int32)]


def cell(h, c, w, b):  # h, c: sentences, children, 16
    gates = h.reshape(*h.shape[:-2], 32) @ w + b
    opening = jax.nn.sigmoid(gates[..., :64])
    kept = jnp.sum(opening[..., 32:].reshape(h.shape) * c, -2)
    memory = opening[..., :16] * jnp.tanh(gates[..., 64:]) + kept
    return opening[..., 16:32] * jnp.tanh(memory), memory


def cross_entropy(logits, label):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), label[..., None], -1)[..., 0]


def members(embeddings, w, b, out, own, tree, label):
    def each(own, tree, label):
        nodes = jnp.pad(jnp.tanh(embeddings[own]), ((0, 11), (0, 16)))

        def merge(nodes, it):
            i, below = it
            both = nodes[below]
            new = jnp.concatenate(cell(both[:, :16], both[:, 16:], w, b))
            return jax.lax.dynamic_update_slice(nodes, new[None], (i + 12, 0)), None

        nodes = jax.lax.scan(merge, nodes, (jnp.arange(11), tree))[0]
        return cross_entropy(nodes[22, :16] @ out, label)

    return jnp.mean(jax.vmap(each)(own, tree, label))


def batched(embeddings, w, b, out, own, tree, label, unroll=1, hot=False, keep=False):  # positions of nodes in front
    nodes = jnp.pad(jnp.tanh(embeddings[own.T]), ((0, 11), (0, 0), (0, 16)))
    rows = jnp.arange(500)[:, None]

    def merge(nodes, it):
        i, below = it
        if hot:
            both = jnp.einsum("bkn,nbx->bkx", jax.nn.one_hot(below, 23, dtype=jnp.float32), nodes)
        else:
            both = nodes[below, rows]
        new = jnp.concatenate(cell(both[..., :16], both[..., 16:], w, b), -1)
        return jax.lax.dynamic_update_slice(nodes, new[None], (i + 12, 0, 0)), None

    step = jax.checkpoint(merge) if keep else merge
    nodes = jax.lax.scan(step, nodes, (jnp.arange(11), jnp.swapaxes(tree, 0, 1)), unroll=unroll)[0]
    return jnp.mean(cross_entropy(nodes[22, :, :16] @ out, label))


def unrolled(*a):
    return batched(*a, unroll=11)


def one_hot(*a):
    return batched(*a, hot=True)


def checkpoint(*a):
    return batched(*a, keep=True)


def growing(embeddings, w, b, out, own, tree, label):  # each step has the nodes that are there, as one array
    leaves = jnp.tanh(embeddings[own])
    nodes = jnp.concatenate([leaves, jnp.zeros_like(leaves)], -1)
    for i in range(11):
        both = jnp.take_along_axis(nodes, tree[:, i, :, None], 1)
        new = jnp.concatenate(cell(both[..., :16], both[..., 16:], w, b), -1)
        nodes = jnp.concatenate([nodes, new[:, None]], 1)
    return jnp.mean(cross_entropy(nodes[:, 22, :16] @ out, label))


twins = {f.__name__: jax.value_and_grad(f, (0, 1, 2, 3)) for f in (members, batched, unrolled, one_hot, checkpoint, growing)}

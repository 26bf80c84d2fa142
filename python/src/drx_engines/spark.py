"""Programs on Spark: partitions are mapped in mapPartitions, partials are joined by treeAggregate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from pyspark import SparkContext

from .manifest import Manifest, Partition
from .program import Call, Partial
from .rounds import run_stages
from .worker import shared_worker


def run(context: SparkContext, call: Call, manifest: Manifest, slices: int | None = None) -> list[np.ndarray[Any, Any]]:
    """The results of a call, leaf by leaf. Spark runs each stage as a job of `slices` tasks (without it: as many as
    partitions, but at most four for each core). A task that fails is run again, as often as Spark's configuration says."""
    tasks = slices or max(1, min(len(manifest.partitions), 4 * context.defaultParallelism))
    partitions = context.parallelize(manifest.partitions, tasks).cache()

    def reduce_stage(call: Call, roots: Sequence[bytes], manifest: Manifest) -> Partial:
        sent = context.broadcast((call, tuple(roots)))

        def mapped(some: Iterable[Partition]) -> Iterator[Partial]:
            call, roots = sent.value
            own = list(some)
            if own:
                yield shared_worker(call.program).map(call, roots, own)

        def joined(left: Partial, right: Partial) -> Partial:
            program = sent.value[0].program
            return shared_worker(program).combine(program, [left, right])

        result: Partial = partitions.mapPartitions(mapped).treeAggregate(Partial(), joined, joined)
        sent.unpersist()
        return result

    try:
        return run_stages(call, manifest, reduce_stage)
    finally:
        partitions.unpersist()

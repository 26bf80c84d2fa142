"""Programs on Apache Beam: one pipeline for all stages of a call, with the roots of earlier stages as side inputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import AsSingleton
from apache_beam.typehints import no_annotations

from .manifest import Partition
from .program import Call, Partial
from .worker import shared_worker


class _Map(beam.DoFn):  # type: ignore[misc]
    """The partial of a batch of partitions."""

    def __init__(self, call: Call) -> None:
        self._call = call

    @no_annotations  # type: ignore[untyped-decorator]  # (Beam takes the type of *roots for that of a tuple)
    def process(self, partitions: list[Partition], *roots: bytes) -> Iterable[Partial]:
        yield shared_worker(self._call.program).map(self._call, roots, partitions)


class _Join(beam.CombineFn):  # type: ignore[misc]
    """Joins partials. Beam runs it before it sends them (combiner lifting), and after."""

    _MOST_KEPT = 64  # partials that wait to be joined

    def __init__(self, call: Call) -> None:
        self._program = call.program

    def create_accumulator(self) -> list[Partial]:
        return []

    def add_input(self, kept: list[Partial], element: Partial) -> list[Partial]:
        kept.append(element)
        return self.compact(kept) if len(kept) >= self._MOST_KEPT else kept

    def merge_accumulators(self, accumulators: Iterable[list[Partial]]) -> list[Partial]:
        return self.compact([p for kept in accumulators for p in kept])

    def compact(self, kept: list[Partial]) -> list[Partial]:
        return kept if len(kept) < 2 else [shared_worker(self._program).combine(self._program, kept)]

    def extract_output(self, kept: list[Partial]) -> Partial:
        return shared_worker(self._program).combine(self._program, kept)


@no_annotations  # type: ignore[untyped-decorator]
def _root(partial: Partial, call: Call, placement: str, *roots: bytes) -> bytes:
    worker = shared_worker(call.program)
    stage = worker.finish(call, roots)
    assert isinstance(stage, int)
    return worker.root(call.program, stage, [partial], call.members[placement])


@no_annotations  # type: ignore[untyped-decorator]
def _results(_: Any, call: Call, *roots: bytes) -> list[np.ndarray[Any, Any]]:
    results = shared_worker(call.program).finish(call, roots)
    assert not isinstance(results, int)
    return results


class MapReduce(beam.PTransform):  # type: ignore[misc]
    """From a PCollection of Partition to one of a single element, the call's results, leaf by leaf:

        with beam.Pipeline(options=options) as p:
            p | beam.Create(manifest.partitions) | MapReduce(call, "clients") | beam.Map(print)
    """

    def __init__(self, call: Call, placement: str, label: str | None = None) -> None:
        super().__init__(label)
        self._call, self._placement = call, placement

    def expand(self, partitions: beam.PCollection[Partition]) -> beam.PCollection[list[np.ndarray[Any, Any]]]:
        """One ParDo and one CombineGlobally for each run of a stage."""
        call = self._call
        roots: list[beam.PCollection[bytes]] = []
        batches = partitions | beam.BatchElements(min_batch_size=4, max_batch_size=256)
        for t in range(len(call.program.stage_runs)):
            known = [AsSingleton(r) for r in roots]
            partial = (batches | f"Map{t}" >> beam.ParDo(_Map(call), *known)
                       | f"Combine{t}" >> beam.CombineGlobally(_Join(call)))
            roots.append(partial | f"Root{t}" >> beam.Map(_root, call, self._placement, *known))
        start = partitions.pipeline | "Start" >> beam.Create([None])
        return start | "Finish" >> beam.Map(_results, call, *[AsSingleton(r) for r in roots])

"""Requests to what serves a program's stages, however they get there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from .manifest import Partition
from .program import Call, Partial, Program

_MOST_PARTITIONS = 256  # of one request, so that a worker that dies loses little
_Self = TypeVar("_Self", bound="Transport")


class WorkerError(RuntimeError):
    """A worker, or a shared object, has refused a request, with this sentence."""


class Transport(ABC):
    """What takes requests to a program's stages: a process of its executable (Worker), or its shared object in this
    process (SharedObject)."""

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Ends it."""

    @abstractmethod
    def ask(self, head: dict[str, Any], blobs: Sequence[bytes] = ()) -> tuple[dict[str, Any], list[bytes]]:
        """The answer to a request. Raises WorkerError where it is refused."""

    def map(self, call: Call, roots: Sequence[bytes], partitions: Sequence[Partition]) -> Partial:
        """The partial of some partitions in the stage that follows the known roots."""
        parts = []
        for i in range(0, len(partitions), _MOST_PARTITIONS):
            head = _of(call.program, "map", members=dict(call.members), roots=len(roots),
                       partitions=[p.document() for p in partitions[i : i + _MOST_PARTITIONS]])
            parts.append(_partial(*self.ask(head, [*call.leaves, *roots])))
        return parts[0] if len(parts) == 1 else self.combine(call.program, parts)

    def combine(self, program: Program, partials: Sequence[Partial]) -> Partial:
        """The partials of disjoint members, joined."""
        parts = [p for p in partials if p.nodes]
        if len(parts) < 2:
            return parts[0] if parts else Partial()
        if len({p.stage for p in parts}) > 1:
            raise ValueError(f"partials of several stages: {sorted({p.stage for p in parts})}")
        head = _of(program, "combine", stage=parts[0].stage, partials=[p.nodes for p in parts])
        return _partial(*self.ask(head, [p.data for p in parts]))

    def root(self, program: Program, stage: int, partials: Sequence[Partial], members: int) -> bytes:
        """The root of a stage's tree, from the partials of all its members."""
        parts = [p for p in partials if p.nodes]
        head = _of(program, "root", stage=stage, partials=[p.nodes for p in parts], count=members)
        return self.ask(head, [p.data for p in parts])[1][0]

    def finish(self, call: Call, roots: Sequence[bytes]) -> int | list[np.ndarray[Any, Any]]:
        """The program's results, leaf by leaf, or the number of the stage whose root is needed next."""
        head, blobs = self.ask(_of(call.program, "finish", members=dict(call.members), roots=len(roots)),
                               [*call.leaves, *roots])
        return head["stage"] if head["stage"] is not None else call.program.results(blobs)


def _of(program: Program, what: str, **more: Any) -> dict[str, Any]:
    return {"do": what, "program": program.number, "plan": program.hash, **more}


def _partial(head: dict[str, Any], blobs: list[bytes]) -> Partial:
    return Partial(head["stage"], tuple((level, position) for level, position in head["nodes"]), blobs[0])

"""A worker process: the program's executable, which answers requests on its stdin and stdout."""

from __future__ import annotations

import atexit
import os
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Any, BinaryIO, cast

import numpy as np

from .frames import DamagedFrame, read_packet, write_packet
from .manifest import Partition
from .program import Call, Partial, Program

_MOST_PARTITIONS = 256  # of one request, so that a worker that dies loses little


class WorkerError(RuntimeError):
    """A worker has refused a request, with this sentence."""


class WorkerDied(RuntimeError):
    """A worker has ended without an answer, each time that it was started."""


class Worker:
    """A process of a program's executable. A request needs nothing of earlier ones, so that a process that was killed is
    replaced by a new one, which gets the request again (`attempts` times in all)."""

    def __init__(self, command: Sequence[str], attempts: int = 3) -> None:
        self._command = [*command, "--drx-worker"]
        self._attempts = attempts
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: BinaryIO | None = None
        self.starts = 0
        self.bytes_sent = 0

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The number of the process, if one is running."""
        return self._process.pid if self._process else None

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process:
            assert process.stdin and process.stdout
            try:
                process.stdin.close()
            except OSError:  # it has ended already
                pass
            process.stdout.close()
            process.wait()
        if self._messages:
            self._messages.close()
            self._messages = None

    def ask(self, head: dict[str, Any], blobs: Sequence[bytes] = ()) -> tuple[dict[str, Any], list[bytes]]:
        """The answer to a request."""
        ends = []
        for _ in range(self._attempts):
            answer, end = self._try(head, blobs)
            if answer:
                if "error" in answer[0]:
                    self.close()
                    raise WorkerError(answer[0]["error"])
                return answer
            ends.append(end)
        raise WorkerDied(f"{self._command[0]} ended {self._attempts} times without an answer: {'; '.join(ends)}")

    def _try(self, head: dict[str, Any], blobs: Sequence[bytes]) -> tuple[tuple[dict[str, Any], list[bytes]] | None, str]:
        if self._process is None:
            self._messages = cast(BinaryIO, tempfile.TemporaryFile())
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=self._messages, env=_environment())
            self.starts += 1
        assert self._process.stdin and self._process.stdout and self._messages
        try:
            self.bytes_sent += write_packet(cast(BinaryIO, self._process.stdin), head, blobs)
            answer = read_packet(cast(BinaryIO, self._process.stdout))
        except (OSError, DamagedFrame):  # it ended while it read or wrote
            answer = None
        if answer:
            return answer, ""
        status = self._process.wait()
        self._messages.seek(0)
        said = self._messages.read().decode(errors="replace").strip()
        self.close()
        return None, f"status {status}" + (f" ({said})" if said else "")

    def _of(self, program: Program, what: str, **more: Any) -> dict[str, Any]:
        return {"do": what, "program": program.number, "plan": program.hash, **more}

    def map(self, call: Call, roots: Sequence[bytes], partitions: Sequence[Partition]) -> Partial:
        """The partial of some partitions in the stage that follows the known roots."""
        parts = []
        for i in range(0, len(partitions), _MOST_PARTITIONS):
            head = self._of(call.program, "map", members=dict(call.members), roots=len(roots),
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
        head = self._of(program, "combine", stage=parts[0].stage, partials=[p.nodes for p in parts])
        return _partial(*self.ask(head, [p.data for p in parts]))

    def root(self, program: Program, stage: int, partials: Sequence[Partial], members: int) -> bytes:
        """The root of a stage's tree, from the partials of all its members."""
        parts = [p for p in partials if p.nodes]
        head = self._of(program, "root", stage=stage, partials=[p.nodes for p in parts], count=members)
        return self.ask(head, [p.data for p in parts])[1][0]

    def finish(self, call: Call, roots: Sequence[bytes]) -> int | list[np.ndarray[Any, Any]]:
        """The program's results, leaf by leaf, or the number of the stage whose root is needed next."""
        head, blobs = self.ask(self._of(call.program, "finish", members=dict(call.members), roots=len(roots)),
                               [*call.leaves, *roots])
        return head["stage"] if head["stage"] is not None else call.program.results(blobs)


def _partial(head: dict[str, Any], blobs: list[bytes]) -> Partial:
    return Partial(head["stage"], tuple((level, position) for level, position in head["nodes"]), blobs[0])


def _environment() -> dict[str, str]:
    # One thread each: the engine starts a worker for each core.
    return {**os.environ, "OMP_NUM_THREADS": "1"}


_shared = threading.local()
_all: list[tuple[int, Worker]] = []


def shared_worker(program: Program) -> Worker:
    """The worker of this thread for the program's executable, which stays for the next call."""
    found: dict[tuple[int, tuple[str, ...]], Worker] = _shared.__dict__.setdefault("workers", {})
    key = (os.getpid(), program.command)  # a forked process must not use its parent's pipes
    if key not in found:
        found[key] = Worker(program.command)
        _all.append((key[0], found[key]))
    return found[key]


@atexit.register
def _close_all() -> None:
    for pid, worker in _all:
        if pid == os.getpid():
            worker.close()

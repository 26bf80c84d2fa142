"""A worker process: the program's executable, which answers requests on its stdin and stdout. And what a program asks: a
worker, or its shared object."""

from __future__ import annotations

import atexit
import os
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from typing import Any, BinaryIO, cast

from .frames import DamagedFrame, read_packet, write_packet
from .program import Program
from .shared_object import SharedObject
from .transport import Transport, WorkerError


class WorkerDied(RuntimeError):
    """A worker has ended without an answer, each time that it was started."""


class Worker(Transport):
    """A process of a program's executable. A request needs nothing of earlier ones, so that a process that was killed is
    replaced by a new one, which gets the request again (`attempts` times in all)."""

    def __init__(self, command: Sequence[str], attempts: int = 3) -> None:
        self._command = [*command, "--drx-worker"]
        self._attempts = attempts
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: BinaryIO | None = None
        self.starts = 0
        self.bytes_sent = 0

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


def _environment() -> dict[str, str]:
    # One thread each: the engine starts a worker for each core.
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def transport_of(program: Program) -> Transport:
    """What serves a program: its shared object in this process, or a new worker."""
    return SharedObject(program.command[0]) if program.in_shared_object else Worker(program.command)


_shared = threading.local()
_all: list[tuple[int, Transport]] = []


def shared_worker(program: Program) -> Transport:
    """What serves a program in this thread, which stays for the next call."""
    found: dict[tuple[int, tuple[str, ...]], Transport] = _shared.__dict__.setdefault("workers", {})
    key = (os.getpid(), program.command)  # a forked process must not use its parent's pipes
    if key not in found:
        found[key] = transport_of(program)
        _all.append((key[0], found[key]))
    return found[key]


@atexit.register
def _close_all() -> None:
    for pid, worker in _all:
        if pid == os.getpid():
            worker.close()

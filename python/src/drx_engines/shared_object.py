"""A program's shared object in this process (drx::engine_table), by its C interface, drx/engines/c.h."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any

from .frames import packet_of, payload_of
from .transport import Transport, WorkerError

VERSION = 1
_DONE = 0
_Handle = _Answer = ctypes.c_void_p


class _Engine(ctypes.Structure):
    """struct drx_engine."""

    _fields_ = (
        ("version", ctypes.c_uint32),
        ("open", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Handle))),
        ("request", ctypes.CFUNCTYPE(ctypes.c_int, _Handle, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(_Answer))),
        ("size", ctypes.CFUNCTYPE(ctypes.c_size_t, _Answer)),
        ("take", ctypes.CFUNCTYPE(ctypes.c_int, _Answer, ctypes.c_void_p, ctypes.c_size_t)),
        ("release", ctypes.CFUNCTYPE(None, _Answer)),
        ("message", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_int)),
        ("close", ctypes.CFUNCTYPE(None, _Handle)),
    )


class SharedObject(Transport):
    """A shared object with programs, loaded into this process. Any number of threads may ask it at once, and their
    requests are computed at once. It has no process of its own: what ends a worker there ends this process."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.path.abspath(path)
        self._handle = _Handle()
        try:
            table = ctypes.CDLL(self._path).drx_engine_of
        except (OSError, AttributeError) as problem:
            raise RuntimeError(f"{self._path} is no shared object of drx: {problem}") from None
        table.restype = ctypes.POINTER(_Engine)
        self._engine: Any = table().contents
        if self._engine.version != VERSION:
            raise RuntimeError(f"{self._path}: version {self._engine.version} of the interface; this package has {VERSION}")
        code = self._engine.open(ctypes.byref(self._handle))
        if code != _DONE:
            raise RuntimeError(f"{self._path}: {self._message(code)}")

    def close(self) -> None:
        """Frees what the programs need; requests must have returned. (The code stays in the process.)"""
        handle, self._handle = self._handle, _Handle()
        self._engine.close(handle)

    def ask(self, head: dict[str, Any], blobs: Sequence[bytes] = ()) -> tuple[dict[str, Any], list[bytes]]:
        """The answer to a request. Raises WorkerError where it is refused."""
        payload, answer = payload_of(head, blobs), _Answer()
        code = self._engine.request(self._handle, payload, len(payload), ctypes.byref(answer))
        try:
            buffer = ctypes.create_string_buffer(self._engine.size(answer))
            if answer:
                self._engine.take(answer, buffer, len(buffer))
        finally:
            self._engine.release(answer)
        if code != _DONE:
            raise WorkerError(buffer.raw.decode(errors="replace") or self._message(code))
        return packet_of(buffer.raw)

    def _message(self, code: int) -> str:
        return str(self._engine.message(code).decode())

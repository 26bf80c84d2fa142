"""The frames between this package and a worker: a header with a length and a checksum, a JSON document, bytes."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

MAGIC = b"drx1"
_HEADER = struct.Struct("<4sIQ")
_LENGTH = struct.Struct("<I")


class DamagedFrame(Exception):
    """A frame that is damaged, or ends in the middle."""


def payload_of(head: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> bytes:
    """A document and the bytes that belong to it, as the payload of a frame."""
    text = json.dumps({**head, "blobs": [len(b) for b in blobs]}).encode()
    return b"".join([_LENGTH.pack(len(text)), text, *blobs])


def packet_of(payload: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The document of a payload, and its bytes."""
    (size,) = _LENGTH.unpack_from(payload)
    head: dict[str, Any] = json.loads(payload[_LENGTH.size : _LENGTH.size + size])
    at, blobs = _LENGTH.size + size, []
    for n in head.get("blobs", []):
        blobs.append(payload[at : at + n])
        at += n
    return head, blobs


def write_packet(to: BinaryIO, head: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> int:
    """Writes a document and the bytes that belong to it; returns the size of the frame."""
    payload = payload_of(head, blobs)
    to.write(_HEADER.pack(MAGIC, zlib.crc32(payload), len(payload)))
    to.write(payload)
    to.flush()
    return _HEADER.size + len(payload)


def read_packet(source: BinaryIO) -> tuple[dict[str, Any], list[bytes]] | None:
    """The next document and its bytes; None at the end of the input."""
    header = source.read(_HEADER.size)
    if not header:
        return None
    if len(header) < _HEADER.size:
        raise DamagedFrame(f"the input ends after {len(header)} bytes of a frame's {_HEADER.size}")
    magic, checksum, length = _HEADER.unpack(header)
    if magic != MAGIC:
        raise DamagedFrame(f"a frame begins with {magic!r}, not with {MAGIC!r}")
    payload = source.read(length)
    if len(payload) < length:
        raise DamagedFrame(f"the input ends in the middle of a frame of {length} bytes")
    if zlib.crc32(payload) != checksum:
        raise DamagedFrame(f"a frame of {length} bytes is damaged: its checksum differs")
    return packet_of(payload)

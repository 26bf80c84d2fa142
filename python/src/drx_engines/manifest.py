"""Where the members' values lie: files that workers map into memory. An engine moves these references, never the data."""

from __future__ import annotations

import csv
import json
import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

VERSION = 1


@dataclass(frozen=True)
class Leaf:
    """The values of one leaf of some members: those from number `offset` of a .npy or raw file on."""

    path: str
    offset: int


@dataclass(frozen=True)
class Partition:
    """Members first to first + count - 1, with a Leaf for each leaf of the program's placed arguments, in their order."""

    first: int
    count: int
    leaves: tuple[Leaf, ...]

    def document(self) -> dict[str, Any]:
        """The partition as JSON, as a worker takes it."""
        leaves = [{"path": leaf.path, "offset": leaf.offset} for leaf in self.leaves]
        return {"first": self.first, "count": self.count, "leaves": leaves}

    @classmethod
    def of_document(cls, d: dict[str, Any]) -> Partition:
        """The partition of such a document."""
        return cls(d["first"], d["count"], tuple(Leaf(leaf["path"], leaf["offset"]) for leaf in d["leaves"]))


@dataclass(frozen=True)
class Manifest:
    """All members of a placement, in partitions. There may be more of them than memory holds."""

    placement: str
    members: int
    partitions: tuple[Partition, ...]

    def __post_init__(self) -> None:
        at = 0
        for p in sorted(self.partitions, key=lambda p: p.first):
            if p.first != at or p.count < 0:
                raise ValueError(f"manifest of {self.placement}: a partition has members {p.first} to "
                                 f"{p.first + p.count}; the ones before it end at {at}")
            at += p.count
        if at != self.members:
            raise ValueError(f"manifest of {self.placement}: the partitions have {at} members of {self.members}")

    @classmethod
    def of_files(cls, placement: str, members: int, paths: Sequence[str | os.PathLike[str]], size: int) -> Manifest:
        """Partitions of `size` members each, of files that each have one leaf of all members. From 64 members on, a
        size that is no multiple of 8, from 128 on of 16, from 256 on of 32, and from 16384 on of the plan's `members_of_leaf`,
        is an error where the program computes members in blocks."""
        if size < 1:
            raise ValueError(f"manifest of {placement}: partitions of {size} members")
        files = [str(pathlib.Path(p).resolve()) for p in paths]
        return cls(placement, members, tuple(
            Partition(first, min(size, members - first), tuple(Leaf(f, first) for f in files))
            for first in range(0, members, size)))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Manifest:
        """A manifest in JSON, or in CSV or Parquet (with the extra `parquet`) with the columns placement, first, count,
        leaf, path, offset. Paths are relative to the manifest."""
        placement, members, partitions = cls._parts(pathlib.Path(path))
        return cls(placement, sum(p.count for p in partitions) if members is None else members, partitions)

    @classmethod
    def read_part(cls, path: str | os.PathLike[str]) -> tuple[Partition, ...]:
        """The partitions of a file that has some of a manifest's, as a client of a federation has. Their members keep their
        numbers among all members."""
        return cls._parts(pathlib.Path(path))[2]

    @classmethod
    def _parts(cls, source: pathlib.Path) -> tuple[str, int | None, tuple[Partition, ...]]:
        members = None
        if source.suffix == ".csv":
            with open(source, newline="") as file:
                placement, partitions = cls._of_rows(source, csv.DictReader(file))
        elif source.suffix == ".parquet":
            placement, partitions = cls._of_rows(source, _rows_of_parquet(source))
        else:
            d = json.loads(source.read_text())
            if d.get("drx_manifest") != VERSION:
                raise ValueError(f"{source}: version {d.get('drx_manifest')!r} of a manifest; this package reads {VERSION}")
            placement, members = d["placement"], d["members"]
            partitions = [Partition.of_document(p) for p in d["partitions"]]
        return placement, members, tuple(_beside(source, p) for p in partitions)

    @classmethod
    def _of_rows(cls, source: pathlib.Path, rows: Iterable[Mapping[str, Any]]) -> tuple[str, list[Partition]]:
        found: dict[tuple[int, int], dict[int, Leaf]] = {}
        names = set()
        for row in rows:
            names.add(row["placement"])
            leaves = found.setdefault((int(row["first"]), int(row["count"])), {})
            leaves[int(row["leaf"])] = Leaf(row["path"], int(row["offset"]))
        if len(names) != 1:
            raise ValueError(f"{source}: a manifest has one placement; this has {sorted(names)}")
        return names.pop(), [Partition(first, count, tuple(leaves[k] for k in sorted(leaves)))
                             for (first, count), leaves in sorted(found.items())]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the manifest as JSON."""
        document = {"drx_manifest": VERSION, "placement": self.placement, "members": self.members,
                    "partitions": [p.document() for p in self.partitions]}
        pathlib.Path(path).write_text(json.dumps(document, indent=1))


_COLUMNS = {"placement": "a string", "first": "an integer", "count": "an integer", "leaf": "an integer", "path": "a string",
            "offset": "an integer"}


def _rows_of_parquet(source: pathlib.Path) -> list[dict[str, Any]]:
    try:
        import pyarrow.parquet
        import pyarrow.types as types
    except ImportError as missing:
        raise ImportError(f"{source}: a manifest in Parquet needs pyarrow, the extra drx-engines[parquet]") from missing
    with pyarrow.parquet.ParquetFile(source) as file:
        schema = file.schema_arrow
        for name, wanted in _COLUMNS.items():
            if name not in schema.names:
                raise ValueError(f"{source}: a manifest has the columns {', '.join(_COLUMNS)}; this has no {name}")
            kind = schema.field(name).type
            of = kind.value_type if types.is_dictionary(kind) else kind
            good = types.is_integer(of) if wanted == "an integer" else types.is_string(of) or types.is_large_string(of)
            if not good:
                raise ValueError(f"{source}: {name} is {wanted} in a manifest, and {kind} here")
        rows: list[dict[str, Any]] = file.read(columns=list(_COLUMNS)).to_pylist()
    for number, row in enumerate(rows):
        if empty := [name for name in _COLUMNS if row[name] is None]:
            raise ValueError(f"{source}: row {number} has no {empty[0]}")
    return rows


def _beside(manifest: pathlib.Path, p: Partition) -> Partition:
    folder = manifest.resolve().parent
    return Partition(p.first, p.count, tuple(Leaf(str(folder / leaf.path), leaf.offset) for leaf in p.leaves))

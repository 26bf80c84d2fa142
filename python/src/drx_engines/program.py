"""Programs of an executable, their calls, and the partial results that engines bring together."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

PLAN_VERSION = 1
# (NumPy has no bfloat16: such values are their bits.)
_DTYPES = {"bool": np.bool_, "i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64, "bf16": np.uint16, "f16": np.float16}


@dataclass(frozen=True)
class Partial:
    """Some subtrees (level, position) of a stage's reduction tree, and their nodes' bytes. Workers join partials of
    disjoint members in any order, with the same bits. Without nodes it is the partial of no members."""

    stage: int = -1
    nodes: tuple[tuple[int, int], ...] = ()
    data: bytes = b""


@dataclass(frozen=True)
class Program:
    """A program of an executable that ends in drx::worker_main, or of a shared object (drx::engine_table). It can be
    pickled: engines send it to their workers, which find the executable or shared object under the same path."""

    command: tuple[str, ...]
    number: int
    name: str
    plan: Mapping[str, Any]

    @classmethod
    def load(cls, command: str | Sequence[str], name: str | int) -> Program:
        """The program of this name or number; `command` starts the executable, or is the path of a shared object, which
        ends with .so."""
        words = (command,) if isinstance(command, str) else tuple(command)
        programs = _programs(words)
        for p in programs:
            if name in (p["name"], p["number"], p["plan"]["hash"]):
                if p["plan"]["drx_plan"] != PLAN_VERSION:
                    raise RuntimeError(f"version {p['plan']['drx_plan']} of a plan; this package reads {PLAN_VERSION}")
                return cls(words, p["number"], p["name"], p["plan"])
        raise ValueError(f"{' '.join(words)} has no program {name!r}; it has {[p['name'] for p in programs]}")

    @property
    def in_shared_object(self) -> bool:
        """Whether it is one of a shared object's programs, and no executable's."""
        return _is_shared_object(self.command)

    @property
    def hash(self) -> str:
        """The hash of the plan, by which a worker knows that it has the same program."""
        return str(self.plan["hash"])

    @property
    def stage_runs(self) -> list[int]:
        """The stages in the order in which a call runs them; only for stages outside loops, or in a loop of one."""
        return [s["stage"] for s in self.plan["stages"] for _ in range(s["runs"])]

    def call(self, *arguments: Any, members: Mapping[str, int]) -> Call:
        """The program's unplaced arguments (numbers, arrays, or tuples of them), in their order, and how many members
        each placement has."""
        inputs = [i for i in self.plan["inputs"] if not i["placement"]]
        wanted = sorted({i["argument"] for i in inputs})
        if len(arguments) != len(wanted):
            raise ValueError(f"{self.name}: {len(arguments)} unplaced arguments; the program takes {len(wanted)}")
        leaves: list[bytes] = []
        for value, argument in zip(arguments, wanted, strict=True):
            types = [i for i in inputs if i["argument"] == argument]
            parts = list(_leaves(value))
            if len(parts) != len(types):
                raise ValueError(f"{self.name}: argument {argument} has {len(parts)} leaves; the program takes {len(types)}")
            for part, of in zip(parts, types, strict=True):
                array = np.asarray(part)
                if array.shape != tuple(of["shape"]):
                    raise ValueError(f"{self.name}: argument {argument}, leaf {of['leaf']} has shape {array.shape}; "
                                     f"the program takes {tuple(of['shape'])}")
                if not np.can_cast(array.dtype, _DTYPES[of["type"]], "same_kind"):
                    raise ValueError(f"{self.name}: argument {argument}, leaf {of['leaf']} has elements of "
                                     f"{array.dtype}; the program takes {of['type']}")
                leaves.append(np.ascontiguousarray(array, _DTYPES[of["type"]]).tobytes())
        return Call(self, tuple(leaves), dict(members))

    def results(self, leaves: Sequence[bytes]) -> list[np.ndarray[Any, Any]]:
        """The results of a call as arrays, one for each leaf."""
        return [np.frombuffer(data, _DTYPES[of["type"]]).reshape(of["shape"]).copy()
                for data, of in zip(leaves, self.plan["outputs"], strict=True)]


@dataclass(frozen=True)
class Call:
    """A program with its unplaced arguments, leaf by leaf, and the numbers of members."""

    program: Program
    leaves: tuple[bytes, ...]
    members: Mapping[str, int]


def _is_shared_object(command: Sequence[str]) -> bool:
    return len(command) == 1 and command[0].endswith(".so")


def _programs(command: Sequence[str]) -> Any:
    """The programs of an executable or a shared object, with their plans."""
    if _is_shared_object(command):
        from .shared_object import SharedObject  # (which asks for programs of this file)

        with SharedObject(command[0]) as shared:
            return shared.ask({"do": "programs"})[0]["programs"]
    done = subprocess.run([*command, "--drx-plans"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} --drx-plans ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for part in value:
            yield from _leaves(part)
    else:
        yield value

"""Which programs are one federated round: one broadcast and one reduction, from the server's state and the members' data
to the next state. It is the C++ concept FederatedRound, read from the plan document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .program import Program


class NotAFederatedRound(ValueError):
    """A program that is not one federated round, with the reason. `entry` is the number of the entry at fault in the
    plan's tape, counted from 0 as the compiler's errors do; None where it is no entry."""

    def __init__(self, name: str, reason: str, entry: Entry | None) -> None:
        where = f" (entry {entry.number}: {entry.text})" if entry else ""
        super().__init__(f"{name} is not a federated round: {reason}{where}")
        self.entry = entry.number if entry else None


@dataclass(frozen=True)
class Entry:
    """An entry of a plan's outer region: its number, its first line, the values that it makes, and the numbers of runs
    of stages that it holds."""

    number: int
    text: str
    values: tuple[str, ...]
    stages: int


@dataclass(frozen=True)
class FederatedRound:
    """A program that is one federated round. Its state is argument 0; its results are the next state's leaves, and
    after them the metrics."""

    program: Program
    placement: str
    state_leaves: int

    @classmethod
    def of(cls, program: Program) -> FederatedRound:
        """The round; NotAFederatedRound where the program is not one. A plan names the leaves of a result and not its
        structure, so a result whose first leaves are as those of the state is the next state here."""
        plan = program.plan
        entries, returned = _entries(plan["tape"])
        if not plan["map_reduce_form"]:
            raise NotAFederatedRound(program.name, plan["why_not"], _obstacle(plan, entries, returned))
        if sum(s["runs"] for s in plan["stages"]) != 1:
            seen = 0
            for entry in entries:
                seen += entry.stages
                if seen > 1 or (entry.stages and len(plan["stages"]) == 1):
                    break
            runs = sum(s["runs"] for s in plan["stages"])
            raise NotAFederatedRound(program.name, "a federated round has one broadcast and one reduction; "
                                                   f"a call of this program has {runs}", entry)
        state = [i for i in plan["inputs"] if i["argument"] == 0]
        for k, leaf in enumerate(state):
            result = plan["outputs"][k] if k < len(plan["outputs"]) else None
            if leaf["placement"] or not result or (leaf["type"], leaf["shape"]) != (result["type"], result["shape"]):
                made = _maker(entries, returned[k]) if k < len(returned) else None
                raise NotAFederatedRound(
                    program.name, "the first argument is the server's state, and the first result the next one, of the "
                    f"same structure; leaf {k} of the state is {_type(leaf)}, and of the result "
                    f"{_type(result) if result else 'missing'}", made)
        return cls(program, plan["stages"][0]["placement"], len(state))

    def split(self, results: list[np.ndarray[Any, Any]]) -> tuple[Any, list[np.ndarray[Any, Any]]]:
        """The next state, as the program's first argument takes it, and the metrics."""
        state = results[: self.state_leaves]
        return (state[0] if len(state) == 1 else tuple(state)), results[self.state_leaves :]


def _type(leaf: Mapping[str, Any]) -> str:
    shape = f"[{','.join(str(n) for n in leaf['shape'])}]" if leaf["shape"] else ""
    return f"{leaf['type']}{shape}" + "".join(f"@{p}" for p in leaf["placement"])


def _entries(tape: str) -> tuple[list[Entry], list[str]]:
    """The entries of a tape's outer region, and the values that it returns."""
    found: list[Entry] = []
    returned: list[str] = []
    for line in tape.splitlines():
        outer = line.startswith("  ") and line[2:3] not in (" ", "}")
        if outer and line.startswith("  return"):
            returned = re.findall(r"%\d+", line)
        elif outer:
            made = line.partition(" = ")[0] if " = " in line else ""
            text = line.strip().partition(" (%")[0]
            found.append(Entry(len(found), text, tuple(re.findall(r"%\d+", made)), _is_stage(line)))
        elif found and line.startswith("   "):
            last = found[-1]
            found[-1] = Entry(last.number, last.text, last.values, last.stages + _is_stage(line))
    return found, returned


def _is_stage(line: str) -> int:
    return int(line.partition(" = ")[2].startswith("stage["))


def _maker(entries: list[Entry], value: str) -> Entry | None:
    return next((e for e in entries if value in e.values), None)


def _obstacle(plan: Mapping[str, Any], entries: list[Entry], returned: list[str]) -> Entry | None:
    """The entry that keeps a program from the form that engines run, where the plan shows it."""
    for value, of in zip(returned, plan["outputs"], strict=True):
        if of["placement"]:
            return _maker(entries, value)
    return next((e for e in entries if e.stages and not e.text.partition(" = ")[2].startswith("stage[")), None)

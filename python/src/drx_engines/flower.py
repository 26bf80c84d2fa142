"""Programs on Flower: a ClientApp that computes a node's members, and a ServerApp that joins what the nodes send.

What travels from a client is the subtrees of the program's reduction tree over its own members; its data stay with it. The
server's worker joins subtrees where they are the halves of a larger one, and nowhere else, so that the next state has the
bits of MPI, in whatever order replies come, and however the members are spread over the nodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from flwr.app import ConfigRecord, Context, Error, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.common.constant import ErrorCode
from flwr.serverapp import Grid, ServerApp

from .federated import FederatedRound
from .manifest import Manifest, Partition
from .program import Call, Partial, Program
from .transport import Transport, WorkerError
from .worker import WorkerDied, shared_worker, transport_of

Partitions = Callable[[Context], Iterable[Partition]]
"""The partitions whose data lie with a node. Each of all the members is with one node."""

AfterRound = Callable[[int, Any, list[np.ndarray[Any, Any]]], None]
"""Gets the number of a round, from 1 on, the new state as the program's first argument takes it, and the metrics."""

_RECORD = "drx"
_HOLDS = "query.drx_members"
_ROUND = "train.drx_round"


class NodeFailed(RuntimeError):
    """A node has answered with an error, or not at all, each time that it was asked."""


def simulated(manifest: Manifest) -> Partitions:
    """The partitions of a node in Flower's simulation: every n-th of the manifest, where there are n nodes."""

    def of(context: Context) -> Sequence[Partition]:
        number, nodes = context.node_config["partition-id"], context.node_config["num-partitions"]
        assert isinstance(number, int) and isinstance(nodes, int)
        return manifest.partitions[number::nodes]

    return of


def client_app(program: Program | Callable[[Context], Program], partitions: Partitions) -> ClientApp:
    """The app of a node. `program` may differ in the executable's path from node to node, and not in its plan."""
    app = ClientApp()

    def own(context: Context) -> Program:
        return program if isinstance(program, Program) else program(context)

    @app.query("drx_members")
    def members(message: Message, context: Context) -> Message:
        own_program, held = own(context), list(partitions(context))
        record = ConfigRecord({"plan": own_program.hash, "first": [p.first for p in held], "count": [p.count for p in held]})
        return Message(RecordDict({_RECORD: record}), reply_to=message)

    @app.train("drx_round")
    def train(message: Message, context: Context) -> Message:
        asked, own_program = message.content.config_records[_RECORD], own(context)
        call = Call(own_program, _bytes(asked["arguments"]), {str(asked["placement"]): _int(asked["members"])})
        try:
            if asked["plan"] != own_program.hash:
                raise ValueError(_other_plan(own_program, asked["plan"]))
            held = list(partitions(context))
            partial = shared_worker(own_program).map(call, (), held) if held else Partial()
        except (ValueError, WorkerError, WorkerDied) as problem:  # a sentence for the server, in place of a trace of calls
            return Message(Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION, str(problem)), reply_to=message)
        return Message(RecordDict({_RECORD: _record_of(partial)}), reply_to=message)

    return app


class Federation:
    """The nodes of a grid that together hold all members of a program's placement. For the function of one's own ServerApp;
    `server_app` makes a whole one."""

    def __init__(self, grid: Grid, program: Program, nodes: int, timeout: float | None = None, attempts: int = 3) -> None:
        """Waits until there are as many nodes, and asks them which members they hold. Each time that something is asked, a
        node may take `timeout` seconds, and gets the question again when it fails, `attempts` times in all. Raises
        NotAFederatedRound where the program is not one."""
        self._round = FederatedRound.of(program)
        self._grid, self._program, self._timeout, self._attempts = grid, program, timeout, attempts
        end = None if timeout is None else time.monotonic() + timeout
        while len(found := sorted(grid.get_node_ids())) < nodes:
            if end and time.monotonic() > end:
                raise NodeFailed(f"{len(found)} nodes of {nodes} are there after {timeout} seconds")
            time.sleep(0.05)
        held: list[Partition] = []
        self._nodes: list[int] = []
        for node, record in self._ask(found, _HOLDS, {"plan": program.hash}).items():
            if record["plan"] != program.hash:
                raise ValueError(f"node {node}: {_other_plan(program, record['plan'])}")
            ranges = zip(_ints(record["first"]), _ints(record["count"]), strict=True)
            if parts := [Partition(first, count, ()) for first, count in ranges]:
                self._nodes.append(node)
                held += parts
        # (A manifest is what has each of its members once.)
        self.manifest = Manifest(self._round.placement, sum(p.count for p in held), tuple(held))

    @property
    def members(self) -> int:
        """How many members all nodes hold together."""
        return self.manifest.members

    def run(self, worker: Transport, *arguments: Any) -> tuple[Any, list[np.ndarray[Any, Any]]]:
        """One round: from the program's unplaced arguments, of which the first is the state, to the next state and the
        metrics. `worker` runs the program's executable on the server."""
        call = self._program.call(*arguments, members={self._round.placement: self.members})
        asked = {"plan": self._program.hash, "placement": self._round.placement, "members": self.members,
                 "arguments": list(call.leaves)}
        partials = [_partial_of(r) for r in self._ask(self._nodes, _ROUND, asked).values()]
        results = worker.finish(call, [worker.root(self._program, 0, partials, self.members)])
        assert not isinstance(results, int)  # the program has one reduction
        return self._round.split(results)

    def _ask(self, nodes: Sequence[int], what: str, content: dict[str, Any]) -> dict[int, ConfigRecord]:
        answers: dict[int, ConfigRecord] = {}
        said: dict[int, str] = {}
        for _ in range(self._attempts):
            waiting = [n for n in nodes if n not in answers]
            said = dict.fromkeys(waiting, "no answer")
            messages = [Message(RecordDict({_RECORD: ConfigRecord(content)}), n, what) for n in waiting]
            for reply in self._grid.send_and_receive(messages, timeout=self._timeout) if messages else ():
                node = reply.metadata.src_node_id
                if reply.has_error():
                    said[node] = str(reply.error.reason)
                else:
                    answers[node] = reply.content.config_records[_RECORD]
        if len(answers) < len(nodes):
            failed = {n: why for n, why in said.items() if n not in answers}
            raise NodeFailed(f"{len(failed)} nodes of {len(nodes)} failed {self._attempts} times: "
                             + "; ".join(f"node {n}: {why.strip()}" for n, why in sorted(failed.items())))
        return answers


def server_app(program: Program, arguments: Sequence[Any], rounds: int, after_round: AfterRound, nodes: int,
               timeout: float | None = None, attempts: int = 3) -> ServerApp:
    """The server's app: `rounds` rounds, from the program's unplaced arguments, of which the first is the state; the others
    stay as they are. Raises NotAFederatedRound here where the program is not one. The rest is as for Federation."""
    FederatedRound.of(program)
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        federation = Federation(grid, program, nodes, timeout, attempts)
        state, *others = arguments
        with transport_of(program) as worker:
            for number in range(1, rounds + 1):
                state, metrics = federation.run(worker, state, *others)
                after_round(number, state, metrics)

    return app


def _other_plan(program: Program, plan: Any) -> str:
    return f"the plan of {program.name} is {program.hash} here, and {plan} there: both need the same program"


def _record_of(partial: Partial) -> ConfigRecord:
    return ConfigRecord({"stage": partial.stage, "levels": [level for level, _ in partial.nodes],
                         "positions": [position for _, position in partial.nodes], "data": partial.data})


def _partial_of(record: ConfigRecord) -> Partial:
    nodes = zip(_ints(record["levels"]), _ints(record["positions"]), strict=True)
    data = record["data"]
    assert isinstance(data, bytes)
    return Partial(_int(record["stage"]), tuple(nodes), data)


def _int(value: Any) -> int:
    assert isinstance(value, int)
    return value


def _ints(values: Any) -> list[int]:
    assert isinstance(values, list) and all(isinstance(v, int) for v in values)
    return values


def _bytes(values: Any) -> tuple[bytes, ...]:
    assert isinstance(values, list) and all(isinstance(v, bytes) for v in values)
    return tuple(values)

"""Flower's apps without a worker: who holds which members, nodes that fail. (examples/engines/check.py runs it, and the apps
with workers in Flower's simulation.)"""

import importlib.util
import unittest
from collections.abc import Callable, Iterable
from typing import Any

from test_federated import ROUND, STAGE, program

from drx_engines import Leaf, Manifest, NotAFederatedRound, Partition, Program, Worker

HAS_FLOWER = importlib.util.find_spec("flwr") is not None
if HAS_FLOWER:
    from flwr.app import Context, Error, Message, RecordDict, UserConfig
    from flwr.supercore.task_identity import TaskIdentity

    from drx_engines import flower

    TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, 1, 1  # (the run that messages belong to)

MANIFEST = Manifest.of_files("clients", 10, ["/x.npy"], 2)


class Nodes:
    """A grid of nodes in this process. The first `failures` messages get errors, or no answer where `silent`."""

    def __init__(self, apps: dict[int, Callable[[Any, Any], Any]], failures: int = 0, silent: bool = False) -> None:
        self.apps, self.failures, self.silent, self.asked = apps, failures, silent, 0

    def get_node_ids(self) -> Iterable[int]:
        return self.apps

    def send_and_receive(self, messages: Iterable[Any], *, timeout: float | None = None) -> list[Any]:
        replies = []
        for k, message in enumerate(messages):
            node = message.metadata.dst_node_id
            message.metadata.__dict__["_message_id"] = f"{self.asked}-{k}"
            self.asked += 1
            if self.asked <= self.failures:
                replies += [] if self.silent else [Message(Error(1, "it is asleep"), reply_to=message)]
                continue
            number = list(self.apps).index(node)
            config = UserConfig({"partition-id": number, "num-partitions": len(self.apps)})
            context = Context(run_id=1, node_id=node, node_config=config, state=RecordDict(), run_config=UserConfig())
            replies.append(self.apps[node](message, context))
        return replies[::-1]  # (no order is promised)


def grid(apps: dict[int, Any], **how: Any) -> Any:
    return Nodes(apps, **how)


@unittest.skipUnless(HAS_FLOWER, "flwr is not installed")
class Federations(unittest.TestCase):
    def nodes(self, *programs: Program, **how: Any) -> Any:
        return grid({70 + k: flower.client_app(p, flower.simulated(MANIFEST)) for k, p in enumerate(programs)}, **how)

    def test_nodes_say_which_members_they_hold(self) -> None:
        federation = flower.Federation(self.nodes(program(), program(), program()), program(), 3)
        self.assertEqual(federation.members, 10)
        self.assertEqual(sorted(p.first for p in federation.manifest.partitions), [0, 2, 4, 6, 8])

    def test_members_are_with_one_node_each(self) -> None:
        whole = flower.client_app(program(), lambda context: MANIFEST.partitions)
        with self.assertRaisesRegex(ValueError, "a partition has members 0 to 2; the ones before it end at 2"):
            flower.Federation(grid({1: whole, 2: whole}), program(), 2)
        part = flower.client_app(program(), lambda context: [Partition(4, 2, (Leaf("/x.npy", 0),))])
        with self.assertRaisesRegex(ValueError, "members 4 to 6; the ones before it end at 0"):
            flower.Federation(grid({1: part}), program(), 1)

    def test_a_node_with_another_plan_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "node 71: the plan of fit is 0000000000000000 here, and ffffffffffffffff there"):
            flower.Federation(self.nodes(program(), program(hash="f" * 16)), program(), 2)

    def test_a_node_that_fails_is_asked_again_and_then_given_up(self) -> None:
        for silent, why in ((False, "node 70: it is asleep"), (True, "node 70: no answer")):
            grid = self.nodes(program(), failures=2, silent=silent)
            self.assertEqual(flower.Federation(grid, program(), 1, timeout=1).members, 10)
            self.assertEqual(grid.asked, 3)
            with self.assertRaisesRegex(flower.NodeFailed, f"1 nodes of 1 failed 2 times: {why}"):
                flower.Federation(self.nodes(program(), failures=2, silent=silent), program(), 1, timeout=1, attempts=2)

    def test_the_server_hears_why_a_worker_failed(self) -> None:
        ends = Program(("false",), 0, "fit", program().plan)
        federation = flower.Federation(self.nodes(ends), program(), 1)
        with self.assertRaisesRegex(flower.NodeFailed, "node 70: false ended 3 times without an answer: status 1"):
            federation.run(Worker(["false"]), [0.0] * 4)

    def test_nodes_that_do_not_come(self) -> None:
        with self.assertRaisesRegex(flower.NodeFailed, "1 nodes of 2 are there after 0.1 seconds"):
            flower.Federation(self.nodes(program()), program(), 2, timeout=0.1)

    def test_other_programs_are_refused_at_once(self) -> None:
        with self.assertRaisesRegex(NotAFederatedRound, "this program has 6"):
            flower.server_app(program(stages=[{**STAGE, "runs": 6}], tape=ROUND["tape"]), (), 1, print, 1)


if __name__ == "__main__":
    unittest.main()

"""Which programs are one federated round, from their plans alone. (examples/engines/check.py runs it.)"""

import copy
import unittest
from typing import Any

import numpy as np

from drx_engines import FederatedRound, NotAFederatedRound, Program

STATE = {"argument": 0, "leaf": 0, "type": "f64", "shape": [4], "placement": []}
DATA = {"argument": 1, "leaf": 0, "type": "f64", "shape": [4], "placement": ["clients"]}
STAGE = {"stage": 0, "runs": 1, "placement": "clients"}
ROUND: dict[str, Any] = {
    "drx_plan": 1, "hash": "0" * 16, "map_reduce_form": True, "why_not": None, "inputs": [STATE, DATA],
    "stages": [STAGE],
    "outputs": [{"type": "f64", "shape": [4], "placement": []}, {"type": "f64", "shape": [], "placement": []}],
    "tape": "(%0: f64[4], %1: f64[4]@clients) {\n"
            "  %2: f64 = constant[1]\n"
            "  %3: f64[4], %4: f64 = stage[clients: mean sum] %1, %0 (%0: i64, %1: f64[4], %2: f64[4]) {\n"
            "    %3: f64[4] = sub %1, %2\n"
            "    return %3, %3\n"
            "  } (%0: i64) {\n"
            "    return %3\n"
            "  }\n"
            "  return %3, %4\n"
            "}\n",
}


def program(**changes: Any) -> Program:
    return Program(("program",), 0, "fit", {**copy.deepcopy(ROUND), **changes})


class Rounds(unittest.TestCase):
    def refused(self, why: str, entry: int | None, **changes: Any) -> None:
        with self.assertRaisesRegex(NotAFederatedRound, why) as caught:
            FederatedRound.of(program(**changes))
        self.assertEqual(caught.exception.entry, entry)

    def test_a_round_has_a_state_and_metrics(self) -> None:
        r = FederatedRound.of(program())
        self.assertEqual((r.placement, r.state_leaves), ("clients", 1))
        state, metrics = r.split([np.ones(4), np.array(2.0)])
        self.assertEqual((state.tolist(), [m.tolist() for m in metrics]), ([1.0] * 4, [2.0]))

    def test_several_stages(self) -> None:
        tape = ROUND["tape"].replace("  return %3, %4\n}", "  %5: f64 = neg %4\n  %6: f64[4] = stage[clients: sum] %1 (%0: i64) {\n"
                                                          "    return %0\n  }\n  return %3, %4\n}")
        self.refused(r"^fit is not a federated round: .* this program has 2 \(entry 3: %6: f64\[4\] = stage\[clients: sum\] %1\)$",
                     3, tape=tape, stages=[STAGE, {**STAGE, "stage": 1}])

    def test_a_stage_in_a_loop(self) -> None:
        tape = ("(%0: f64[4], %1: f64[4]@clients) {\n  %2: f64[4] = neg %0\n"
                "  %3: f64[4] = scan[6] %1, %2 (%0: i32) {\n    %4: f64[4] = stage[clients: mean] %1 (%0: i64) {\n"
                "      return %0\n    }\n    return %4\n  }\n  return %3\n}\n")
        self.refused(r"has 6 \(entry 1: %3: f64\[4\] = scan\[6\] %1, %2\)", 1, tape=tape, stages=[{**STAGE, "runs": 6}])

    def test_another_state(self) -> None:
        self.refused(r"leaf 0 of the state is f64\[4\], and of the result f64 \(entry 1: ", 1, outputs=ROUND["outputs"][::-1],
                     tape=ROUND["tape"].replace("return %3, %4", "return %4, %3"))
        self.refused("leaf 1 of the state is i32, and of the result missing", None, outputs=ROUND["outputs"][:1],
                     inputs=[STATE, {**STATE, "leaf": 1, "type": "i32", "shape": []}, DATA],
                     tape=ROUND["tape"].replace("return %3, %4", "return %3"))
        self.refused("leaf 0 of the state is f64.4.@clients", 1, inputs=[{**DATA, "argument": 0}])

    def test_what_no_engine_runs(self) -> None:
        placed = [{"type": "f64", "shape": [4], "placement": ["clients"]}, ROUND["outputs"][1]]
        self.refused("stays with the members .entry 1: %3", 1, map_reduce_form=False,
                     why_not="a result stays with the members", outputs=placed)
        self.refused("no value of members is reduced$", None, map_reduce_form=False, why_not="no value of members is reduced",
                     stages=[], outputs=ROUND["outputs"][:1],
                     tape="(%0: f64[4]) {\n  %1: f64[4] = neg %0\n  return %1\n}\n")
        loop = ("(%0: f64[4], %1: f64[4]@clients) {\n  %2: f64[4] = while[1] %0 (%0: f64[4]) {\n"
                "    %3: f64[4] = stage[clients: mean] %0 (%0: i64) {\n      return %0\n    }\n    return %3\n  }\n  return %2\n}\n")
        self.refused("a reduction stands in a branch .entry 0: %2", 0, map_reduce_form=False,
                     why_not="a reduction stands in a branch", tape=loop, outputs=ROUND["outputs"][:1])


if __name__ == "__main__":
    unittest.main()

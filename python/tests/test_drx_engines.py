"""What drx_engines does without a worker. (examples/engines/check.py runs it with one.)"""

import io
import json
import pathlib
import pickle
import tempfile
import unittest

import numpy as np

from drx_engines import Call, DamagedFrame, Leaf, Manifest, Partial, Partition, Program, Worker, WorkerDied
from drx_engines.frames import read_packet, write_packet
from drx_engines.streaming import partial_line, partial_of

PLAN = {
    "drx_plan": 1, "hash": "0" * 16, "stages": [{"stage": 0, "runs": 2}, {"stage": 1, "runs": 1}],
    "inputs": [
        {"argument": 0, "leaf": 0, "type": "f64", "shape": [2], "placement": []},
        {"argument": 0, "leaf": 1, "type": "i32", "shape": [], "placement": []},
        {"argument": 1, "leaf": 0, "type": "f64", "shape": [2], "placement": ["rows"]},
    ],
    "outputs": [{"type": "f32", "shape": [2, 1]}],
}
PROGRAM = Program(("program",), 0, "fit", PLAN)


class Frames(unittest.TestCase):
    def test_a_packet_comes_back(self) -> None:
        file = io.BytesIO()
        size = write_packet(file, {"do": "map"}, [b"one", b"", b"three"])
        self.assertEqual(size, len(file.getvalue()))
        file.seek(0)
        packet = read_packet(file)
        assert packet
        self.assertEqual(packet[0]["do"], "map")
        self.assertEqual(packet[1], [b"one", b"", b"three"])
        self.assertIsNone(read_packet(file))

    def test_damage_is_noticed(self) -> None:
        file = io.BytesIO()
        write_packet(file, {}, [b"abc"])
        good = file.getvalue()
        for bad in (good[:5], good[:-1], b"x" + good[1:], good[:-1] + b"d"):
            with self.assertRaises(DamagedFrame):
                read_packet(io.BytesIO(bad))


class Manifests(unittest.TestCase):
    def test_partitions_have_all_members_once(self) -> None:
        m = Manifest.of_files("rows", 10, ["/x.npy", "/y.npy"], 4)
        self.assertEqual([(p.first, p.count) for p in m.partitions], [(0, 4), (4, 4), (8, 2)])
        self.assertEqual(m.partitions[1].leaves, (Leaf("/x.npy", 4), Leaf("/y.npy", 4)))
        with self.assertRaisesRegex(ValueError, "the partitions have 8 members of 10"):
            Manifest("rows", 10, m.partitions[:2])
        with self.assertRaisesRegex(ValueError, "a partition has members 8 to 10; the ones before it end at 4"):
            Manifest("rows", 10, (m.partitions[0], m.partitions[2]))
        with self.assertRaisesRegex(ValueError, "partitions of 0 members"):
            Manifest.of_files("rows", 10, [], 0)

    def test_json_and_csv_come_back(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name).resolve()
            m = Manifest("rows", 3, (Partition(0, 3, (Leaf(str(folder / "x"), 7),)),))
            m.write(folder / "m.json")
            self.assertEqual(Manifest.read(folder / "m.json"), m)
            (folder / "m.csv").write_text("placement,first,count,leaf,path,offset\nrows,0,3,0,x,7\n")
            self.assertEqual(Manifest.read(folder / "m.csv"), m)
            (folder / "part.csv").write_text("placement,first,count,leaf,path,offset\nrows,6,3,0,x,7\n")
            self.assertEqual(Manifest.read_part(folder / "part.csv"), (Partition(6, 3, (Leaf(str(folder / "x"), 7),)),))
            with self.assertRaisesRegex(ValueError, "a partition has members 6 to 9; the ones before it end at 0"):
                Manifest.read(folder / "part.csv")
            (folder / "v.json").write_text(json.dumps({"drx_manifest": 9}))
            with self.assertRaisesRegex(ValueError, "version 9 of a manifest"):
                Manifest.read(folder / "v.json")


class Calls(unittest.TestCase):
    def test_arguments_are_checked(self) -> None:
        call = PROGRAM.call((np.array([1.0, 2.0]), 3), members={"rows": 5})
        self.assertEqual(call.leaves, (np.array([1.0, 2.0]).tobytes(), np.array(3, np.int32).tobytes()))
        self.assertEqual(pickle.loads(pickle.dumps(call)), call)
        for arguments, why in [((), "0 unplaced arguments; the program takes 1"),
                               (((np.zeros(2),),), "argument 0 has 1 leaves; the program takes 2"),
                               (((np.zeros(3), 1),), r"argument 0, leaf 0 has shape \(3,\); the program takes \(2,\)"),
                               (((np.zeros(2), 1.5),), "leaf 1 has elements of float64; the program takes i32")]:
            with self.assertRaisesRegex(ValueError, why):
                PROGRAM.call(*arguments, members={"rows": 5})

    def test_results_and_runs(self) -> None:
        (result,) = PROGRAM.results([np.array([1, 2], np.float32).tobytes()])
        self.assertEqual(result.tolist(), [[1.0], [2.0]])
        self.assertEqual(PROGRAM.stage_runs, [0, 0, 1])


class Lines(unittest.TestCase):
    def test_a_partial_comes_back(self) -> None:
        p = Partial(2, ((3, 1), (0, 16)), bytes(range(256)))
        self.assertEqual(partial_of(partial_line(p) + "\n"), p)
        with self.assertRaisesRegex(ValueError, "begins with the key 'drx', not 'other'"):
            partial_of("other\tAAAA")


class Workers(unittest.TestCase):
    def test_a_worker_that_ends_is_started_again_and_then_given_up(self) -> None:
        with Worker(["false"], attempts=2) as worker:
            with self.assertRaisesRegex(WorkerDied, "ended 2 times without an answer: status 1; status 1"):
                worker.finish(Call(PROGRAM, (), {}), [])
            self.assertEqual(worker.starts, 2)


if __name__ == "__main__":
    unittest.main()

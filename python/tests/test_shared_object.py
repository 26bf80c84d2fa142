"""What drx_engines does with a shared object; examples/engines/check.py says which (DRX_SHARED_OBJECT)."""

import ctypes.util
import os
import pathlib
import pickle
import tempfile
import threading
import unittest

import numpy as np

from drx_engines import Manifest, Program, SharedObject, WorkerError, run_stages

PATH = os.environ.get("DRX_SHARED_OBJECT", "")
CLIENTS = 40


class Missing(unittest.TestCase):
    def test_what_is_no_shared_object_of_drx_is_named(self) -> None:
        for path, why in (("/no/such/file.so", "cannot open shared object"), (ctypes.util.find_library("m"), "")):
            with self.assertRaisesRegex(RuntimeError, f"is no shared object of drx: .*{why}"):
                SharedObject(str(path))


@unittest.skipUnless(PATH, "DRX_SHARED_OBJECT is not set")
class SharedObjects(unittest.TestCase):
    def setUp(self) -> None:
        self.program = Program.load(PATH, "fedavg")
        self.call = self.program.call(np.array([0.5, -0.5, 0.25, 0]), 0.5, members={"clients": CLIENTS})

    def test_threads_get_the_bits_of_one(self) -> None:
        with tempfile.TemporaryDirectory() as name, SharedObject(PATH) as shared:
            random, folder = np.random.default_rng(1), pathlib.Path(name)
            np.save(folder / "x.npy", random.normal(size=(CLIENTS, 16, 4)))
            np.save(folder / "y.npy", random.integers(0, 2, size=(CLIENTS, 16)).astype(float))
            manifest = Manifest.of_files("clients", CLIENTS, [folder / "x.npy", folder / "y.npy"], 8)
            results: list[bytes] = []

            def run() -> None:
                (state,) = run_stages(self.call, manifest, lambda call, roots, m: shared.map(call, roots, m.partitions))
                self.assertGreater(np.abs(state).max(), 0)
                results.append(state.tobytes())

            threads = [threading.Thread(target=run) for _ in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(len(results), len(threads))
            self.assertEqual(len(set(results)), 1)

    def test_what_is_wrong_is_named_and_the_next_request_answered(self) -> None:
        with SharedObject(PATH) as shared:
            for head, why in (({"do": "everything"}, 'asked for is "everything"'),
                              ({"do": "finish", "program": 0, "plan": "0"}, "goes by plan 0, but program 0"),
                              ({"do": []}, "which is no text")):
                with self.assertRaisesRegex(WorkerError, why):
                    shared.ask(head)
                self.assertEqual(shared.finish(self.call, []), 0)
        with self.assertRaisesRegex(WorkerError, "is null"):
            shared.ask({"do": "programs"})

    def test_a_program_can_be_pickled(self) -> None:
        with SharedObject(PATH) as shared:
            self.assertEqual(shared.finish(pickle.loads(pickle.dumps(self.call)), []), 0)


if __name__ == "__main__":
    unittest.main()

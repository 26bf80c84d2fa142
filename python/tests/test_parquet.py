"""Manifests in Parquet."""

import importlib.util
import pathlib
import sys
import tempfile
import unittest
from typing import Any
from unittest import mock

from drx_engines import Leaf, Manifest, Partition

HAS_PYARROW = importlib.util.find_spec("pyarrow") is not None
ROWS: dict[str, list[Any]] = {
    "placement": ["rows"] * 4, "first": [4, 4, 0, 0], "count": [2, 2, 4, 4], "leaf": [1, 0, 0, 1],
    "path": ["y.npy", "x.npy", "x.npy", "/far/y.npy"], "offset": [4, 0, 7, 0],
}


class Parquet(unittest.TestCase):
    def setUp(self) -> None:
        own = tempfile.TemporaryDirectory()
        self.addCleanup(own.cleanup)
        self.folder = pathlib.Path(own.name).resolve()

    def written(self, columns: dict[str, Any], **options: Any) -> pathlib.Path:
        import pyarrow as pa
        import pyarrow.parquet

        path = self.folder / "m.parquet"
        pa.parquet.write_table(pa.table(columns), path, **options)
        return path

    @unittest.skipUnless(HAS_PYARROW, "pyarrow is not installed")
    def test_it_says_what_csv_and_json_say(self) -> None:
        x, y = str(self.folder / "x.npy"), str(self.folder / "y.npy")
        expected = Manifest("rows", 6, (Partition(0, 4, (Leaf(x, 7), Leaf("/far/y.npy", 0))),
                                        Partition(4, 2, (Leaf(x, 0), Leaf(y, 4)))))
        self.assertEqual(Manifest.read(self.written(ROWS)), expected)
        self.assertEqual(Manifest.read(self.written({**ROWS, "note": [1.5] * 4}, row_group_size=1)), expected)
        lines = [",".join(ROWS), *(",".join(str(v) for v in row) for row in zip(*ROWS.values(), strict=True))]
        (self.folder / "m.csv").write_text("\n".join(lines) + "\n")
        self.assertEqual(Manifest.read(self.folder / "m.csv"), expected)
        expected.write(self.folder / "m.json")  # what the worker takes
        self.assertEqual(Manifest.read(self.folder / "m.json"), expected)

    @unittest.skipUnless(HAS_PYARROW, "pyarrow is not installed")
    def test_columns_are_checked(self) -> None:
        import pyarrow as pa

        for columns, why in (
            ({k: v for k, v in ROWS.items() if k != "leaf"}, "m.parquet: a manifest has the columns .*; this has no leaf"),
            ({**ROWS, "first": [4.0, 4.0, 0.0, 0.0]}, "first is an integer in a manifest, and double here"),
            ({**ROWS, "path": [1, 2, 3, 4]}, "path is a string in a manifest, and int64 here"),
            ({**ROWS, "offset": [4, 0, None, 0]}, "row 2 has no offset"),
            ({**ROWS, "placement": ["rows", "columns", "rows", "rows"]}, "a manifest has one placement; this has"),
            ({**ROWS, "first": [5, 5, 0, 0]}, "a partition has members 5 to 7; the ones before it end at 4"),
        ):
            with self.assertRaisesRegex(ValueError, why):
                Manifest.read(self.written(columns))
        dictionary = pa.array(ROWS["path"]).dictionary_encode()
        self.assertEqual(Manifest.read(self.written({**ROWS, "path": dictionary})).members, 6)

    def test_without_pyarrow_it_says_what_to_install(self) -> None:
        (self.folder / "m.parquet").write_bytes(b"PAR1")
        with mock.patch.dict(sys.modules, {"pyarrow": None, "pyarrow.parquet": None}):
            with self.assertRaisesRegex(ImportError, r"needs pyarrow, the extra drx-engines\[parquet\]"):
                Manifest.read(self.folder / "m.parquet")


if __name__ == "__main__":
    unittest.main()

"""Compares the numbers of a row's sides: a row with wrong numbers is not reported."""

import array
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
from harness.difference import largest_difference  # noqa: E402


class WrongRow(Exception):
    pass


def difference(got, want, of_each=False):
    """The largest difference, relative to the largest number wanted, or to each; infinite if a number is missing or NaN."""
    largest = max((abs(w) for w in want if math.isfinite(w)), default=0) or 1
    return largest_difference(got, want, scale=lambda w: (abs(w) if of_each else largest) or 1)


def compare(folder, tolerance, base="drx", bounds=(), of_each=False):
    """{row: {side: difference}} of the result files under `folder`, one folder for each row.

    Sides are compared with "reference", without one with `base`, without it with the first by name. Sides in `bounds`
    compute something else, such as the memory's bandwidth, and have no result. `tolerance` is a number, or {row: number}, in
    parts of the row's largest number; with `of_each` in parts of each number: a derivative much smaller than its value counts.
    """
    rows = {}
    for row in sorted(p for p in folder.iterdir() if p.is_dir()):
        results = {}
        for file in sorted(row.glob("*.f64")):
            results[file.stem] = array.array("d", file.read_bytes())
        empty = [side for side, values in results.items() if not values and side not in bounds]
        if empty:
            raise WrongRow(f"{row.name}: {', '.join(empty)}: no result")
        results = {side: values for side, values in results.items() if values}
        if not results:
            continue
        want = next(side for side in ("reference", base, *results) if side in results)
        rows[row.name] = {side: difference(values, results[want], of_each) for side, values in results.items()}
        allowed = tolerance[row.name] if isinstance(tolerance, dict) else tolerance
        wrong = {side: d for side, d in rows[row.name].items() if not d <= allowed}
        if wrong:
            raise WrongRow(f"{row.name}: wrong result: " + "; ".join(
                f"{side} is off from {want} by {d:.3g}, allowed {allowed:g}" for side, d in wrong.items()))
    return rows

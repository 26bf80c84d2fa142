"""tests/harness/difference.py: no tolerance holds a NaN, and nothing of another shape agrees."""
import array, pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.difference import difference, largest_difference, largest_difference_of_leaves

nan, inf = float("nan"), float("inf")


class Array:
    """What numpy's arrays have of what is used here; the Python of these tests may have no numpy."""
    def __init__(self, shape, elements):
        self.shape, self.elements = shape, elements

    def tolist(self):
        return self.elements


CASES = [  # what, what it must be
    ("equal numbers", difference(2.0, 2), 0),
    ("relative to 1 + |expected|", difference(5, 3), 0.5),
    ("another scale", difference(5, 4, scale=abs), 0.25),
    ("a scale of 0", difference(1e-300, 0, scale=abs), inf),
    ("equal infinities", difference(inf, inf), 0),
    ("other infinities", difference(-inf, inf), inf),
    ("a number where infinity is expected", difference(1.0, inf), inf),
    ("NaN where a number is expected", difference(nan, 1.0), inf),
    ("a number where NaN is expected", difference(1.0, nan), inf),
    ("NaN twice", difference(nan, nan), inf),
    ("NaN twice, asked for", difference(nan, nan, nan_agrees=True), 0),
    ("NaN and a number, NaN twice asked for", difference(nan, 1.0, nan_agrees=True), inf),
    ("JSON's null", difference(None, 1.0), inf),
    ("the largest", largest_difference([1, [3, 5]], [1, [3, 3]]), 0.5),
    ("NaN first", largest_difference([nan, 1.0], [1.0, 1.0]), inf),
    ("NaN last", largest_difference([1.0, nan], [1.0, 1.0]), inf),
    ("a shorter list", largest_difference([1.0], [1.0, 1.0]), inf),
    ("a number for a list", largest_difference(1.0, [1.0, 1.0]), inf),
    ("a list for a number", largest_difference([1.0], 1.0), inf),
    ("a row for rows", largest_difference([1.0, 1.0], [[1.0, 1.0], [1.0, 1.0]]), inf),
    ("rows of other lengths", largest_difference([[1.0], [1.0, 1.0]], [[1.0, 1.0], [1.0]]), inf),
    ("no numbers", largest_difference([], []), 0),
    ("no numbers, other shapes", largest_difference(Array((0, 3), []), Array((0, 4), [])), inf),
    ("an array and a list", largest_difference(Array((2,), [1.0, 2.0]), [1.0, 2.0]), 0),
    ("array.array", largest_difference(array.array("d", [1.0, nan]), [1.0, 2.0]), inf),
    ("leaves", largest_difference_of_leaves([[1.0], []], [[1.0], []]), 0),
    ("a leaf less", largest_difference_of_leaves([[1.0]], [[1.0], [2.0]]), inf),
    ("an empty leaf for a full one", largest_difference_of_leaves([[1.0], []], [[1.0], [2.0]]), inf),
    ("only empty leaves", largest_difference_of_leaves([[], []], [[], []]), inf),
    ("no leaves", largest_difference_of_leaves([], []), inf),
]

wrong = [(what, found, expected) for what, found, expected in CASES if found != expected]
for what, found, expected in wrong:
    print(f"FAILED {what}: {found}, should be {expected}")
print(f"{len(CASES) - len(wrong)} passed, {len(wrong)} failed")
sys.exit(bool(wrong))

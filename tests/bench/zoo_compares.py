"""bench/zoo/run: what counts as the same results; every program has a twin, at most 40 lines, and a half."""
import importlib.machinery
import importlib.util
import math
import pathlib
import sys

sys.dont_write_bytecode = True
ZOO = pathlib.Path(__file__).resolve().parents[2] / "bench/zoo"
loader = importlib.machinery.SourceFileLoader("zoo_run", str(ZOO / "run"))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("zoo_run", loader))
loader.exec_module(run)

nan, inf = math.nan, math.inf
CASES = [  # what, what it must be
    ("the same", run.difference([1, 2], [1, 2], [2]), 0),
    ("relative to the array's largest number", run.difference([1, 5], [1, 4], [2]), 0.25),
    ("each array by itself", run.difference([1e6, 0.5], [1e6, 1], [1, 1]), 0.5),
    ("zeros", run.difference([0, 0], [0, 0], [2]), 0),
    ("NaN in ours", run.difference([nan], [1], [1]), inf),
    ("NaN in theirs", run.difference([1], [nan], [1]), inf),
    ("NaN in both", run.difference([nan], [nan], [1]), inf),
    ("infinity in both", run.difference([inf], [inf], [1]), inf),
    ("a number is missing", run.difference([1], [1, 2], [2]), inf),
    ("no numbers", run.difference([], [], []), inf),
]
failed = [what for what, found, wanted in CASES if found != wanted]
programs = sorted((ZOO / "programs").glob("*.hpp"))
for program in programs:
    if not program.with_suffix(".py").exists():
        failed.append(f"{program.name} has no twin")
    elif not all(run.described(program.stem)):
        failed.append(f"{program.stem}.py says no title or no bound")
    if len(program.read_text().splitlines()) > 40:
        failed.append(f"{program.name} has more than 40 lines")
failed += [f"{name} of the first half is not there" for name in run.FIRST_HALF if not (ZOO / f"programs/{name}.hpp").exists()]
for what in failed:
    print("FAILED:", what)
print(f"{len(CASES) + len(programs) - len(failed)} passed, {len(failed)} failed")
sys.exit(bool(failed))

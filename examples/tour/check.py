#!/usr/bin/env python3
"""Runs the tour on 1 to 4 ranks: check.py PROGRAM MPIEXEC [MPIEXEC'S OPTIONS...]. Ranks must agree to the last byte, numbers
with those below, which JAX 0.10 computed by tour.py; where JAX is installed in drx's cache, with what it computes now too."""
import json
import pathlib
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here.parents[1] / "tests"), str(here.parents[1] / "scripts")]
import packages  # noqa: E402
from harness.difference import largest_difference  # noqa: E402

EXPECTED = json.loads((here / "jax.json").read_text())
TOLERANCE = 1e-5  # both compute in float


def flat(x):
    return [v for part in x for v in flat(part)] if isinstance(x, list) else [x]


def differences(found, expected, who):
    problems = []
    for name, numbers in expected.items():
        a, b = flat(found[name]), flat(numbers)
        if largest_difference(a, b, scale=lambda y: max(1, abs(y))) > TOLERANCE:
            problems.append(f"{name}: {a} is not {who}'s {b}")
    return problems


def main():
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        return print(__doc__.strip())
    program, *launcher = sys.argv[1:]
    failures, texts = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for ranks in (1, 2, 3, 4):
            out = pathlib.Path(folder) / f"{ranks}.json"
            done = subprocess.run([*launcher, str(ranks), program, "--out", str(out)], capture_output=True, text=True, timeout=300)
            if done.returncode:
                failures.append(f"{ranks} ranks: {done.stderr}")
                continue
            texts[ranks] = (done.stdout, out.read_text())
            failures += [f"{ranks} ranks: {p}" for p in differences(json.loads(texts[ranks][1]), EXPECTED, "JAX")]
        if len(set(texts.values())) > 1:
            failures.append("ranks: the output depends on their number")
        for line in ("[11, 20, 29]", "[[11, 20, 29],", " [11, 20, 29]]", "Result shape: (2, 4)", "Output result shape: (2, 3, 4)",
                     " [0.25, 0.333333, 0.416667]]"):
            if texts and line not in texts[min(texts)][0].splitlines():
                failures.append(f"not printed: {line}")
        denied = subprocess.run([*launcher, "1", program, "--out", str(pathlib.Path(folder) / "no" / "such.json")], capture_output=True, text=True)
        if denied.returncode == 0 or "cannot write" not in denied.stderr:
            failures.append("a file that cannot be written is not reported: " + denied.stderr)
        checks, skipped = 6, 0
        jax = packages.cache() / "venv-jax"
        if packages.is_complete(jax, "jax") and texts:
            checks += 1
            now = subprocess.run([jax / "bin/python", here / "tour.py"], capture_output=True, text=True, timeout=300)
            failures += differences(json.loads(texts[min(texts)][1]), json.loads(now.stdout), "today's JAX") if now.returncode == 0 else [now.stderr]
        else:
            skipped = 1
            print("JAX is not installed: compared with the numbers written down only")
    print("\n".join(failures))
    print(f"{max(0, checks - len(failures))} passed, {len(failures)} failed" + (f", {skipped} skipped" if skipped else ""))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""bench/run times sides that agree, and refuses a row whose sides do not: it names the side and how far it is off."""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TWIN = """
import twin

nan = float("nan")
suite = twin.Suite()
suite.add("two numbers", "right", call=lambda: [1.0, 2.0], result=lambda x: x)
suite.add("two numbers", "other", call=lambda: OTHER, result=lambda x: x)
suite.run()
"""


def run(folder, other, **meta):
    """bench/run's exit code and output, for a workload of two sides, one of which computes `other`."""
    workload = pathlib.Path(folder) / "fake"
    workload.mkdir(exist_ok=True)
    (workload / "workload.json").write_text(json.dumps(
        {"title": "fake", "tolerance": 1e-6, "base": "right", "repetitions": 2, "twins": {"fake": [[]]}, **meta}))
    (workload / "fake_twin.py").write_text(TWIN.replace("OTHER", repr(other)))
    done = subprocess.run([sys.executable, ROOT / "bench/run", "--folder", folder, "--out", f"{folder}/out", "--python", sys.executable,
                           "--passes", "1"], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main():
    cases = [  # what the other side computes, the exit code, what the output says
        ([1.0, 2.0 + 1e-7], {}, 0, ["| fake | two numbers | 1 | right |", "| fake | two numbers | 1 | other |"]),
        ([1.0, 2.1], {}, 1, ["fake: two numbers: wrong result: other is off from right by 0.05, allowed 1e-06"]),
        ([1.0], {}, 1, ["other is off from right by inf"]),
        ([1.0, float("nan")], {}, 1, ["other is off from right by inf"]),
        ([float("nan"), 2.0], {}, 1, ["other is off from right by inf"]),
        ([1.0 + 1.5e-6, 2.0], {}, 0, ["| fake | two numbers | 1 | other |"]),  # in parts of the largest number, and of each
        ([1.0 + 1.5e-6, 2.0], {"of_each": True}, 1, ["other is off from right by 1.5e-06, allowed 1e-06"]),
        ([], {}, 1, ["two numbers: other: no result"]),
        ([], {"bounds": ["other"]}, 0, ["| fake | two numbers | 1 | other |"]),
    ]
    failed = 0
    for other, meta, code, says in cases:
        with tempfile.TemporaryDirectory() as folder:
            got, output = run(folder, other, **meta)
            if got != code or not all(text in output for text in says) or (code and "| fake |" in output):
                print(f"{other}: exit {got}, expected {code}; should say {says}:\n{output}")
                failed += 1
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs the example on a small file of its own making: check.py PROGRAM MPIEXEC [MPIEXEC'S OPTIONS...] NUMPROC_FLAG

The same numbers on any ranks and threads; a run that is continued, or was killed, ends as one that ran through;
files that cannot be used are refused with the reason, once, and leave nothing behind.
"""
import csv
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from table import FEATURES, table  # noqa: E402


class Checks:
    def __init__(self, program, launcher, folder):
        self.program, self.launcher, self.folder, self.failures = program, launcher, folder, 0

    def command(self, ranks, data, out, *options):
        words = [*self.launcher, str(ranks)] if ranks > 1 else []
        return words + [self.program, "--data", str(data), "--clients", "7", "--participation", "0.6", "--rate", "0.3",
                        "--checkpoint-every", "3", "--out", str(self.folder / out), *options]

    def run(self, ranks, data, out, *options):
        return subprocess.run(self.command(ranks, data, out, *options), capture_output=True, text=True, timeout=60)

    def expect(self, good, what, result=None):
        print("ok  " if good else "FAIL", what)
        if not good:
            self.failures += 1
            if result is not None:
                print(result.stdout, result.stderr, sep="\n")

    def numbers(self, out, cost=False):
        """model.npz and the metrics without what depends on the machine (without bytes too, unless `cost`)."""
        rows = []
        for path in sorted((self.folder / out).glob("*.csv")):
            with open(path, newline="") as file:
                rows += [row[:4] + (row[5:] if cost else []) for row in csv.reader(file)]
        return (self.folder / out / "model.npz").read_bytes(), rows


def check_equal(c, data):
    for ranks, threads in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (5, 1)]:
        out = f"equal-{ranks}-{threads}"
        result = c.run(ranks, data, out, "--rounds", "6", "--central", "--threads", str(threads))
        c.expect(result.returncode == 0 and c.numbers(out) == c.numbers("equal-1-1"), f"{ranks} ranks x {threads} threads", result)
    accuracy = float(c.numbers("equal-1-1")[1][-1][3])
    c.expect(accuracy > 0.5, f"it learns: test accuracy {accuracy:.0%}")


def check_resume(c, data):
    c.run(2, data, "whole", "--rounds", "8")
    c.run(2, data, "parts", "--rounds", "3")
    result = c.run(2, data, "parts", "--rounds", "8", "--resume")
    c.expect(result.returncode == 0 and c.numbers("parts", cost=True) == c.numbers("whole", cost=True), "continued", result)
    result = c.run(2, data, "parts", "--rounds", "9", "--resume", "--seed", "2")
    c.expect(result.returncode != 0 and result.stderr.count("belongs to a run with seed=1") == 1, "another run's checkpoint", result)


def check_kill(c, data):
    rounds = "20000"
    process = subprocess.Popen(c.command(1, data, "killed", "--rounds", rounds, "--eval-every", "500"),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not (c.folder / "killed" / "checkpoint").exists():
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with open(c.folder / "killed" / "metrics.csv", "a") as file:
        file.write("99999,0.1,0.")  # a line cut short
    c.run(1, data, "killed", "--rounds", "3", "--resume")  # at or beyond its end: nothing to do
    last = [line.split(",")[0] for line in (c.folder / "killed" / "metrics.csv").read_text().splitlines()][-1]
    result = c.run(1, data, "killed", "--rounds", str(int(last) + 6), "--eval-every", "500", "--resume")
    whole = c.run(1, data, "unkilled", "--rounds", str(int(last) + 6), "--eval-every", "500")
    c.expect(result.returncode == 0 and whole.returncode == 0 and c.numbers("killed")[0] == c.numbers("unkilled")[0],
             f"killed after round {last}, continued", result)


def check_refusals(c, lines):
    def changed(row, column, value):
        fields = lines[row].split(",")
        fields[column] = value
        return lines[:row] + [",".join(fields)] + lines[row + 1:]

    end = "\n"
    cases = {
        "missing": (None, "cannot be read"),
        "empty": ("", "is empty"),
        "truncated": (end.join(lines)[:-10], "cut short"),
        "columns": (end.join([*lines, "1,2,3"]) + end, f":{len(lines) + 1}: expected {FEATURES + 1} columns, found 3"),
        "nan": (end.join(changed(5, 3, "nan")) + end, ":6: column 'x2': 'nan' is not finite"),
        "label": (end.join(changed(7, 0, "10")) + end, ":8: label 10 is not from 0 to 9"),
        "features": ("label,a\n0,1\n", ":1: the header names 1 features"),
    }
    for name, (text, reason) in cases.items():
        path = c.folder / f"{name}.csv"
        if text is not None:
            path.write_text(text)
        result = c.run(2, path, f"out-{name}")
        good = result.returncode != 0 and result.stderr.count(f"{path}") == 1 and result.stderr.count(reason) == 1
        c.expect(good and not (c.folder / f"out-{name}").exists(), f"refused: {name}: {reason}", result)


def main():
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        return print(__doc__.strip())
    program, *launcher = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        c = Checks(program, launcher, pathlib.Path(name))
        lines = table(300)
        data = c.folder / "small.csv"
        data.write_text("\n".join(lines) + "\n")
        check_equal(c, data)
        check_resume(c, data)
        check_kill(c, data)
        check_refusals(c, lines)
    return 1 if c.failures else 0


if __name__ == "__main__":
    sys.exit(main())

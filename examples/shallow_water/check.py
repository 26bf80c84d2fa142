#!/usr/bin/env python3
"""Interrupts and continues searches: check.py PROGRAM MPIEXEC [MPIEXEC'S OPTIONS...] NUMPROC_FLAG

A search that another number of ranks continues must come to the same bits as one that was never interrupted. Files must
be what other programs read, and bad arguments must be refused with the reason.
"""
import ast
import csv
import pathlib
import subprocess
import sys
import tempfile
import zipfile

FILES = ("checkpoint", "curves.csv", "result.json", "readings.csv", "water.npz")


def shapes(path):
    """{name: (type, shape)} of the arrays in an .npz file, without numpy."""
    found = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            content = file.read(name)
            length = int.from_bytes(content[8:10], "little")
            header = ast.literal_eval(content[10:10 + length].decode())
            found[name] = header["descr"], header["shape"]
    return found


def main():
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        return print(__doc__.strip())
    program, *launcher = sys.argv[1:]
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def run(ranks, out, *options):
            command = [*launcher, str(ranks), program, "--out", str(folder / out), *options]
            return subprocess.run(command, capture_output=True, text=True, timeout=300)

        def report(good, what, result):
            nonlocal failures
            failures += not good
            print("ok  " if good else "FAIL", what)
            if not good:
                print(result.stdout, result.stderr, sep="\n")

        def bits(out):
            return [(folder / out / file).read_bytes() for file in FILES]

        whole = run(1, "whole", "--rounds", "4", "--checkpoint-every", "3")
        run(2, "parts", "--rounds", "1")
        parts = run(3, "parts", "--rounds", "4", "--resume")
        report(whole.returncode == parts.returncode == 0 and bits("parts") == bits("whole"), "continued by three ranks", parts)
        report(parts.stdout == whole.stdout and len(whole.stdout) > 40, "which print the same", parts)
        result = run(2, "parts", "--rounds", "4", "--resume")
        report(result.returncode == 0 and bits("parts") == bits("whole"), "continued where nothing is left to do", result)
        waters = {f"{water}.npy": ("<f4", (3, 3, 64, 64)) for water in ("truth", "first_guess", "found")}
        report(shapes(folder / "whole" / "water.npz") == waters, "water.npz", whole)
        with open(folder / "whole" / "readings.csv", newline="", encoding="ascii") as file:
            rows = list(csv.DictReader(file))
        good = len(rows) == 8 * 60 * 3 and all(80 < float(row["depth"]) < 120 and 0 <= int(row["row"]) < 64 for row in rows)
        report(good, "readings.csv", whole)

        for options, code, reason in (
                (["--resume", "--noise", "0.2"], 1, "belongs to a run with noise=0.1, this one has noise=0.2"),
                (["--noise", "0"], 2, "--noise: '0' is not a number from 1e-06 to 1000"),
                (["--depth-error", "nan"], 2, "--depth-error: 'nan' is not a number"),
                (["--velocity-error", "-1"], 2, "--velocity-error: '-1' is not a number"),
                (["--seed", "1.5"], 2, "--seed: '1.5' is not a whole number"),
                (["--readings", "5"], 2, "--readings")):
            result = run(2, "parts", *options)
            report(result.returncode == code and result.stderr.count(reason) == 1, " ".join(options), result)
        result = run(2, "none", "--resume")
        report(result.returncode == 1 and result.stderr.count("cannot be read") == 1, "no checkpoint", result)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())

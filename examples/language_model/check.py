#!/usr/bin/env python3
"""Interrupts and continues runs of the language model: check.py PROGRAM MPIEXEC [MPIEXEC'S OPTIONS...] NUMPROC_FLAG

A run that another number of ranks continues must come to the same bits as one that was never interrupted.
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from table import texts  # noqa: E402

ARGUMENTS = ["--held-out", "0.3", "--participation", "0.5", "--eval-every", "1", "--sample", "40"]


def main():
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        return print(__doc__.strip())
    program, *launcher = sys.argv[1:]
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "small.tsv"
        data.write_text("\n".join(texts(4)) + "\n")

        def run(ranks, out, method, rounds, *options):
            command = [*launcher, str(ranks), program, *ARGUMENTS, "--data", str(data), "--method", method, "--rounds", str(rounds)]
            return subprocess.run([*command, "--out", str(folder / out), *options], capture_output=True, text=True, timeout=300)

        def bits(out):
            return [(folder / out / file).read_bytes() for file in ("checkpoint", "curves.csv", "clients.csv", "result.json")]

        def report(good, what, result):
            nonlocal failures
            failures += not good
            print("ok  " if good else "FAIL", what)
            if not good:
                print(result.stdout, result.stderr, sep="\n")

        for method in ("fedavg", "diloco"):
            whole = run(1, f"whole-{method}", method, 3)
            run(2, f"parts-{method}", method, 1)
            parts = run(3, f"parts-{method}", method, 3, "--resume")
            good = whole.returncode == parts.returncode == 0 and bits(f"parts-{method}") == bits(f"whole-{method}")
            report(good and parts.stdout == whole.stdout and len(whole.stdout) > 40, f"{method}, continued by three ranks", parts)
        result = run(2, "parts-diloco", "diloco", 4, "--resume", "--inner-rate", "0.1")
        report(result.returncode == 1 and result.stderr.count("belongs to a run with inner_rate=0.0") == 1, "another run's checkpoint", result)
        result = run(2, "none", "diloco", 4, "--resume")
        report(result.returncode == 1 and result.stderr.count("cannot be read") == 1, "no checkpoint", result)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares the accountant with closed forms, and runs it on a small run: check.py PROGRAM MPIEXEC [MPIEXEC'S OPTIONS...]"""
import csv
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent / "common")]
import accountant  # noqa: E402
import packages  # noqa: E402
from table import table  # noqa: E402

DELTA = 1e-5
normal = statistics.NormalDist()
failures, passed = [], 0


def check(what, good, found=""):
    global passed
    print("ok  " if good else "FAIL", what, found)
    passed += bool(good)
    if not good:
        failures.append(what)


def delta_of_gaussian(epsilon, noise):
    """Delta of Gaussian noise whose deviation is `noise` times the sensitivity (Balle and Wang 2018)."""
    half = 1 / (2 * noise)
    return normal.cdf(half - epsilon * noise) - math.exp(epsilon) * normal.cdf(-half - epsilon * noise)


def delta_of_sampled_gaussian(epsilon, probability, noise):
    """The same if the client takes part with a probability: the larger delta of N(0) and the mixture, both ways round."""
    def above(x, mean):
        return normal.cdf((mean - x) / noise)
    def where_ratio_is(ratio):  # of the densities of mixture and N(0), which grows with x
        return 0.5 + noise**2 * math.log((ratio - 1 + probability) / probability)
    x = where_ratio_is(math.exp(epsilon))
    delta = (1 - probability) * above(x, 0) + probability * above(x, 1) - math.exp(epsilon) * above(x, 0)
    if math.exp(-epsilon) > 1 - probability:
        x = where_ratio_is(math.exp(-epsilon))
        mixture = 1 - (1 - probability) * above(x, 0) - probability * above(x, 1)
        delta = max(delta, 1 - above(x, 0) - math.exp(epsilon) * mixture)
    return delta


def exact(delta_of, *arguments):
    """The epsilon at which delta is DELTA."""
    low, high = 0.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle, *arguments) > DELTA else (low, middle)
    return high


def check_accountant(python):
    """An upper bound must not be below the exact loss, nor far above it."""
    for noise, rounds in ((1, 1), (2, 5)):
        found = accountant.epsilons(python, 1.0, noise, rounds, DELTA)[rounds]
        least = exact(delta_of_gaussian, noise / math.sqrt(rounds))  # rounds add up as if their noise were smaller
        check(f"everybody, noise {noise}, {rounds} rounds", least <= found <= 1.2 * least, f"{least:.3f} <= {found:.3f}")
    for probability, noise in ((0.1, 2), (0.5, 1)):
        found = accountant.epsilons(python, probability, noise, 1, DELTA)[1]
        least = exact(delta_of_sampled_gaussian, probability, noise)
        check(f"each with {probability}, noise {noise}", least <= found <= 1.5 * least, f"{least:.3f} <= {found:.3f}")


def check_epsilons(out, curves):
    """What the accountant writes beside a run of three rounds."""
    done = subprocess.run([sys.executable, here / "accountant.py", out], capture_output=True, text=True, timeout=300)
    check("the accountant takes a run", done.returncode == 0, done.stderr)
    rows = list(csv.DictReader(open(out / "epsilon.csv", encoding="ascii"))) if done.returncode == 0 else []
    losses = [float(row["epsilon"]) for row in rows]
    check("epsilon is 0 before training and grows", len(losses) == 4 and losses[0] == 0 and losses == sorted(set(losses)), losses)
    last = [line.split(",")[3] for line in curves.splitlines() if line.startswith("noise_2,3,test_accuracy,")]
    check("the accuracies are the run's", last and rows and abs(float(rows[-1]["test_accuracy"]) - float(last[0])) < 1e-5, last)


def check_run(program, launcher, accounted):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "small.csv").write_text("\n".join(table(300)) + "\n")
        out = folder / "out"
        words = ["--data", folder / "small.csv", "--clients", "50", "--rounds", "3", "--participation", "0.5"]

        def run(*more):
            done = subprocess.run([*launcher, "2", program, *map(str, [*words, *more]), "--out", str(out)],
                                  capture_output=True, text=True, timeout=200)
            check("runs " + " ".join(more), done.returncode == 0, done.stderr)
            return (out / "curves.csv").read_text() if done.returncode == 0 else ""

        secret = run("--noise", "2")
        if accounted:
            check_epsilons(out, secret)
        check("no loss on training rows is written", "train_loss" not in secret + (out / "result.json").read_text())
        check("another run has another secret seed", secret and run("--noise", "2") != secret)
        check("no result is private if the seed is given", '"secret_seed": true' in (out / "run.json").read_text()
              and run("--noise-seed", "1") and '"secret_seed": false' in (out / "run.json").read_text())


def main():
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        return print(__doc__.strip())
    program, *launcher = sys.argv[1:]
    skipped = 0
    try:
        python = accountant.python()
    except (packages.Failure, OSError) as problem:
        skipped = 1
        print(f"skipped private_fedavg's accountant: accountant.txt cannot be installed here: {problem}")
    else:
        check_accountant(python)
    check_run(program, launcher, not skipped)
    print(f"{passed} passed, {len(failures)} failed" + (f", {skipped} skipped" if skipped else ""))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Says what a run of private_fedavg tells of any one client: accountant.py OUT_DIR [--delta D]

Reads run.json and curves.csv; writes epsilon.csv, with epsilon and test accuracy after each round, and epsilon.png, where
matplotlib is. Epsilon comes from dp-accounting, which scripts/requirements pins and a first call installs into drx's cache.
It is that of the models of all rounds together, with one client more or less, for the given delta.
"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "scripts"))
import packages  # noqa: E402

try:
    import matplotlib

    matplotlib.use("Agg")  # draws into files, needs no screen
    import matplotlib.pyplot as plt
    from matplotlib.ticker import PercentFormatter
except ImportError:  # said after the table is written
    matplotlib = None

PRIVATE, INK, FAINT = "#1f4e8c", "#333333", "#dddddd"


def python():
    """An interpreter that has the accountant. Raises packages.Failure if it cannot be installed."""
    return packages.environment("accountant", packages.cache() / "venv-accountant")


def epsilons(interpreter, probability, noise, rounds, delta):
    """Epsilon after each round, from before the first."""
    words = [interpreter, HERE / "epsilon.py", repr(probability), repr(noise), str(rounds), repr(delta)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise packages.Failure(f"epsilon.py: {done.stderr.strip()}")
    found = [0.0, *json.loads(done.stdout)]
    if len(found) != rounds + 1 or not all(math.isfinite(e) and e >= 0 for e in found):
        raise packages.Failure(f"epsilon.py: {found} are not {rounds} losses")
    return found


def accuracies(path):
    """{method: [test accuracy after each round]}"""
    methods = {}
    with open(path, newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            if row["quantity"] == "test_accuracy":
                methods.setdefault(row["method"], []).append(float(row["value"]))
    return methods


def draw(losses, accuracy, plain, delta):
    figure, axes = plt.subplots(figsize=(6, 3.8), layout="constrained")
    axes.set_title("Test accuracy", loc="left", color=INK, fontsize=11)
    axes.set_xlabel(f"epsilon, at delta = {delta:g}", color=INK)
    axes.plot(losses, accuracy, color=PRIVATE, linewidth=2, label=f"private: {accuracy[-1]:.1%} at epsilon {losses[-1]:.2f}")
    if plain:
        axes.axhline(plain[-1], color=INK, linewidth=1.2, linestyle=(0, (5, 3)), label=f"without noise: {plain[-1]:.1%}")
    axes.set_xlim(left=0)
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.tick_params(length=0, colors=INK)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)
    axes.legend(frameon=False, labelcolor=INK, loc="lower right")
    return figure


def account(folder, delta):
    mechanism = json.loads((folder / "run.json").read_text())["mechanism"]
    if mechanism["sampling"] != "poisson" or mechanism["neighbours"] != "one client more or less":
        raise ValueError(f"{folder}/run.json: the accountant does not know this mechanism")
    noise, rounds = mechanism["noise_multiplier"], mechanism["rounds"]
    losses = epsilons(python(), mechanism["probability"], noise, rounds, delta)
    methods = accuracies(folder / "curves.csv")
    accuracy = methods[f"noise_{noise}"]
    if len(accuracy) != len(losses):
        raise ValueError(f"{folder}/curves.csv: has {len(accuracy)} rounds, run.json {len(losses)}")
    with open(folder / "epsilon.csv", "w", newline="", encoding="ascii") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["round", "delta", "epsilon", "test_accuracy"])
        table.writerows([r, delta, f"{e:.6g}", f"{a:.6g}"] for r, (e, a) in enumerate(zip(losses, accuracy)))
    print(f"{folder / 'epsilon.csv'}: epsilon {losses[-1]:.3f} at delta {delta:g}, test accuracy {accuracy[-1]:.3f}")
    if not mechanism["secret_seed"]:
        print("accountant.py: --noise-seed was given: whoever knows it can take the noise away, and epsilon holds only "
              "for those who do not", file=sys.stderr)
    if matplotlib:
        draw(losses, accuracy, methods.get("without_noise"), delta).savefig(folder / "epsilon.png", dpi=150)
        print(folder / "epsilon.png")
    else:
        print("accountant.py: without matplotlib (Debian: python3-matplotlib) there is no picture", file=sys.stderr)


def probability_text(text):
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT_DIR", type=pathlib.Path)
    parser.add_argument("--delta", type=probability_text, default=1e-5, help="default: 1e-5, far below 1 / clients")
    arguments = parser.parse_args()
    try:
        account(arguments.out, arguments.delta)
    except (packages.Failure, OSError, ValueError, KeyError) as problem:
        print(f"accountant.py: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

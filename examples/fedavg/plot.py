#!/usr/bin/env python3
"""Draws the learning curve of a run: plot.py OUT_DIR -> OUT_DIR/curve.png

Reads metrics.csv and, where the run had --central, central.csv beside it. Needs matplotlib.
"""
import argparse
import csv
import pathlib
import sys

try:
    import matplotlib

    matplotlib.use("Agg")  # draws into files, needs no screen
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator, PercentFormatter
except ImportError:  # said after --help
    matplotlib = None

TRAIN, TEST, INK, FAINT = "#8fa8c8", "#1f4e8c", "#333333", "#dddddd"


def read(path):
    """The columns of a metrics file, as lists of numbers."""
    with open(path, newline="", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise ValueError(f"{path}: has no rows")
    return {name: [float(row[name]) for row in rows] for name in ("round", "train_loss", "test_loss", "test_accuracy")}


def prepare(axes, title, last_round):
    axes.set_title(title, loc="left", color=INK, fontsize=11)
    axes.set_xlabel("round", color=INK)
    axes.set_xlim(0, last_round)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=INK)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)


def draw(metrics, central):
    figure, (loss, accuracy) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    rounds = metrics["round"]
    prepare(loss, "Loss", max(1, rounds[-1]))
    loss.plot(rounds, metrics["train_loss"], color=TRAIN, linewidth=2, label="training")
    loss.plot(rounds, metrics["test_loss"], color=TEST, linewidth=2, label="test")
    loss.set_ylim(bottom=0)
    loss.legend(frameon=False, labelcolor=INK)

    prepare(accuracy, "Test accuracy", max(1, rounds[-1]))
    reached = metrics["test_accuracy"]
    accuracy.plot(rounds, reached, color=TEST, linewidth=2, label=f"federated: {reached[-1]:.1%}")
    if central:
        final = central["test_accuracy"][-1]
        accuracy.axhline(final, color=INK, linewidth=1.2, linestyle=(0, (5, 3)), label=f"all data in one place: {final:.1%}")
    accuracy.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    accuracy.set_ylim(top=min(1.02, accuracy.get_ylim()[1] + 0.03))
    accuracy.legend(frameon=False, labelcolor=INK, loc="lower right")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT_DIR", type=pathlib.Path)
    folder = parser.parse_args().out
    if not matplotlib:
        print("plot.py: needs matplotlib (Debian: python3-matplotlib)", file=sys.stderr)
        return 1
    try:
        central = folder / "central.csv"
        figure = draw(read(folder / "metrics.csv"), read(central) if central.exists() else None)
        figure.savefig(folder / "curve.png", dpi=150)
    except (OSError, ValueError, KeyError) as problem:
        print(f"plot.py: {problem}", file=sys.stderr)
        return 1
    print(folder / "curve.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())

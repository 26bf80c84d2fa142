#!/usr/bin/env python3
"""Draws the measurements of an example, round by round: plot.py OUT_DIR -> OUT_DIR/curves.png

One panel for each quantity in curves.csv, one line for each method. Needs matplotlib.
"""
import argparse
import csv
import pathlib
import sys

try:
    import matplotlib

    matplotlib.use("Agg")  # draws into files, needs no screen
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator
except ImportError:  # said after --help
    matplotlib = None

COLOURS, INK, FAINT = ["#1f4e8c", "#c8642a", "#7a9a3a", "#8a5a9c"], "#333333", "#dddddd"


def read(path):
    """{quantity: {method: ([round...], [value...])}}"""
    quantities = {}
    with open(path, newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            rounds, values = quantities.setdefault(row["quantity"], {}).setdefault(row["method"], ([], []))
            rounds.append(int(row["round"]))
            values.append(float(row["value"]))
    if not quantities:
        raise ValueError(f"{path}: has no rows")
    return quantities


def draw(quantities):
    methods = list(dict.fromkeys(method for lines in quantities.values() for method in lines))
    colour = {method: COLOURS[i % len(COLOURS)] for i, method in enumerate(methods)}
    figure, panels = plt.subplots(1, len(quantities), figsize=(4.2 * len(quantities), 3.6), layout="constrained", squeeze=False)
    for axes, (quantity, lines) in zip(panels[0], quantities.items()):
        axes.set_title(quantity.replace("_", " "), loc="left", color=INK, fontsize=11)
        axes.set_xlabel("round", color=INK)
        for method, (rounds, values) in lines.items():
            axes.plot(rounds, values, color=colour[method], linewidth=2, label=f"{method.replace('_', ' ')}: {values[-1]:.4g}")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        axes.grid(axis="y", color=FAINT, linewidth=0.8)
        axes.tick_params(length=0, colors=INK)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set_color(FAINT)
        axes.legend(frameon=False, labelcolor=INK, fontsize=8)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT_DIR", type=pathlib.Path)
    folder = parser.parse_args().out
    if not matplotlib:
        print("plot.py: needs matplotlib (Debian: python3-matplotlib)", file=sys.stderr)
        return 1
    try:
        draw(read(folder / "curves.csv")).savefig(folder / "curves.png", dpi=150)
    except (OSError, ValueError, KeyError) as problem:
        print(f"plot.py: {problem}", file=sys.stderr)
        return 1
    print(folder / "curves.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())

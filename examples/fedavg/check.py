#!/usr/bin/env python3
"""Runs the example on a small file of its own making: check.py PROGRAM MPIEXEC [MPIEXEC'S OPTIONS...] NUMPROC_FLAG

The same numbers on any ranks and threads; a run that is continued, or was killed, ends as one that ran through;
files that cannot be used are refused with the reason, once, and leave nothing behind; a second run in a folder is
refused; a full disk or a reader that is gone neither hangs the program nor loses the model in silence.
"""
import contextlib
import csv
import os
import pathlib
import resource
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

    def run(self, ranks, data, out, *options, **how):
        """How: arguments of subprocess.run, such as where the standard streams go."""
        how = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60) | how
        try:
            return subprocess.run(self.command(ranks, data, out, *options), **how)
        except subprocess.TimeoutExpired as late:
            return subprocess.CompletedProcess(late.cmd, None, str(late.stdout), str(late.stderr) + "\nit does not end")

    @contextlib.contextmanager
    def running(self, ranks, data, out, **how):
        """A long run, from its first checkpoint on; killed in the end, if it still runs."""
        how = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) | how
        process = subprocess.Popen(self.command(ranks, data, out, "--rounds", "1000000", "--eval-every", "500"), **how)
        try:
            while process.poll() is None and not (self.folder / out / "checkpoint").exists():
                time.sleep(0.01)
            time.sleep(0.2)
            yield process
        finally:
            process.kill()
            process.wait()

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
        model = self.folder / out / "model.npz"
        return model.read_bytes() if model.exists() else None, rows


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


def last_round(path):
    return [line.split(",")[0] for line in path.read_text().splitlines()][-1]


def check_kill(c, data):
    for name, end in (("killed", signal.SIGKILL), ("interrupted", signal.SIGINT)):
        out = c.folder / name
        with c.running(1, data, name) as process:
            process.send_signal(end)
            process.wait()
        with open(out / "metrics.csv", "a") as file:
            file.write("99999,0.1,0.")  # a line cut short
        (out / ".checkpoint.0123456789abcdef.part").write_text("half a checkpoint")
        c.run(1, data, name, "--rounds", "3", "--resume")  # at or beyond its end: nothing to do
        last = last_round(out / "metrics.csv")
        result = c.run(1, data, name, "--rounds", str(int(last) + 6), "--eval-every", "500", "--resume")
        whole = c.run(1, data, f"not-{name}", "--rounds", str(int(last) + 6), "--eval-every", "500")
        c.expect(result.returncode == 0 and whole.returncode == 0 and c.numbers(name)[0] == c.numbers(f"not-{name}")[0]
                 and not list(out.glob("*.part")) + list(out.glob(".*.part")), f"{name} after round {last}, continued", result)


def check_lock(c, data):
    with c.running(1, data, "shared") as process:
        for ranks in (1, 2):
            for options in ((), ("--resume",)):
                before = (c.folder / "shared" / "run.json").read_bytes()
                result = c.run(ranks, data, "shared", "--rounds", "2", *options)
                reason = f"fedavg: {c.folder / 'shared'}: is in use by process {process.pid} on "
                c.expect(result.returncode not in (0, None) and result.stderr.count(reason) == 1 and process.poll() is None
                         and (c.folder / "shared" / "run.json").read_bytes() == before,
                         f"a second run in a folder is refused, {ranks} ranks {' '.join(options)}", result)


def check_threads(c, data):
    for ranks in (1, 2):
        for given, variable in (("100000", None), ("513", None), ("0", "OMP_NUM_THREADS"), ("0", "KOKKOS_NUM_THREADS")):
            environment = dict(os.environ, **({variable: "100000"} if variable else {}))
            result = c.run(ranks, data, "threads", "--rounds", "1", "--threads", given, env=environment, timeout=20)
            reason = f"{variable}=100000 is more than" if variable else f"--threads: '{given}' is not a whole number from 0 to"
            c.expect(result.returncode not in (0, None) and result.stderr.count(reason) == 1 and not (c.folder / "threads").exists(),
                     f"too many threads are refused, {ranks} ranks: {reason}", result)


def check_device(c, data):
    """Of a Kokkos that runs on host threads; another takes the option."""
    for ranks in (1, 2):
        result = c.run(ranks, data, "device", "--rounds", "1", "--device", timeout=20)
        c.expect(result.returncode == 2 and result.stderr.count("--device: this Kokkos") == 1 and not (c.folder / "device").exists(),
                 f"--device is refused without a GPU, {ranks} ranks", result)


def check_streams(c, data):
    expected = c.run(1, data, "printed", "--rounds", "3")
    with open("/dev/full", "w") as full:
        result = c.run(1, data, "full-stderr", "--rounds", "3", stderr=full)
        c.expect(result.returncode == 0 and c.numbers("full-stderr") == c.numbers("printed"), "a full standard error", expected)
        result = c.run(1, data, "full-stdout", "--rounds", "3", stdout=full)
        c.expect(result.returncode == 1 and result.stderr.count("fedavg: standard output could not be written") == 1
                 and c.numbers("full-stdout") == c.numbers("printed"), "a full standard output", expected)
    reading, writing = os.pipe()
    os.close(reading)
    result = c.run(1, data, "gone", "--rounds", "3", stdout=writing, stderr=writing)
    os.close(writing)
    c.expect(result.returncode == 1 and c.numbers("gone") == c.numbers("printed"), "a reader that is gone", expected)
    closed = lambda: [os.close(stream) for stream in (0, 1, 2)]  # noqa: E731
    result = c.run(1, data, "closed", "--rounds", "3", stdout=None, stderr=None, preexec_fn=closed)
    c.expect(result.returncode == 0 and c.numbers("closed") == c.numbers("printed"), "closed standard streams", expected)


def check_links(c, data):
    victim, out = c.folder / "victim", c.folder / "links"
    victim.write_text("untouched")
    out.mkdir()
    names = ("metrics.csv", "checkpoint", "model.npz", "run.json", "central.csv")
    for name in names:
        (out / name).symlink_to(victim)
        (out / f"{name}.part").symlink_to(victim)
    result = c.run(1, data, "links", "--rounds", "3", "--central")
    c.expect(result.returncode == 0 and victim.read_text() == "untouched" and not any((out / name).is_symlink() for name in names),
             "links are replaced, not followed", result)


def check_full_disk(c, data):
    """A limit on the size of files acts as a disk that becomes full: the earlier checkpoint stays, whole."""
    out = c.folder / "disk"
    ignoring = lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # noqa: E731  else the kernel kills it
    with c.running(1, data, "disk", stderr=subprocess.PIPE, text=True, preexec_fn=ignoring) as process:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, 4096))
        errors = process.communicate(timeout=60)[1]
    good = process.returncode != 0 and errors.count("cannot be written: File too large") == 1 and not list(out.glob(".*.part"))
    round_ = int(last_round(out / "metrics.csv"))
    result = c.run(1, data, "disk", "--rounds", str(round_ + 600), "--eval-every", "500", "--resume")
    c.expect(good and result.returncode == 0, f"a full disk ends the run, which is then continued: {errors}", result)
    result = c.run(2, data, "disk/metrics.csv", "--rounds", "6")
    c.expect(result.returncode not in (0, None) and result.stderr.count("metrics.csv: is no folder and cannot be made one") == 1,
             "a file in place of the folder", result)


def check_refusals(c, lines):
    def changed(row, column, value):
        fields = lines[row].split(",")
        fields[column] = value
        return lines[:row] + [",".join(fields)] + lines[row + 1:]

    end = "\n"
    cases = {
        "missing": (None, "cannot be read"),
        "empty": ("", "is empty"),
        "truncated": (end.join(lines)[:-10], f":{len(lines)}: the last line has no end: the file is cut short"),
        "wide": (",".join(["label", *(f"x{i}" for i in range(1_000_000))]) + end, ":1: the header names more than 10000 columns"),
        "wide-row": (end.join([*lines, "1," * 1_000_000 + "1"]) + end, f":{len(lines) + 1}: expected {FEATURES + 1} columns, found 1000001"),
        "endless": (pathlib.Path("/dev/zero"), "is a device or a pipe: only a regular file is read"),
        "folder": (pathlib.Path("."), "is a folder, not a file"),
        "columns": (end.join([*lines, "1,2,3"]) + end, f":{len(lines) + 1}: expected {FEATURES + 1} columns, found 3"),
        "nan": (end.join(changed(5, 3, "nan")) + end, ":6: column 'x2': 'nan' is not finite"),
        "label": (end.join(changed(7, 0, "10")) + end, ":8: label 10 is not from 0 to 9"),
        "features": ("label,a\n0,1\n", ":1: the header names 1 features"),
    }
    for name, (text, reason) in cases.items():
        path = c.folder / f"{name}.csv"
        if isinstance(text, pathlib.Path):
            path.symlink_to(text)
        elif text is not None:
            path.write_text(text)
        result = c.run(2, path, f"out-{name}", timeout=30)
        good = result.returncode not in (0, None) and result.stderr.count(f"{path}") == 1 and result.stderr.count(reason) == 1
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
        check_lock(c, data)
        check_threads(c, data)
        check_device(c, data)
        check_streams(c, data)
        check_links(c, data)
        check_full_disk(c, data)
        check_refusals(c, lines)
    return 1 if c.failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Ranks that fail: the job ends soon, not with 0, and says why once; never a hang.  check.py PROGRAM -- MPIRUN..."""
import re, subprocess, sys, time

LIMIT = 10  # seconds
# way: (what standard error says, how often; None: at least once)
FAILS = {
    "load-throws": (r"drx: rank 2: no file for client 9", 1),
    "main-throws": (r"drx: rank 2: out of luck", 1),
    "no-exception": (r"drx: rank 2: an exception that is no std::exception", 1),
    "aborts": (r"drx: rank 2: terminated", 1),
    "killed": (r"signal 9", None),
    "leaves": (r"drx: rank [01]: rank 2 has ended while rank [01] waits for it in .* of \d+ bytes", None),
    "other-n": (r"the ranks disagree:.* rank 2: drx::place: the number of members is 11", None),
    "other-program": (r"the ranks disagree:.*drx::compile: the program", None),
    "other-members": (r"argument 1 has 12 members of clients; an earlier argument has 10", None),
    "kokkos-finalized": (r"drx: rank \d: .*Kokkos has been finalized|Kokkos has been finalized already", None),
}
WORKS = ["", "mpi-initialised", "kokkos-initialised", "both-initialised"]


def run(command):
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=40)
    except subprocess.TimeoutExpired as e:
        return None, str(e.stdout or b""), str(e.stderr or b""), 40
    return done.returncode, done.stdout, done.stderr, time.monotonic() - start


def main():
    program, launcher = sys.argv[1], sys.argv[3:]
    failed = 0

    def say(way, ok, why, output):
        nonlocal failed
        print(f"{'ok  ' if ok else 'FAIL'} {way or 'nothing wrong'}{'' if ok else ': ' + why}", flush=True)
        if not ok:
            failed += 1
            print(output)

    for way, (text, times) in FAILS.items():
        code, out, err, took = run([*launcher, program, way])
        found = len(re.findall(text, err))
        wrong = [w for w in (
            code is None and "it never ends",
            code == 0 and "it returns 0",
            took > LIMIT and f"it takes {took:.0f} s",
            found != times and times is not None and f"the message comes {found} times",
            found == 0 and f"no message {text}") if w]
        say(way, not wrong, ", ".join(map(str, wrong)), out + err)
    for way in WORKS:
        code, out, err, took = run([*launcher, program, *([way] if way else [])])
        say(way, code == 0 and "total 45\n" in out, f"returns {code}", out + err)
    return 1 if failed else 0


sys.exit(main())

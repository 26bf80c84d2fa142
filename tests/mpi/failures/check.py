#!/usr/bin/env python3
"""Ranks that fail: the job ends soon, not with 0, and says why once; never a hang.  check.py PROGRAM -- MPIRUN...
With --only WAY this one."""
import os, re, subprocess, sys, time

LIMIT = 10  # seconds
ARGUMENT = r"the ranks disagree: rank 0: argument 0, leaf 0, element 1 in a call of program \d+ is 3 .*; rank 2: .* is 2 \(0x4000000000000000\)"
# way: (what is printed, how often; None: at least once; environment variables)
FAILS = {
    "load-throws": (r"drx: rank 2: no file for client 9", 1),
    "main-throws": (r"drx: rank 2: out of luck", 1),
    "all-throw": (r"drx: rank \d: the same everywhere", None),
    "no-exception": (r"drx: rank 2: an exception that is no std::exception", 1),
    "aborts": (r"drx: rank 2: terminated", 1),
    "killed": (r"signal 9", None),
    "leaves": (r"drx: rank [01]: rank 2 has ended while rank [01] waits for it in .* of \d+ bytes", None),
    "caught": (r"caught: out of luck", 1),
    "rethrown": (r"drx: rank 2: out of luck", 1),
    "caught-while-others-compute": (r"caught: out of luck", 1),
    "other-n": (r"the ranks disagree:.* rank 2: drx::place: the number of members is 11", None),
    "other-program": (r"the ranks disagree:.*drx::compile: the program", None),
    "other-order": (r"the ranks disagree: rank 0: .*reduction_order::tree; .*rank 2: .*reduction_order::fast", None),
    "other-option": (r"the ranks disagree: rank 0: .* 8 members of clients; .*rank 2: .* 7 members of clients", None),
    "other-members": (r"argument 1 has 12 members of clients; an earlier argument has 10", None),
    "other-subset": (r"the ranks disagree: rank 0: member 1 of the subset of clients .* is 5; .*rank 2: .* is 4", None),
    "other-blocks": (r"the ranks disagree: rank 0: where the clients of rank 1 end .* is 8; .*rank 2: .* is 7", None),
    "subsets-of-another-rank": (r"drx: rank \d: drx: argument 1 is another subset of clients than an earlier argument", None),
    "other-argument": (ARGUMENT, None),
    "other-argument-later": (ARGUMENT, None, {"DRX_CHECK": "1"}),
    "other-thread": (r"drx: rank \d: drx: rank \d communicates from another thread than", None),
    "mpi-finalized-then-call": (r"drx: rank \d: .*MPI has been finalized", None),
    "part-leaves": (r"drx: rank 0: rank 1 has ended while rank 0 waits for it", 1),
    "part-without-me": (r"drx: rank 2: drx::session: this rank is not in the communicator", 1),
    "own-communicator-leaves": (r"rank 1 has ended while rank 0 waits for it", 1),
    "kokkos-finalized": (r"drx: rank \d: .*Kokkos has been finalized|Kokkos has been finalized already", None),
}
TOTAL = r"^total 45$"
ENDED = r"drx: rank \d: MPI_Finalize is called while a drx::session"
# way: what is printed, how often
WORKS = {
    "": (TOTAL, 1),
    "mpi-initialised": (TOTAL, 1),
    "kokkos-initialised": (TOTAL, 1),
    "both-initialised": (TOTAL, 1),
    "all-throw-caught": (r"caught: the same everywhere", 3),
    "caught-everywhere": (r"caught: the same everywhere", 3),
    "mpi-finalized-in-session": (ENDED, 3),
    "part": (TOTAL, 1),
    "own-communicator": (TOTAL, 1),
}
# environment variables of the program without mistakes, and what it says of them
REFUSED = {
    ("DRX_STALL_WARN_S", "abc"): r"drx: rank \d: DRX_STALL_WARN_S=abc: .*a positive number of seconds",
    ("DRX_STALL_WARN_S", "-1"): r"DRX_STALL_WARN_S=-1: ",
    ("DRX_STALL_WARN_S", "nan"): r"DRX_STALL_WARN_S=nan: ",
    ("DRX_CHECK", "yes"): r"DRX_CHECK=yes: .*0 or 1",
}


def run(command, environment={}):
    start = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=40, env={**os.environ, **environment})
    except subprocess.TimeoutExpired as e:
        return None, str(e.stdout or b""), 40
    return done.returncode, done.stdout, time.monotonic() - start


def main():
    program, launcher = sys.argv[1], sys.argv[3:]
    only = None
    if program == "--only":
        only, program, launcher = sys.argv[2], sys.argv[3], sys.argv[5:]
    failed = 0

    def check(way, text, times, environment={}, succeeds=False, ranks=launcher):
        nonlocal failed
        if only is not None and way != only:
            return
        code, out, took = run([*ranks, program, *([way] if way else [])], environment)
        found = len(re.findall(text, out, re.M))
        wrong = [w for w in (
            code is None and "it never ends",
            code is not None and code < 0 and f"mpirun dies of signal {-code}",
            (code == 0) != succeeds and f"it returns {code}",
            took > LIMIT and f"it takes {took:.0f} s",
            found != times and times is not None and f"the message comes {found} times",
            found == 0 and times != 0 and f"no message {text}") if w]
        name = " ".join([way or "nothing wrong", *(f"{k}={v}" for k, v in environment.items()), *([] if ranks else ["on one rank"])])
        print(f"{'FAIL' if wrong else 'ok  '} {name}{': ' if wrong else ''}{', '.join(wrong)}", flush=True)
        if wrong:
            failed += 1
            print(out)

    for way, (text, times, *environment) in FAILS.items():
        check(way, text, times, *environment)
    for way, (text, times) in WORKS.items():
        check(way, text, times, succeeds=True)
    for (name, value), text in REFUSED.items():
        check("", text, None, {name: value})
    crowd = {"OMP_NUM_THREADS": str(os.cpu_count())}
    spins = r"threads of 3 ranks share \d+ core"
    check("", spins, 1, crowd, succeeds=True)
    check("", spins, 0, {**crowd, "OMP_WAIT_POLICY": "PASSIVE"}, succeeds=True)
    check("caught", r"caught: out of luck", 1, ranks=[])
    check("main-throws", r"drx: rank 0: out of luck", 1, ranks=[])
    check("", TOTAL, 1, succeeds=True, ranks=[])
    return 1 if failed else 0


sys.exit(main())

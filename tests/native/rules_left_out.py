"""Executables that run programs hold no rules of primitives: these are for tracing, and would be compiled into each program."""
import re, subprocess, sys

failed = 0
for executable in sys.argv[1:]:
    symbols = subprocess.run(["nm", "-C", executable], check=True, capture_output=True, text=True).stdout.splitlines()
    rules = [line for line in symbols if re.search(r"drx::prim::rules::\w+(<.*>)?::(jvp|vjp|batch|evaluate)\(", line)]
    bad = bool(rules) or len(symbols) < 100
    failed += bad
    if bad:
        print(f"{executable}: of {len(symbols)} symbols, {len(rules)} rules:", *rules[:5], sep="\n  ")
print(f"{len(sys.argv) - 1 - failed} passed, {failed} failed")
sys.exit(failed > 0)

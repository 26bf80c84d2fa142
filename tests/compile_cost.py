"""clang's work on programs of several sizes stays below the limits in this file, and linear in the entries: the steps of
constant evaluation that make a tape, and the functions and classes instantiated for a program that runs. (Counts, not
seconds: they are the same on every machine.)"""
import argparse, pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness.generated import compile_program, source

# kind: most steps of constant evaluation of the program of about 100 entries
STEPS = {"layers": 600_000, "elementwise": 190_000}
# kind, entries: most instantiations
INSTANTIATIONS = {("layers", 30): 17_400, ("layers", 100): 19_100, ("layers", 300): 24_200}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("compiler", help="clang++")
clang = parser.parse_args().compiler
passed = failed = 0


def report(ok, text):
    global passed, failed
    passed, failed = passed + ok, failed + (not ok)
    print(f"{'' if ok else 'FAILED '}{text}", flush=True)


def within(text, steps):
    try:
        compile_program(clang, text, ["-fsyntax-only", f"-fconstexpr-steps={steps}"])
        return True
    except RuntimeError as error:
        if "constant expression" not in str(error):
            raise
        return False


for kind, bound in STEPS.items():
    text = source(kind, 100, False)
    ok = within(text, bound)
    report(ok, f"{kind}, 100 entries: at most {bound} steps of constant evaluation")
    if not ok:
        continue
    low, high = bound // 2, bound  # how many, to 6 %
    while high - low > bound // 16:
        middle = (low + high) // 2
        low, high = (low, middle) if within(text, middle) else (middle, high)
    report(within(source(kind, 1000, False), 11 * high), f"{kind}, 1000 entries: at most 11 times the steps of 100, {high}")

counts = {}
for (kind, entries), bound in INSTANTIATIONS.items():
    events = compile_program(clang, source(kind, entries, True), ["-O0"], trace=True)["events"]
    count = counts[kind, entries] = sum(events.values())
    report(count <= bound, f"{kind}, {entries} entries, compiled to run: {count} instantiations, at most {bound}")
for kind in {kind for kind, _ in counts}:
    sizes = sorted(entries for k, entries in counts if k == kind)
    each = [(counts[kind, b] - counts[kind, a]) / (b - a) for a, b in zip(sizes, sizes[1:])]
    report(each[-1] <= 1.2 * each[0], f"{kind}: {', '.join(f'{x:.1f}' for x in each)} instantiations for each more entry")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)

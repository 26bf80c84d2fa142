"""The cost of programs stays within the numbers in this file: instructions of a call (callgrind, in the program's own code: the C
library chooses its functions by the processor), allocations, workspace, messages and bytes sent; steps of a loop cost the
same however many they are, in bytes copied too. (Counts, not seconds: they
are the same on every machine.) The templates that programs instantiate are counted by compile_cost.py."""
import argparse, pathlib, shutil, subprocess, sys, tempfile
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import callgrind

SLACK = 1.03  # of instructions: what another release of the same compiler may change
INSTRUCTIONS = {12: {"fedavg": 627_822, "mixture": 2_802_583, "logistic": 789_302, "chain": 828_464,
                     "halo of 64 steps": 1_128_240, "halo of 512 steps": 8_959_730}}  # by g++'s major version
COUNTS = {
    "fedavg": {"allocations": 0, "workspace bytes": 54528, "messages": 1, "bytes sent": 256},
    "mixture": {"allocations": 0, "workspace bytes": 13696, "messages": 1, "bytes sent": 328},
    "logistic": {"allocations": 0, "workspace bytes": 4544, "messages": 1, "bytes sent": 128},
    "chain": {"allocations": 0, "workspace bytes": 34816, "messages": 1, "bytes sent": 1024},
    "halo of 64 steps": {"allocations": 0, "workspace bytes": 33408, "messages": 193, "bytes sent": 65544},
    "halo of 512 steps": {"allocations": 0, "workspace bytes": 17088, "messages": 1537, "bytes sent": 524296},
}
STEPS = "halo of 64 steps", "halo of 512 steps"  # a step costs no more where there are eight times as many

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("compiler", help="g++")
parser.add_argument("flags", nargs="*", help="of the compiler")
parser.add_argument("--show", action="store_true", help="print the numbers that this file holds, compare nothing")
args = parser.parse_args()
passed = failed = skipped = 0


def check(ok, text):
    global passed, failed
    passed, failed = passed + ok, failed + (not ok)
    print(f"{'' if ok else 'FAILED '}{text}", flush=True)


def report(kernel, what, count, before, slack=1.0):
    check(count <= before * slack, f"{kernel}: {count} {what}, {before} before")
    if count < before / SLACK:
        print(f"  {kernel}: fewer than before: write the new number down in {pathlib.Path(__file__).name}")


def report_steps(what, counts):
    few, many = (counts[kernel] for kernel in STEPS)
    # (Arrays of 512 steps are 256 KiB: they are computed some rows at a time, whose sums are copied to a stack, 0.6 %.)
    check(many <= 8 * few * (1.01 if what == "bytes moved" else 1), f"halo: {few} {what} in 64 steps, {many} in 512")


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder).resolve()
    program = callgrind.build(args.compiler, folder, args.flags)
    rows = callgrind.counts(program)
    report_steps("bytes moved", {row["kernel"]: row["bytes moved"] for row in rows})
    for row in rows:
        for what, bound in COUNTS[row["kernel"]].items():
            report(row["kernel"], what, row[what], bound)
    # What runs reads tapes while compiling only: otherwise all rules would be compiled into each user's program.
    names = subprocess.run(["nm", "-C", program], check=True, capture_output=True, text=True).stdout
    report("all", "rules of primitives in the program", names.count("drx::prim::rules::"), 0)

    version = int(subprocess.run([args.compiler, "-dumpversion"], check=True, capture_output=True, text=True).stdout.split(".")[0])
    if not shutil.which("valgrind"):
        print("SKIPPED instructions: valgrind is not installed")
        skipped = len(COUNTS)
    elif version not in INSTRUCTIONS and not args.show:
        print(f"SKIPPED instructions: no numbers for g++ {version}, only for {', '.join(map(str, INSTRUCTIONS))}")
        skipped = len(COUNTS)
    else:
        instructions = {kernel: callgrind.instructions(program, folder, kernel) for kernel in COUNTS}
        report_steps("instructions", instructions)
        for kernel, count in instructions.items():
            if args.show:
                print(f'"{kernel}": {count}')
            else:
                report(kernel, "instructions", count, INSTRUCTIONS[version][kernel], SLACK)
print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
sys.exit(failed > 0)

"""What programs cost stays what is written here: instructions of a call (callgrind, in the program's own code: the C
library chooses its functions by the processor), allocations, workspace, messages and bytes sent. (Counts, not seconds: they
are the same on every machine.) The templates that programs instantiate are counted by compile_cost.py."""
import argparse, json, os, pathlib, re, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
SLACK = 1.03  # of instructions: what another release of the same compiler may change
INSTRUCTIONS = {12: {"fedavg": 728_459, "mixture": 6_596_324, "logistic": 1_393_287, "chain": 848_441}}  # by g++'s major version
COUNTS = {
    "fedavg": {"allocations": 0, "workspace bytes": 1024, "messages": 1, "bytes sent": 256},
    "mixture": {"allocations": 0, "workspace bytes": 18816, "messages": 1, "bytes sent": 328},
    "logistic": {"allocations": 0, "workspace bytes": 4800, "messages": 1, "bytes sent": 128},
    "chain": {"allocations": 0, "workspace bytes": 34816, "messages": 1, "bytes sent": 1024},
}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("compiler", help="g++")
parser.add_argument("flags", nargs="*", help="of the compiler")
parser.add_argument("--show", action="store_true", help="print the numbers that this file holds, compare nothing")
args = parser.parse_args()
passed = failed = 0


def report(kernel, what, count, before, slack=1.0):
    global passed, failed
    ok = count <= before * slack
    passed, failed = passed + ok, failed + (not ok)
    print(f"{'' if ok else 'FAILED '}{kernel}: {count} {what}, {before} before", flush=True)
    if count < before / SLACK:
        print(f"  {kernel}: fewer than before: write the new number down in {pathlib.Path(__file__).name}")


def own_instructions(file, program):
    """Of a callgrind.out file: those of the functions in `program`, without what they call elsewhere."""
    names, total, inside, skip = {}, 0, False, False
    for line in file.read_text().splitlines():
        if match := re.match(r"(c?ob)=\((\d+)\)(?: (.*))?", line):
            if match[3]:
                names[match[2]] = match[3]
            if match[1] == "ob":
                inside = names[match[2]] == str(program)
        elif line.startswith("calls="):
            skip = True  # the next line holds what the callee costs
        elif re.match(r"[+\-*\d]", line):
            if inside and not skip:
                total += int(line.split()[-1])
            skip = False
    return total


def instructions(program, kernel, folder):
    out = folder / f"{kernel}.callgrind"
    done = subprocess.run(["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=counted", f"--callgrind-out-file={out}",
                           program, kernel], env=dict(os.environ, DRX_COUNT_INSTRUCTIONS="1"), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    return own_instructions(out, program)


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder).resolve()
    program = folder / "kernels"
    cache = [shutil.which("ccache")] if shutil.which("ccache") else []
    compiled = folder / "kernels.o"
    subprocess.run([*cache, args.compiler, "-std=c++20", f"-I{HERE.parent / 'include'}", "-fconstexpr-ops-limit=1000000000",
                    "-fconstexpr-loop-limit=10000000", "-O2", *args.flags, "-c", HERE / "counts/kernels.cpp", "-o", compiled], check=True)
    subprocess.run([args.compiler, compiled, "-o", program], check=True)
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    for row in map(json.loads, lines):
        for what, bound in COUNTS[row["kernel"]].items():
            report(row["kernel"], what, row[what], bound)

    version = int(subprocess.run([args.compiler, "-dumpversion"], check=True, capture_output=True, text=True).stdout.split(".")[0])
    if not shutil.which("valgrind"):
        print("SKIPPED instructions: valgrind is not installed")
    elif version not in INSTRUCTIONS and not args.show:
        print(f"SKIPPED instructions: no numbers for g++ {version}, only for {', '.join(map(str, INSTRUCTIONS))}")
    else:
        for kernel in COUNTS:
            count = instructions(program, kernel, folder)
            if args.show:
                print(f'"{kernel}": {count}')
            else:
                report(kernel, "instructions", count, INSTRUCTIONS[version][kernel], SLACK)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)

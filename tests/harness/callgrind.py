"""Builds the programs of counts/kernels.cpp for any processor, runs them, and counts their instructions by callgrind."""
import json, os, pathlib, re, shutil, subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def build(compiler, folder, flags=()):
    """Builds their program in `folder`, with -O2 and no option that depends on this machine's processor."""
    cache = [shutil.which("ccache")] if shutil.which("ccache") else []
    compiled, program = folder / "kernels.o", folder / "kernels"
    subprocess.run([*cache, compiler, "-std=c++20", f"-I{ROOT / 'include'}", "-fconstexpr-ops-limit=1000000000",
                    "-fconstexpr-loop-limit=10000000", "-O2", *flags, "-c", ROOT / "tests/counts/kernels.cpp", "-o", compiled], check=True)
    wrapped = ",".join(f"--wrap={name}" for name in ("memcpy", "memmove", "memset"))
    subprocess.run([compiler, compiled, f"-Wl,{wrapped}", "-o", program], check=True)
    return program


def counts(program, *arguments):
    """The output of the kernels (of all, or of one and its number of members), as a dict each."""
    done = subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def own_instructions(file, program):
    """The instructions in a callgrind.out file of the functions in `program`, without those that they call elsewhere."""
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


def instructions(program, folder, kernel, *members):
    """The instructions of one call of a kernel, in the program's own code."""
    out = folder / f"{kernel}.callgrind"
    done = subprocess.run(["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=counted", f"--callgrind-out-file={out}",
                           program, kernel, *map(str, members)], env=dict(os.environ, DRX_COUNT_INSTRUCTIONS="1"), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    return own_instructions(out, program)

"""Programs of a given number of entries, and the cost of compiling them."""
import os, pathlib, subprocess, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = {
    "g++": ["-std=c++20", "-fconstexpr-ops-limit=1000000000", "-fconstexpr-loop-limit=10000000", "-fconstexpr-depth=2048",
            "-ftemplate-depth=4096"],
    "clang++": ["-std=c++20", "-fconstexpr-steps=1000000000", "-fconstexpr-depth=2048", "-ftemplate-depth=4096",
                "-fbracket-depth=4096"],
}

# Each kind: the lines of one unit, k being its number; about how many entries a unit becomes; the program.
KINDS = {
    # a network of equal layers, its value and gradient
    "layers": ("auto x{next} = drx::tanh(drx::matmul(x{k}, w) + b * {c});", 11.2,
               "drx::program<drx::value_and_grad<1, 2>(f), matrix, matrix, row>"),
    # a chain of elementwise operations
    "elementwise": ("auto x{next} = drx::sin(x{k} * w) + b * {c};", 5,
                    "drx::program<f, matrix, matrix, row>"),
}


def source(kind, entries, runs):
    """The text of a program of about that many entries; if `runs`, one that is also compiled to run on a thread."""
    line, per_unit, program = KINDS[kind]
    units = max(1, round(entries / per_unit))
    body = "\n".join("  " + line.format(k=k, next=k + 1, c=f"{1 + (k + 1) / 1024}f") for k in range(units))
    call = """  static drx::serial_executor threads;
  static drx::single_rank ranks;
  drx::compiled<P> p(threads, ranks);
  volatile bool never = false;
  if (never) (void)p(matrix{}, matrix{}, row{});
""" if runs else ""
    return f"""#include <drx/drx.hpp>
{'#include <drx/run/call/compiled.hpp>' if runs else ''}
#include <cstdio>

using matrix = drx::array<float, 8, 8>;
using row = drx::array<float, 8>;
constexpr auto f = [](auto x0, auto w, auto b) {{
{body}
  return drx::mean(x{units});
}};
using P = {program};

int main() {{
  std::printf("%d\\n", P::tape().sizes.entries);
{call}}}
"""


def compile_program(compiler, text, flags=(), trace=False):
    """The cost of compiling: user seconds, peak MiB; with `trace` (clang) the events of the compiler's own record."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "program.cpp").write_text(text)
        command = [compiler, *FLAGS["clang++" if "clang" in os.path.basename(compiler) else "g++"], f"-I{ROOT / 'include'}", *flags,
                   "-c", "program.cpp", "-o", "program.o"]
        if trace:
            command += ["-ftime-trace", "-ftime-trace-granularity=0"]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(" ".join(command) + "\n" + output[:2000])
        cost = {"seconds": usage.ru_utime, "MiB": usage.ru_maxrss / 1024}
        if trace:
            cost["events"] = count_events(folder / "program.json")
        return cost


def count_events(path):
    """The number of instantiations by kind, from the compiler's record."""
    counts = {"InstantiateFunction": 0, "InstantiateClass": 0}
    with open(path, encoding="utf-8", errors="replace") as file:
        rest = ""
        while chunk := file.read(1 << 20):  # (a child's peak memory counts what this process held when it was forked)
            chunk = rest + chunk
            rest = chunk[-64:]
            for name in counts:
                counts[name] += chunk.count(f'"name":"{name}"') - rest.count(f'"name":"{name}"')
    for name in counts:
        counts[name] += rest.count(f'"name":"{name}"')
    return counts


def entries_of(text):
    """The number of entries of a program, from running it."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "program.cpp").write_text(text)
        subprocess.run(["g++", *FLAGS["g++"], f"-I{ROOT / 'include'}", "-O0", "program.cpp", "-o", "program"], cwd=folder, check=True)
        return int(subprocess.run([folder / "program"], capture_output=True, text=True, check=True).stdout)

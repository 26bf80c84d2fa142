"""The rows of docs/from_jax.md: the right column is run, on the plain interpreter and compiled, and compared with what the left one gives in
JAX, where that is installed (tests/peer/run.py installs it). Rows that are not compared are skipped."""
import argparse, json, pathlib, re, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor
root = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(root / "tests"), str(root / "scripts")]
import packages
from harness.compiler import Compiler
from harness.difference import largest_difference

PARTS = 2  # compiled beside each other
TOLERANCE = 1e-9  # relative to 1 + |number|
INPUTS = {"x": ([3], [0.5, -1.25, 2.0]), "y": ([3], [1.5, 0.25, -0.75]), "m": ([2, 3], [0.5, 1, -1, 2, 0.25, -0.5]),
          "a": ([3, 3], [2, 0.5, -1, 0.25, 1.5, 0.5, 0, -0.5, 1]), "xs": ([4, 3], [0.1, 2, -1, 0.7, -0.3, 1.1, -2, 0.4, 0.9, 1.6, -0.8, 0.2])}

PROGRAM = r"""
#include <drx/drx.hpp>
#include <harness/call.hpp>
#include <harness/json.hpp>
%(definitions)s
struct clients : drx::placement<clients> {};
struct ranks : drx::placement<ranks> {};
namespace {
using drx::tensor;
template <auto F> void run(const char* separator) {
  using P = drx::program<F, drx::array<double, 3>, drx::array<double, 3>, drx::array<double, 2, 3>, drx::array<double, 3, 3>,
                         drx::array<double, 4, 3>, std::int32_t, drx::placed<drx::array<double, 3>, clients>>;
  const drx::tape t = P::tape().thaw();
  std::vector<tensor> in;
  for (int i = 0; i < t.inputs.size(); ++i) in.emplace_back(t.values[t.inputs[i]]);
  const double numbers[] = {%(numbers)s};
  int next = 0;
  for (int i = 0; i < 5; ++i)
    for (std::int64_t k = 0; k < in[i].size(); ++k) in[i].data<double>()[k] = numbers[next++];
  in[5].data<std::int32_t>()[0] = 1;
  for (int r = 0; r < 4; ++r) {
    in[6].members.emplace_back(in[6].type.of_member());
    for (int k = 0; k < 3; ++k) in[6].members.back().data<double>()[k] = in[4].data<double>()[3 * r + k];
  }
  std::printf("%%s[", separator);
  harness::print_numbers(drx::interpreter::run(t, in));
  std::printf(",");
  harness::print_numbers(harness::run_serial<P>(in));
  std::printf("]");
}
%(rows)s
}  // namespace
int main() {
  std::printf("[");
%(calls)s
  std::printf("]\n");
}
"""

JAX = r"""
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import json, sys
import jax, jax.numpy as jnp
from jax import lax
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")
try:
    import drjax
except ImportError:
    drjax = None
given = json.load(sys.stdin)
scope = dict(jax=jax, jnp=jnp, lax=lax, drjax=drjax, i=1, **{k: jnp.array(v, jnp.float64).reshape(s) for k, (s, v) in given["inputs"].items()})
exec(given["definitions"], scope)
scope["data"] = scope["xs"]
def value(code):
    if "drjax" not in code:
        return eval(code, scope)
    if drjax is None:
        return None
    return drjax.program(placements={"clients": 4})(lambda: eval(code, scope))()
out = []
for code in given["rows"]:
    leaves = jax.tree_util.tree_leaves(value(code))
    out.append([float(v) for leaf in leaves for v in jnp.ravel(jnp.asarray(leaf))] if leaves else None)
print(json.dumps(out))
"""


def program_of(definitions, rows):
    return PROGRAM % dict(
        definitions=definitions, numbers=", ".join(str(v) for _, numbers in INPUTS.values() for v in numbers),
        rows="\n".join(f"constexpr auto row{k} = []([[maybe_unused]] auto x, [[maybe_unused]] auto y, [[maybe_unused]] auto m, "
                       f"[[maybe_unused]] auto a, [[maybe_unused]] auto xs, [[maybe_unused]] auto i, [[maybe_unused]] auto data) {{\n"
                       f"  return {drx}; }};" for k, drx in enumerate(rows)),
        calls="\n".join(f"  run<row{k}>(\"{',' if k else ''}\");" for k in range(len(rows))))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", required=True, help="flags.json in the build tree")
    args = parser.parse_args()
    page = (root / "docs" / "from_jax.md").read_text()
    python_definitions, cpp_definitions = re.search(r"```python\n(.*?)```\n```cpp\n(.*?)```", page, re.S).groups()
    rows = []
    for line in page.splitlines():
        cells = re.findall(r"`([^`]+)`", line) if line.startswith("| `") else []
        if len(cells) == 2:
            rows.append((line, cells[0], cells[1]))
        elif len(cells) == 3:
            rows.append((line, cells[1], "drx::pmap<ranks>([](auto v) { return %s; })(xs)" % cells[2]))
    with tempfile.TemporaryDirectory(prefix="drx-from-jax-") as folder, ThreadPoolExecutor(PARTS) as pool:
        compiler = Compiler(args.compiler, args.flags)

        def run(part):
            """The results of one part's rows, and the compiler's messages."""
            file, program = pathlib.Path(folder) / f"part{part}.cpp", pathlib.Path(folder) / f"part{part}"
            file.write_text(program_of(cpp_definitions, [drx for _, _, drx in rows[part::PARTS]]))
            done = compiler.build(file, program, f"-I{root / 'tests'}", "-O0")
            if done.returncode:
                return None, done.stdout + done.stderr
            return json.loads(subprocess.run([program], capture_output=True, text=True, check=True).stdout), ""

        parts = list(pool.map(run, range(PARTS)))
    for numbers, said in parts:
        if numbers is None:
            print("the rows do not compile:\n" + "\n".join(said.splitlines()[:30]) + f"\n0 passed, {len(rows)} failed")
            return 1
    found = [parts[k % PARTS][0][k // PARTS] for k in range(len(rows))]
    jax = packages.cache() / "venv-jax"
    expected = [None] * len(rows)
    if packages.is_complete(jax, "jax"):
        given = dict(inputs=INPUTS, definitions=python_definitions, rows=[code for _, code, _ in rows])
        done = subprocess.run([jax / "bin/python", "-c", JAX], input=json.dumps(given), capture_output=True, text=True)
        if done.returncode:
            print(done.stderr)
            return 1
        expected = json.loads(done.stdout)
    failed = skipped = 0
    for (line, _, _), (plain, compiled), theirs in zip(rows, found, expected):
        if theirs is None:
            skipped += 1
            theirs = plain
        if largest_difference(plain, theirs) > TOLERANCE or largest_difference(compiled, theirs) > TOLERANCE:
            failed += 1
            print(f"{line}\n  interpreter: {plain}\n  compiled: {compiled}\n  JAX: {theirs}")
    if skipped:
        print(f"{skipped} rows were run, but not compared with JAX: it or DrJAX is not installed")
    print(f"{len(rows) - failed - skipped} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

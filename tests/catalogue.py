"""Every public operation and transformation is in a test that compiles it: the functions of namespace drx in the folders below, as a tape
records them. A test counts that goes through drx::compiled, and so do the rows of docs/from_jax.md, which are run compiled. Every primitive
that is a step of compiled programs has a kernel, and every function with a misuse lets pass what has been complained about already.
(tests/unit/primitives/catalogue.cpp walks the primitives' rules.)"""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
from declarations import declarations

FOLDERS = "primitives", "functions", "transform"
COMPILED = re.compile(r"\b(?:drx::compiled<|run_serial<|check_run<|check_many<|check_on_ranks<|\.compile<|harness::run<)")


def functions(text):
    """The names of functions and function objects that a tape records, without deleted ones and operators."""
    for d in declarations(text):
        if d.scope == ("drx",) and not d.deleted and "constexpr" in d.text and (d.kind == "variable" or d.kind == "function" and "operator" not in d.name):
            yield d.name


def compiled_text():
    """All test code that is compiled to run: that of tests that say so, and the right column of docs/from_jax.md."""
    files = [f for f in sorted((ROOT / "tests").rglob("*.[ch]pp")) if COMPILED.search(f.read_text())]
    rows = [line for line in (ROOT / "docs/from_jax.md").read_text().splitlines() if line.startswith("| `")]
    return "\n".join([*(re.sub(r"//[^\n]*", "", f.read_text()) for f in files), *rows])


def functions_of_a_number():
    """Elementwise primitives of one number: tests/unit/run/special_points.cpp walks them and compiles each, with its derivative."""
    text = "".join(h.read_text() for h in (ROOT / "include/drx/primitives").glob("*.hpp"))
    return set(re.findall(r"^struct (\w+) : (?:floating|number|circular)_function\b", text, re.M))


def primitives():
    """The name of each primitive and the text that defines it."""
    for header in sorted((ROOT / "include/drx").rglob("*.hpp")):
        for found in re.finditer(r"^inline constexpr primitive (\w+) ?(.*?;)$", header.read_text(), re.M | re.S):
            yield found[1], found[2], header.relative_to(ROOT)


# What is no step of a compiled program: rows of fused loops and what is read in place, what stages, loops and branches take over, what
# becomes another primitive before (products in doubt, layouts, transparent entries), and what computes on addresses as it is.
NO_STEP = re.compile(r"elementwise_primitive|mul_undecided|\.role = |\.share = |\.fold = |fold::|\.along_axis = |over_members|\.transparent = |\.native = ")
REPLACED = "mul_undecided", "matmul_undecided", "with_layout"


def without_kernel():
    kernels = set()
    for header in (ROOT / "include/drx/run").rglob("*.hpp"):
        kernels |= set(re.findall(r"struct kernel<C, E, &prim::(\w+)>", header.read_text()))
    for name, text, header in primitives():
        if name not in kernels and name not in REPLACED and not NO_STEP.search(text):
            yield f"prim::{name} ({header}) has no kernel in run/kernels: compiled programs would compute it by `evaluate`, 200 times slower"


def not_silent():
    """Functions with a misuse that complain a second time about what clang has complained about."""
    headers = [h for folder in FOLDERS for h in (ROOT / "include/drx" / folder).glob("*.hpp")]
    text = "".join(h.read_text() for h in headers)
    silent = set(re.findall(r"\bDRX_SILENT\w*\((\w+)\)|error::reported (\w+)\(", text))
    silent = {a or b for a, b in silent}
    for header in headers:
        for name in dict.fromkeys(re.findall(r"^ *(?:Why|error::\w+) (\w+)\(.*\) = delete;", header.read_text(), re.M)):
            if name not in silent:
                yield f"drx::{name} ({header.relative_to(ROOT)}) has a misuse and no DRX_SILENT({name}): clang would give two errors"


def main():
    names = {}
    for folder in FOLDERS:
        for header in sorted((ROOT / "include/drx" / folder).glob("*.hpp")):
            for name in functions(header.read_text()):
                names.setdefault(name, header.relative_to(ROOT))
    held = set(re.findall(r"\bdrx::(\w+)", compiled_text())) | functions_of_a_number()
    missing = [name for name in names if name not in held]
    for name in missing:
        print(f"FAILED drx::{name} ({names[name]}) is in no test that compiles it: check_run a program of it in tests/unit/run/catalogue.cpp")
    forgotten = [*without_kernel(), *not_silent()]
    for what in forgotten:
        print(f"FAILED {what}")
    failed = len(missing) + len(forgotten)
    print(f"{len(names) - len(missing)} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())

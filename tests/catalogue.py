"""Every public operation and transformation is in a test that compiles it: the functions of namespace drx in the folders below, as a tape
records them. A test counts that goes through drx::compiled, and so do the rows of docs/from_jax.md, which are run compiled. Every primitive
that is a step of compiled programs has a kernel, and every one with a function and derivatives is in a test of its rules. Every function with
a misuse lets pass what has been complained about already, and every header with one has a test that meets it.
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


def not_in_catalogue():
    catalogue = (ROOT / "include/drx/primitives/catalogue.hpp").read_text()
    for name, _, header in primitives():
        included = header.relative_to("include").as_posix()
        if included.startswith("drx/primitives/") and f"#include <{included}>" not in catalogue:
            yield f"prim::{name} ({header}) is not in the catalogue: include its file in include/drx/primitives/catalogue.hpp"


def without_kernel():
    kernels = set()
    for header in (ROOT / "include/drx/run").rglob("*.hpp"):
        kernels |= set(re.findall(r"struct kernel<C, E, &prim::(\w+)>", header.read_text()))
    for name, text, header in primitives():
        if name not in kernels and name not in REPLACED and not NO_STEP.search(text):
            yield f"prim::{name} ({header}) has no kernel in run/kernels: compiled programs would compute it by `evaluate`, 200 times slower"


def without_comments(file):
    return re.sub(r"//[^\n]*", "", file.read_text())


def without_test_of_rules(functions_of_drx):
    """Primitives with derivatives that no test compares with differences. Those that have no function are parts of another's derivative, and
    are compared with it; tests walk the elementwise ones; a derivative of 0 is no rule of the primitive's own."""
    tests = (without_comments(f) for f in (ROOT / "tests/unit").rglob("*.cpp"))
    text = "".join(test for test in tests if re.search(r"\bcheck_(?:rules|program)\b", test))
    for name, rules, header in primitives():
        own = name in functions_of_drx and ".vjp = " in rules and "rules::constant::" not in rules
        if own and name not in REPLACED and not re.search(rf"\b(?:emit|prim|drx)::{name}\b", text):
            yield f"prim::{name} ({header}) is in no test of its rules: add a line to tests/unit/transform/rules.cpp"


def misused(text):
    """The functions that have a misuse."""
    return dict.fromkeys(re.findall(r"^ *(?:Why|error::\w+) (\w+)\(.*\) = delete;", text, re.M))


def operation_headers():
    return [h for folder in FOLDERS for h in sorted((ROOT / "include/drx" / folder).glob("*.hpp"))]


def without_test_of_misuse():
    met = "".join(without_comments(f) for f in (ROOT / "tests/compile_fail").glob("*.fail.cpp"))
    for header in operation_headers():
        names = misused(header.read_text())
        if names and not any(re.search(rf"\b{name}[(<]", met) for name in names):
            yield f"no test meets a misuse of drx::{', drx::'.join(names)} ({header.relative_to(ROOT)}): add one to tests/compile_fail"


def not_silent():
    """Functions with a misuse that complain a second time about what clang has complained about."""
    headers = operation_headers()
    text = "".join(h.read_text() for h in headers)
    silent = set(re.findall(r"\bDRX_SILENT\w*\((\w+)\)|error::reported (\w+)\(", text))
    silent = {a or b for a, b in silent}
    for header in headers:
        for name in misused(header.read_text()):
            if name not in silent:
                yield f"drx::{name} ({header.relative_to(ROOT)}) has a misuse and no DRX_SILENT({name}): clang would give two errors"


def main():
    names = {}
    for header in operation_headers():
        for name in functions(header.read_text()):
            names.setdefault(name, header.relative_to(ROOT))
    held = set(re.findall(r"\bdrx::(\w+)", compiled_text())) | functions_of_a_number()
    missing = [name for name in names if name not in held]
    for name in missing:
        print(f"FAILED drx::{name} ({names[name]}) is in no test that compiles it: check_run a program of it in tests/unit/run/catalogue.cpp")
    forgotten = [*not_in_catalogue(), *without_kernel(), *without_test_of_rules(names), *without_test_of_misuse(), *not_silent()]
    for what in forgotten:
        print(f"FAILED {what}")
    failed = len(missing) + len(forgotten)
    print(f"{len(names) - len(missing)} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())

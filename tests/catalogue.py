"""Every public operation and transformation is in a test that compiles it: the functions of namespace drx in the folders below, as a tape
records them. A test counts that goes through drx::compiled, and so do the rows of docs/from_jax.md, which are run compiled."""
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


def main():
    names = {}
    for folder in FOLDERS:
        for header in sorted((ROOT / "include/drx" / folder).glob("*.hpp")):
            for name in functions(header.read_text()):
                names.setdefault(name, header.relative_to(ROOT))
    # (F(name) is how the test of special points writes a function)
    held = set(re.findall(r"\b(?:drx::|F\()(\w+)", compiled_text()))
    missing = [name for name in names if name not in held]
    for name in missing:
        print(f"FAILED drx::{name} ({names[name]}) is in no test that compiles it: check_run a program of it in tests/unit/run/catalogue.cpp")
    print(f"{len(names) - len(missing)} passed, {len(missing)} failed")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())

"""Each NAME.fail.cpp does not compile: it gives exactly one error, whose first line names that file, and diagnostics that match each
`// expect: REGEX` in it. Its twin, which is correct, compiles: the same file with what follows `// correct: ` in place of the line before, or,
where they differ by more, NAME.pass.cpp. `// needs: run` adds the flags of drx::run (g++ only).
`// while recording` is for what only the tape tells: the error is one in constant evaluation, which begins in a header.
Most of a short compilation is the compiler's start, so one compiles several twins, each in a namespace; where that fails, each alone."""
import argparse, os, pathlib, re, sys, tempfile
from concurrent.futures import ThreadPoolExecutor
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from harness.compiler import Compiler


def head(output, lines=15):
    return "\n".join(output.splitlines()[:lines])


CORRECT = re.compile(r"^.*\n *// correct: (.*)$", re.M)


def twin_of(fail, folder):
    """The file of the correct twin, written to the folder if the misuse says what it differs in. It may not exist."""
    beside, text = fail.with_name(fail.name.replace(".fail.cpp", ".pass.cpp")), fail.read_text()
    if beside.exists() or not CORRECT.search(text):
        return beside
    written = pathlib.Path(folder) / beside.name
    written.write_text(CORRECT.sub(lambda line: line[1], text))
    return written


def compile_together(twins, compiler, folder):
    """Those of the twins that compile in one file; all or none."""
    includes, bodies = {"#include <drx/drx.hpp>": None}, []
    for twin in twins:
        text = twin.read_text()
        includes.update(dict.fromkeys(re.findall(r"^#include .*$", text, re.M)))
        body = re.sub(r"^#include .*$", "", text, flags=re.M)
        bodies.append(f'namespace {twin.name.split(".")[0]}_twin {{\n#line 1 "{twin}"\n{body}\n}}\n')
    source = pathlib.Path(folder) / f"{twins[0].name}.together.cpp"
    source.write_text("\n".join([*includes, *bodies]))
    ok, _ = compiler.check(source)
    return twins if ok else []


def check(fail, twin, compiler, compiled):
    """The complaints about one misuse, whose twin may be among those compiled already; None where it does not apply."""
    text = fail.read_text()
    expected = re.findall(r"^\s*// expect: (.*?)\s*$", text, re.M)
    runs = bool(re.search(r"^// needs: run", text, re.M))
    if runs and not compiler.can_run:
        return None
    complaints = [] if expected else ["no `// expect: REGEX` line"]
    if twin.exists() and twin not in compiled:
        ok, output = compiler.check(twin, runs)
        if not ok:
            complaints.append(f"{twin.name} does not compile:\n{head(output)}")
    elif not twin.exists():
        complaints.append(f"no twin that compiles: neither a line `// correct: ...` nor {twin.name}")
    if twin.parent == fail.parent and twin.exists() and CORRECT.search(text):
        complaints.append(f"two twins: a line `// correct: ...` and {twin.name}")
    ok, output = compiler.check(fail, runs)
    errors = [line for line in output.splitlines() if re.search(r"(?<!\w)error: ", line)]
    if ok:
        complaints.append("compiles, and should not")
    elif len(errors) != 1:
        complaints.append(f"{len(errors)} errors instead of one")
    recording = re.search(r"^// while recording", text, re.M) and fail.name in output
    if errors and not recording and not errors[0].split(":")[0].endswith(fail.name):
        complaints.append("the first error is not in the user's file")
    complaints += [f"not in the diagnostics: {regex}" for regex in expected if not re.search(regex, output)]
    if complaints and not ok:
        complaints.append(head(output))
    return complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", required=True, help="flags.json in the build tree")
    parser.add_argument("names", nargs="*", help="only these misuses")
    args = parser.parse_args()
    compiler = Compiler(args.compiler, args.flags)
    here = pathlib.Path(__file__).parent
    pairs = [f for f in sorted(here.rglob("*.fail.cpp")) if not args.names or f.name[: -len(".fail.cpp")] in args.names]
    lonely = [p for p in here.rglob("*.pass.cpp") if not p.with_name(p.name.replace(".pass.cpp", ".fail.cpp")).exists()]
    with tempfile.TemporaryDirectory(prefix="drx-compile-fail-") as folder, ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        compiler.precompile("drx/drx.hpp", folder)
        twin = {f: twin_of(f, folder) for f in pairs}
        twins = [twin[f] for f in pairs if twin[f].exists() and "// needs: run" not in f.read_text()]
        together = pool.map(lambda some: compile_together(some, compiler, folder), [twins[i : i + 16] for i in range(0, len(twins), 16)])
        compiled = {twin for some in together for twin in some}
        results = list(pool.map(lambda fail: check(fail, twin[fail], compiler, compiled), pairs))
    failed = len(lonely)
    for orphan in lonely:
        print(f"FAILED {orphan.name}: no twin that fails")
    for fail, complaints in zip(pairs, results):
        if complaints:
            failed += 1
            print(f"FAILED {fail.name}: " + "\n".join(complaints))
    passed = sum(complaints == [] for complaints in results)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

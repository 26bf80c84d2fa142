"""All C++ is laid out as clang-format does it by .clang-format, in lines of at most 120 columns; --fix lays it out. A comment `// drx: ...` stays
on the line of its declaration, however long: compilers show that line to the user. It is out of clang-format's sight for that."""
import argparse, pathlib, re, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
import packages

FOLDERS = "include", "tests", "bench", "examples"
SUFFIXES = ".hpp", ".h", ".cpp", ".c", ".cu"
PASSES = 4  # what it breaks it may join again when it sees it broken
ADVICE = re.compile(r"// drx:.*")


def formatter():
    """The clang-format that scripts/requirements/format.txt pins, installed where it is missing."""
    return packages.environment("format", packages.cache() / "venv-format").with_name("clang-format")


def formatted(path, program):
    """The text of a file as it should be: what clang-format leaves as it is."""
    text = path.read_text()
    advice = iter(ADVICE.findall(text))
    text = ADVICE.sub("// drx:", text)
    for _ in range(PASSES):
        before, text = text, subprocess.run([program, "--style=file", f"--assume-filename={path}"], input=text, capture_output=True, text=True,
                                            check=True).stdout
        if text == before:
            break
    return ADVICE.sub(lambda _: next(advice), text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fix", action="store_true", help="rewrite what is laid out otherwise")
    args = parser.parse_args()
    try:
        program = formatter()
    except packages.Failure as error:
        print(f"{error}\n0 passed, 0 failed, 1 skipped")
        return 0
    files = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES)
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for path, text in zip(files, pool.map(lambda path: formatted(path, program), files)):
            if text == path.read_text():
                continue
            failed += 1
            if args.fix:
                path.write_text(text)
            print(f"{'rewrote' if args.fix else 'FAILED'} {path.relative_to(ROOT)}{'' if args.fix else ': tests/format.py --fix lays it out'}")
    print(f"{len(files) - failed} passed, {0 if args.fix else failed} failed")
    return bool(failed and not args.fix)


if __name__ == "__main__":
    sys.exit(main())

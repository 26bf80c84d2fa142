"""Each header of plan/, run/ and engines/ has a test: one of its own (tests/unit/<folder>/<stem>.cpp, or <room>_<stem>.cpp where several headers
have the stem), or, in the comment that it begins with, a line `// Tested by tests/....cpp.` that names tests which are there."""
import collections, pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = "plan", "run", "engines"


def own_tests(header, stems):
    """The files that would be a test of this header alone."""
    folder, *rooms, stem = header.with_suffix("").parts
    tests = ROOT / "tests/unit" / folder
    names = {f"{stem}.cpp"} if stems[stem] == 1 else set()
    if rooms:
        names.add(f"{rooms[-1]}_{stem}.cpp")
    return [path for path in tests.rglob("*.cpp") if path.name in names]


def problem(header, stems):
    """The error in the header, or None."""
    if own_tests(header, stems):
        return None
    begin = (ROOT / "include/drx" / header).read_text().split("#pragma once")[0]
    said = re.search(r"^// Tested by ((?:.|\n// )*?\.cpp)\.$", begin, re.M)
    if not said:
        return "has no test of its own: write one, or say in its first lines which tests hold it, // Tested by tests/unit/run/loops.cpp."
    missing = [name for name in re.findall(r"[\w/]+\.cpp", said[1]) if not (ROOT / name).exists()]
    return f"names {', '.join(missing)}, which is not there" if missing else None


def main():
    errors, count = [], 0
    for folder in FOLDERS:
        headers = [path.relative_to(ROOT / "include/drx") for path in sorted((ROOT / "include/drx" / folder).rglob("*.hpp"))]
        stems = collections.Counter(header.stem for header in headers)
        count += len(headers)
        errors += [f"FAILED include/drx/{header} {wrong}" for header in headers if (wrong := problem(header, stems))]
    print("\n".join([*errors, f"{count - len(errors)} passed, {len(errors)} failed"]))
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())

"""What an entry's ints say only the file of its primitive knows, which names them by a view (drx/tape/int_list.hpp). Everybody else reads the view
and writes by the primitive's functions: no other file reads ints by number or writes a list of them."""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).parents[1]
FOLDERS = ["include", "tests", "bench", "examples"]
VIEW = re.compile(r"\b(?:struct|class) view\b")
INTS = re.compile(r"(?:\.|->)ints\b|\bC::attr\(|\.attr\(")  # of attributes, of frozen entries, of running code
OF_ANOTHER = re.compile(r"->attrs\.ints\b")  # also in a primitive's own file: what defines its operand is another's
COPIES_ALL = {  # where all ints go by, whatever they say
    "include/drx/plan/fingerprint.hpp",
    "include/drx/generate/shared_steps.hpp",
    "include/drx/generate/text.hpp",
    "include/drx/run/kernels/kernel.hpp",
    "tests/harness/plan_simulator.hpp",
    "tests/unit/primitives/attribute_views.cpp",
}


def owns(path, text):
    return path.startswith("include/drx/tape/") or path in COPIES_ALL or bool(VIEW.search(text))


errors, files = [], 0
for folder in FOLDERS:
    for file in sorted((ROOT / folder).rglob("*")):
        if file.suffix not in (".hpp", ".cpp", ".cu"):
            continue
        files += 1
        path, text = file.relative_to(ROOT).as_posix(), file.read_text()
        refused = OF_ANOTHER if owns(path, text) else INTS
        for number, line in enumerate(text.splitlines(), 1):
            if refused.search(line.split("//")[0]):
                errors.append(f"{path}:{number}: ints by number: read a view of the primitive, or write by its function: {line.strip()}")
print("\n".join(errors))
bad = {error.split(":")[0] for error in errors}
print(f"{files - len(bad)} passed, {len(bad)} failed")
sys.exit(bool(errors) or not files)

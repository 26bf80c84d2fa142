"""documents.py EXECUTABLE NAME...: the documents that drx_add_programs left beside the executable are what it prints, and as their schema says."""
import json, pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import packages  # noqa: E402

VALIDATE = """
import json, jsonschema, sys
validator = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
for path in sys.argv[2:]: validator.validate(json.load(open(path)))
"""
executable, *names = sys.argv[1:]
passed = failed = 0


def check(what, good, why=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED {what}: {why}")


printed = subprocess.run([executable], check=True, capture_output=True, text=True).stdout
files = [pathlib.Path(f"{executable}.{name}.plan.json") for name in names]
missing = [str(f) for f in files if not f.is_file()]
check("each program has a document", names and not missing, missing)
check("nothing else has one", len(list(files[0].parent.glob(f"{pathlib.Path(executable).name}.*.plan.json"))) == len(names))
if not missing:
    texts = [f.read_text() for f in files]
    check("the documents are what the executable prints", "".join(texts) == printed, [t[:300] for t in texts])
    check("each is of its own program", len({json.loads(t)["hash"] for t in texts}) == len(names))
skipped = ""
try:
    python = packages.environment("schema", packages.cache() / "venv-schema")
    done = subprocess.run([python, "-c", VALIDATE, ROOT / "docs/plan.schema.json", *files], capture_output=True, text=True)
    check("they are as the schema says", done.returncode == 0, done.stderr[-500:])
except (packages.Failure, OSError) as problem:
    skipped = ", 1 skipped"
    print(f"skipped the schema: schema.txt cannot be installed here: {problem}")
print(f"{passed} passed, {failed} failed{skipped}")
sys.exit(failed > 0)

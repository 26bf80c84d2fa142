#!/usr/bin/env python3
"""check.py PROGRAM MPIEXEC [MPIEXEC'S OPTIONS...] NUMPROC_FLAG

The worker refuses what is damaged or does not fit, with a sentence and an exit status; the documents are as their schemas
say; and the three programs have the same bits on MPI, Beam, Spark and Hadoop Streaming, though a worker is killed; and
those that are one federated round on Flower. And so have they in a shared object.
"""
import json
import os
import pathlib
import shlex
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
import packages  # noqa: E402

REFUSED, DAMAGED = 1, 3
PROGRAMS = "fedavg,hypergradient,k_means"
passed = failed = skipped = 0


def check(name, ok, why=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED {name}: {why}")


def frame(head, blobs=(), **damage):
    text = json.dumps({**head, "blobs": [len(b) for b in blobs]}).encode()
    payload = struct.pack("<I", len(text)) + text + b"".join(blobs)
    header = struct.pack("<4sIQ", damage.get("magic", b"drx1"), damage.get("checksum", zlib.crc32(payload)),
                         damage.get("length", len(payload)))
    return header + payload


def ask(program, data):
    """The exit status, what stderr says, and whether stdout has an answer that names an error."""
    done = subprocess.run([program, "--drx-worker"], input=data, capture_output=True, check=False, timeout=60)
    return done.returncode, done.stderr.decode(), b'"error"' in done.stdout


def check_worker(program):
    plans = json.loads(subprocess.run([program, "--drx-plans"], capture_output=True, check=True).stdout)
    plan = plans[0]["plan"]["hash"]
    request = {"do": "finish", "program": 0, "plan": plan, "members": {"clients": 3}, "roots": 0}
    leaves = [struct.pack("<4d", 0, 0, 0, 0), struct.pack("<d", 0.5)]
    status, said, refused = ask(program, frame(request, leaves))
    check("a good request", status == 0 and not refused, said)
    good = frame(request, leaves)
    wrong = {
        "no frame": (b"hello, worker, are you there?", DAMAGED, "does not begin with drx1"),
        "a header that is cut off": (good[:7], DAMAGED, "ends after 7 bytes"),
        "a frame that is cut off": (good[:-1], DAMAGED, "in the middle of a frame"),
        "a changed byte": (good[:-1] + bytes([good[-1] ^ 1]), DAMAGED, "its checksum differs"),
        "a length of petabytes": (frame(request, leaves, length=1 << 60), DAMAGED, "a frame of 1152921504606846976 bytes"),
        "a length that is too long": (frame(request, leaves, length=1 << 39), DAMAGED, "in the middle of a frame"),
        "another plan": (frame({**request, "plan": "0" * 16}, leaves), REFUSED, "goes by plan 0000000000000000"),
        "another program": (frame({**request, "program": 7}, leaves), REFUSED, "program 7 of a worker that serves 3"),
        "no such request": (frame({"do": "everything"}), REFUSED, 'asked for is "everything"'),
        "no request": (frame({}), REFUSED, 'without "do"'),
        "too few arguments": (frame(request, leaves[:1]), REFUSED, "a request with 1 blobs needs 2"),
        "an argument of another size": (frame(request, [leaves[1], leaves[1]]), REFUSED, "argument 0, leaf 0 has 8 bytes"),
        "no members": (frame({**request, "members": {}}, leaves), REFUSED, "the number of members of clients is not given"),
        "members that are no number": (frame({**request, "members": {"clients": "x"}}, leaves), REFUSED, "no integer"),
        "less than no members": (frame({**request, "members": {"clients": -1}}, leaves), REFUSED, "of -1 members"),
        "a root of another size": (frame({**request, "roots": 1}, [*leaves, b"12345678"]), REFUSED, "has 8 bytes; a node"),
        "a file that is missing": (frame({**request, "do": "map", "partitions": [{"first": 0, "count": 3, "leaves": [
            {"path": "/no/such/file", "offset": 0}]}]}, leaves), REFUSED, "/no/such/file: No such file"),
        "a node that no tree has": (frame({"do": "combine", "program": 0, "plan": plan, "stage": 0, "partials":
            [[[99, 0]]]}, [bytes(32)]), REFUSED, "has a node (99, 0)"),
        "partials of some members": (frame({"do": "root", "program": 0, "plan": plan, "stage": 0, "count": 9, "partials":
            [[[0, 4]]]}, [bytes(32)]), REFUSED, "not those of all 9 members"),
        "more members than numbers have": (frame({"do": "root", "program": 0, "plan": plan, "stage": 0, "count": 2**63 - 1,
            "partials": []}), REFUSED, "not those of all 9223372036854775807 members"),
        "a number that is too large": (frame({"do": "root", "program": 0, "plan": plan, "stage": 0, "count": 2**64 - 1,
            "partials": []}), REFUSED, "18446744073709551615, which has more than 64 bits"),
        "too many members": (frame({**request, "members": {"clients": 2**48 + 1}}, leaves), REFUSED, "up to 2^48 members"),
    }
    for name, (data, expected, words) in wrong.items():
        status, said, refused = ask(program, data)
        check(name, status == expected and words in said, f"status {status}, {said!r}")
        check(f"{name}: the answer", refused, "no answer names the error")
    return plans


def skip(name, why):
    global skipped
    skipped += 1
    print(f"skipped {name}: {why}")


def environment(name):
    try:
        return packages.environment(name, packages.cache() / f"venv-{name}")
    except (packages.Failure, OSError) as problem:
        skip(name, f"{name}.txt cannot be installed here: {problem}")


def check_schemas(plans, folder):
    python = environment("schema")
    if not python:
        return
    (folder / "plans.json").write_text(json.dumps([p["plan"] for p in plans]))
    text = ("import json, jsonschema, sys\n"
            "schema = json.load(open(sys.argv[1]))\n"
            "jsonschema.Draft202012Validator.check_schema(schema)\n"
            "for d in json.load(open(sys.argv[2])): jsonschema.Draft202012Validator(schema).validate(d)\n")
    def validated(schema, documents):
        return subprocess.run([python, "-c", text, ROOT / "docs" / schema, documents], capture_output=True, text=True, check=False)
    done = validated("plan.schema.json", folder / "plans.json")
    check("plans are as the schema says", done.returncode == 0, done.stderr[-500:])
    (folder / "other.json").write_text(json.dumps([{**plans[0]["plan"], "stages": [{}]}]))
    check("the schema refuses other documents", validated("plan.schema.json", folder / "other.json").returncode != 0)
    manifest = {"drx_manifest": 1, "placement": "clients", "members": 2, "partitions": [
        {"first": 0, "count": 2, "leaves": [{"path": "x.npy", "offset": 0}]}]}
    (folder / "manifest.json").write_text(json.dumps([manifest]))
    done = validated("manifest.schema.json", folder / "manifest.json")
    check("manifests are as the schema says", done.returncode == 0, done.stderr[-500:])


def check_package(folder):
    """The tests of python/, in an environment for each extra that they need."""
    for name, extra in (("flower", "test_f*.py"), ("parquet", "test_[!fs]*.py")):
        python = environment(name)
        if not python:
            continue
        done = subprocess.run([python, "-m", "unittest", "discover", "-s", ROOT / "python/tests", "-p", extra], text=True,
                              capture_output=True, check=False, cwd=folder,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python/src"), "FLWR_TELEMETRY_ENABLED": "0",
                                   "FLWR_HOME": str(folder / "flwr")})
        check(f"the tests of drx_engines with {name}", done.returncode == 0 and "skipped" not in done.stderr,
              done.stderr[-2000:])


PARQUET = """
import pathlib, sys
import numpy as np, pyarrow as pa, pyarrow.parquet
import drx_engines as drx, on_engine
executable, folder = sys.argv[1], pathlib.Path(sys.argv[2])
on_engine.write_data(folder, 100)
program = drx.Program.load(executable, "fedavg")
call = program.call(*on_engine.START, members={"clients": 100})
plain = drx.Manifest.of_files("clients", 100, [folder / "x.npy", folder / "y.npy"], 32)
rows = [dict(placement="clients", first=p.first, count=p.count, leaf=k, path=pathlib.Path(leaf.path).name, offset=leaf.offset)
        for p in reversed(plain.partitions) for k, leaf in enumerate(p.leaves)]
pa.parquet.write_table(pa.Table.from_pylist(rows), folder / "m.parquet")
with drx.Worker(program.command) as worker:
    (a,), (b,) = (drx.run_stages(call, m, lambda call, roots, m: worker.map(call, roots, m.partitions))
                  for m in (plain, drx.Manifest.read(folder / "m.parquet")))
assert np.abs(a).max() > 0 and a.tobytes() == b.tobytes(), (a, b)
"""


def check_parquet(program, folder):
    python = environment("parquet")
    if not python:
        return
    done = subprocess.run([python, "-c", PARQUET, program, folder], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": f"{ROOT / 'python/src'}:{HERE}"}, timeout=60)
    check("a worker takes a manifest in Parquet", done.returncode == 0, done.stderr[-2000:])


def on_engine(engine, programs, program, launcher, *options):
    words = [sys.executable, HERE / "run", "--engine", engine, "--program", programs, "--executable", program, *options]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=200,
                          env={**os.environ, "DRX_MPIRUN": shlex.join(launcher)})


def check_shared_object(program, launcher):
    shared = pathlib.Path(f"{program}.so")
    if not shared.exists():
        skip("the shared object", "it is not built with a sanitizer")
        return
    python = environment("parquet")
    if not python:
        return
    done = subprocess.run([python, ROOT / "python/tests/test_shared_object.py"], capture_output=True, text=True, check=False,
                          timeout=60, env={**os.environ, "PYTHONPATH": str(ROOT / "python/src"), "DRX_SHARED_OBJECT": str(shared)})
    check("the tests of drx_engines with a shared object", done.returncode == 0 and "skipped" not in done.stderr, done.stderr[-2000:])
    done = on_engine("shared", PROGRAMS, program, launcher)
    check("three programs in a shared object", done.returncode == 0 and done.stdout.count("the same bits as MPI on 1 and 3 ranks\n") == 3,
          done.stdout + done.stderr[-2000:])
    named = subprocess.run(["nm", "-D", "--defined-only", shared], capture_output=True, text=True, check=False).stdout
    check("one function of the shared object has a name outside it", "drx_engine_of" in named
          and not [line for line in named.splitlines() if "drx" in line and "drx_engine_of" not in line], named)


def check_engines(program, launcher):
    for engine in ["streaming", "beam", "beam-portable", "spark"]:
        if engine == "spark" and subprocess.run(["bash", "-c", "java -version"], capture_output=True, check=False).returncode:
            skip(engine, "there is no java")
            continue
        if not environment(engine.removesuffix("-portable")):
            continue
        done = on_engine(engine, PROGRAMS, program, launcher, "--kill")
        same = done.stdout.count("the same bits as MPI on 1 and 3 ranks, though a worker was killed")
        check(f"three programs on {engine}", done.returncode == 0 and same == 3, done.stdout + done.stderr[-2000:])


def check_flower(program, launcher):
    if not environment("flower"):
        return
    done = on_engine("flower", "fedavg", program, launcher, "--kill")
    check("federated averaging on flower", done.returncode == 0 and "3 rounds" in done.stdout
          and "the same bits as MPI on 1 and 3 ranks, though a worker was killed" in done.stdout,
          done.stdout + done.stderr[-2000:])
    done = on_engine("flower-deployed", "fedavg", program, launcher)
    check("federated averaging on flower's SuperLink and SuperNodes", done.returncode == 0 and "3 rounds" in done.stdout
          and "the same bits as MPI on 1 and 3 ranks" in done.stdout, done.stdout + done.stderr[-2000:])
    for name, why in (("hypergradient", "a call of this program has 3 (entry 6: "),
                      ("k_means", "a call of this program has 6 (entry 0: ")):
        done = on_engine("flower", name, program, launcher)
        said = f"{name} is not a federated round: a federated round has one broadcast and one reduction; {why}"
        check(f"{name} on flower is refused", done.returncode == 1 and said in done.stderr, done.stdout + done.stderr[-2000:])


def main():
    program, *launcher = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        plans = check_worker(program)
        check_schemas(plans, pathlib.Path(name))
        check_package(pathlib.Path(name))
        check_parquet(program, pathlib.Path(name))
        check_shared_object(program, launcher)
        check_engines(program, launcher)
        check_flower(program, launcher)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())

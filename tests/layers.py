"""Each folder of include/drx includes only itself and those before it, and each room of plan/ and run/ likewise; the core includes no Kokkos, MPI, Eigen or Boost."""
import pathlib, re, sys

CORE = ["meta", "scalar", "core", "tape", "tracing", "primitives", "functions", "transform", "algorithms", "plan", "generate"]
ORDER = CORE + ["run", "engines", "device", "backend"]
ROOMS = {  # within a folder, in the same sense: its folders, and headers; those that are not named may include all
    "plan": ["machine.hpp", "shards", "loops", "staging", "pipeline.hpp", "memory"],
    "run": ["check", "packs", "gemm", "data", "fused", "kernels", "stage", "call"],
}
HEAVY = re.compile(r"Kokkos|mpi\.h|Eigen/|boost/|omp\.h")
include = pathlib.Path(__file__).parents[1] / "include" / "drx"


def allowed(folder):
    """The folders that a header in folder may include; the umbrellas are in folder ''."""
    if folder == "ext":
        return ORDER[: ORDER.index("core") + 1] + ["ext"]
    return ORDER[: ORDER.index(folder) + 1]


def room_order_holds(header, target):
    (folder, *path), (to, *to_path) = header.split("/"), target.split("/")
    rooms = ROOMS.get(folder)
    if not rooms or folder != to or path[0] not in rooms:
        return True
    return to_path[0] in rooms and rooms.index(to_path[0]) <= rooms.index(path[0])


def may_include(header, target):
    if target == "config.hpp":
        return True
    if not room_order_holds(header, target):
        return False
    folder = target.split("/")[0] if "/" in target else ""
    if header == "drx.hpp":
        return folder in CORE and folder != "algorithms"
    if header == "algorithms.hpp":
        return folder == "algorithms" or target == "drx.hpp"
    if header == "run.hpp":
        return folder in ORDER and folder != "device" or target == "drx.hpp"
    if header == "device.hpp":
        return folder in ORDER or target == "run.hpp"
    return "/" in header and folder in allowed(header.split("/")[0])


errors = []
headers = sorted(include.rglob("*.hpp"))
for path in headers:
    header = path.relative_to(include).as_posix()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r"\s*#\s*include\s*([<\"])([^>\"]+)", line)
        if not match:
            continue
        target = match[2]
        if target.startswith("drx/"):
            if not may_include(header, target[len("drx/"):]):
                errors.append(f"{path}:{number}: {header} may not include {target}")
        elif match[1] == '"':
            errors.append(f'{path}:{number}: include it as <drx/...>, not "{target}"')
        elif HEAVY.match(target) and (header == "drx.hpp" or header.split("/")[0] in CORE + ["config.hpp"]):
            errors.append(f"{path}:{number}: the core may not include <{target}>")
    if "#pragma once" not in path.read_text():
        errors.append(f"{path}:1: no #pragma once")
print("\n".join(errors))
bad = {error.split(":")[0] for error in errors}
print(f"{len(headers) - len(bad)} passed, {len(bad)} failed")
sys.exit(bool(errors) or not headers)

"""check.py FILE.cu --include FOLDER... --flags FLAG...: compiles the kernels of a file for GPUs, by clang with the headers and the assembler of CUDA
from PyPI, and compares what they take with the file's first line: `// registers: 128, stack: 256`. No number may spill. Ends with
`N passed, N failed`, `N skipped` where this cannot be compiled here."""
import argparse, pathlib, re, shutil, subprocess, sys, tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import packages

ARCHITECTURES = ["sm_80", "sm_90"]
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("source", type=pathlib.Path)
parser.add_argument("--include", action="append", default=[])
parser.add_argument("--system", action="append", default=[])
parser.add_argument("--flag", action="append", default=[])
args = parser.parse_args()


def skip(reason):
    print(f"skipped: {reason}\n0 passed, 0 failed, {len(ARCHITECTURES)} skipped")
    sys.exit(0)


def toolkit():
    """A folder as clang expects CUDA's: its headers, device library and assembler. None of these packages has a compiler."""
    folder = packages.cache() / "venv-cuda"
    packages.environment("cuda", folder)
    (site,) = folder.glob("lib/python*/site-packages/nvidia")
    root = packages.cache() / "cuda"
    with packages.only_one(root):
        if (root / "version.json").exists():
            return root
        shutil.rmtree(root, ignore_errors=True)
        for part in ("cuda_runtime/include", "cuda_nvcc/include", "curand/include"):
            shutil.copytree(site / part, root / "include", dirs_exist_ok=True)
        for part in ("nvvm", "bin"):
            shutil.copytree(site / "cuda_nvcc" / part, root / part)
        (root / "bin" / "ptxas").chmod(0o755)
        (root / "lib64").mkdir()
        (root / "version.json").write_text('{"cuda": {"name": "CUDA SDK", "version": "12.4.1"}}\n')
    return root


compiler = next((found for name in ("clang++-19", "clang++-20", "clang++-18") if (found := shutil.which(name))), None)
if not compiler:
    skip("no clang++ of version 18 or newer")
try:
    cuda = toolkit()
except packages.Failure as problem:
    skip(f"CUDA's headers cannot be installed: {problem}")
limits = re.match(r"// registers: (\d+), stack: (\d+)\n", args.source.read_text())
if not limits:
    sys.exit(f"{args.source}:1: expected `// registers: NUMBER, stack: NUMBER`")
most_registers, most_stack = map(int, limits.groups())
failed = 0
for architecture in ARCHITECTURES:
    with tempfile.TemporaryDirectory() as folder:
        ptx = pathlib.Path(folder) / "kernels.ptx"
        done = subprocess.run([compiler, "-x", "cuda", f"--cuda-path={cuda}", f"--cuda-gpu-arch={architecture}", "--cuda-device-only", "-S", "-O3",
                               "-std=c++20", "-Werror", "-Wall", "-Wextra", "-Wno-unknown-cuda-version", "-Wno-deprecated-declarations",  # (of libstdc++ 12)
                               *args.flag, *[f"-I{i}" for i in args.include],
                               *[x for i in args.system for x in ("-isystem", i)], args.source, "-o", ptx], capture_output=True, text=True)
        report = done.stderr
        if done.returncode == 0:
            done = subprocess.run([cuda / "bin" / "ptxas", f"-arch={architecture}", "-v", ptx, "-o", "/dev/null"], capture_output=True, text=True)
            report += done.stderr
    registers = max(map(int, re.findall(r"Used (\d+) registers", report)), default=None)
    stack = max(map(int, re.findall(r"(\d+) bytes stack frame", report)), default=None)
    spills = sum(map(int, re.findall(r"(\d+) bytes spill", report)))
    kernels = len(re.findall(r"Compiling entry function", report))
    print(f"{architecture}: {kernels} kernels, {registers} registers, {stack} bytes of stack, {spills} bytes spilled")
    if done.returncode or not kernels or registers > most_registers or stack > most_stack or spills:
        failed += 1
        print(report)
print(f"{len(ARCHITECTURES) - failed} passed, {failed} failed")
sys.exit(bool(failed))

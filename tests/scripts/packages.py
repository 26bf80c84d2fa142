"""What the scripts download: no package without its version and hash, and nothing of a package runs before its hash is checked."""
import contextlib, hashlib, io, os, pathlib, re, shutil, subprocess, sys, tarfile, tempfile, zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT_OUT = {"build", "out", ".git", "__pycache__"}
ASKS_PIP = re.compile(r"""\bpip3?["']?[\s,]+(?:-[^\s,]+[\s,]+)*["']?(?:install|download|wheel)\b""")
PINNED = re.compile(r'[a-z0-9-]+==[0-9.]+(post[0-9]+)?( ; python_version == "[0-9.]+")?( --hash=sha256:[0-9a-f]{64})+')

# A source archive that would tell that its build has run.
BACKEND = """
import os, pathlib
def ran():
    pathlib.Path(os.environ["RAN"]).touch()
def prepare_metadata_for_build_wheel(folder, settings=None):
    ran()
    info = pathlib.Path(folder) / "pycompadre-1.7.6.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: pycompadre\\nVersion: 1.7.6\\n")
    return info.name
def get_requires_for_build_wheel(settings=None):
    ran()
    return []
"""
BUILD_SYSTEM = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "pycompadre"\nversion = "1.7.6"\n'


def files_of_tree():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        yield from (pathlib.Path(folder) / name for name in names)


def unpinned_calls(text):
    return [line.strip() for line in text.splitlines() if ASKS_PIP.search(line)]


def unpinned_lines(text):
    joined = text.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line and not line.startswith("#") and not PINNED.fullmatch(re.sub(r" +", " ", line))]


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def source_archive(folder):
    path = folder / "pycompadre-1.7.6.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in {"backend.py": BACKEND, "pyproject.toml": BUILD_SYSTEM, "kokkos/CMakeLists.txt": "",
                           "PKG-INFO": "Metadata-Version: 2.1\nName: pycompadre\nVersion: 1.7.6\n"}.items():
            entry = tarfile.TarInfo(f"pycompadre-1.7.6/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path


def wheel(folder, version):
    path = folder / f"thing-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        info = f"thing-{version}.dist-info"
        archive.writestr("thing.py", f"version = '{version}'\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: thing\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", f"thing.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return path


class Tree:
    """A copy of scripts/ with requirements of its own, which takes packages from a folder and reaches no registry."""

    def __init__(self, folder):
        self.folder, self.scripts, self.offered = folder, folder / "scripts", folder / "offered"
        shutil.copytree(ROOT / "scripts", self.scripts, ignore=shutil.ignore_patterns("requirements", "__pycache__"))
        (self.scripts / "requirements").mkdir()
        self.offered.mkdir()
        self.ran = folder / "ran"
        self.require("build", "# nothing")
        self.require("python", "# nothing")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("PIP_") and not k.startswith("Kokkos_")} | dict(
            PIP_NO_INDEX="1", PIP_FIND_LINKS=str(self.offered), PIP_CONFIG_FILE=os.devnull, DRX_CACHE=str(folder / "cache"), RAN=str(self.ran))

    def require(self, name, line):
        (self.scripts / "requirements" / f"{name}.txt").write_text(line + "\n")

    def run(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=280)

    def packages(self, *words):
        return self.run(sys.executable, self.scripts / "packages.py", *map(str, words))


results = []


def expect(good, what, done=None):
    results.append(bool(good))
    print("ok  " if good else "FAIL", what)
    if not good and done is not None:
        print(done.stdout, done.stderr, sep="\n")


def check_tree():
    own = {ROOT / "scripts" / "packages.py", pathlib.Path(__file__).resolve()}
    found = []
    for path in sorted(set(files_of_tree()) - own):
        with contextlib.suppress(UnicodeDecodeError, OSError):
            found += [f"{path.relative_to(ROOT)}: {line}" for line in unpinned_calls(path.read_text())]
    expect(not found, "only scripts/packages.py calls pip" + "".join(f"\n     {line}" for line in found))
    for line in ('"$python" -m pip install numpy', '[python, "-m", "pip", "install", "jax"]', "pip3 --quiet download x", 'pip wheel x'):
        expect(unpinned_calls(line), f"a call of pip is seen: {line}")


def check_requirements():
    files = sorted((ROOT / "scripts" / "requirements").glob("*.txt"))
    expect(files, "there are requirements")
    for path in files:
        loose = unpinned_lines(path.read_text())
        expect(not loose, f"{path.name}: each package has a version and hashes, and nothing else stands there" + "".join(f"\n     {x}" for x in loose))
    for line in ("numpy", "numpy==1.2", "numpy>=1 --hash=sha256:" + "0" * 64, "--index-url somewhere", "x==1 --hash=md5:00"):
        expect(unpinned_lines(line), f"a loose requirement is seen: {line}")


def check_download(tree):
    archive, into = source_archive(tree.offered), tree.folder / "into"
    into.mkdir()
    right, wrong = sha256(archive), "0" * 64
    tree.require("kokkos", f"pycompadre==1.7.6 --hash=sha256:{wrong}")
    done = tree.packages("download", "kokkos", into)
    expect(done.returncode == 1 and "DO NOT MATCH THE HASHES" in done.stderr and right in done.stderr and not tree.ran.exists()
           and not list(into.iterdir()), "an archive with another hash is refused before its build runs", done)
    tree.require("kokkos", "pycompadre==1.7.6")
    done = tree.packages("download", "kokkos", into)
    expect(done.returncode == 1 and "Hashes are required" in done.stderr and not tree.ran.exists(), "an archive without a hash is refused", done)
    tree.require("kokkos", f"pycompadre==1.7.6 --hash=sha256:{wrong}")
    set_up = f'source "{tree.scripts}/setup.sh"; kokkos_installed() {{ false; }}; setup_python; setup_kokkos; echo went on'
    done = tree.run("bash", "-c", set_up)
    expect(done.returncode != 0 and "went on" not in done.stdout and "FAILED at step: download Kokkos" in done.stderr
           and "DO NOT MATCH THE HASHES" in done.stderr and not tree.ran.exists(), "a wrong hash stops the set-up, which says why", done)
    tree.require("kokkos", f"pycompadre==1.7.6 --hash=sha256:{right}")
    done = tree.packages("download", "kokkos", into)
    expect(done.returncode == 0 and sha256(into / archive.name) == right and tree.ran.exists(), "the right archive is taken", done)


def check_environment(tree):
    first, second = wheel(tree.offered, "1.0"), wheel(tree.offered, "2.0")
    folder = tree.folder / "cache" / "venv-thing"
    version = lambda: tree.run(folder / "bin/python", "-c", "import thing; print(thing.version)").stdout.strip()  # noqa: E731
    tree.require("thing", f"thing==1.0 --hash=sha256:{sha256(second)}")
    done = tree.packages("environment", "thing", folder)
    expect(done.returncode == 1 and "DO NOT MATCH THE HASHES" in done.stderr and not (folder / "complete").exists(), "a wheel with another hash is refused", done)
    tree.require("thing", f"thing==1.0 --hash=sha256:{sha256(first)}")
    done = tree.packages("environment", "thing", folder)
    expect(done.returncode == 0 and version() == "1.0", "the right wheel is installed", done)
    made = (folder / "complete").stat().st_mtime_ns
    done = tree.packages("environment", "thing", folder)
    expect(done.returncode == 0 and (folder / "complete").stat().st_mtime_ns == made, "an environment that is there is taken as it is", done)
    tree.require("thing", f"thing==2.0 --hash=sha256:{sha256(second)}")
    done = tree.packages("environment", "thing", folder)
    expect(done.returncode == 0 and version() == "2.0", "a changed requirement makes a new environment", done)


check_tree()
check_requirements()
with tempfile.TemporaryDirectory(prefix="drx-packages-") as name:
    tree = Tree(pathlib.Path(name))
    check_download(tree)
    check_environment(tree)
print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
sys.exit(not all(results))

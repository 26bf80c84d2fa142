#!/usr/bin/env python3
"""Python packages for the scripts, always the files whose SHA-256 stands in scripts/requirements/NAME.txt.

packages.py environment NAME FOLDER   makes FOLDER a virtual environment of exactly these packages, unless it is one
packages.py download NAME FOLDER      puts the one package's archive into FOLDER, and installs nothing

pip compares each file with its hash before anything in it runs. It installs wheels only, except packages that have none:
they are in NAME_source.txt, and are built in the environment, by the build tools that NAME.txt pins. A source archive that
is downloaded has its metadata made, by the build tools of build.txt in an environment of their own.
"""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys

REQUIREMENTS = pathlib.Path(__file__).resolve().parent / "requirements"


class Failure(Exception):
    """The error, for the user."""


def cache():
    """The folder outside the tree that scripts/setup.sh fills too."""
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("DRX_CACHE") or pathlib.Path(home) / "drx")


def call(what, *command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
    if done.returncode != 0:
        raise Failure(f"{what}:\n{done.stdout.strip()}")


def pip(what, python, command, *options):
    call(what, python, "-m", "pip", command, "--disable-pip-version-check", "--no-input", *options)


@contextlib.contextmanager
def only_one(folder):
    """Keeps two processes from filling one folder; the lock ends with the process."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_name(folder.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_complete(folder, name):
    """Whether the folder is an environment of the packages that are asked for now: its marker is the hash of their file."""
    marker = folder / "complete"
    return marker.exists() and marker.read_text() == hash_of(name) and (folder / "bin/python").exists()


def sources_of(name):
    """The list of the packages without wheels, if there is one."""
    path = REQUIREMENTS / f"{name}_source.txt"
    return [path] if path.exists() else []


def hash_of(name):
    files = [REQUIREMENTS / f"{name}.txt", *sources_of(name)]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def environment(name, folder):
    """The interpreter of a virtual environment with the packages of NAME.txt, which is made if it is missing."""
    folder = pathlib.Path(folder)
    python = folder / "bin/python"
    with only_one(folder):
        if not is_complete(folder, name):
            debian = pathlib.Path("/usr/bin/python3")  # the one that Debian's python3-venv belongs to
            call("no virtual environment", debian if debian.exists() else sys.executable, "-m", "venv", "--clear", folder)
            pip(f"{name}.txt does not install", python, "install", "--no-deps", "--only-binary", ":all:", "--require-hashes",
                "--requirement", REQUIREMENTS / f"{name}.txt")
            for path in sources_of(name):
                pip(f"{path.name} does not install", python, "install", "--no-deps", "--no-build-isolation", "--no-binary",
                    ":all:", "--require-hashes", "--requirement", path)
            pip(f"{name}.txt lacks a package", python, "check")
            (folder / "complete").write_text(hash_of(name))
    return python


def download(name, folder, *options):
    """Puts the archive of the one package of NAME.txt into the folder and returns it. Options are those of `pip download`."""
    python = environment("build", cache() / "venv-build")
    before = set(pathlib.Path(folder).glob("*"))
    pip(f"{name}.txt does not download", python, "download", "--no-deps", "--no-build-isolation", "--require-hashes", *options,
        "--dest", folder, "--requirement", REQUIREMENTS / f"{name}.txt")
    new = sorted(set(pathlib.Path(folder).glob("*")) - before)
    if len(new) != 1:
        raise Failure(f"{name}.txt: expected one new file in {folder}, found {len(new)}")
    return new[0]


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("environment", "download"):
        print(__doc__.strip())
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    try:
        print({"environment": environment, "download": download}[sys.argv[1]](*sys.argv[2:]))
    except (Failure, OSError) as problem:
        print(f"packages.py: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The peers that package registries carry: a virtual environment of PyPI's, and Debian's Stan Math.

PyTorch is used where it is there already, not installed: its wheels bring 3 GB for CUDA.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import venv

PACKAGES = {"jax": "drjax", "enzyme_ad": "enzyme-ad"}  # what brings a module, where that is not its name


def cache():
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("DRX_CACHE") or pathlib.Path(home) / "drx")


def home():
    return cache() / "venv-jax"


def unpacked(package):
    """The folder with a Debian package's files: headers whose package would install much else. None where apt has it not."""
    folder = cache() / package
    if not folder.exists():
        with tempfile.TemporaryDirectory() as work:
            done = subprocess.run(["apt-get", "download", package], cwd=work, stdout=sys.stderr) if shutil.which("apt-get") else None
            files = list(pathlib.Path(work).glob("*.deb"))
            if not done or done.returncode != 0 or not files:
                print(f"{package} is not to be had: its sides are left out", file=sys.stderr)
                return None
            subprocess.run(["dpkg-deb", "-x", files[0], pathlib.Path(work) / "files"], check=True)
            shutil.move(pathlib.Path(work) / "files", folder)
    return folder


def has(python, module):
    return subprocess.run([python, "-c", f"import importlib.util as u, sys; sys.exit(u.find_spec('{module}') is None)"]).returncode == 0


def python(modules):
    """An interpreter with these modules: $DRX_CACHE/venv-jax (default ~/.cache/drx), made and filled where they lack."""
    interpreter = home() / "bin/python"
    if not interpreter.exists():
        venv.create(home(), with_pip=True, clear=True)
    for module in modules:
        if module != "torch" and not has(interpreter, module) and subprocess.run(
                [interpreter, "-m", "pip", "install", "--quiet", PACKAGES.get(module, module)], stdout=sys.stderr).returncode != 0:
            print(f"{module} does not install: its sides are left out", file=sys.stderr)
    return interpreter

"""The virtual environment of the peers that PyPI carries.

PyTorch is used where it is there already, not installed: its wheels bring 3 GB for CUDA.
"""

import os
import pathlib
import subprocess
import sys
import venv

PACKAGES = {"jax": "drjax"}  # what brings a module, where that is not its name


def home():
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("DRX_CACHE") or pathlib.Path(cache) / "drx") / "venv-jax"


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

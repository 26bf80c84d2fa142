"""The peers that package registries carry: a virtual environment of scripts/requirements/peers.txt, and Debian's Stan Math.

PyTorch is used where it is there already, not installed: its wheels bring 3 GB for CUDA.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "scripts"))
import packages  # noqa: E402


def unpacked(package):
    """The folder with a Debian package's files: headers whose package would install much else. None if apt does not have it."""
    folder = packages.cache() / package
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


def python():
    """The interpreter of $DRX_CACHE/venv-peers (default ~/.cache/drx), which is made if it is missing; None if that fails."""
    try:
        return packages.environment("peers", packages.cache() / "venv-peers")
    except (packages.Failure, OSError) as problem:
        print(f"the peers' packages do not install: the sides in Python are left out: {problem}", file=sys.stderr)

"""Calls a compiler by hand, with the flags that the build uses."""
import json, os, pathlib, re, subprocess


class Compiler:
    def __init__(self, path, flags):
        with open(flags) as file:
            # naming /usr/include would move it before the standard library's own folders
            self.flags = {key: [f for f in value.split(";") if f not in ("", "-isystem/usr/include")]
                          for key, value in json.load(file).items()}
        self.path = path
        self.clang = "clang" in os.path.basename(path)
        self.can_run = bool(self.flags["run"]) and not self.clang  # Kokkos was built for g++ and its OpenMP
        self.precompiled = {}  # header: the flags that read it precompiled

    def precompile(self, header, folder):
        """Makes check() without `run` read this header from a folder that is searched first."""
        folder = pathlib.Path(folder)
        result = folder / (header + (".pch" if self.clang else ".gch"))
        result.parent.mkdir(parents=True, exist_ok=True)
        source = folder / "precompiled.hpp"
        source.write_text(f"#include <{header}>\n")
        subprocess.run([self.path, *self.flags["Clang" if self.clang else "GNU"], "-x", "c++-header", str(source), "-o", str(result)],
                       check=True)
        self.precompiled[header] = ["-include-pch", str(result)] if self.clang else ["-Winvalid-pch", f"-I{folder}"]

    def check(self, source, run=False):
        """(whether source compiles, its diagnostics)"""
        flags = self.flags["Clang" if self.clang else "GNU"]
        if run:
            flags = flags + self.flags["run"]
        elif self.precompiled:
            first = re.search(r"^#include <(.*)>", pathlib.Path(source).read_text(), re.M)
            flags = self.precompiled.get(first and first[1], []) + flags
        done = subprocess.run([self.path, "-fsyntax-only", *flags, str(source)], capture_output=True, text=True,
                              env={**os.environ, "LC_ALL": "C"})  # plain quotes in the diagnostics
        return done.returncode == 0, done.stdout + done.stderr

    def build(self, source, program, *more):
        """Compiles and links a source of the core."""
        return subprocess.run([self.path, *self.flags["Clang" if self.clang else "GNU"], *more, str(source), "-o", str(program)],
                              capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})

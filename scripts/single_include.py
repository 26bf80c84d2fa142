#!/usr/bin/env python3
"""Writes single_include/drx.hpp: <drx/drx.hpp> and all that it includes as one file, for online compilers and for a quick look.

    scripts/single_include.py           writes the file
    scripts/single_include.py --check   says whether it is what this script makes

Comments are left out, but those that compilers show in an error (`// drx: ...`)."""
import argparse, pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "include"
OUTPUT = ROOT / "single_include/drx.hpp"
HEAD = """// drx in one file: what <drx/drx.hpp> includes. It traces, checks, differentiates and prints programs; running them needs
// the library. Made by scripts/single_include.py from include/drx; see LICENSE.
"""
INCLUDED = re.compile(r"\s*#\s*include\s*(<[^>]+>)")
CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|endif)\b")
LITERAL_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|(?<!\w)\'(?:\\.|[^\'\\])*\'|//.*')


def without_comments(text):
    """The lines of text without comments that no compiler shows; a line that is nothing else goes."""
    for line in text.split("\n"):
        kept = LITERAL_OR_COMMENT.sub(lambda m: "" if m[0].startswith("//") and not m[0].startswith("// drx:") else m[0], line).rstrip()
        if kept or not line:
            yield kept


class Inliner:
    """The text of headers in the order in which a compiler sees it, each once."""

    def __init__(self):
        self.once, self.under_condition, self.system, self.out = set(), set(), set(), []

    def add(self, header, under_condition=False):
        if header in self.once:
            if header in self.under_condition and not under_condition:
                sys.exit(f"include/{header} is included under a condition first, and later without one")
            return
        if under_condition:
            self.under_condition.add(header)
        depth = 0  # of the conditions around a line, which the compiler decides
        for line in without_comments((INCLUDE / header).read_text()):
            if condition := CONDITION.match(line):
                depth += condition[1].startswith("if") - (condition[1] == "endif")
            decided_later = under_condition or depth > 0
            if re.match(r"\s*#\s*pragma once", line):
                self.once.add(header)
            elif re.match(r"\s*#\s*pragma GCC system_header", line):
                continue  # of that header only
            elif found := INCLUDED.match(line):
                target = found[1].strip("<>")
                if target.startswith("drx/"):
                    self.add(target, decided_later)
                elif decided_later or found[1] not in self.system:
                    self.out.append(line)
                    if not decided_later:
                        self.system.add(found[1])
            else:
                self.out.append(line)


def made():
    inliner = Inliner()
    inliner.add("drx/drx.hpp")
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(inliner.out))
    return HEAD + "#pragma once\n" + text.strip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()
    text, name = made(), OUTPUT.relative_to(ROOT)
    right = OUTPUT.exists() and OUTPUT.read_text() == text
    if args.check:
        print(f"{int(right)} passed, {int(not right)} failed" if right else f"FAILED {name} is not what scripts/single_include.py makes: run it\n0 passed, 1 failed")
        return not right
    if not right:
        OUTPUT.parent.mkdir(exist_ok=True)
        OUTPUT.write_text(text)
        print(f"wrote {name}: {text.count(chr(10))} lines, {len(text) // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

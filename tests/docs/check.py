"""Code in README.md and docs/ is true: each ```cpp block with a main() compiles, and so does one after `<!-- compile -->`;
one after `<!-- cut: FILE NAME -->` is the text between `// cut-begin NAME` and `// cut-end NAME` in FILE (--fix copies it)."""
import argparse, pathlib, re, sys, tempfile, textwrap
from concurrent.futures import ThreadPoolExecutor
root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tests"))
from harness.compiler import Compiler

BLOCK = re.compile(r"(?:<!-- *(?P<kind>cut|compile)(?:: *(?P<file>\S+) +(?P<name>\S+))? *-->\n)?^```cpp\n(?P<code>.*?)^```$", re.M | re.S)


def cut(file, name):
    path = root / file
    match = path.exists() and re.search(rf"^[ \t]*// cut-begin {name}\n(.*?)^[ \t]*// cut-end {name}$", path.read_text(), re.M | re.S)
    return textwrap.dedent(match[1]) if match else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler")
    parser.add_argument("--flags", help="flags.json in the build tree")
    parser.add_argument("--fix", action="store_true", help="rewrite the cuts from their files")
    args = parser.parse_args()
    pages = sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])
    if args.fix:
        def renew(match):
            text = match["kind"] == "cut" and cut(match["file"], match["name"])
            return match[0].replace(f"```cpp\n{match['code']}```", f"```cpp\n{text}```") if text else match[0]
        for page in pages:
            text = page.read_text()
            if (new := BLOCK.sub(renew, text)) != text:
                page.write_text(new)
                print(f"rewrote {page.relative_to(root)}")
        return 0

    compiler = Compiler(args.compiler, args.flags)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="drx-docs-"))

    def check(where, block):
        code = block["code"]
        if block["kind"] == "cut":
            text = cut(block["file"], block["name"])
            if text is None:
                return f"{where}: no cut {block['name']} in {block['file']}"
            return None if text == code else f"{where}: differs from {block['file']}; tests/docs/check.py --fix copies it"
        source = folder / (re.sub(r"\W", "_", where) + ".cpp")
        source.write_text(code)
        ok, output = compiler.check(source, run=compiler.can_run)
        return None if ok else f"{where}: does not compile\n" + "\n".join(output.splitlines()[:15])

    tasks = []
    for page in pages:
        text = page.read_text()
        for block in BLOCK.finditer(text):
            if not block["kind"] and "int main" not in block["code"]:
                continue
            if "drx/run.hpp" in block["code"] and block["kind"] != "cut" and not compiler.can_run:
                continue
            tasks.append((f"{page.relative_to(root)}:{text[: block.start('code')].count(chr(10)) + 1}", block))
    with ThreadPoolExecutor(2) as pool:
        errors = [e for e in pool.map(lambda task: check(*task), tasks) if e]
    print("\n".join(errors))
    print(f"{len(tasks) - len(errors)} passed, {len(errors)} failed")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())

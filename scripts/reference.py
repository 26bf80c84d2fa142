#!/usr/bin/env python3
"""Writes docs/reference.md, every public name of drx on one page, from the docstrings (`///`) of include/drx and the rows of docs/from_jax.md.

    scripts/reference.py           writes the page
    scripts/reference.py --check   says what is wrong: a public name without a docstring, a header in no section, a page that is not this one

A docstring belongs to the overload that it stands before, and to those of the same name that follow without one. A deleted overload is a
misuse: its comment says what to write instead."""
import argparse, collections, pathlib, re, sys
from declarations import balanced, declarations, members, template_parts

ROOT = pathlib.Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "include/drx"
OPERATIONS = "primitives", "functions"  # where a header named without its folder is looked for
PAGE = ROOT / "docs/reference.md"

# Title, what stands in it, its headers, each followed by those of its names (-name) that are for drx itself. Headers that say in their first
# lines where they belong (`// Section of docs/reference.md: Shapes and layout.`) need not be listed: they come last in that section.
SECTIONS = [
    ("Placements and placed values", "Placements, placed values, and the decomposition of a user's types into arrays.",
     "core/placement -placement_info -placement_of core/structure -placed.leaf -structure -value -partitions -leaf_types -all_floating core/placed_parts"),
    ("Arrays", "Values of fixed shape and element type, and the ways to make them.",
     "core/array -array.ref -builder -traced_ref -placed -reference_to -array_of -shape_of core/dtype -dtype_of -byte_size -is_floating -is_integer -name_of -element_t "
     "-mean_element -visit_dtype -least_number -greatest_number core/shape -make_shape -normal_axis -broadcastable -broadcast_shapes -without_axis "
     "-with_front -with_last -with_axis core/batched -structure -stacked_t constant identity linspace one_hot"),
    ("Map and reduce", "From unplaced values to placed ones, and back.",
     "broadcast map reduce reduce_weighted_mean reduce_with select gather"),
    ("Named axes and layouts", "Collectives among members, inside a map, vmap or pmap over them; and members that are split over a mesh.",
     "collectives pmean with_layout -replicated_t -split_along_t"),
    ("Arithmetic and comparison", "Element by element; shapes broadcast as in NumPy, and a plain number takes the array's element type.",
     "arithmetic structure_arithmetic assignment remainder fma comparison where "
     "cast"),
    ("Elementary functions", "Element by element, for arrays and numbers of float or double, unless another type is named.",
     "exponential power trigonometric hyperbolic piecewise special erfinv"),
    ("Reductions over axes", "Axes are template arguments; negative ones count from the end. Without any, all axes are meant.",
     "reduction prod argmax log_softmax statistics -keepdims_t -ddof_t structure_reductions "
     "softmax_cross_entropy"),
    ("Along an axis", "Results of the shape of their argument.",
     "cumulative cummax sort"),
    ("Shapes and layout", "The same elements in other places.",
     "layout broadcast_to axes concatenate pad flip"),
    ("Parts of arrays", "At positions known while compiling, and at traced ones.",
     "slice dynamic_slice take"),
    ("Products and linear algebra", "The last two axes are matrices, and those before them a batch.",
     "matmul einsum solve triangular_solve cholesky determinant qr eigh "
     "svd diagonal triangle"),
    ("Convolutions and pooling", "Channels are the last axis.",
     "convolution pooling windows"),
    ("Random numbers", "Functions of a key, which give the same numbers as JAX for the same key.",
     "random_bits fold_in uniform draws permutation"),
    ("Control", "Branches, loops, and functions of your own.",
     "fori_loop scan while_loop cond loop_memory loop tree_map call"),
    ("Transformations", "Functions of functions: their results are callable wherever the function is.",
     "transform/grad transform/modes transform/jacobian transform/vmap -axis_t -no_axis transform/checkpoint custom_derivative transform/custom_root"),
    ("Optimizers", "With `<drx/algorithms.hpp>`: steps of optimizers on structures, and schedules of their rates.",
     "algorithms/optimizers algorithms/schedules"),
    ("Reductions with a policy", "With `<drx/algorithms.hpp>`: what members send is rounded, thinned out, noised or masked.",
     "algorithms/policies"),
    ("Programs", "Functions with the types of their inputs, to be compiled and run.",
     "transform/program transform/without_carried_products tape/print"),
    ("Running", "With `<drx/run.hpp>`: sessions, placing, calls and results.",
     "backend/session run/data/partitions -partitions.partitions -partitions.storage -partitions.chosen -partitions.choice run/call/compile_options -show run/call/compiled run/data/runtime"),
    ("Costs", "With `<drx/run/cost.hpp>`: the messages, bytes and operations of a program's calls, as constants (docs/engines.md).",
     "run/cost"),
    ("Estimates", "With `<drx/run/estimate.hpp>`: what the steps of a program's plan should take on one core (docs/performance.md).",
     "run/estimate"),
    ("Devices", "With `<drx/device.hpp>`: programs whose stages a GPU computes (docs/devices.md).",
     "device/compile_on device/memory backend/device"),
    ("Engines", "With `<drx/engines/worker.hpp>`: a program's plan, and its executable as the worker of an engine outside the job; with `<drx/engines/shared_object.hpp>`: a shared object that does the same (docs/engines.md).",
     "engines/worker engines/shared_object -drx_engine_answer -drx_engine_handle engines/plan_json engines/form"),
    ("Checks", "With `<drx/run/check/check_grads.hpp>`: derivatives against differences.",
     "run/check/check_grads -text -operator<<"),
    ("Other libraries' types", "With `<drx/ext/eigen.hpp>`, `<drx/ext/eigen_scalar.hpp>` and `<drx/ext/hana.hpp>`.",
     "ext/eigen -structure ext/eigen_scalar ext/hana -structure"),
    ("Ordinary C++", "In namespace `drx::ad`: derivatives of functions written for any type of number. Besides these, its scalars have the operators and functions of `<cmath>`.",
     "scalar/differentiate scalar/sum_over scalar/dual -chain -strict_chain -select_lanes scalar/reverse -chain -strict_chain -select_lanes -add_cotangent "
     "-cotangent -variable -local_tape scalar/recording -recording scalar/number -level -Active -Below scalar/pack -any_lane -no_lane -all_lanes "
     "-max -min -isnan -isfinite scalar/wide scalar/prod scalar/derivatives call_functors"),
]
# Headers whose names are for drx itself, and for those who write a primitive (docs/adding_a_primitive.md) or an executor.
INSIDE = "core/ meta/ scalar/ tape/ tracing/ plan/ run/ backend/ primitives/lane_site primitives/share_site primitives/split_site".split()
NAMESPACES = ("drx",), ("drx", "ad")
SHARED_BY = 5  # names of a section that refuse with the same words: these are then said once, at its head
HEAD = """This page lists every public name by its use; names are in namespace `drx` unless another is given. A
signature is written like a call: template arguments that a call gives, then arguments, with a type unless
any fitting one will do. "Refused otherwise" is the text that the compiler prints for a call that does not
fit. The [guide](guide.md) shows how the parts go together."""


def own_sections():
    """header -> the title of the section that its first lines name."""
    found = {}
    for path in sorted(INCLUDE.rglob("*.hpp")):
        begin = path.read_text().split("#pragma once")[0]
        if said := re.search(r"^// Section of docs/reference\.md: (.*)\.$", begin, re.M):
            found[path.relative_to(INCLUDE).with_suffix("").as_posix()] = said[1]
    return found


def headers_of(section):
    """(header, the names in it that are for drx itself) of a section's list."""
    found = []
    for word in section.split():
        if word.startswith("-"):
            found[-1][1].add(word[1:])
        elif "/" in word:
            found.append((word, set()))
        else:
            folder = next((folder for folder in OPERATIONS if (INCLUDE / folder / f"{word}.hpp").exists()), OPERATIONS[0])
            found.append((f"{folder}/{word}", set()))
    return found


def split_top(text, separator=","):
    """The parts of text between separators that are in no brackets and no quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif c in "([{" or (c == "<" and not (text[i - 1:i] == " " or text[i + 1:i + 2] == "=")):
            depth += 1
        elif c in ")]}" or (c == ">" and not text[i - 1:i] in ("-", " ", "=")):
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [p for p in [*parts, text[start:].strip()] if p]


# ---- signatures, as a caller reads them ----

class Parameter:
    """One parameter of a function or a template: its type, its name with `...` behind it where there may be several, and its default."""

    def __init__(self, text):
        text, _, self.default = (part.strip() for part in re.sub(r"\s*=\s*", "=", text, count=1).partition("="))
        match = re.search(r"(\.\.\.)?\s*(\w+)?(\[\])?$", text)
        self.type, self.name = text[:match.start()].strip(), (match[2] or "") + ("..." if match[1] else "")
        if not self.type:  # a type without a name
            self.type, self.name = text, ""
        self.word = (match[2] or "")


def plain_type(text):
    text = re.sub(r"\bconst\b|&+|\bstd::remove_cvref_t\b", "", text)
    return re.sub(r"\s+", " ", text.replace("std::int64_t", "int64").replace("std::int32_t", "int32").replace("std::size_t", "size_t")).strip()


def signature(d, prefix=""):
    """d as in a call: template arguments that must be given, then parameters, with types where these are not free."""
    parameters, _, rest = template_parts(d.text)
    template = [Parameter(p) for p in split_top(parameters)] if parameters else []
    while re.match(r"template\s*<|requires\b", rest):
        more, _, rest = template_parts(rest)
        template += [Parameter(p) for p in split_top(more)] if more else []
    if d.kind in ("alias", "concept", "type"):
        shown = [p.name + (f" = {p.default}" if p.default else "") for p in template if p.name]
        return f"{prefix}{d.name}<{', '.join(shown)}>" if shown else prefix + d.name
    if d.kind == "variable":
        shown = [p.name for p in template if p.name]
        return f"{prefix}{d.name}<{', '.join(shown)}>" if shown else prefix + d.name
    at = rest.index(d.name) + len(d.name) if d.name in rest else rest.index("operator")
    at = rest.index("(", at)
    if rest.startswith("()", at) and d.name.startswith("operator"):
        at = rest.index("(", at + 2)
    taken = [Parameter(p) for p in split_top(rest[at + 1:balanced(rest, at, "(", ")") - 1])]
    deduced = re.sub(r"\btypename \w+(?:::\w+)+", "", " ".join(p.type for p in taken))
    explicit = [p for p in template if p.word and not re.search(rf"\b{p.word}\b", deduced) and p.word not in ("Why", "Memory")]
    free = {p.word for p in template if p.type.startswith(("class", "typename")) or p.type.split("::")[-1][:1].isupper()}
    shown = []
    for p in taken:
        type_name = plain_type(p.type)
        if not p.name or p.name == "...":
            shown.append({"keepdims_t": "keepdims", "O": "options..."}.get(type_name, type_name))
        elif type_name in free or type_name in ("auto", "") or type_name.startswith("typename ") or type_name.split("<")[0] in ("std::array",):
            shown.append(p.name)
        else:
            shown.append(f"{type_name} {p.name}" if not p.name.endswith("...") or type_name not in free else p.name)
        if p.default and p.default != "{}":
            shown[-1] += f" = {p.default}"
    name = d.name
    if name.startswith("operator") and not prefix:
        symbol = name[len("operator"):].strip()
        names = [p.name or p.word for p in taken]
        return f"{symbol}{names[0]}" if len(names) == 1 else f"{names[0]} {symbol} {names[1]}"
    if name == "operator[]":
        return f"{prefix.removesuffix('.')}[{', '.join(shown)}]"
    if name == "operator()":
        return f"{prefix.removesuffix('.')}({', '.join(shown)})"
    of = [("int " if p.type == "int..." else "") + p.name + (f" = {p.default.split('::')[-1]}" if p.default else "") for p in explicit]
    return f"{prefix}{name}{'<' + ', '.join(of) + '>' if of else ''}({', '.join(shown)})"


# ---- text ----

WORD = re.compile(r"`[^`]*`|(?:\b[A-Za-z]\w*(?:::|\.))*\b[A-Za-z]\w*")


def code_end(text, start, end):
    """The end of a name at [start, end) with its <...>, (...) and [...], or the name's own."""
    at = end
    while at < len(text) and (text[at] in "([" or (text[at] == "<" and re.match(r'<["\w]', text[at:]))):
        closing = {"(": ")", "[": "]", "<": ">"}[text[at]]
        behind = balanced(text, at, text[at], closing)
        if text[behind - 1] != closing:
            break
        at = behind
    return at


def prose(text):
    """Text of a docstring as Markdown: what is code stands in backquotes, and nothing else means anything."""
    out, at = [], 0
    escape = lambda plain: re.sub(r"([*<>_|\\])", r"\\\1", plain)
    while match := WORD.search(text, at):
        out.append(escape(text[at:match.start()]))
        at = match.end() if match[0].startswith("`") else code_end(text, match.start(), match.end())
        word = text[match.start():at]
        is_code = at > match.end() or (re.search(r"_|::", word) and not word.startswith("`"))
        out.append(f"`{word}`" if is_code else word)
    return "".join([*out, escape(text[at:])])


def paragraphs(doc):
    """A docstring as Markdown: indented lines are code."""
    out, text, code = [], [], []

    def flush():
        if text:
            out.append(prose(" ".join(text)))
        if code:
            out.append("\n".join(["```cpp", *code, "```"]))
        text.clear()
        code.clear()

    for line in doc:
        if line.startswith("    "):
            if text:
                flush()
            code.append(line[4:])
        else:
            if code:
                flush()
            text.append(line.strip())
    flush()
    return "\n\n".join(out)


# ---- what JAX calls it ----

def twins():
    """name -> [(which library, its words, drx's words)], the row's parts in which drx's name comes first in front of the others."""
    found, library = {}, ""
    for line in (ROOT / "docs/from_jax.md").read_text().splitlines():
        if heading := re.match(r"\| (JAX|DrJAX|mpi4jax) \|", line):
            library = heading[1]
        if not line.startswith("| `"):
            continue
        cells = re.findall(r"`((?:[^`])+)`", line)
        theirs, ours = cells[0], cells[-1]
        pairs = [(theirs, ours)]
        if tuple_of := re.fullmatch(r"std::tuple\{(.*)\}", ours):
            left, right = split_top(theirs), split_top(tuple_of[1])
            pairs = list(zip(left, right)) if len(left) == len(right) else []
        for left, right in pairs:
            names = re.findall(r"drx::(\w+)", re.sub(r"drx::array<[^<>]*>|std::", "", right))
            for rank, name in enumerate(dict.fromkeys(names)):
                if rank == 0 or re.search(rf"\b(?:drjax|random)\.{name}\(", left):
                    found.setdefault(name, []).append((rank, len(right), library, left, right))
    return {name: sorted(rows, key=lambda row: row[:2]) for name, rows in found.items()}


# ---- the page ----

def inherited(d):
    """The public members of a type's public bases, each of which has a header of its name."""
    for base in re.findall(r"\bpublic\s+(\w+)", d.text):
        for header in INCLUDE.rglob(f"{base}.hpp"):
            for b in declarations(header.read_text()):
                if b.kind == "type" and b.name == base:
                    yield from members(b)


def public_members(d, inside):
    """(member, text) of a type: members with a docstring, fields with a comment behind them, and all fields of a type that has nothing else."""
    found = [m for m in [*inherited(d), *members(d)] if not m.deleted and m.kind in ("function", "variable") and f"{d.name}.{m.name}" not in inside]
    plain = all(m.kind == "variable" and not m.doc and not m.behind for m in found)
    return [(m, m.doc or [m.behind]) for m in found if m.doc or (m.kind == "variable" and m.behind) or plain]


def member_line(d, m, text):
    shown = f"{plain_type(m.text)}" + (f" = {m.value}" if m.value else "") if m.kind == "variable" else signature(m, "" if m.name == d.name else ".")
    return f"- `{shown}`" + (": " + paragraphs(text).replace("\n", "\n  ") if any(text) else "")


def entries(header, inside):
    """name -> [declarations], of the public namespaces, in the order of the file."""
    found = {}
    for d in declarations((INCLUDE / f"{header}.hpp").read_text()):
        if d.scope in NAMESPACES and d.kind in ("function", "variable", "type", "concept", "alias") and d.name not in inside and not d.name.startswith("DRX_"):
            if d.kind == "type" and (re.search(rf"\b{d.name}\s*<", d.text.split(":")[0]) or not d.inside):
                continue  # a specialisation, or declared only
            found.setdefault(d.name, []).append(d)
    return found


def show_name(name, overloads, twin, inside, said):
    """The entry of a name: for each docstring its signatures and the text, then its misuses and its twin."""
    blocks, fixes = [], []
    for header, d in overloads:
        if d.deleted:
            if d.fix and d.fix not in fixes and d.fix not in said:
                fixes.append(d.fix)
            continue
        if d.kind == "type" and not d.inside.strip() and not d.doc:
            continue
        line = signature(d)
        if d.doc or not blocks:
            blocks.append([[line], d.doc, header, d])
        elif line not in blocks[-1][0]:
            blocks[-1][0].append(line)
    parts = [f"### {name}"]
    for lines, doc, header, d in blocks:
        parts.append("`" + "`, `".join(lines) + f"` <sub>{header}.hpp</sub>")
        parts.append(paragraphs(doc))
        if d.kind == "type":
            rows = [member_line(d, m, text) for m, text in public_members(d, inside)]
            if rows:
                parts.append("\n".join(rows))
    if fixes:
        parts.append("Refused otherwise: " + "; ".join(f"`{fix}`" for fix in fixes))
    for _, _, library, left, right in twin[:1]:
        parts.append(f"{library}'s `{left}` is `{right}`.")
    return "\n\n".join(part for part in parts if part)


def refused_by_many(names):
    """The sentences that many names of a section share are said once."""
    count = collections.Counter(fix for overloads in names.values() for fix in {d.fix for _, d in overloads if d.fix})
    return [fix for fix, n in count.items() if n >= SHARED_BY]


def page():
    """(the text of the page, what is wrong with it, how many names it has)"""
    errors, out, contents, count = [], [], [], 0
    jax, slugs = twins(), collections.Counter()

    def link(heading):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        slugs[slug] += 1
        return f"[{heading}](#{slug}" + (f"-{slugs[slug] - 1})" if slugs[slug] > 1 else ")")

    link("Reference")
    own = own_sections()
    titles = [title for title, _, _ in SECTIONS]
    errors += [f"include/drx/{header}.hpp: scripts/reference.py has no section {title}" for header, title in own.items() if title not in titles]
    listed = {header for _, _, section in SECTIONS for header, _ in headers_of(section)}
    errors += [f"include/drx/{header}.hpp: names its section, and is listed in scripts/reference.py too" for header in own if header in listed]
    listed |= own.keys()
    for title, intro, section in SECTIONS:
        headers = headers_of(section) + [(header, set()) for header, its_section in own.items() if its_section == title]
        names, inside = {}, {name for _, those in headers for name in those}
        for header, its_own in headers:
            if not (INCLUDE / f"{header}.hpp").exists():
                errors.append(f"scripts/reference.py: section {title}: there is no include/drx/{header}.hpp")
                continue
            for name, overloads in entries(header, its_own).items():
                names.setdefault(name, []).extend((header, d) for d in overloads)
        names = {name: overloads for name, overloads in names.items() if any(not d.deleted for _, d in overloads)}
        said = refused_by_many(names)
        parts = [f"## {title}", intro, *(f"Refused otherwise: `{fix}`" for fix in said)]
        contents.append(f"- {link(title)}: " + ", ".join(link(name) for name in names))
        count += len(names)
        for name, overloads in names.items():
            header, first = next((header, d) for header, d in overloads if not d.deleted)
            if not first.doc:
                errors.append(f"include/drx/{header}.hpp:{first.line}: {'::'.join(first.scope)}::{name} has no docstring (///): what it computes, shapes, element types, errors")
            parts.append(show_name(name, overloads, jax.get(name, []) if first.scope == ("drx",) else [], inside, said))
        out.append("\n\n".join(parts))
    for path in sorted(INCLUDE.rglob("*.hpp")):
        header = path.relative_to(INCLUDE).with_suffix("").as_posix()
        if header in listed or any(header.startswith(folder) for folder in INSIDE):
            continue
        if names := entries(header, set()):
            errors.append(f"include/drx/{header}.hpp: {', '.join(names)}: in no section: say in its first lines in which, such as // Section of docs/reference.md: {titles[0]}.")
    text = "\n\n".join(["<!-- made by scripts/reference.py from the docstrings in include/drx -->\n# Reference", HEAD, "\n".join(contents), *out])
    return text + "\n", errors, count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()
    text, errors, count = page()
    if not args.check and (not PAGE.exists() or PAGE.read_text() != text):
        PAGE.write_text(text)
        print(f"rewrote {PAGE.relative_to(ROOT)}")
    elif not PAGE.exists() or PAGE.read_text() != text:
        errors.append("docs/reference.md: differs from what scripts/reference.py makes of the docstrings: run it")
    print("\n".join([*errors, f"{count - len(errors)} passed, {len(errors)} failed"]))
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())

"""Reads the raw passes under bench/out/raw and writes the table (Markdown, CSV) and a bar chart per workload."""

import csv
import io
import json
import re
import statistics

UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}  # to milliseconds
HEAD = ["workload", "row", "threads", "side", "min ms", "median ms", "/ drx", "temporaries KiB", "compile s", "difference"]


def passes(folder):
    """{(row, side): {"times": [ms], counters...}}, and the versions, of all passes of one launch."""
    sides, versions = {}, set()
    for file in sorted(folder.glob("pass*/*.json")):
        content = json.loads(file.read_text())
        versions.update(content.get("context", {}).get("versions", []))
        for timed in content["benchmarks"]:
            if timed.get("error_occurred"):
                raise RuntimeError(f"{timed['name']}: {timed.get('error_message')}")
            if timed["run_type"] != "iteration":
                continue
            row, side = re.sub(r"(/iterations:\d+)?/real_time$", "", timed["name"]).split("/", 1)
            found = sides.setdefault((row, side), {"times": []})
            found["times"].append(timed["real_time"] * UNITS[timed["time_unit"]])
            for counter in ("temp_bytes", "compile_s"):
                if counter in timed:
                    found[counter] = max(timed[counter], found.get(counter, 0))
    return sides, versions


def rows(raw, workload, meta):
    """One dict for each side of each row and launch, the fastest first; and the versions of the peers."""
    found, versions = [], set()
    for launch in sorted((raw / workload).glob("*-threads*")):
        sides, more = passes(launch)
        if not sides:
            continue
        versions |= more
        threads, ranks = re.match(r"(\d+)-threads(?:-(\d+)-ranks)?", launch.name).groups()
        off = json.loads((launch / "compared.json").read_text())
        for (row, side), measured in sides.items():
            base = sides.get((row, meta.get("base", "drx")))
            found.append({"workload": workload, "row": row, "threads": f"{threads} x {ranks} ranks" if ranks else threads, "side": side,
                          "min": min(measured["times"]), "median": statistics.median(measured["times"]),
                          "repetitions": len(measured["times"]),
                          "ratio": min(measured["times"]) / min(base["times"]) if base else None,
                          "temp_bytes": measured.get("temp_bytes"),
                          "compile_s": measured.get("compile_s", built(raw, workload, meta, row, side)),
                          "difference": off.get(row, {}).get(side)})
    return sorted(found, key=lambda r: (natural(r["row"]), r["threads"], r["min"])), versions


def put(file, content):
    """Replaces a file at once: if interrupted, the old one stays."""
    part = file.with_name(file.name + ".part")
    part.write_bytes(content)
    part.replace(file)


def natural(name):
    """"16 clients" before "64 clients" before "256 clients"."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def built(raw, workload, meta, row, side):
    """The seconds of the build, for the side that was built, if bench/run measured them."""
    file = raw / workload / "build.json"
    if side != meta.get("base", "drx") or not file.exists():
        return None
    took = json.loads(file.read_text())
    return took.get(row) if isinstance(took, dict) else took


def three_digits(x):
    return f"{x:.0f}" if x >= 1000 else f"{x:.3g}"


def cells(r):
    return [r["workload"], r["row"], r["threads"], r["side"], three_digits(r["min"]), three_digits(r["median"]),
            "" if r["ratio"] is None else f"{r['ratio']:.2f}",
            "" if r["temp_bytes"] is None else three_digits(r["temp_bytes"] / 1024),
            "" if r["compile_s"] is None else f"{r['compile_s']:.1f}",
            "" if r["difference"] is None else "0" if r["difference"] == 0 else f"{r['difference']:.0e}"]


def markdown(body):
    return "\n".join("| " + " | ".join(line) + " |" for line in [HEAD, ["---"] * 4 + ["---:"] * 6, *body]) + "\n"


def telling(head, body):
    """Leaves out the columns in which all lines are equal."""
    kept = [i for i in range(len(head)) if len({line[i] for line in body}) > 1]
    return [[line[i] for i in kept] for line in [head, *body]]


def into_page(page, tables):
    """Rewrites the tables in a Markdown page after `<!-- bench: WORKLOAD -->` or `<!-- bench: WORKLOAD: ROW -->`."""
    def table(marker):
        name, row = marker[1], marker[2]
        body = [line[1:-1] for line in tables.get(name, []) if row in (None, line[1])]
        if not body:
            return marker[0]
        head, *body = telling(HEAD[1:-1], body)
        bold = [[f"**{cell}**" if cell == "drx" else cell for cell in line] for line in body]
        lines = [head, ["---:" if name[0] in "m/tc" and name != "threads" else "---" for name in head], *bold]
        return f"<!-- bench: {name}{': ' + row if row else ''} -->\n" + "".join("| " + " | ".join(line) + " |\n" for line in lines)

    put(page, re.sub(r"<!-- bench: (\w+)(?:: (.*?))? -->\n(?:\|.*\n)*", table, page.read_text()).encode())


def chart(found, meta):
    """An SVG: bars of the least times with a tick at the median, a panel for each row of the launch with the most threads and ranks."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "drx", "svg.fonttype": "none"}  # the same small file from the same numbers
    import matplotlib.pyplot as plt

    panels = {}
    launch = max((r["threads"] for r in found), key=natural)
    for r in (r for r in found if r["threads"] == launch):
        panels.setdefault((r["row"], r["threads"]), []).append(r)
    heights = [len(sides) for sides in panels.values()]
    figure, axes = plt.subplots(len(panels), 1, squeeze=False, figsize=(7, 0.5 * len(panels) + 0.28 * sum(heights) + 0.5),
                                height_ratios=heights, layout="constrained")
    for axis, ((row, threads), sides) in zip(axes[:, 0], panels.items()):
        sides = sides[::-1]
        names = [r["side"] for r in sides]
        least = [r["min"] for r in sides]
        axis.barh(names, least, color=["#c44e52" if name == meta.get("base", "drx") else "#8c9bb0" for name in names])
        axis.scatter([r["median"] for r in sides], names, marker="|", color="black", s=60, zorder=2)
        if max(least) > 20 * min(least):
            axis.set_xscale("log")
        axis.set_title(f"{row}, threads: {threads}", fontsize=9, loc="left")
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    axes[-1, 0].set_xlabel("milliseconds: least (bar), median (tick)", fontsize=8)
    figure.suptitle(meta["title"], fontsize=10)
    image = io.BytesIO()
    figure.savefig(image, format="svg", metadata={"Date": None})
    plt.close(figure)
    return image.getvalue()


def write(out, workloads, docs=None):
    """Reports the workloads ({name: workload.json}) that have raw passes, also in the page and charts under `docs`. Returns the table."""
    body, tables = [], {}
    for name, meta in workloads.items():
        found, versions = rows(out / "raw", name, meta)
        if not found:
            continue
        tables[name] = [cells(r) for r in found]
        body += tables[name]
        for version in sorted(versions):
            print(f"{name}: {version}")
        try:
            image = chart(found, meta)
            put(out / f"{name}.svg", image)
            if docs:
                (docs / "charts").mkdir(exist_ok=True)
                put(docs / "charts" / f"{name}.svg", image)
        except ImportError:
            print(f"{name}: no chart without matplotlib (--with-peers brings it)")
    text = markdown(body)
    put(out / "table.md", text.encode())
    lines = io.StringIO(newline="")
    csv.writer(lines).writerows([HEAD, *body])
    put(out / "table.csv", lines.getvalue().encode())
    if docs:
        into_page(docs / "performance.md", tables)
    return text

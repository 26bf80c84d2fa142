"""Programs on Hadoop Streaming: mapper, combiner and reducer are commands that read and write lines.

    python -m drx_engines.streaming map CALL       lines of partitions (JSON) to lines of partials
    python -m drx_engines.streaming combine CALL   lines of partials to one line: combiner and reducer
CALL is a file that `write_call` made. A line of a partial is a key, a tab, and the partial in base64.
"""

from __future__ import annotations

import base64
import json
import os
import pathlib
import pickle
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .manifest import Manifest, Partition
from .program import Call, Partial
from .rounds import run_stages
from .worker import transport_of

KEY = "drx"  # of all partials: they meet in one reducer

Job = Callable[[pathlib.Path, str, str, str], Iterable[str]]
"""Runs a step on a file of lines: (input, mapper, combiner, reducer) to the lines of the output."""


def write_call(path: pathlib.Path, call: Call, roots: Sequence[bytes]) -> None:
    """Writes what the commands need to know beside their lines."""
    path.write_bytes(pickle.dumps((call, tuple(roots))))


def partial_line(p: Partial) -> str:
    """A partial as a line, without the end of the line."""
    head = json.dumps([p.stage, p.nodes], separators=(",", ":")).encode()
    return f"{KEY}\t{base64.b64encode(len(head).to_bytes(4, 'little') + head + p.data).decode()}"


def partial_of(line: str) -> Partial:
    """The partial of a line."""
    key, _, text = line.rstrip("\n").partition("\t")
    if key != KEY:
        raise ValueError(f"a line of a partial begins with the key {KEY!r}, not {key!r}")
    data = base64.b64decode(text, validate=True)
    end = 4 + int.from_bytes(data[:4], "little")
    stage, nodes = json.loads(data[4:end])
    return Partial(stage, tuple((level, position) for level, position in nodes), data[end:])


def pipe_job(source: pathlib.Path, mapper: str, combiner: str, reducer: str) -> list[str]:
    """The step as one pipe of this machine: cat | mapper | sort | reducer."""
    command = f"{mapper} < {shlex.quote(str(source))} | sort | {reducer}"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the step ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout.splitlines()


def mrjob_job(source: pathlib.Path, mapper: str, combiner: str, reducer: str, runner: str = "local") -> list[str]:
    """The step by mrjob: on this machine's cores (`local`), or on a cluster (`hadoop`, `emr`)."""
    from mrjob.job import MRJob
    from mrjob.protocol import RawProtocol
    from mrjob.step import MRStep

    class Step(MRJob):  # type: ignore[misc]
        OUTPUT_PROTOCOL = RawProtocol

        def steps(self) -> list[Any]:
            return [MRStep(mapper_cmd=mapper, combiner_cmd=combiner, reducer_cmd=reducer)]

    job = Step(args=["-r", runner, "--no-conf", str(source)])
    lines: list[str] = []
    with job.make_runner() as r:
        r.run()
        for key, value in job.parse_output(r.cat_output()):
            lines.append(f"{key}\t{value}")
    return lines


def run(call: Call, manifest: Manifest, job: Job = mrjob_job, folder: str | None = None) -> list[np.ndarray[Any, Any]]:
    """The results of a call, leaf by leaf; each stage is a step. `folder`: where all nodes of the cluster find files."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        lines = pathlib.Path(own) / "partitions.jsonl"
        lines.write_text("".join(json.dumps(p.document()) + "\n" for p in manifest.partitions))

        def reduce_stage(call: Call, roots: Sequence[bytes], manifest: Manifest) -> Partial:
            known = pathlib.Path(own) / "call"
            write_call(known, call, roots)
            start = f"{shlex.quote(sys.executable)} -m drx_engines.streaming"
            mapper, combiner = f"{start} map {shlex.quote(str(known))}", f"{start} combine {shlex.quote(str(known))}"
            partials = [partial_of(line) for line in job(lines, mapper, combiner, combiner)]
            with transport_of(call.program) as worker:
                return worker.combine(call.program, partials)

        return run_stages(call, manifest, reduce_stage)


def main(words: Sequence[str]) -> int:
    """The mapper, combiner and reducer."""
    if len(words) != 2 or words[0] not in ("map", "combine"):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    call, roots = pickle.loads(pathlib.Path(words[1]).read_bytes())
    lines = [line for line in sys.stdin if line.strip()]
    with transport_of(call.program) as worker:
        if words[0] == "map":
            # (Hadoop's NLineInputFormat puts a position and a tab before each line.)
            partitions = [Partition.of_document(json.loads(line.rpartition("\t")[2])) for line in lines]
            result = worker.map(call, roots, partitions) if partitions else Partial()
        else:
            result = worker.combine(call.program, [partial_of(line) for line in lines])
    if result.nodes:
        print(partial_line(result))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(main(sys.argv[1:]))

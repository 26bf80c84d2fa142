"""The order of a call's stages, for engines that run one stage after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .manifest import Manifest
from .program import Call, Partial
from .worker import transport_of

Reduce = Callable[[Call, Sequence[bytes], Manifest], Partial]


def run_stages(call: Call, manifest: Manifest, reduce_stage: Reduce) -> list[np.ndarray[Any, Any]]:
    """Runs a call: `reduce_stage` brings together the partials of all partitions, with the roots of earlier stages."""
    with transport_of(call.program) as worker:
        roots: list[bytes] = []
        while True:
            at = worker.finish(call, roots)
            if not isinstance(at, int):
                return at
            partial = reduce_stage(call, roots, manifest)
            roots.append(worker.root(call.program, at, [partial], call.members[manifest.placement]))

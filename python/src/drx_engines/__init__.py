"""Runs compiled drx programs on engines that hold the data: Apache Beam, Spark, Hadoop Streaming, Flower.

A program's executable is the worker (drx::worker_main). This package starts it, or loads a shared object with the same
programs (drx::engine_table), sends it requests, and leaves to the engine where the work is done and how partial results
are brought together. docs/engines.md of drx has examples.
"""

from .federated import FederatedRound, NotAFederatedRound
from .frames import DamagedFrame
from .manifest import Leaf, Manifest, Partition
from .program import Call, Partial, Program
from .rounds import run_stages
from .shared_object import SharedObject
from .transport import Transport, WorkerError
from .worker import Worker, WorkerDied

__all__ = [
    "Call",
    "DamagedFrame",
    "FederatedRound",
    "Leaf",
    "Manifest",
    "NotAFederatedRound",
    "Partial",
    "Partition",
    "Program",
    "SharedObject",
    "Transport",
    "Worker",
    "WorkerDied",
    "WorkerError",
    "run_stages",
]

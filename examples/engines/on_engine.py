"""One program on one engine, compared with MPI on one and three ranks; `run` calls this in the engine's environment."""
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import threading
import time

import numpy as np

import drx_engines as drx

START = (np.array([0.5, -0.5, 0.25, 0]), 0.5)
CENTRES = (np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]),)


def write_data(folder, clients):
    random = np.random.default_rng(1)
    x = random.normal(size=(clients, 16, 4)) + random.normal(size=(clients, 1, 4))
    y = (x @ np.array([1.0, -2, 0.5, 0]) > random.normal(size=(clients, 16))).astype(float)
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", y)


def on_mpi(executable, program, folder, clients, ranks):
    """The results' bytes."""
    out = folder / f"mpi{ranks}"
    launcher = shlex.split(os.environ.get("DRX_MPIRUN", "mpirun --oversubscribe --bind-to none -n"))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false"}
    subprocess.run([*launcher, str(ranks), executable, program, folder, str(clients), out], check=True, env=environment)
    return out.read_bytes()


def on_beam(call, manifest):
    import apache_beam as beam
    from drx_engines.beam import MapReduce

    found = []

    def keep(results):
        np.savez(manifest.folder / "results.npz", *results)

    with beam.Pipeline("FnApiRunner") as p:
        p | beam.Create(manifest.partitions) | MapReduce(call, manifest.placement) | beam.Map(keep)
    with np.load(manifest.folder / "results.npz") as saved:
        found = [saved[name] for name in saved.files]
    return found


def on_spark(call, manifest):
    from drx_engines import spark
    from pyspark import SparkConf, SparkContext

    conf = SparkConf().setMaster("local[2,4]").setAppName("drx").set("spark.ui.enabled", "false")
    context = SparkContext(conf=conf.set("spark.driver.host", "127.0.0.1"))
    context.setLogLevel("ERROR")
    try:
        return spark.run(context, call, manifest)
    finally:
        context.stop()


def on_streaming(call, manifest):
    from drx_engines import streaming

    return streaming.run(call, manifest)


def kill_a_worker(executable, done):
    """Kills one of this run's worker processes, once one is there."""
    while not done.is_set():
        for status in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = status.read_bytes().split(b"\0")
            except OSError:  # it has ended
                continue
            if words[:2] == [os.fsencode(executable), b"--drx-worker"]:
                try:
                    os.kill(int(status.parent.name), signal.SIGKILL)
                except OSError:  # it has ended
                    continue
                print(f"killed worker {status.parent.name}")
                return
        time.sleep(0.001)


def main():
    engine, program, executable, clients, size, folder, *options = sys.argv[1:]
    clients, folder = int(clients), pathlib.Path(folder)
    write_data(folder, clients)
    expected = on_mpi(executable, program, folder, clients, 1)
    if on_mpi(executable, program, folder, clients, 3) != expected:
        sys.exit("three ranks give other bits than one")
    p = drx.Program.load(executable, program)
    arguments = CENTRES if program == "k_means" else START
    manifest = drx.Manifest.of_files("clients", clients, [folder / "x.npy", folder / "y.npy"], int(size))
    object.__setattr__(manifest, "folder", folder)
    done = threading.Event()
    if "--kill" in options:
        if engine == "mpi":
            sys.exit("MPI does not replace a rank that was killed")
        threading.Thread(target=kill_a_worker, args=(executable, done), daemon=True).start()
    start = time.perf_counter()
    if engine == "mpi":
        results = expected
    else:
        call = p.call(*arguments, members={"clients": clients})
        results = {"beam": on_beam, "spark": on_spark, "streaming": on_streaming}[engine](call, manifest)
        results = b"".join(r.tobytes() for r in results)
    done.set()
    took = time.perf_counter() - start
    numbers = np.frombuffer(results)
    print(f"{program} on {engine}: {len(manifest.partitions)} partitions, {len(p.plan['stages'])} stages, {took:.2f} s")
    print("results:", " ".join(f"{x:.17g}" for x in numbers[:5]))
    if results != expected:
        sys.exit(f"the bits differ from MPI's: {np.frombuffer(expected)[:5]}")
    print("the same bits as MPI on 1 and 3 ranks")


if __name__ == "__main__":
    main()

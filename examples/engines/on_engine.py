"""One program on one engine, compared with MPI on one and three ranks; `run` calls this in the engine's environment."""
import concurrent.futures
import contextlib
import itertools
import json
import os
import pathlib
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import drx_engines as drx

HERE = pathlib.Path(__file__).resolve().parent
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


class Beam:
    """The runner of Beam's Python SDK; the same pipeline goes to Flink, Dataflow or Spark."""

    def ready(self):
        return contextlib.nullcontext()

    def pipeline(self):
        import apache_beam as beam

        return beam.Pipeline("FnApiRunner")

    def __call__(self, call, manifest, folder):
        import apache_beam as beam
        from drx_engines.beam import MapReduce

        out = folder / "results.npz"
        with self.pipeline() as p:
            (p | beam.Create(manifest.partitions) | MapReduce(call, manifest.placement)
             | beam.Map(lambda results: np.savez(out, *results)))
        with np.load(out) as saved:
            return [saved[name] for name in saved.files]


class BeamPortable(Beam):
    """Beam's portable runner: the pipeline goes over gRPC to a job service, a process of its own, which sends the bundles
    back to this process's worker harness (LOOPBACK), over gRPC as well."""

    @contextlib.contextmanager
    def ready(self):
        with tempfile.TemporaryDirectory() as folder, open(f"{folder}/log", "w") as log:
            at = pathlib.Path(folder) / "port"
            service = subprocess.Popen([sys.executable, "-m", "apache_beam.runners.portability.local_job_service_main", "--port_file",
                                        at, "--staging_dir", f"{folder}/staged"], stdout=log, stderr=log)
            try:
                self.address = f"127.0.0.1:{port_in(at, service, log.name)}"
                yield
            finally:
                service.terminate()
                service.wait()

    def pipeline(self):
        import apache_beam as beam
        from apache_beam.options.pipeline_options import PipelineOptions

        return beam.Pipeline(options=PipelineOptions(["--runner=PortableRunner", f"--job_endpoint={self.address}",
                                                      "--environment_type=LOOPBACK"]))


def port_in(file, process, log, seconds=60):
    """The port that the process writes into the file, once it is there."""
    end = time.monotonic() + seconds
    while not file.exists():
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"Beam's job service does not start:\n{pathlib.Path(log).read_text()}")
        time.sleep(0.05)
    return int(file.read_text())


class Spark:
    """Spark on this machine: two cores, and a task may fail three times."""

    @contextlib.contextmanager
    def ready(self):
        from pyspark import SparkConf, SparkContext

        conf = SparkConf().setMaster("local[2,4]").setAppName("drx")
        for key, value in {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
                           "spark.driver.host": "127.0.0.1", "spark.log.level": "ERROR"}.items():
            conf = conf.set(key, value)
        self.context = SparkContext(conf=conf)
        try:
            yield
        finally:
            self.context.stop()

    def __call__(self, call, manifest, folder):
        from drx_engines import spark

        return spark.run(self.context, call, manifest)


class Streaming:
    """Hadoop Streaming's steps, run by mrjob on this machine."""

    def ready(self):
        return contextlib.nullcontext()

    def __call__(self, call, manifest, folder):
        from drx_engines import streaming

        return streaming.run(call, manifest)


class Flower:
    """Flower's simulation: four nodes, of which each has every fourth partition, on two processes of Ray. Several rounds:
    the first is compared with MPI's call, the next ones with a worker of this process."""

    nodes, rounds = 4, 3

    def ready(self):
        return contextlib.nullcontext()

    def __call__(self, call, manifest, folder):
        os.environ["FLWR_HOME"] = str(folder / "flwr")
        from flwr.simulation import run_simulation

        from drx_engines import flower

        states, self.times = [], [time.perf_counter()]

        def after_round(number, state, metrics):
            self.times.append(time.perf_counter())
            states.append(state)

        server = flower.server_app(call.program, START, self.rounds, after_round, self.nodes, timeout=120)
        client = flower.client_app(call.program, flower.simulated(manifest))
        run_simulation(server, client, self.nodes, backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0},
                                                                  "init_args": {"num_cpus": 2}})
        print(f"{len(states)} rounds, {' '.join(f'{t:.3f}' for t in np.diff(self.times))} s")
        return [first_of(states, call, manifest)]


def first_of(states, call, manifest):
    """The first state; each later one must have the bits that a worker of this process computes from the one before."""
    for before, after in itertools.pairwise(states):
        with drx.Worker(call.program.command) as worker:
            (expected,) = drx.run_stages(call.program.call(before, START[1], members=call.members), manifest,
                                         lambda call, roots, m: worker.map(call, roots, m.partitions))
        if after.tobytes() != expected.tobytes():
            raise SystemExit(f"a later round on flower has other bits: {after}, not {expected}")
    return states[0]


class FlowerDeployed:
    """Flower's SuperLink and two SuperNodes, processes of this machine that speak over HTTP. Each SuperNode has every second
    partition."""

    nodes = 2

    def ready(self):
        return contextlib.nullcontext()

    def __call__(self, call, manifest, folder):
        drx.FederatedRound.of(call.program)
        programs, home = pathlib.Path(sys.executable).parent, folder / "flwr"
        home.mkdir(exist_ok=True)
        link, *ports = (f"127.0.0.1:{free_port()}" for _ in range(1 + self.nodes))
        (home / "config.toml").write_text(f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "{link}"\n'
                                          'insecure = true\n')
        environment = {**os.environ, "FLWR_HOME": str(home), "DRX_EXECUTABLE": call.program.command[0],
                       "DRX_STATES": str(folder), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        starts = [["flower-superlink", "--insecure", "--disable-runtime-dependency-installation", "--port", link.split(":")[1]]]
        for k, at in enumerate(ports):
            part = folder / f"part{k}.json"
            part.write_text(json.dumps({"drx_manifest": 1, "placement": manifest.placement, "members": manifest.members,
                                        "partitions": [p.document() for p in manifest.partitions[k :: self.nodes]]}))
            starts.append(["flower-supernode", "--insecure", "--superlink", link, "--port", at.split(":")[1],
                           "--node-config", f'manifest="{part}"'])
        with open(folder / "flower.log", "w") as log, contextlib.ExitStack() as running:
            for words in starts:
                process = subprocess.Popen([programs / words[0], *words[1:]], env=environment, stdout=log, stderr=log)
                running.callback(process.wait)
                running.callback(process.terminate)
                if words is starts[0]:
                    wait_for(link)
            subprocess.run([programs / "flwr", "run", HERE / "flower_app", "here", "--stream"], env=environment, check=False,
                           stdout=log, stderr=log, timeout=120)
        files = sorted(folder.glob("state*.npy"), key=lambda f: int(f.stem[5:]))
        if not files:
            raise SystemExit((folder / "flower.log").read_text())
        times = np.diff([f.stat().st_mtime for f in files])
        print(f"{len(files)} rounds; those after the first took {' '.join(f'{t:.1f}' for t in times)} s")
        return [first_of([np.load(f) for f in files], call, manifest)]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(address, seconds=60):
    host, port = address.split(":")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            socket.create_connection((host, int(port)), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"nothing answers at {address} after {seconds} s")


class Shared:
    """No engine: the programs' shared object in this process, which two threads ask at once."""

    def ready(self):
        return contextlib.nullcontext()

    def __call__(self, call, manifest, folder):
        with drx.SharedObject(call.program.command[0]) as shared, concurrent.futures.ThreadPoolExecutor(2) as threads:
            def reduce_stage(call, roots, manifest):
                parts = threads.map(lambda p: shared.map(call, roots, [p]), manifest.partitions)
                return shared.combine(call.program, list(parts))

            return drx.run_stages(call, manifest, reduce_stage)


def load(engine, executable, name):
    """The program, of the executable or of the shared object beside it."""
    return drx.Program.load(f"{executable}.so" if engine == "shared" else executable, name)


ENGINES = {"shared": Shared(), "beam": Beam(), "beam-portable": BeamPortable(), "spark": Spark(), "streaming": Streaming(), "flower": Flower(),
           "flower-deployed": FlowerDeployed()}


def kill_a_worker(executable, done, killed):
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
                killed.append(status.parent.name)
                return
        time.sleep(0.001)


def run_on(engine, name, executable, folder, clients, size, kills):
    """Whether the program gives MPI's bits on the engine."""
    expected = on_mpi(executable, name, folder, clients, 1)
    if on_mpi(executable, name, folder, clients, 3) != expected:
        print(f"{name}: three ranks give other bits than one")
        return False
    program = load(engine, executable, name)
    files = [folder / "x.npy", folder / "y.npy"]
    manifest = drx.Manifest.of_files("clients", clients, files, size)
    call = program.call(*(CENTRES if name == "k_means" else START), members={"clients": clients})
    killed, done = [], threading.Event()
    if kills:
        threading.Thread(target=kill_a_worker, args=(executable, done, killed), daemon=True).start()
    start = time.perf_counter()
    results = ENGINES[engine](call, manifest, folder)
    took = time.perf_counter() - start
    done.set()
    print(f"{name} on {engine}: {len(manifest.partitions)} partitions, {len(program.stage_runs)} reductions, {took:.2f} s")
    print("results:", " ".join(f"{x:.17g}" for x in np.concatenate([r.ravel() for r in results])[:5]))
    if kills and not killed:
        print("no worker was killed: the run was too short")
        return False
    if b"".join(r.tobytes() for r in results) != expected:
        print(f"the bits differ from MPI's: {np.frombuffer(expected)[:5]}")
        return False
    print("the same bits as MPI on 1 and 3 ranks" + (", though a worker was killed" if killed else ""))
    return True


def main():
    engine, names, executable, clients, size, folder, *options = sys.argv[1:]
    folder = pathlib.Path(folder)
    write_data(folder, int(clients))
    with ENGINES[engine].ready():
        good = [run_on(engine, name, executable, folder, int(clients), int(size), "--kill" in options)
                for name in names.split(",")]
    return 0 if all(good) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except drx.NotAFederatedRound as refusal:
        sys.exit(str(refusal))

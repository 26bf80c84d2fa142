"""What an engine adds: `run --measure` calls this in the engine's environment. Each time is the least of three, after a first run.

A reduction: (k-means with six reductions - FedAvg with one) / 5, on 300 clients in 10 partitions.
A megabyte: (FedAvg on 102400 clients, 65.5 MB in 16 partitions - on 320 clients in 16 partitions) / 65.5.
"""
import pathlib
import re
import shlex
import subprocess
import sys
import time

import drx_engines as drx
import on_engine

RUNS = 3


def least(f):
    f()
    return min(f() for _ in range(RUNS))


def of_engine(engine, name, executable, folder, clients, size):
    program = drx.Program.load(executable, name)
    manifest = drx.Manifest.of_files("clients", clients, [folder / "x.npy", folder / "y.npy"], size)
    arguments = on_engine.CENTRES if name == "k_means" else on_engine.START
    call = program.call(*arguments, members={"clients": clients})

    def run():
        start = time.perf_counter()
        on_engine.ENGINES[engine](call, manifest, folder)
        return time.perf_counter() - start

    return least(run)


def of_mpi(name, executable, folder, clients):
    def run():
        words = [*shlex.split("mpirun --oversubscribe --bind-to none -n 2"), executable, name, folder, str(clients), folder / "out"]
        done = subprocess.run(words, check=True, capture_output=True, text=True, env={**on_engine.os.environ, "OMP_NUM_THREADS": "1"})
        return float(re.search(r"ranks: (\S+) s", done.stdout)[1])

    return least(run)


def main():
    engine, executable, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    small, large = folder / "small", folder / "large"
    for where, clients in ((small, 320), (large, 102400)):
        where.mkdir()
        on_engine.write_data(where, clients)
    with on_engine.ENGINES[engine].ready():
        one = of_engine(engine, "fedavg", executable, small, 300, 32)
        six = of_engine(engine, "k_means", executable, small, 300, 32)
        few = of_engine(engine, "fedavg", executable, small, 320, 32)
        many = of_engine(engine, "fedavg", executable, large, 102400, 6400)
    megabytes = 102400 * 16 * 5 * 8 / 1e6
    print(f"{engine}: a call with one reduction {one:.3f} s, a further reduction {(six - one) / 5:.3f} s, "
          f"65.5 MB {many:.3f} s, a MB {1000 * (many - few) / megabytes:.2f} ms")
    print(f"MPI on 2 ranks: one {1000 * of_mpi('fedavg', executable, small, 300):.3f} ms, six "
          f"{1000 * of_mpi('k_means', executable, small, 300):.3f} ms, 65.5 MB "
          f"{1000 * of_mpi('fedavg', executable, large, 102400):.1f} ms")


if __name__ == "__main__":
    main()

"""What an engine adds: `run --measure` calls this in the engine's environment. Each time is the least of three, after a first run.

A reduction: (k-means with six reductions - FedAvg with one) / 5, on 300 clients in 10 partitions.
A megabyte: (FedAvg on 102400 clients, 65.5 MB in 16 partitions - on 320 clients in 16 partitions) / 65.5.
Flower: the median round of FLOWER_ROUNDS, without the first, and all from the start of the simulation to the end of the first.
"""
import itertools
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import time

import drx_engines as drx
import on_engine

RUNS = 3
FLOWER_ROUNDS = 21


def least(f):
    f()
    return min(f() for _ in range(RUNS))


def of_engine(engine, name, executable, folder, clients, size, runs=RUNS):
    program = on_engine.load(engine, executable, name)
    manifest = drx.Manifest.of_files("clients", clients, [folder / "x.npy", folder / "y.npy"], size)
    arguments = on_engine.CENTRES if name == "k_means" else on_engine.START
    call = program.call(*arguments, members={"clients": clients})

    def run():
        start = time.perf_counter()
        on_engine.ENGINES[engine](call, manifest, folder)
        return time.perf_counter() - start

    return least(run) if runs > 1 else run()


def of_flower(executable, folder, clients, size):
    flower = on_engine.ENGINES["flower"]
    flower.rounds = FLOWER_ROUNDS
    of_engine("flower", "fedavg", executable, folder, clients, size, runs=1)
    first, *others = [b - a for a, b in itertools.pairwise(flower.times)]
    return first, min(others), statistics.median(others), max(others)


def measure_flower(executable, small, large):
    for where, clients, size in ((small, 300, 32), (small, 320, 32), (large, 102400, 6400)):
        first, least_of, median, most = of_flower(executable, where, clients, size)
        print(f"flower, {clients} clients in {-(-clients // size)} partitions: a round {median:.3f} s "
              f"({least_of:.3f} to {most:.3f}), the start with the first round {first:.1f} s")


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
    if engine == "flower":
        measure_flower(executable, small, large)
        measure_mpi(executable, small, large)
        return
    with on_engine.ENGINES[engine].ready():
        one = of_engine(engine, "fedavg", executable, small, 300, 32)
        six = of_engine(engine, "k_means", executable, small, 300, 32)
        few = of_engine(engine, "fedavg", executable, small, 320, 32)
        many = of_engine(engine, "fedavg", executable, large, 102400, 6400)
    megabytes = 102400 * 16 * 5 * 8 / 1e6
    print(f"{engine}: a call with one reduction {one:.3f} s, a further reduction {(six - one) / 5:.3f} s, "
          f"65.5 MB {many:.3f} s, a MB {1000 * (many - few) / megabytes:.2f} ms")
    measure_mpi(executable, small, large)


def measure_mpi(executable, small, large):
    print(f"MPI on 2 ranks: one {1000 * of_mpi('fedavg', executable, small, 300):.3f} ms, six "
          f"{1000 * of_mpi('k_means', executable, small, 300):.3f} ms, 65.5 MB "
          f"{1000 * of_mpi('fedavg', executable, large, 102400):.1f} ms")


if __name__ == "__main__":
    main()

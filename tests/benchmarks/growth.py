#!/usr/bin/env python3
"""How time and memory grow, with points, classes and support vectors; and where the time goes.

Made data: classes are clouds of points around random centres, as far apart as
makes some support vectors.  Processor seconds and peak memory of whole
processes, one core.

    python tests/benchmarks/growth.py [--section points|classes|vectors|parts] [--keep DIR]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
DATA = ROOT.parent / "shared" / "datasets"
ONE = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


# A small process in between: peak memory is inherited from the one that starts a command.
MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def run(folder, command, *words):
    """(processor seconds, peak MB) of a command; its standard output goes nowhere."""
    told = subprocess.run([sys.executable, "-c", MEASURE, sys.executable,
                           str(ROOT / "bin" / command), "--quiet", *map(str, words)],
                          cwd=folder, env=ONE, capture_output=True, text=True, check=True)
    status, seconds, memory = map(float, told.stdout.split())
    if status:
        sys.exit(f"{command} {' '.join(map(str, words))}: {told.stderr}")
    return seconds, memory


def clouds(folder, name, k, per_class, d, spread, seed=1):
    from agfmc.formats.vectors import write_cls, write_vec
    centres = np.random.default_rng(7).normal(size=(k, d))  # the same for training and test
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), per_class)
    x = centres[y] + spread * rng.normal(size=(len(y), d))
    order = rng.permutation(len(y))
    write_vec(folder / f"{name}.vec", x[order].astype("f4"))
    write_cls(folder / f"{name}.cls", y[order].astype("i4"))


def train(folder, name, k, scheme="one-vs-one", options="-c 10"):
    plan = subprocess.run([sys.executable, ROOT / "bin" / "print_control", "-Q", scheme, str(k)],
                          capture_output=True, check=True).stdout
    (folder / f"{name}.mbt").write_bytes(plan)
    cost = run(folder, "multi_borders", "--retrain", "-+", options, f"{name}.mbt", name, name,
               f"{name}.mbc")
    run(folder, "mbh2mbm", f"{name}.mbc", f"{name}.mbm")
    return cost


def vectors(folder, name):
    from agfmc.prediction.configuration import load
    return len(load(str(folder / f"{name}.mbm")).machines.sv)


def points(folder):
    """classify_m from 1e3 to 1e6 points, 8 classes, 16 features."""
    clouds(folder, "p", 8, 200, 16, 1.0)
    train(folder, "p", 8)
    print(f"\nPoints: 8 classes, 16 features, {vectors(folder, 'p')} support vectors\n\n"
          "| points | classify_m, s | us a point | peak MB |\n|---|---|---|---|")
    for n in (1_000, 10_000, 100_000, 1_000_000):
        clouds(folder, "many", 8, n // 8, 16, 1.0, 2)
        seconds, memory = run(folder, "classify_m", "p.mbm", "many.vec", "o")
        print(f"| {n} | {seconds:.2f} | {1e6 * seconds / n:.1f} | {memory:.0f} |", flush=True)


def classes(folder):
    """Training and classification with 5 to 100 classes."""
    print("\nClasses: 60 training points each, 16 features; 10,000 points classified\n\n"
          "| classes | classifiers | support vectors | train, s | MB | -Q inverse, s | MB | "
          "-Q ddag, s | one-vs-rest: train, s | classify, s |\n" + "|---" * 10 + "|")
    for k in (5, 10, 20, 50, 100):
        clouds(folder, "c", k, 60, 16, 0.8)
        clouds(folder, "many", k, 10_000 // k, 16, 0.8, 2)
        trained = train(folder, "c", k)
        sv = vectors(folder, "c")
        inverse = run(folder, "classify_m", "-Q", "inverse", "c.mbm", "many.vec", "o")
        ddag = run(folder, "classify_m", "-Q", "ddag", "c.mbm", "many.vec", "o")
        rest = train(folder, "c", k, "one-vs-rest")
        told = run(folder, "classify_m", "c.mbm", "many.vec", "o")
        print(f"| {k} | {k * (k - 1) // 2} | {sv} | {trained[0]:.2f} | {trained[1]:.0f} | "
              f"{inverse[0]:.2f} | {inverse[1]:.0f} | {ddag[0]:.2f} | {rest[0]:.2f} | "
              f"{told[0]:.2f} |", flush=True)


def support(folder):
    """Classification with more and more support vectors."""
    print("\nSupport vectors: 8 classes, 16 features, 20,000 points classified\n\n"
          "| training points | support vectors | train, s | classify, s | us a point | MB |\n"
          + "|---" * 6 + "|")
    clouds(folder, "many", 8, 2500, 16, 1.2, 2)
    for n in (50, 200, 800, 2000):
        clouds(folder, "s", 8, n, 16, 1.2)
        trained = train(folder, "s", 8)
        seconds, memory = run(folder, "classify_m", "s.mbm", "many.vec", "o")
        print(f"| {8 * n} | {vectors(folder, 's')} | {trained[0]:.2f} | {seconds:.2f} | "
              f"{1e6 * seconds / 20_000:.1f} | {memory:.0f} |", flush=True)


def real(folder, name, rows, options, scheme):
    from agfmc.formats.libsvm_data import read_svm
    from agfmc.formats.vectors import write_cls, write_vec
    data = read_svm(str(DATA / f"{name}.svm"))
    x = ((data.x - data.x[:rows].mean(0)) / data.x[:rows].std(0, ddof=1)).astype("f4")
    write_vec(folder / f"{name}.vec", x[:rows])
    write_cls(folder / f"{name}.cls", data.y[:rows])
    train(folder, name, int(data.y.max()) + 1, scheme, options)
    return x[np.random.default_rng(1).integers(len(x), size=20_000)]


def fastest(work, turns=5):
    times = []
    for _ in range(turns):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def parts(folder):
    """Microseconds a point of each step, beside the bare product and exponential."""
    from agfmc.codes.matrix import rows_to_matrix
    from agfmc.decode.front import CodeDecoder
    from agfmc.prediction.configuration import load
    from agfmc.prediction.decision_values import MachineValues
    from agfmc.formats.probability_text import format_points
    from agfmc.kernel.values import PreparedKernel
    print("\nWhere the time goes: us a point, 20,000 points, in-process, one core\n\n"
          "| data | support vectors | product + exp | f | r | decoding | text | f / bound |\n"
          + "|---" * 8 + "|")
    for name, rows, options, scheme in (("letter", 15_000, "-c 50", "one-vs-one"),
                                        ("sat", 4435, "-c 50 -g 0.1", "one-vs-one"),
                                        ("pendigits", 7494, "-c 50 -g 0.01", "one-vs-rest")):
        x = real(folder, name, rows, options, scheme).astype(float)
        configuration = load(str(folder / f"{name}.mbm"))
        model, node = configuration.machines, configuration.tree.nodes[0]
        kernel = PreparedKernel(model.kernels[0], model.sv)
        buffer = np.empty((kernel.size, 128))

        def bare():
            for start in range(0, len(x) - 127, 128):
                kernel.values(x[start:start + 128], out=buffer)

        values = MachineValues(configuration)
        machine = values._machine(range(values.count), x.shape[1])
        f, r = values(range(values.count), x)
        solve = CodeDecoder(rows_to_matrix([(row.left, row.right) for row in node.rows],
                                           len(node.children)), "least-squares")
        p = solve(r).p
        everything = (
            fastest(bare), fastest(lambda: machine.decision_values(x)),
            fastest(lambda: np.tanh(f * model.a + model.b)), fastest(lambda: solve(r)),
            fastest(lambda: format_points(p, p.argmax(axis=1))))
        each = [1e6 * seconds / len(x) for seconds in everything]
        print(f"| {name} {scheme} | {kernel.size} | " + " | ".join(f"{us:.2f}" for us in each)
              + f" | {each[1] / each[0]:.2f} |", flush=True)


SECTIONS = {"points": points, "classes": classes, "vectors": support, "parts": parts}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--section", choices=SECTIONS, action="append")
    parser.add_argument("--keep", metavar="DIR", help="folder of what is made")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(args.keep or temporary).resolve()
        folder.mkdir(exist_ok=True)
        for name in args.section or SECTIONS:
            SECTIONS[name](folder)


if __name__ == "__main__":
    main()

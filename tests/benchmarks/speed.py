#!/usr/bin/env python3
"""How fast the suite is beside svm-train, svm-predict, scikit-learn and scipy: one table.

Every row times two ways of doing the same work, whole processes unless the row says
`in-process`, turn by turn (ours, theirs, ours, ...), and prints how many times faster
ours is: the median of the turns, their smallest and largest, and what is aimed at.
Rows of one core compare processor seconds, rows of two cores the time on the clock.
The data sets are LIBSVM text in ../shared/datasets; svm-train and svm-predict must be
on the path.

    python tests/benchmarks/speed.py [--turns N] [--keep DIR] [row ...]
"""

import argparse
import os
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]
DATA = ROOT.parent / "shared" / "datasets"
ONE = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONPATH": str(ROOT),
}  # of a checkout that is not installed
LETTER, SAT = "-c 50", "-c 50 -g 0.1"


class Bench:
    """A folder with what the rows need, made when it is first asked for."""

    def __init__(self, folder, turns, sets=DATA):
        self.folder, self.turns, self.sets = Path(folder), turns, sets

    def ours(self, command, *words):
        return [sys.executable, ROOT / "bin" / command, "--quiet", *words]

    def run(self, words, clock=False, out=subprocess.DEVNULL, env=ONE):
        """Seconds of a process: on the clock, or of the processor."""
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(
            words, cwd=self.folder, stdout=out, stderr=subprocess.DEVNULL, check=True, env=env
        )
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (
            wall if clock else (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        )

    def text(self, *words):
        return subprocess.run(
            words, cwd=self.folder, capture_output=True, text=True, check=True, env=ONE
        ).stdout

    def ratios(self, ours, theirs):
        """theirs()/ours(), both seconds, turn by turn."""
        return [theirs() / ours() for _ in range(self.turns)]

    def once(self, name, make):
        path = self.folder / name
        if not path.exists():
            make(path)
        return name

    def data(self, name, rows):
        """Normalised training rows of a data set as base name.vec, .cls and name.svm."""

        def make(path):
            from agfmc.data.libsvm import read_svm
            from data_files import write_cls, write_svm, write_vec

            data = read_svm(str(self.sets / f"{name}.svm"))
            x = ((data.x - data.x[:rows].mean(0)) / data.x[:rows].std(0, ddof=1)).astype("f4")
            rng = np.random.default_rng(1)
            for base, part in ((name, slice(0, rows)), (f"{name}-t", slice(rows, None))):
                write_vec(self.folder / f"{base}.vec", x[part])
                write_cls(self.folder / f"{base}.cls", data.y[part])
                write_svm(self.folder / f"{base}.svm", x[part], data.y[part])
            many = rng.integers(len(x), size=60_000)
            write_vec(self.folder / f"{name}-60k.vec", x[many])
            write_svm(self.folder / f"{name}-60k.svm", x[many], data.y[many])

        self.once(f"{name}.vec", make)

    def plan(self, scheme, k):
        return self.once(
            f"{scheme}-{k}.mbt",
            lambda path: path.write_text(
                self.text(*self.ours("print_control", "-Q", scheme, str(k)))
            ),
        )

    def models(self):
        """One-vs-one letter, ours and svm-train's, and the tree from data."""
        self.data("letter", 15_000)
        plan = self.plan("one-vs-one", 26)

        def pairs(path):
            self.run(
                self.ours("multi_borders", "-j", "0", "-+", LETTER, plan, "letter", "m", "m.mbc")
            )
            self.run(self.ours("mbh2mbm", "m.mbc", path.name))

        def tree(path):
            (self.folder / "tree.mbt").write_text(
                self.text(*self.ours("print_control", "-Q", "empirical", "letter"))
            )
            self.run(
                self.ours(
                    "multi_borders", "-j", "0", "-+", LETTER, "tree.mbt", "letter", "t", "t.mbc"
                )
            )
            self.run(self.ours("mbh2mbm", "t.mbc", path.name))

        self.once("m.mbm", pairs)
        self.once("t.mbm", tree)
        self.once(
            "letter.model",
            lambda path: self.run(
                ["svm-train", "-q", "-b", "1", *LETTER.split(), "letter.svm", path.name]
            ),
        )


def train_letter(b, jobs, clock, *more):
    b.data("letter", 15_000)
    plan = b.plan("one-vs-one", 26)
    return b.ratios(
        lambda: b.run(
            b.ours(
                "multi_borders",
                "--retrain",
                "-j",
                jobs,
                *more,
                "-+",
                LETTER,
                plan,
                "letter",
                "x",
                "x.mbc",
            ),
            clock,
        ),
        lambda: b.run(
            ["svm-train", "-q", "-b", "1", *LETTER.split(), "letter.svm", "x.model"], clock
        ),
    )


def train_exhaustive(b):
    b.data("sat", 4435)
    plan = b.plan("exhaustive", 6)
    from agfmc.control.parse import parse
    from agfmc.data.libagf import read_cls, read_vec
    from data_files import write_svm

    x, y = read_vec(b.folder / "sat.vec"), read_cls(b.folder / "sat.cls")
    for number, (_, right) in enumerate(parse((b.folder / plan).read_text()).sides()):
        b.once(
            f"part-{number}.svm",
            lambda path, right=right: write_svm(path, x, np.isin(y, right).astype(np.int32)),
        )
    command = [
        "sh",
        "-c",
        "for i in "
        + " ".join(map(str, range(31)))
        + f"; do svm-train -q -b 1 {SAT} part-$i.svm part.model; done",
    ]
    return b.ratios(
        lambda: b.run(
            b.ours("multi_borders", "--retrain", "-j", "2", "-+", SAT, plan, "sat", "y", "y.mbc"),
            True,
        ),
        lambda: b.run(command, True),
    )


def classify_letter(b, jobs, clock):
    b.models()
    return b.ratios(
        lambda: b.run(
            b.ours("classify_m", "-j", jobs, "-Q", "inverse", "m.mbm", "letter-60k.vec", "o"), clock
        ),
        lambda: b.run(["svm-predict", "-b", "1", "letter-60k.svm", "letter.model", "o.txt"], clock),
    )


def classify_tree(b):
    b.models()
    return b.ratios(
        lambda: b.run(b.ours("classify_m", "t.mbm", "letter-60k.vec", "o")),
        lambda: b.run(["svm-predict", "-b", "1", "letter-60k.svm", "letter.model", "o.txt"]),
    )


def classify_laplacian(b):
    """The Gaussian kernel's time over the Laplacian's, on two cores."""
    b.data("letter", 15_000)
    plan, models = b.plan("one-vs-one", 26), []
    for kernel in ("laplacian", "rbf"):

        def make(path, kernel=kernel):
            b.run(
                b.ours(
                    "multi_borders",
                    "-j",
                    "0",
                    "-+",
                    f"{LETTER} -t {kernel}",
                    plan,
                    "letter",
                    f"{kernel}",
                    f"{kernel}.mbc",
                )
            )
            b.run(b.ours("mbh2mbm", f"{kernel}.mbc", path.name))

        models.append(b.once(f"{kernel}.mbm", make))
    return b.ratios(
        *(
            lambda model=model: b.run(
                b.ours("classify_m", "-j", "2", model, "letter-60k.vec", "o"), True
            )
            for model in models
        )
    )


def landmarks_of_codes(b, rows, landmarks):
    """The time of one-vs-rest over that of a random code with zeros, both on landmarks."""
    b.data("letter", 14_000)
    b.once(
        "random.mbt",
        lambda path: path.write_text(
            b.text(*b.ours("print_control", "-Q", "random", "--seed", "1", "26", str(rows)))
        ),
    )
    options = f"learner=nystrom -m {landmarks}"
    return b.ratios(
        *(
            lambda plan=plan: b.run(
                b.ours(
                    "multi_borders",
                    "--retrain",
                    "-j",
                    "2",
                    "-+",
                    options,
                    plan,
                    "letter",
                    "z",
                    "z.mbc",
                ),
                True,
            )
            for plan in ("random.mbt", b.plan("one-vs-rest", 26))
        )
    )


def predict_in_process(b):
    b.models()
    script = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
import numpy as np
from agfmc.models.files import load
from agfmc.prediction.classifier import Classifier, classify
from agfmc.data.libagf import read_cls, read_vec
x, y, points = read_vec("letter.vec"), read_cls("letter.cls"), read_vec("letter-60k.vec")[:6000]
ours = Classifier(load("m.mbm"), "inverse")
from sklearn.svm import SVC
import warnings
warnings.simplefilter("ignore")
theirs = SVC(C=50, gamma=1 / x.shape[1], probability=True).fit(x, y)
for _ in range({b.turns}):
    start = time.process_time()
    for start_row in range(0, len(points), ours.rows):
        ours(points[start_row:start_row + ours.rows])
    middle = time.process_time()
    theirs.predict_proba(points)
    print((time.process_time() - middle) / (middle - start))
"""
    return [float(word) for word in b.text(sys.executable, "-c", script).split()]


def small_test(b):
    b.data("sat", 4435)
    plan = b.plan("one-vs-one", 6)

    def make(path):
        b.run(b.ours("multi_borders", "-+", SAT, plan, "sat", "s", "s.mbc"))
        b.run(b.ours("mbh2mbm", "s.mbc", path.name))
        b.run(["svm-train", "-q", "-b", "1", *SAT.split(), "sat.svm", "sat.model"])

    b.once("s.mbm", make)
    return b.ratios(
        lambda: b.run(b.ours("classify_m", "s.mbm", "sat-t.vec", "o")),
        lambda: b.run(["svm-predict", "-b", "1", "sat-t.svm", "sat.model", "o.txt"]),
    )


def decoding(b, scheme, strict=False, points=2000):
    """Our decoder against scipy's nnls for each point, k = 26; in-process."""
    script = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
import numpy as np
from scipy.optimize import nnls
from agfmc.control.matrix import rows_to_matrix
from agfmc.decode.front import CodeDecoder
from agfmc.designs.design import design
tree = design({scheme!r}, range(26), strict={strict!r})
a = rows_to_matrix([(row.left, row.right) for row in tree.rows], 26)
rng = np.random.default_rng(1)
truth = rng.integers(26, size={points})
r = np.tanh(2.0 * a[:, truth].T + rng.normal(size=({points}, len(a))))
solve = CodeDecoder(a, "least-squares")
solve(r[:10])
for _ in range({b.turns}):
    start = time.process_time()
    for _ in range(10):
        solve(r)
    middle = time.process_time()
    total = 0.0
    for row in r[:200]:
        system = np.vstack([a - np.abs(a) * row[:, None], np.ones(26)])
        right = np.zeros(len(system))
        right[-1] = 1.0
        begin = time.process_time()
        nnls(system, right)
        total += time.process_time() - begin
    print((total / 200) / ((middle - start) / (10 * {points})))
"""
    return [float(word) for word in b.text(sys.executable, "-c", script).split()]


def start_up(b):
    """Milliseconds that a command takes longer than argparse alone: the worst of all commands."""

    def median(words):
        times = []
        for _ in range(15):
            start = time.perf_counter()
            subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
            times.append(time.perf_counter() - start)
        return 1000 * statistics.median(times)

    worst = 0.0
    for words in (
        ["print_control", "-Q", "1", "26"],
        *([path.name, "--help"] for path in sorted((ROOT / "bin").iterdir())),
    ):
        base = median([sys.executable, "-c", "import argparse"])
        worst = max(worst, median([sys.executable, ROOT / "bin" / words[0], *words[1:]]) - base)
    return [worst]


def read_text(b):
    def make(path):
        rng = np.random.default_rng(0)
        with open(path, "w", encoding="ascii") as file:
            for _ in range(500):
                block = rng.normal(size=(1000, 50))
                file.writelines(
                    f"{label} " + " ".join(f"{i}:{v:.6g}" for i, v in enumerate(row, 1)) + "\n"
                    for label, row in zip(rng.integers(5, size=1000), block)
                )

    name = b.once("wide.svm", make)
    ours = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        f"from agfmc.data.libsvm import read_svm; read_svm({name!r})"
    )
    theirs = f"from sklearn.datasets import load_svmlight_file as f; f({name!r})"
    empty = b.run([sys.executable, "-c", "import sklearn.datasets"])
    return b.ratios(
        lambda: b.run([sys.executable, "-c", ours]),
        lambda: b.run([sys.executable, "-c", theirs]) - empty + 0.1,
    )


def hausdorff(b):
    """Seconds of print_control -Q 3 on letter (not a ratio)."""
    b.data("letter", 15_000)
    return [b.run(b.ours("print_control", "-Q", "3", "letter"), True) for _ in range(b.turns)]


ROWS = {  # name: (what, goal, function)
    "train": (
        "train letter 1v1, one core / svm-train -b 1",
        1.05,
        lambda b: train_letter(b, "1", False),
    ),
    "train2": ("the same, two cores", 1.9, lambda b: train_letter(b, "2", True)),
    "exhaustive": (
        "sat, 31 exhaustive partitions, two cores / 31 svm-train -b 1",
        3.5,
        train_exhaustive,
    ),
    "loo": (
        "--platt loo, letter 1v1, two cores / svm-train -b 1",
        6.0,
        lambda b: train_letter(b, "2", True, "--platt", "loo"),
    ),
    "classify": (
        "classify 60,000 letter points, 1v1, one core / svm-predict -b 1",
        5.0,
        lambda b: classify_letter(b, "1", False),
    ),
    "classify2": ("the same, two cores", 7.0, lambda b: classify_letter(b, "2", True)),
    "laplacian": (
        "the same, Laplacian kernel, two cores / Gaussian kernel",
        0.33,
        classify_laplacian,
    ),
    "zeros": (
        "landmarks (2000), letter, 200 random rows, two cores / one-vs-rest",
        0.125,
        lambda b: landmarks_of_codes(b, 200, 2000),
    ),
    "in-process": (
        "the same model in-process / scikit-learn SVC.predict_proba",
        10.0,
        predict_in_process,
    ),
    "tree": (
        "letter, tree from data, recursive, 60,000 points / svm-predict -b 1",
        10.0,
        classify_tree,
    ),
    "decode-1vR": (
        "decoding one-vs-rest, k = 26, in-process / scipy nnls",
        100.0,
        lambda b: decoding(b, "one-vs-rest"),
    ),
    "decode-ortho": ("decoding orthogonal", 100.0, lambda b: decoding(b, "orthogonal")),
    "decode-adj": ("decoding adjacent", 100.0, lambda b: decoding(b, "adjacent")),
    "decode-strict": ("decoding random strict", 5.0, lambda b: decoding(b, "random", True)),
    "decode-random": ("decoding random non-strict", 5.0, lambda b: decoding(b, "random")),
    "sat": ("sat test set, 2,000 points / svm-predict -b 1", 0.8, small_test),
    "start": ("start-up of the slowest --help beyond argparse, ms (at most)", 10.0, start_up),
    "text": ("read 500,000 x 50 LIBSVM text, one core / scikit-learn", 1.2, read_text),
    "hausdorff": ("Hausdorff tree on letter, seconds (at most)", 5.0, hausdorff),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("rows", nargs="*", metavar="row", help=", ".join(ROWS))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--keep", metavar="DIR", help="folder of what is made, used again")
    args = parser.parse_args()
    for row in args.rows:
        if row not in ROWS:
            sys.exit(f"there is no row '{row}'; there are: {', '.join(ROWS)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or temporary
        os.makedirs(folder, exist_ok=True)
        bench = Bench(os.path.abspath(folder), args.turns)
        print("| row | work / against | median | smallest - largest | goal |")
        print("|---|---|---|---|---|")
        for name in args.rows or ROWS:
            what, goal, measure = ROWS[name]
            try:
                found = measure(bench)
            except subprocess.CalledProcessError as error:
                print(f"| {name} | {what} | failed: {shlex.join(map(str, error.cmd))[:80]} | | |")
                continue
            print(
                f"| {name} | {what} | {statistics.median(found):.3g} | {min(found):.3g} - "
                f"{max(found):.3g} | {goal} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

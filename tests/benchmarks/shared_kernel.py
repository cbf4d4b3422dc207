#!/usr/bin/env python3
"""Classifiers that share landmarks (learner `nystrom`), beside support vector machines.

Whole commands are timed, on the clock; memory is the peak of the process.  Parts:

    accuracy  accuracy, log loss and Brier score of four designs on four data sets, with calibration
    rows      many rows of a code against few, and against support vector machines on the same rows
    million   letter with noise: 10^5 and 10^6 rows, beside scikit-learn's SVC
    disk      ten million rows that are mapped: memory does not grow
    growth    with rows, landmarks, rows of the code, and classes
    classify  60,000 points, beside the support vector machines and svm-predict
    rounding  decision values where sums are of kernel values, against sums of features

Data sets are LIBSVM text, DIR/segment.svm and so on.  Half an hour for `accuracy` of letter;
other parts take minutes.

    python tests/benchmarks/shared_kernel.py [--data DIR] [--keep DIR] [-j N] [part ...]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from calibration import load, Protocol, PROTOCOLS, split, told
from growth import clouds, MEASURE
from speed import Bench, DATA, LETTER, ONE, ROOT, SAT


class Setting(NamedTuple):
    """SVM options; training rows; options of the landmarks, and of more of them, for full rows."""

    svm: str
    train: int
    landmarks: str
    more: str


# SVM options: those of "Solving for multi-class: a survey and synthesis", as in paper_tables.py;
# beside them stand those of calibration.py, found by a search.  gamma: the least leave-one-out
# error of training points with 400 landmarks, .01 to .3, on which one-vs-one and one-vs-rest
# agree, and for all points of segment as landmarks.
SETTINGS = {"segment": Setting("-c 100 -g 0.1", 1617, "-m 400 -g 0.03", "-g 0.1"),
            "sat": Setting("-c 50 -g 0.1", 4505, "-m 1000 -g 0.06", "-m 2000 -g 0.06"),
            "pendigits": Setting("-c 50 -g 0.01", 7694, "-m 500 -g 0.05", "-m 2000 -g 0.05"),
            "letter": Setting("-c 50", 14_000, "-m 1500 -g 0.06", "-m 4000 -g 0.06")}
# made of a control file by print_control; `rows` is every split of few classes, else 60 random ones
DESIGNS = ("one-vs-one", "one-vs-rest", "rows", "empirical")
NYSTROM = "learner=nystrom "
NOISE, APART = .15, 20_000


class Used(NamedTuple):
    """What a command took."""

    seconds: float
    processor: float
    megabytes: float

    def __str__(self):
        return f"{self.seconds:.1f} s | {self.processor:.1f} | {self.megabytes:.0f}"


class Place(Bench):
    """A `Bench` that also tells memory, with names for trained models."""

    def __init__(self, folder, args):
        super().__init__(folder, args.turns, args.data)
        self.args, self.jobs = args, str(args.jobs)

    def measured(self, words):
        """`Used` of a command; its output is nowhere, its errors end the benchmark."""
        start = time.perf_counter()
        found = subprocess.run([sys.executable, "-c", MEASURE, *map(str, words)], cwd=self.folder,
                               env=ONE, capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - start
        status, processor, memory = map(float, found.stdout.split())
        if status:
            sys.exit(f"{' '.join(map(str, words))}: {found.stderr}")
        return Used(seconds, processor, memory)

    def train(self, plan, base, options, *more):
        """`Used` of multi_borders, which writes x.mbc and its models."""
        return self.measured(self.ours("multi_borders", "--retrain", "-j", self.jobs, *more, "-+",
                                       options, plan, base, "x", "x.mbc"))

    def model(self, name, plan, base, options, *more):
        """Train, and merge into the model file `name`."""
        used = self.train(plan, base, options, *more)
        self.run(self.ours("mbh2mbm", "x.mbc", name))
        return used

    def scores(self, model, base):
        """The scores of the points BASE.vec, .cls, calibrated."""
        whole = ["--tree", "full"] if "recursive" in self.text(*self.ours(
            "mbm_info", model)) else []
        with open(self.folder / "p.txt", "wb") as out:
            self.run(self.ours("classify_m", "-j", self.jobs, *whole, model, f"{base}.vec", "o"),
                     out=out)
        return json.loads(self.text(*self.ours("eval_uc", "--json", f"{base}.cls", "o", "p.txt")))

    def control(self, design, k, base=None, rows=60):
        """The name of a control file for k classes."""
        words = {"rows": ["exhaustive", k] if k < 8 else ["-G", "random", k, rows],
                 "empirical": ["empirical", base]}.get(design, [design, k])
        name = f"{design}-{base if design == 'empirical' else k}-{rows}.mbt"
        words = ["-G", "-Q", *words[1:]] if words[0] == "-G" else ["-Q", *words]
        (self.folder / name).write_text(self.text(*self.ours("print_control", *map(str, words))))
        return name

    def write(self, base, x, y):
        from agfmc.data.libagf import write_cls, write_vec
        write_vec(self.folder / f"{base}.vec", np.asarray(x, dtype="f4"))
        write_cls(self.folder / f"{base}.cls", np.asarray(y, dtype="i4"))


def table(*columns):
    print("\n| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|", flush=True)


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def accuracy(place):
    """Designs of the data sets; finished rows are kept in the state file."""
    args, done = place.args, {}
    if args.state and os.path.exists(args.state):
        for line in Path(args.state).read_text(encoding="ascii").splitlines():
            one = json.loads(line)
            done[tuple(one["key"])] = one
    for name in args.sets:
        setting, searched = SETTINGS[name], PROTOCOLS[name]
        x, y = load(name, args.data / f"{name}.svm")
        k = len(np.unique(y))
        table(f"{name}, -j {place.jobs}", f"options; SVMs: --platt {args.platt}", "accuracy",
              "log loss", "Brier score", "training, s")
        for design in DESIGNS:
            learners = {"svm": setting.svm, "svm, searched": f"-c {searched.c} -g {searched.gamma}",
                        "nystrom": NYSTROM + setting.landmarks}
            if design != "one-vs-one":
                learners["nystrom, more"] = NYSTROM + setting.more
            if name == "letter" and design == "rows" and not args.all:
                del learners["svm"]  # an hour
            if name == "letter":
                del learners["svm, searched"]  # they are those of the survey
            for learner, options in learners.items():
                found, way = [], args.platt if "svm" in learner else ""
                for number in range(args.splits):
                    key = name, design, options, way, number
                    if key not in done:
                        done[key] = _trial(place, key, split(
                            x, y, Protocol(0, 0, setting.train, len(y)), number), k)
                        if args.state:
                            with open(args.state, "a", encoding="ascii") as file:
                                file.write(json.dumps(done[key]) + "\n")
                    found.append(done[key])
                row(design, options, *(
                    told([one[score] for one in found], digits) for score, digits in
                    (("accuracy", 4), ("log_loss", 4), ("brier", 4), ("seconds", 1))))


def _trial(place, key, data, k):
    _, design, options, way, _ = key
    x, y, new, truth = data
    place.write("a", x, y)
    place.write("b", new, truth)
    used = place.model("a.mbm", place.control(design, k, "a"), "a", options,
                       *(("--platt", way) if way else ()))
    scores = place.scores("a.mbm", "b")
    return {"key": key, "seconds": used.seconds, "accuracy": scores["accuracy"],
            "log_loss": scores["log_loss"], "brier": scores["brier"]}


def rows(place):
    """The price of rows: ratios of times, turn by turn, without the calibration that all share."""
    table("work", "seconds of the first", "ratio, median", "smallest - largest", "goal")

    def compare(what, goal, ours, theirs, factor=1.0):
        """theirs() / ours(), or where goal is at most, the other way."""
        first, ratios = [], []
        for _ in range(place.turns):
            first.append(ours().seconds)
            ratios.append(theirs().seconds * factor / first[-1])
        if goal.startswith("at most"):
            ratios = [1 / ratio for ratio in ratios]
        row(what, f"{median(first):.1f}", f"{median(ratios):.2f}",
            f"{min(ratios):.2f} - {max(ratios):.2f}", goal)

    for name, points, svm, design, number, sample, limit in (
            ("sat", 4435, SAT, "rows", 31, 31, 1.5), ("letter", 15_000, LETTER, "rows", 200, 8, 3)):
        place.data(name, points)
        k = 6 if name == "sat" else 26
        options = NYSTROM + SETTINGS[name].landmarks

        def train(plan, words, *more, name=name):
            return place.train(plan, name, words, "--no-calibration", *more)

        many, few = place.control(design, k, rows=number), place.control("one-vs-rest", k)
        part = place.control(design, k, rows=sample)
        # rows of a random code are alike: some of them, times their share
        told_so = f", from {sample} of them" if sample < number else ""
        compare(f"{name}: {number} rows / {k} one-vs-rest", f"at most {limit}",
                lambda: train(many, options), lambda: train(few, options))
        for way, goal in (("cv", 10), ("loo", 3)):
            compare(f"{name}: {number} SVMs, --platt {way}{told_so} / nystrom", f"{goal}",
                    lambda: train(many, options),
                    lambda: train(part, svm, "--platt", way), number / sample)


def noisy(place, base, n, seed, apart=False):
    """Letter's points with noise, drawn again and again; a tenth is kept apart for tests."""
    def make(_):
        x, y = load("letter", place.args.data / "letter.svm")
        x = (x - x.mean(axis=0)) / x.std(axis=0)
        chosen = np.arange(len(y)) % 10 == 0
        members = np.flatnonzero(chosen if apart else ~chosen)
        rng = np.random.default_rng(seed)
        with open(place.folder / f"{base}.vec", "wb") as vec, \
                open(place.folder / f"{base}.cls", "wb") as cls:
            np.array([x.shape[1]], dtype="<i4").tofile(vec)
            for start in range(0, n, 100_000):
                take = members[rng.integers(len(members), size=min(100_000, n - start))]
                (x[take] + rng.normal(0, NOISE, (len(take), x.shape[1]))).astype("<f4").tofile(vec)
                y[take].astype("<i4").tofile(cls)
    place.once(f"{base}.vec", make)
    return base


SVC = """
import sys, time
import numpy as np
from sklearn.svm import SVC
def read(base):
    return (np.fromfile(base + ".vec", "<f4")[1:].reshape(-1, 16).astype(float),
            np.fromfile(base + ".cls", "<i4"))
x, y = read(sys.argv[1])
start = time.perf_counter()
model = SVC(C=50, gamma=1 / 16, cache_size=500).fit(x, y)
seconds = time.perf_counter() - start
x, y = read(sys.argv[2])
print(seconds, (model.predict(x) == y).mean())
"""


def million(place):
    """One-vs-rest and one-vs-one on many rows."""
    table("rows", "design", "landmarks", "training", "processor, s", "peak MB", "test accuracy",
          "log loss")
    test = noisy(place, "test", APART, 2, apart=True)
    for n, design, landmarks in ((10**6, "one-vs-rest", 2000), (10**5, "one-vs-one", 1500),
                                 (10**6, "one-vs-one", 1500)):
        base = noisy(place, f"n{n}", n, 1)
        used = place.model("n.mbm", place.control(design, 26), base, f"{NYSTROM}-m {landmarks}")
        scores = place.scores("n.mbm", test)
        row(n, design, landmarks, used, f"{scores['accuracy']:.4f}", f"{scores['log_loss']:.4f}")
    for n in (10**5, 10**6) if place.args.all else (10**5,):
        base = noisy(place, f"n{n}", n, 1)
        try:
            seconds, right = map(float, place.text(sys.executable, "-c", SVC, base, test).split())
            row(n, "SVC(C=50) without probabilities", "", f"{seconds:.1f} s", "", "",
                f"{right:.4f}", "")
        except subprocess.CalledProcessError:
            row(n, "SVC: scikit-learn is not installed", *[""] * 6)


def disk(place):
    """Mapped files: one million rows, then ten."""
    table("rows", "MB of the points", "training, 500 landmarks", "processor, s", "peak MB")
    plan = place.control("one-vs-rest", 26)
    for n in (10**6, 10**7):
        base = noisy(place, f"n{n}", n, 1)
        size = os.path.getsize(place.folder / f"{base}.vec") / 2**20
        row(n, f"{size:.0f}", place.train(plan, base, NYSTROM + "-m 500"))


def growth(place):
    """Made data, 16 features."""
    def cost(what, value, n=20_000, k=10, landmarks=500, design="one-vs-rest", number=60):
        clouds(place.folder, "g", k, n // k, 16, 1.0)
        row(what, value, place.train(place.control(design, k, rows=number), "g",
                                     f"{NYSTROM}-m {landmarks}"))

    table("grows", "", f"training, -j {place.jobs}", "processor, s", "peak MB")
    for n in (10_000, 30_000, 100_000, 300_000):
        cost("rows", n, n=n)
    for landmarks in (250, 500, 1000, 2000, 4000):
        cost("landmarks", landmarks, landmarks=landmarks)
    for number in (10, 30, 100, 300):
        cost("rows of the code", number, k=16, design="rows", number=number)
    for design in ("one-vs-rest", "one-vs-one"):
        for k in (5, 10, 20, 50):
            cost(f"classes, {design}", k, k=k, design=design)


def classify(place):
    """60,000 points of letter, one core."""
    place.data("letter", 15_000)
    plan = place.control("one-vs-rest", 26)
    if not (place.folder / "rest.mbm").exists():
        place.model("rest.mbm", plan, "letter", LETTER, "--platt", "loo")
    place.model("near.mbm", plan, "letter", NYSTROM + "-m 2000")
    place.once("letter.model", lambda path: place.run(
        ["svm-train", "-q", "-b", "1", *LETTER.split(), "letter.svm", path.name]))
    words = {"nystrom, one-vs-rest, 2000 landmarks": place.ours(
                 "classify_m", "near.mbm", "letter-60k.vec", "o"),
             "svm, one-vs-rest": place.ours("classify_m", "rest.mbm", "letter-60k.vec", "o"),
             "svm-predict -b 1, one-vs-one": ["svm-predict", "-b", "1", "letter-60k.svm",
                                              "letter.model", "o.txt"]}
    times = {what: [] for what in words}
    for _ in range(place.turns):
        for what, command in words.items():
            times[what].append(place.run(command))
    table("60,000 letter points", "processor, s", "times as long")
    base = median(next(iter(times.values())))
    for what, some in times.items():
        row(what, f"{median(some):.2f}", f"{median(some) / base:.2f}")


def rounding(place):
    """Largest difference of decision values of test points, for the same lambda, in-process."""
    import agfmc
    from agfmc.prediction.decision_values import MachineValues
    from agfmc.landmarks import sums

    def values(data, design, options, raw):
        kept, sums._RAW = sums._RAW, 0.0 if raw else np.inf
        try:
            configuration = agfmc.train(design, *data[:2], options=options, calibration=0)
        finally:
            sums._RAW = kept
        machines = MachineValues(configuration)
        return machines(range(machines.count), machines.prepared(data[2]))[0]

    table("data", "design", "lambda", "largest |f - f'|")
    for name in place.args.sets:
        setting = SETTINGS[name]
        x, y = load(name, place.args.data / f"{name}.svm")
        data = split(x, y, Protocol(0, 0, min(setting.train, 5000), 2000), 0)
        for design in ("one-vs-one", "one-vs-rest"):
            for ridge in ("1e-3", "1e-2", "1e-1", "1"):
                options = f"{NYSTROM}{setting.landmarks} -l {ridge}"
                try:
                    one, two = (values(data, design, options, raw) for raw in (False, True))
                    told_so = f"{np.abs(one - two).max():.1e}"
                except agfmc.core.errors.AgfmcError as error:
                    told_so = error.message
                row(name, design, ridge, told_so)


PARTS = {part.__name__: part for part in (accuracy, rows, million, disk, growth, classify,
                                          rounding)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR", help="of the data sets")
    parser.add_argument("--set", dest="sets", action="append", choices=SETTINGS,
                        help="of `accuracy` and `rounding`: this data set alone, or more of them")
    parser.add_argument("--keep", metavar="DIR", help="folder of what is made, used again")
    parser.add_argument("--state", metavar="FILE", help="finished rows of `accuracy`")
    parser.add_argument("--platt", choices=("cv", "loo"), default="cv",
                        help="of `accuracy`: how SVMs get their probabilities")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--turns", type=int, default=3, help="of `rows` and `classify`")
    parser.add_argument("--all", action="store_true", help="also what takes an hour: SVMs on "
                        "random rows of letter, scikit-learn's SVC on a million rows")
    args = parser.parse_args()
    args.data = args.data.resolve()
    args.sets = args.sets or list(SETTINGS)
    if args.state:
        args.state = os.path.abspath(args.state)
    for part in args.parts:
        if part not in PARTS:
            sys.exit(f"there is no part '{part}'; there are: {', '.join(PARTS)}")
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.path.abspath(args.keep or temporary)
        os.makedirs(folder, exist_ok=True)
        place = Place(folder, args)
        for part in args.parts or PARTS:
            print(f"\n{part}: {PARTS[part].__doc__.splitlines()[0]}")
            PARTS[part](place)


if __name__ == "__main__":
    main()

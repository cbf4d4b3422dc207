#!/usr/bin/env python3
"""Decoders that ask only some one-against-one classifiers, measured with the suite's commands.

Prints tables in markdown: DAGSVM's own (Platt, Cristianini and Shawe-Taylor
2000, table 1) for letter, beside what the paper says; all decoders that suit
one against one, on the same models; and how far polls agree with Max Wins.
Features are scaled to [-1, 1] over all rows, the first rows train, the last
are for testing, as in the paper.  The data sets are LIBSVM text in
../shared/datasets.

    python tests/benchmarks/dag_tables.py [--section dagsvm|decoders|poll] [--keep DIR]
                                          [--trials N] [-j N] [letter pendigits]

Times are processor seconds of whole processes with one thread, each divided by
that of Max Wins in the same round; the median of the rounds is shown, also
less the time that the same command takes for a single point.
"""

import argparse
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from array import array
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
FEATURES, TIMED_POINTS = 16, 20000
# data set: rows for training, training options of the decoders' table
DATASETS = {"pendigits": (7494, "-c 10 -g 0.5"), "letter": (16000, "-c 10 -g 2.5")}
SECTIONS = ("dagsvm", "decoders", "poll")
# name, scheme, sigma, C, decoder; the paper's error %, kernel evaluations, thousands of parameters
PAPER = (("1-v-r", "one-vs-rest", .447, 100, "argmax-raw", 2.2, 8183, 148),
         ("Max Wins", "one-vs-one", .632, 100, "max-win", 2.4, 7357, 160),
         ("DAGSVM", "one-vs-one", .447, 10, "ddag", 2.2, 3834, 223))
ONE_THREAD = {name: "1" for name in (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")}
LOSSES = ("hamming", "linear", "hinge", "exponential", "logit", "quadratic")
POLLS = tuple((f"poll {times}", ("-Q", "poll", "--opponents", times))
              for times in ("1log", "3log", "5log"))
TOP = ("poll 1log, top 5", ("-Q", "poll", "--opponents", "1log", "--finalists", "5"))
# name, options of classify_m, whether the winner has a probability
PAIRS = (("inverse", ("-Q", "inverse"), True),
         ("least-squares", ("-Q", "least-squares"), True),
         ("vote", ("-Q", "vote"), False),
         ("vote-values", ("-Q", "vote-values"), False),
         ("max-win", ("-Q", "max-win"), True),
         ("ddag", ("-Q", "ddag"), True),
         ("adag", ("-Q", "adag"), True),
         ("radag", ("-Q", "radag", "--pair-errors", "errors.txt"), True),
         *((name, options, True) for name, options in (*POLLS, TOP)),
         ("and", ("-Q", "and"), True),
         *((f"loss:{name}", ("-Q", f"loss:{name}"), False) for name in LOSSES))


def run(folder, *words, text=None):
    """(standard output, standard error) of a command of the suite."""
    done = subprocess.run([sys.executable, ROOT / "bin" / words[0], *words[1:]], cwd=folder,
                          input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stderr}")
    return done.stdout, done.stderr


def seconds(folder, options, model, points="many.vec"):
    """Processor seconds of one classification, with one thread."""
    command = [sys.executable, ROOT / "bin" / "classify_m", "-j", "1", "--quiet", *options, model,
               points, "timed"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True,
                   env={**os.environ, **ONE_THREAD})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def timed(folder, ways, trials):
    """{name: (ratio, net)}: medians of the time in units of max-win's, and without the start.

    ways: {name: (options, model)}.  The start is the time for a single point.
    """
    rounds = {name: [] for name in ways}
    for _ in range(trials):
        taken = {name: (seconds(folder, *way), seconds(folder, *way, "one.vec"))
                 for name, way in ways.items()}
        unit, start = taken["max-win"]
        for name, (whole, begin) in taken.items():
            rounds[name].append((whole / unit, (whole - begin) / (unit - start)))
    return {name: [statistics.median(values) for values in zip(*pairs)]
            for name, pairs in rounds.items()}


def classes(path):
    values = array("i")
    values.frombytes(path.read_bytes())
    return values


def table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()


def make_data(folder, name):
    """train, test, one (its first row) and many (rows of it, repeated), scaled to [-1, 1]."""
    if (folder / "many.vec").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for line in open(SHARED / "datasets" / f"{name}.svm", encoding="ascii"):
        label, *entries = line.split()
        x = [0.0] * FEATURES
        for entry in entries:
            index, value = entry.split(":")
            x[int(index) - 1] = float(value)
        rows.append((label, x))
    lowest = [min(column) for column in zip(*(x for _, x in rows))]
    highest = [max(column) for column in zip(*(x for _, x in rows))]
    lines = []
    for label, x in rows:
        scaled = (2 * (v - low) / (high - low) - 1 for v, low, high in zip(x, lowest, highest))
        lines.append(f"{label} " + " ".join(f"{i}:{v!r}" for i, v in enumerate(scaled, 1)) + "\n")
    n = DATASETS[name][0]
    many = random.Random(1).choices(lines[n:], k=TIMED_POINTS)
    for base, part in (("train", lines[:n]), ("test", lines[n:]), ("one", lines[n:n + 1]),
                       ("many", many)):
        run(folder, "svm2agf", base, text="".join(part))


def make_model(folder, model, scheme, options, jobs, errors=False):
    """MODEL.mbc and MODEL.mbm, and errors.txt if asked for; once."""
    if (folder / f"{model}.mbm").exists():
        return
    control = run(folder, "print_control", "-Q", scheme, "train")[0]
    counted = ["--cv-errors", "errors.txt"] if errors else []
    run(folder, "multi_borders", "-j", str(jobs), *counted, "-+", options, "train", model,
        f"{model}.mbc", text=control)
    run(folder, "mbh2mbm", f"{model}.mbc", f"{model}.mbm")


def classified(folder, options, model, k, brier=True):
    """{score: number} of the test rows."""
    said = run(folder, "classify_m", "--count", *options, model, "test.vec", "answer")[1]
    asked, kernels = re.search(
        r"(\S+) of \d+ binary classifiers and (\S+) of \d+ kernel", said).groups()
    accuracy, uncertainty = run(folder, "eval_uc", "-b", "-H", "test.cls", "answer")[0].split()
    return {"accuracy": float(accuracy), "uncertainty": float(uncertainty),
            "brier": float(run(folder, "eval_uc", "-B", "-b", "-H", "-k", str(k), "test.cls",
                               "answer")[0]) if brier else None,
            "asked": float(asked), "kernels": float(kernels)}


def margins(folder, model):
    """The sum of 1/margin^2 over all binary classifiers."""
    said = run(folder, "classify_m", "--margins", model, "test.vec", "answer")[1]
    return float(re.search(r"1/margin\^2 .*: (\S+)", said).group(1))


def dagsvm(folder, jobs, trials):
    """The paper's table for letter."""
    rows = []
    for name, scheme, sigma, c, decoder, *told in PAPER:
        model = "pairs" if name == "DAGSVM" else name.replace(" ", "").lower()
        options = DATASETS["letter"][1] if model == "pairs" else \
            f"-c {c} -g {1 / (2 * sigma ** 2):.3g}"
        make_model(folder, model, scheme, options, jobs, model == "pairs")
        score = classified(folder, ("-Q", decoder), f"{model}.mbm", 26, brier=False)
        info = json.loads(run(folder, "mbm_info", "--json", f"{model}.mbm")[0])
        binaries = 26 if scheme == "one-vs-rest" else 325
        parameters = info["support_vectors"] * FEATURES + info["coefficients"] + binaries
        rows.append((name, f"{sigma:.3f}, {c}",
                     f"{100 * (1 - score['accuracy']):.2f}", f"{told[0]}",
                     f"{score['kernels']:.0f}", f"{told[1]}",
                     f"{parameters / 1000:.0f}", f"{told[2]}",
                     f"{info['support_vectors']}", f"{info['coefficients']}",
                     f"{score['asked']:.0f}", f"{margins(folder, f'{model}.mbm'):.4g}"))
    print("## DAGSVM's table 1, letter\n")
    table(("", "sigma, C", "error %", "paper", "kernel evaluations", "paper",
           "thousand parameters", "paper", "support vectors", "coefficients", "asked",
           "sum 1/margin²"), rows)
    ways = {"ddag": (("-Q", "ddag"), "pairs.mbm"), "max-win": (("-Q", "max-win"), "pairs.mbm")}
    whole, net = timed(folder, ways, trials)["ddag"]
    print(f"Time, Max Wins : DAGSVM, on the model of DAGSVM: {1 / whole:.2f}; without the start "
          f"of the program {1 / net:.2f}\n", flush=True)


def ordered(folder):
    """{name: (model file, expected accuracy)} of three orders of the classes."""
    def order(source, target, *words):
        control, said = run(folder, "order_classes", *words, source)
        (folder / f"{target}.mbc").write_text(control)
        run(folder, "mbh2mbm", f"{target}.mbc", f"{target}.mbm")
        return re.search(r"accuracy (\S+) before, (\S+) now", said).groups()

    labels = classes(folder / "train.cls")
    priors = ",".join(repr(labels.count(label) / len(labels)) for label in sorted(set(labels)))
    given = "--errors", "errors.txt", "--priors", priors
    order("pairs.mbc", "greedy", "--priors", priors)
    natural, best = order("pairs.mbc", "optimised", *given)
    greedy, _ = order("greedy.mbc", "unused", *given)
    return {"ddag, natural": ("pairs.mbm", natural), "ddag, greedy": ("greedy.mbm", greedy),
            "ddag, optimised": ("optimised.mbm", best)}


def decoders(folder, name, jobs, trials):
    """The table of all decoders for one data set."""
    options = DATASETS[name][1]
    make_model(folder, "pairs", "one-vs-one", options, jobs, errors=True)
    make_model(folder, "rest", "one-vs-rest", options, jobs)
    k = len(set(classes(folder / "train.cls")))
    ways, known, expected = {}, set(), {}
    for way, words, probable in PAIRS:
        if way == "ddag":
            for order, (model, accuracy) in ordered(folder).items():
                ways[order], expected[order] = (words, model), accuracy
                known.add(order)
            continue
        ways[way] = words, "pairs.mbm"
        if probable:
            known.add(way)
    ways["1-v-r argmax"] = ("-Q", "argmax"), "rest.mbm"
    ways["1-v-r argmax-raw"] = ("-Q", "argmax-raw"), "rest.mbm"
    known.add("1-v-r argmax")
    scores = {way: classified(folder, *call, k, way in known) for way, call in ways.items()}
    times = timed(folder, ways, trials)
    print(f"## All decoders, {name}, {options}\n")
    table(("decoder", "accuracy", "unc. coef.", "Brier, winner", "asked", "kernel evaluations",
           "time", "without start", "J"),
          [(way, f"{s['accuracy']:.4f}", f"{s['uncertainty']:.4f}",
            "" if s["brier"] is None else f"{s['brier']:.4f}", f"{s['asked']:.1f}",
            f"{s['kernels']:.0f}", *(f"{time:.2f}" for time in times[way]), expected.get(way, ""))
           for way, s in scores.items()])


def poll(folder, name, jobs):
    """How often polls agree with Max Wins."""
    make_model(folder, "pairs", "one-vs-one", DATASETS[name][1], jobs, errors=True)
    truth = classes(folder / "test.cls")

    def answers(*options):
        run(folder, "classify_m", "--quiet", *options, "pairs.mbm", "test.vec", "answer")
        return classes(folder / "answer.cls")

    def share(one, other):
        return sum(a == b for a, b in zip(one, other)) / len(one)

    all_pairs = answers("-Q", "max-win")
    rows = []
    for way, options in (*POLLS, *((f"{way}, top 5", (*options, "--finalists", "5"))
                                   for way, options in POLLS)):
        drawn = [answers(*options, "--seed", str(seed)) for seed in range(1, 11)]
        agreed = [share(one, all_pairs) for one in drawn]
        right = [share(one, truth) for one in drawn]
        rows.append((way, *(f"{f(values):.4f}" for values in (agreed, right)
                            for f in (statistics.mean, min, max))))
    print(f"## Polls against Max Wins, {name}, seeds 1 to 10; accuracy of Max Wins "
          f"{share(all_pairs, truth):.4f}\n")
    table(("decoder", "agreement, mean", "min", "max", "accuracy, mean", "min", "max"), rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", metavar="dataset",
                        help=f"of {', '.join(DATASETS)} (default: both)")
    parser.add_argument("--section", action="append", choices=SECTIONS,
                        help="print this one; may be repeated (default: all)")
    parser.add_argument("--trials", type=int, help="rounds of timing (default 5 for DAGSVM's "
                        "table, 3 for that of all decoders)")
    parser.add_argument("--keep", metavar="DIR", help="folder for the models, found again there")
    parser.add_argument("-j", type=int, default=2, help="threads for training (default 2)")
    args = parser.parse_args()
    names, sections = args.datasets or list(DATASETS), args.section or SECTIONS
    if not set(names) <= set(DATASETS):
        parser.error(f"no such data set; there are: {', '.join(DATASETS)}")
    with tempfile.TemporaryDirectory() as temporary:
        for name in names:
            folder = Path(args.keep or temporary).resolve() / name
            make_data(folder, name)
            if name == "letter" and "dagsvm" in sections:
                dagsvm(folder, args.j, args.trials or 5)
            if "decoders" in sections:
                decoders(folder, name, args.j, args.trials or 3)
            if name == "letter" and "poll" in sections:
                poll(folder, name, args.j)


if __name__ == "__main__":
    main()

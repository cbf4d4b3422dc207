#!/usr/bin/env python3
"""How far classify_m is from libAGF's answers, number by number, as a table.

One data set with libAGF's models and answers, ../shared/reference/golden: for each
configuration and method the largest difference of the printed numbers and of the
confidence ratings, and the number of classes that differ; then raw values f and
decision values r against libAGF and against the same in double precision.

    python tests/benchmarks/golden_table.py [--source mbaio|mbc]

mbaio: libAGF's ASCII model, which its answers were made from; mbc: the control
file and its models, with more digits.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT.parent / "shared" / "reference" / "golden" / "segment"
CODES = ("m_1v1", "m_1vR", "m_adj", "m_ortho", "m_hier_lsq", "m_emp_lsq")
TREES = ("m_hier", "m_emp")
METHODS = ("-1", "0", "1", "2", "3", "4", "5", "6", "7")


def classify(folder, model, source, *options):
    """Printed numbers, classes, confidence ratings."""
    words = ["-y", GOLDEN / "models"] if source == "mbc" else []
    text = subprocess.run(
        [sys.executable, ROOT / "bin" / "classify_m", "--quiet", *options, *words,
         GOLDEN / "models" / f"{model}.{source}", GOLDEN / "tst.vec", "out"],
        cwd=folder, capture_output=True, check=True).stdout
    return (np.array([line.split() for line in text.splitlines()], dtype=float),
            *columns(folder / "out"))


def columns(base):
    return (np.fromfile(f"{base}.cls", "<i4").astype(int), np.fromfile(f"{base}.con", "<f4"))


def row(*cells):
    print("| " + " | ".join(cell if isinstance(cell, str) else f"{cell:.1e}" if cell else "0"
                            for cell in cells) + " |", flush=True)


def head(*cells):
    row(*cells)
    row(*["---"] * len(cells))


def probabilities(folder, source):
    head("configuration", "-Q", "p, largest", "p, median", ".con, largest", "classes that differ")
    for model in CODES:
        for q in METHODS[1:]:
            name = GOLDEN / f"{model}_Q{q}{'fixed' if q == '0' else ''}"
            theirs = np.loadtxt(f"{name}.txt")[:, :-1]
            ours, classes, rating = classify(folder, model, source, "-Q", q)
            labels, told = columns(name)
            away = np.abs(ours[:, :-1] - theirs)
            row(model[2:], q, away.max(), np.median(away), np.abs(rating - told).max(),
                str(np.count_nonzero(classes != labels)))
    for model in TREES:
        _, classes, rating = classify(folder, model, source)
        labels, told = columns(GOLDEN / f"{model}_rec")
        row(model[2:], "recursive", "-", "-", np.abs(rating - told).max(),
            str(np.count_nonzero(classes != labels)))


def stock(folder, source):
    head("configuration", "rows of libAGF's -Q 0 that repeat the row before", "classes wrong there",
         "p, largest elsewhere")
    for model in CODES:
        theirs, right = (np.loadtxt(GOLDEN / f"{model}_Q0{which}.txt") for which in ("", "fixed"))
        wrong = np.abs(theirs - right).max(axis=1) > 2e-6
        rows = np.flatnonzero(wrong)
        assert (theirs[rows] == theirs[rows - 1]).all()
        ours = classify(folder, model, source)[0]
        row(model[2:], f"{len(rows)} of {len(wrong)}",
            str(np.count_nonzero(theirs[rows, -1] != right[rows, -1])),
            np.abs(ours - theirs)[~wrong, :-1].max())


def values(folder, source):
    head("configuration", "f - libAGF", "r - libAGF", "f - double", "r - double",
         "f libAGF - double", "r libAGF - double")
    for model in CODES:
        f, r = (classify(folder, model, source, *option)[0] for option in (["-0"], ["-Q", "-1"]))
        told = [np.loadtxt(GOLDEN / f"{model}_{what}.txt") for what in ("raw", "Q-1")]
        double = [np.loadtxt(GOLDEN / f"{model}_{what}.txt") for what in ("f64", "r64")]
        pairs = ((f, told[0]), (r, told[1]), (f, double[0]), (r, double[1]), *zip(told, double))
        row(model[2:], *(np.abs(one - other).max() for one, other in pairs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", choices=("mbaio", "mbc"), default="mbaio")
    args = parser.parse_args()
    if not GOLDEN.is_dir():
        sys.exit("golden_table.py: no reference data beside the project")
    with tempfile.TemporaryDirectory() as folder:
        for part in (probabilities, stock, values):
            part(Path(folder), args.source)
            print(flush=True)


if __name__ == "__main__":
    main()

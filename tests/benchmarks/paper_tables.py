#!/usr/bin/env python3
"""Mills' protocol on his data sets by one command, compare_control, beside his tables.

30 % of each class is held out, features are standardised with the training
part, and every configuration of "Solving for multi-class: a survey and
synthesis" is trained, solved and scored.  The data sets are LIBSVM text in
../shared/datasets, the paper's tables ../shared/reference/paper_tables.csv.

    python tests/benchmarks/paper_tables.py [--trials N] [-j N] [segment sat pendigits letter]
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
OPTIONS = {"segment": "-c 100 -g 0.1", "sat": "-c 50 -g 0.1", "pendigits": "-c 50 -g 0.01",
           "letter": "-c 50 -h 0"}
# Features that the paper's runs did not have, counted from 0.
LEFT_OUT = {"segment": {2}, "letter": {15}}
SIZES = {"segment": 19, "letter": 16}
# the paper's configuration, and how compare_control is told of it
CONFIGURATIONS = (
    ("1 vs. 1", "one-vs-one:inverse"),
    ("1 vs. rest", "one-vs-rest:least-squares"),
    ("ortho", "orthogonal:orthogonal"),
    ("adj", "adjacent:least-squares"),
    ("hier", "tree:recursive,least-squares"),
    ("emp", "empirical:recursive,least-squares"),
)
# The paper had no orthogonal code for 26 classes, and took a random one.
RANDOM = "random-as-orthogonal:least-squares"
METHODS = {"inverse": "inv", "least-squares": "lsq", "orthogonal": "iter", "recursive": "rec"}
TABLES = (("train_s", "training time", False), ("classify_s", "classification time", True),
          ("uncertainty_coefficient", "uncertainty coefficient", True),
          ("brier_all", "Brier score, all classes", False),
          ("brier_winning", "Brier score, winning class", True))
TIMES = ("train_s", "classify_s")


def run(folder, *words):
    command = [sys.executable, ROOT / "bin" / words[0], *words[1:]]
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True,
                          check=True).stdout


def paper():
    table = {}
    with open(SHARED / "reference" / "paper_tables.csv", encoding="ascii") as file:
        for row in csv.DictReader(file):
            key = row["metric"], row["config"], row["method"], row["dataset"]
            table[key] = float(row["mean"]), float(row["sd"])
    return table


def measured(name, trials, jobs, state):
    """{(configuration, method): row of compare_control}."""
    configurations = {paper_name: RANDOM if (name, paper_name) == ("letter", "ortho") else words
                      for paper_name, words in CONFIGURATIONS}
    names = {words.partition(":")[0]: paper_name for paper_name, words in configurations.items()}
    with tempfile.TemporaryDirectory() as folder:
        run(folder, "svm2agf", str(SHARED / "datasets" / f"{name}.svm"), "all")
        if name in LEFT_OUT:
            kept = [str(i) for i in range(SIZES[name]) if i not in LEFT_OUT[name]]
            run(folder, "agf_preprocess", "-F", "all", "all", *kept)
        kept = [] if state is None else ["--state", str(Path(state).resolve())]
        result = json.loads(run(
            folder, "compare_control", "--json", "-n", "-f", "0.3", "--trials", str(trials), "-j",
            str(jobs), "-+", OPTIONS[name], *kept, "all", *configurations.values()))
    return {(names[row["configuration"]],
             "iter" if names[row["configuration"]] == "ortho" else METHODS[row["decoder"]]): row
            for row in result["rows"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=list(OPTIONS))
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--state", help="as for compare_control: finished work is kept here")
    args = parser.parse_args()
    table = paper()
    rows = {name: measured(name, args.trials, args.j, args.state) for name in args.datasets}
    inside = cells = 0
    for metric, title, by_method in TABLES:
        print(f"\n{title}, {args.trials} trial(s): ours | paper"
              + (" | times of one-vs-one, ours | paper" if metric in TIMES
                 else " | deviations of the paper that ours is away"))
        for name in args.datasets:
            base = None
            for (configuration, method), row in rows[name].items():
                told = table.get((metric, configuration, method if by_method else "", name))
                ours = row[metric]
                if told is None or ours is None or (not by_method and method == "rec"):
                    continue
                line = f"{name:10s}{configuration:11s}{method:5s}"
                spread = f"±{ours['sd']:.4f}" if ours["sd"] is not None else ""
                line += f"{ours['mean']:10.4f}{spread:9s} | {told[0]:.4g} ± {told[1]:.2g}"
                if metric in TIMES:
                    base = base or (ours["mean"], told[0])
                    line += f" | {ours['mean'] / base[0]:.2f} | {told[0] / base[1]:.2f}"
                else:
                    away = (ours["mean"] - told[0]) / told[1]
                    cells += 1
                    inside += abs(away) <= 2
                    line += f" | {away:+.1f}"
                print(line, flush=True)
    print(f"\n{inside} of {cells} cells of scores within two of the paper's standard deviations")


if __name__ == "__main__":
    main()

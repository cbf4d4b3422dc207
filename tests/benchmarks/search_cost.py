#!/usr/bin/env python3
"""What a search for training options costs and what it finds, beside other ways to search.

Of every data set a quarter of each class is held out, in several ways. On the rest tune_m searches
one-vs-one, with features standardised; the options found are trained on all of that rest, and
scored on what was held out. Costs are seconds of processor of whole process trees, and of one
`svm-train -b 1` there as a unit, which can be had on any machine.

    python tests/benchmarks/search_cost.py run STATE [--splits 1,2,...] [--way NAME=OPTIONS]
        [--package PATH] [--limits 5,15,60,240 [--processor]] [--peers]
        [--rows N [--classes K]] FILE.svm ...
    python tests/benchmarks/search_cost.py table STATE

`run` adds a line of JSON to STATE for each run that is not there yet. A way is a name and options
of tune_m, as in --way "full=--search full"; PATH is a checkout, by default this one. --peers runs
scikit-learn's GridSearchCV and HalvingGridSearchCV on the first grid of tune_m as well. With
--processor the limits are seconds of processor, which a busy machine does not change. With --rows
the search has so many rows, of the first --classes of the classes, and all others are held out:
what small data promise, against the truth.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean, stdev

ROOT = Path(__file__).resolve().parents[2]
UNITS = {"segment": "-c 100 -g 0.1", "sat": "-c 50 -g 0.1", "pendigits": "-c 50 -g 0.01",
         "letter": "-c 50 -g 0.0625"}


class Runner:
    """Commands of a checkout, run in a folder, with their costs."""

    def __init__(self, package, folder):
        self.package, self.folder = Path(package).resolve(), Path(folder)
        self.environment = dict(os.environ, PYTHONPATH=str(self.package), OMP_NUM_THREADS="1",
                                OPENBLAS_NUM_THREADS="1")

    def count_processor_seconds(self):
        """Let `time.monotonic` of all commands be the seconds of processor that they used."""
        (self.folder / "clock").mkdir()
        (self.folder / "clock" / "sitecustomize.py").write_text(
            "import time\ntime.monotonic = time.process_time\n")
        self.environment["PYTHONPATH"] += os.pathsep + str(self.folder / "clock")

    def run(self, *words, output=None, expected=(0,)):
        """(seconds of processor, seconds on the clock, standard output) of a command."""
        ours = self.package / "bin" / words[0]
        command = [sys.executable, str(ours), *words[1:]] \
            if ours.parent == self.package / "bin" and ours.exists() else list(words)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(command, cwd=self.folder, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in expected:
            sys.exit(f"{' '.join(words)}: {done.stderr}")
        if output is not None:
            (self.folder / output).write_text(done.stdout)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return cpu, wall, done.stdout


def scores(runner, control, options=""):
    """{score: value} on the held-out points of a control file trained on the others."""
    extra = ["-+", options] if options else []
    runner.run("multi_borders", "--quiet", *extra, control, "train", "m", "m.mbc")
    runner.run("classify_m", "--quiet", "--header", "m.mbc", "test.vec", "answer",
               output="answer.txt")
    found = json.loads(runner.run("eval_uc", "--json", "test.cls", "answer", "answer.txt")[2])
    return {name: found[name] for name in ("accuracy", "log_loss")}


def tuned(runner, way, limit, jobs):
    """A line of the state for one search."""
    words = [*way.split(), *(["--time-limit", str(limit)] if limit else [])]
    cpu, wall, text = runner.run("tune_m", "--no-state", "-j", str(jobs), *words, "--json",
                                 "search.json", "one-vs-one", "train", output="tuned.mbt",
                                 expected=(0, 3))
    result = json.loads((runner.folder / "search.json").read_text())
    point = None if result["best"] is None else result["points"][result["best"]]
    line = {"cpu": cpu, "wall": wall, "tried": result["tried"],
            "options": point and point["options"], "searched": point and point["score"],
            "estimate": result.get("estimate"), "by": result["by"]}
    if not text:  # nothing was found in the time: what is given stays
        return line | scores(runner, "given.mbt")
    return line | scores(runner, "tuned.mbt")


def unit(runner, name):
    """Seconds of one `svm-train -b 1`; scikit-learn's and our data are the same."""
    runner.run("agf2ascii", "-M", "train", output="train.svm")
    return {"cpu": runner.run("svm-train", "-q", "-b", "1", *UNITS[name].split(), "train.svm",
                              "train.model")[0]}


def peers(runner):
    """Lines of the state for scikit-learn's searches over the first grid of tune_m.

    Like tune_m they pay for the search and for all they import; the last fit, which gives
    probabilities, is `final`. Options are compared by accuracy: for the log loss each of their
    fits would have to give probabilities, by a cross-validation of its own.
    """
    for name in ("grid", "halving"):
        _, wall, text = runner.run(sys.executable, "-c", PEER, name)
        yield name, {"wall": wall, **json.loads(text)}


PEER = """
import json, sys, time, warnings
import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.experimental import enable_halving_search_cv
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, StratifiedKFold
from sklearn.svm import SVC
warnings.simplefilter("ignore")
train = load_svmlight_file("train.svm")
test = load_svmlight_file("test.svm", n_features=train[0].shape[1])
x, tx = train[0].toarray(), test[0].toarray()
scale = round(-np.log2(x.var(axis=0).sum()))
grid = {"C": 2.0 ** np.arange(-1, 10, 2), "gamma": 2.0 ** (scale + np.arange(-4, 5, 2))}
kind, more = (GridSearchCV, {}) if sys.argv[1] == "grid" else (
    HalvingGridSearchCV, {"random_state": 1, "factor": 3})
folds = StratifiedKFold(5, shuffle=True, random_state=1)
search = kind(SVC(), grid, cv=folds, refit=False, n_jobs=1, **more).fit(x, train[1])
cpu = time.process_time()
best = SVC(probability=True, random_state=1, **search.best_params_).fit(x, train[1])
final = time.process_time() - cpu
p = best.predict_proba(tx)
print(json.dumps({"cpu": cpu, "final": final, "tried": len(search.cv_results_["params"]),
                  "options": "-g {gamma:g} -c {C:g}".format(**search.best_params_),
                  "searched": search.best_score_,
                  "accuracy": accuracy_score(test[1], best.predict(tx)),
                  "log_loss": log_loss(test[1], p)}))
"""


def run(args):
    """Run what is not in the state yet."""
    state = Path(args.state)
    done = [json.loads(line) for line in state.read_text().splitlines()] if state.exists() else []
    done = {(line["data"], line["split"], line["way"], line["limit"]) for line in done}
    ways = dict(text.partition("=")[::2] for text in args.way)
    limits = [None, *(int(word) for word in args.limits.split(","))] if args.limits else [None]
    if args.limits_only:
        limits = limits[1:]
    for path in args.files:
        sizes = [str(size) for size in (args.rows, args.classes) if size]
        name = "-".join([Path(path).stem, *sizes])
        for split in map(int, args.splits.split(",")):
            wanted = [(way, limit) for way in ways for limit in limits]
            wanted = [key for key in wanted if (name, split, *key) not in done]
            others = [] if (name, split, "unit", None) in done or name not in UNITS else ["unit"]
            if args.peers and (name, split, "grid", None) not in done:
                others.append("peers")
            if not wanted and not others:
                continue
            folder = tempfile.mkdtemp(prefix="search-")
            runner = Runner(args.package, folder)
            if args.processor:
                runner.count_processor_seconds()
            lines = Path(path).read_text().splitlines(keepends=True)
            if args.classes:
                first = sorted({int(line.split()[0]) for line in lines})[:args.classes]
                lines = [line for line in lines if int(line.split()[0]) in first]
            (runner.folder / "raw.svm").write_text("".join(lines))
            runner.run("svm2agf", "raw.svm", "raw")
            held_out = 1 - args.rows / len(lines) if args.rows else 0.25
            runner.run("agf_preprocess", "--stratified", "-f", str(held_out), "-n", "--seed",
                       str(split), "raw", "train", "test")
            runner.run("print_control", "-Q", "one-vs-one", "train", output="given.mbt")
            lines = []
            if "unit" in others:
                lines.append(("unit", None, unit(runner, name)))
            if "peers" in others:
                runner.run("agf2ascii", "-M", "train", output="train.svm")
                runner.run("agf2ascii", "-M", "test", output="test.svm")
                lines += [(way, None, line) for way, line in peers(runner)]
            for way, limit, line in lines:
                write(state, name, split, way, limit, line)
            for way, limit in wanted:
                write(state, name, split, way, limit, tuned(runner, ways[way], limit, args.jobs))
            shutil.rmtree(folder)


def write(state, name, split, way, limit, line):
    """Add a line to the state, and show it."""
    line = {"data": name, "split": split, "way": way, "limit": limit, **line}
    with open(state, "a") as file:
        file.write(json.dumps(line) + "\n")
    print(line, flush=True)


def spread(values):
    """Mean and deviation as text."""
    return f"{mean(values):.4f}" + (f" ± {stdev(values):.4f}" if len(values) > 1 else "")


def table(args):
    """Print what is in the state."""
    lines = [json.loads(line) for line in Path(args.state).read_text().splitlines()]
    groups = {}
    for line in lines:
        groups.setdefault((line["data"], line["way"], line["limit"]), {})[line["split"]] = line
    print("data way limit | splits | units | cpu s | wall s | tried | accuracy | log loss")
    for (data, way, limit), runs in sorted(groups.items(), key=str):
        if way == "unit":
            continue
        units = groups.get((data, "unit", None), {})
        ratios = [run["cpu"] / units[split]["cpu"] for split, run in runs.items()
                  if split in units]
        print(data, way, limit or "", "|", len(runs), "|",
              f"{mean(ratios):.1f}" if ratios else "-", "|",
              f"{mean(run['cpu'] for run in runs.values()):.1f}", "|",
              f"{mean(run['wall'] for run in runs.values()):.1f}", "|",
              f"{mean(run['tried'] for run in runs.values()):.0f}", "|",
              spread([run["accuracy"] for run in runs.values()]), "|",
              spread([run["log_loss"] for run in runs.values()]))
    for data in sorted({line["data"] for line in lines}):
        paired(data, groups)
    for (data, way, limit), runs in sorted(groups.items(), key=str):
        promised(f"{data} {way} {limit or ''}".rstrip(), list(runs.values()))


def paired(data, groups):
    """Print differences to the way `full` on the same splits, with their standard errors."""
    base = groups.get((data, "full", None), {})
    for (name, way, limit), runs in sorted(groups.items(), key=str):
        both = sorted(base.keys() & runs.keys())
        if name != data or way in ("full", "unit") or limit or not both:
            continue
        cpu = mean(runs[i]["cpu"] / base[i]["cpu"] for i in both)
        text = f"{data} {way} - full, {len(both)} splits: processor x {cpu:.3f}"
        for score in ("accuracy", "log_loss"):
            gaps = [runs[i][score] - base[i][score] for i in both]
            error = stdev(gaps) / len(gaps) ** 0.5 if len(gaps) > 1 else float("nan")
            text += f", {score} {mean(gaps):+.4f} ± {error:.4f}"
        print(text)


def promised(head, runs):
    """Print the searched score and the estimate for new data beside the truth."""
    runs = [run for run in runs if run.get("estimate") and run["estimate"]["score"] is not None]
    if not runs:
        return
    by = runs[0].get("by", "log_loss")
    truth = [run[by] for run in runs]
    text = f"{head}, {len(runs)} splits, {by}: truth {spread(truth)}"
    for word, values in (("searched", [run["searched"] for run in runs]),
                         ("estimate", [run["estimate"]["score"] for run in runs])):
        gaps = [value - right for value, right in zip(values, truth)]
        text += f"; {word} {spread(values)}, less the truth {spread(gaps)}"
    errors = [run["estimate"].get("error") for run in runs]
    if None not in errors:
        within = [abs(run["estimate"]["score"] - right) <= 2 * error
                  for run, right, error in zip(runs, truth, errors)]
        text += f"; within two of its errors {sum(within)} times"
    print(text)


def main():
    """Read the options and do what they say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("state")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--splits", default="1")
    parser.add_argument("--way", action="append", default=[])
    parser.add_argument("--package", default=str(ROOT))
    parser.add_argument("--limits", default="")
    parser.add_argument("--limits-only", action="store_true")
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--classes", type=int)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    args = parser.parse_intermixed_args()
    {"run": run, "table": table}[args.what](args)


if __name__ == "__main__":
    main()

"""What is promised, and what comes, where rows are alike in groups: vowels of speakers.

    python tests/benchmarks/groups.py [--learners NAME,...] [--seconds N] vowel.csv

`vowel.csv` has the columns part (Train or Test), speaker, sex, the features, and vowel; the
speakers of the two parts differ.  Each is trained once with splits of rows and once with splits of
speakers: `svm`, `nystrom` and `trees`, cross-validated; `tune_m`, which tunes nystrom;
`agf_train-nystrom` and `agf_train`, the search among nystrom alone and among all learners for so
many seconds.  Printed are the log loss that is promised, that of the other speakers, and standard
errors: of the promise as the command has it, of what comes over the speakers.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
LEARNERS = {"svm": "-c 10 -g 0.1", "nystrom": "learner=nystrom", "trees": "learner=trees -n 60"}
WAYS = {
    "rows": ["--ignore", "part,sex,speaker"],
    "speakers": ["--ignore", "part,sex", "--group", "speaker"],
}


def run(command, *words):
    done = subprocess.run(
        [sys.executable, ROOT / "bin" / command, *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    if done.returncode:
        sys.exit(f"{command} {words}: {done.stderr}")
    return done.stdout


def truth(model):
    """(log loss, its standard error over speakers, accuracy) on the test part."""
    run("classify_m", model, "test.csv", "answers.csv")
    with open("answers.csv") as answers, open("test.csv") as test:
        rows = list(zip(csv.DictReader(answers), csv.DictReader(test)))
    loss = np.array([-np.log(max(float(a[f"p:{row['vowel']}"]), 1e-15)) for a, row in rows])
    speaker = np.array([row["speaker"] for _, row in rows])
    means = [loss[speaker == one].mean() for one in np.unique(speaker)]
    return (
        loss.mean(),
        np.std(means, ddof=1) / len(means) ** 0.5,
        np.mean([a["class"] == row["vowel"] for a, row in rows]),
    )


def trained(control, options, words):
    run("multi_borders", "-n", *words, "-+", options, control, "train.csv", "m", "m.mbc")
    run("mbh2mbm", "m.mbc", "m.mbm")
    return truth("m.mbm")


def show(name, way, promise, error, found):
    print(
        f"{name:17} {way:9} promised {promise:.3f} +- {error:.3f}  comes {found[0]:.3f} +- "
        f"{found[1]:.3f}, accuracy {found[2]:.3f}",
        flush=True,
    )


def cross_validated(name, words):
    """(log loss, its standard error) that nfold promises of a learner, and what comes."""
    scores = json.loads(
        run(
            "nfold",
            "-n",
            "--no-state",
            "--json",
            *words,
            "-+",
            LEARNERS[name],
            "one-vs-one",
            "train.csv",
        )
    )
    error = scores.get("standard_errors", {}).get("log_loss", float("nan"))
    return scores["log_loss"], error, trained("one-vs-one", LEARNERS[name], words)


def tuned(words):
    Path("tuned.mbt").write_text(
        run(
            "tune_m",
            "-n",
            "--no-state",
            *words,
            "--json",
            "search.json",
            "-+",
            "learner=nystrom -m 200",
            "one-vs-rest",
            "train.csv",
        )
    )
    estimate = json.loads(Path("search.json").read_text())["estimate"]
    return estimate["score"], estimate["error"], trained("tuned.mbt", "", words)


def searched(seconds, words):
    out = run(
        "agf_train",
        "--no-state",
        "--script=-",
        *words,
        "--time-limit",
        seconds,
        "train.csv",
        "a.mbm",
    )
    line = next(line for line in out.splitlines() if "estimate for new data" in line)
    promise, error = (
        float(word.rstrip(","))
        for word in line.split()
        if word.rstrip(",").replace(".", "").isdigit() and "." in word
    )
    return promise, error, truth("a.mbm")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--learners", default=",".join([*LEARNERS, "tune_m", "agf_train-nystrom", "agf_train"])
    )
    parser.add_argument("--seconds", default="60")
    parser.add_argument("table")
    args = parser.parse_args()
    with open(args.table) as file:
        head, *lines = file.readlines()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in ("Train", "Test"):
            Path(f"{part.lower()}.csv").write_text(
                head + "".join(line for line in lines if line.startswith(part))
            )
        for name in args.learners.split(","):
            for way, words in WAYS.items():
                words = ["--label", "vowel", *words]
                if name.startswith("agf_train"):
                    only = ["--learners", "nystrom"] if name.endswith("nystrom") else []
                    result = searched(args.seconds, [*words, *only])
                else:
                    result = tuned(words) if name == "tune_m" else cross_validated(name, words)
                show(name, way, *result)


if __name__ == "__main__":
    main()

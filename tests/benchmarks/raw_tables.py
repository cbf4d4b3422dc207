#!/usr/bin/env python3
"""Tables as people have them: what the commands say of them, and answers to rows of new groups.

    python tests/benchmarks/raw_tables.py [--seeds N] [--root FOLDER] [--pace P] [TABLE ...]

`collars` and `survey` (tests/support/made_tables.py) are tables of text with units, marks and
words for what is missing. A third of the animals, or of the plots, is held out. The training
rows are read by table2agf once as they are: its messages are printed. Then it gets the options of
OPTIONS, which are what the messages say, and agf_train reads the table by the recipe: log loss of
the new rows, whose cells are as raw, beside LightGBM on the table that was cleaned by hand, which
is stopped early by other groups.
--root runs the commands of another checkout, --utf-8 is for those that read nothing else;
--options TABLE=... gives it other options, and --pace P has the clock of processor_clock.py.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import lightgbm
import numpy as np
import pandas
from sklearn.model_selection import GroupShuffleSplit

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from made_tables import collars, mend, select_rows, survey, write_columns  # noqa: E402

CLOCK = Path(__file__).with_name("processor_clock.py")
TABLES = {
    "collars": (collars, "animal", {}),
    "survey": (survey, "Fläche", {"delimiter": ";", "encoding": "cp1252"}),
}
OPTIONS = {
    "collars": "--ignore fix --blanks -999 --fold-case --group animal",
    "survey": "--fold-case --group Fläche",
}


def divide(groups, seed):
    """Rows of training and of a third of the groups."""
    rows = np.arange(len(groups))
    ((train, test),) = GroupShuffleSplit(1, test_size=1 / 3, random_state=seed).split(
        rows, groups=groups
    )
    return train, test


def run(root, command, arguments, pace=None):
    """A command of a checkout, in the current folder; -> (status, what it wrote of errors)."""
    words = [sys.executable, f"{root}/bin/{command}", *arguments]
    if pace is not None:
        words[1:2] = [str(CLOCK), str(pace), words[1]]
    environment = {**os.environ, "PYTHONPATH": str(root), "XDG_CACHE_HOME": os.getcwd()}
    done = subprocess.run(words, text=True, capture_output=True, env=environment)
    return done.returncode, done.stderr.strip()


def losses(p, classes, truth):
    """Log loss (n,) of p (n, k)."""
    columns = np.array([list(classes).index(name) for name in truth])
    return -np.log(np.clip(p[np.arange(len(truth)), columns], 1e-15, 1))


def hand_cleaned(cleaned, group, train, test, seed):
    """Losses of LightGBM on the cleaned table, stopped by a fifth of the groups of the training."""
    table = pandas.DataFrame(cleaned)
    y, groups = table["class"].to_numpy(), table[group].to_numpy()
    x = table.drop(columns=["class", group])
    words = x.select_dtypes(exclude="number").columns
    x[words] = x[words].astype("category")
    x.columns = [f"x{number}" for number in range(x.shape[1])]
    ((fit, stop),) = GroupShuffleSplit(1, test_size=0.2, random_state=seed).split(
        train, groups=groups[train]
    )
    model = lightgbm.LGBMClassifier(n_estimators=1000, n_jobs=1, verbosity=-1, random_state=0)
    model.fit(
        x.iloc[train[fit]],
        y[train[fit]],
        eval_set=[(x.iloc[train[stop]], y[train[stop]])],
        callbacks=[lightgbm.early_stopping(25, verbose=False)],
    )
    return losses(model.predict_proba(x.iloc[test]), model.classes_, y[test])


def answer(root, options, files, pace):
    """Train with options and classify; -> (p (n, k) and classes, or None; messages)."""
    train, test = files
    options = ["--label", "class", *shlex.split(options)]
    status, told = run(root, "table2agf", [*options, f"{train}.csv", train])
    told = f"table2agf {shlex.join(options)}: {told}"
    if status:
        return None, told
    limits = ["-j", "1", "--time-limit", "60"]
    status, told_of_training = run(root, "agf_train", [*limits, f"{train}.csv", "model.mbm"], pace)
    told += f"\n{told_of_training}"
    if status:
        return None, told
    status, told_of_answers = run(root, "classify_m", ["model.mbm", test, "answers.csv"])
    told += f"\n{told_of_answers}"
    if not os.path.exists("answers.csv"):
        return None, told
    answers = pandas.read_csv("answers.csv")
    columns = [column for column in answers if column.startswith("p:")]
    return (answers[columns].to_numpy(), [column[2:] for column in columns]), told


def measure(name, seed, args, options):
    """Print what is said of a table, and log loss of new groups beside the cleaned table's."""
    make, group, form = TABLES[name]
    table, cleaned = make(seed)
    train, test = divide(cleaned[group], seed)
    apart = hand_cleaned(cleaned, group, train, test, seed)
    write_columns("raw.csv", select_rows(table, train), **form)
    status, told = run(args.root, "table2agf", ["--label", "class", "raw.csv", "raw"])
    print(f"{name} {seed}, the first run: status {status}\n{told}")
    table = mend(table)
    if args.utf_8:
        form = {**form, "encoding": "utf-8"}
    write_columns("train.csv", select_rows(table, train), **form)
    held_out = select_rows(table, test)
    held_out.pop("class")
    write_columns("test.csv", held_out, **form)
    result, told = answer(args.root, options, ("train", "test.csv"), args.pace)
    print(told)
    shares = pandas.Series(cleaned["class"][train]).value_counts(normalize=True)
    alone = -np.log(shares[cleaned["class"][test]].to_numpy())
    print(f"{name} {seed}: {len(train)} rows, {len(test)} new ones; log loss")
    print(f"  shares of the classes        {alone.mean():.4f}")
    print(f"  LightGBM, cleaned by hand    {apart.mean():.4f}")
    if result is not None:
        ours = losses(*result, cleaned["class"][test])
        gaps = ours - apart
        error = gaps.std(ddof=1) / len(gaps) ** 0.5
        print(
            f"  agf_train, raw               {ours.mean():.4f}  ({gaps.mean():+.4f} ± {error:.4f})"
        )
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=TABLES, metavar="TABLE")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--pace", type=float)
    parser.add_argument("--utf-8", action="store_true", help="write the survey in UTF-8")
    parser.add_argument("--options", action="append", default=[], metavar="TABLE=OPTIONS")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    options = OPTIONS | dict(words.split("=", 1) for words in args.options)
    for name in args.tables:
        for seed in range(1, args.seeds + 1):
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                measure(name, seed, args, options[name])
                os.chdir("/")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs of agf_train on machines that are more or less at work choose the same family.

    python tests/benchmarks/same_choice.py [--time-limit T] [--table NAME] [PACE ...]

The table is one of agf_train.py's, `nursery` if none is given, divided once. Every run has its own
cache and the clock of processor_clock.py: with a pace of 2.5, a limit of 60 s is one of 24 s of
the processor, as on a core of which other programs take three fifths. Printed: what is chosen, the
estimate, and the log loss of held-out rows; at the end the families and how often each was chosen.
"""

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from agf_train import divide, measure, read, train_ours, TRAIN_ROWS  # noqa: E402

# Of two cores, one run and none to four other programs: its share is 1, 1, 2/3, 1/2 and 2/5.
PACES = (1, 1, 1.25, 1.25, 1.5, 1.5, 2, 2, 2.5, 2.5)


def family_of(chosen):
    """The words of a choice before its options; of an average, those of its members."""
    members = chosen.removeprefix("the average of ").split(", ")
    words = (re.sub(r"^[\d.]+ ", "", member) for member in members)
    return " and ".join(sorted({re.split(r" (?:-|learner=)", text)[0] for text in words}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paces", nargs="*", type=float, default=PACES, metavar="PACE")
    parser.add_argument("--time-limit", default="60")
    parser.add_argument("--table", default="nursery")
    args = parser.parse_args()
    x, y = read(args.table)
    train, test, folds = divide(y, None, 0, TRAIN_ROWS.get(args.table))
    families = Counter()
    for pace in args.paces:

        def run(*rest):
            return train_ours(*rest, pace=pace)

        parts = ((x.iloc[rows], y[rows]) for rows in (train, test))
        outcome, lines = measure("agf_train", run, *parts, folds, args.time_limit)
        tried = next((line for line in lines if "tried" in line), "")
        families[family_of(outcome["chosen"])] += 1
        print(
            f"{pace:5.2f}  {outcome['seconds']:6.1f} s of the processor  estimate "
            f"{outcome['estimate']:.4f}  log loss {outcome['log_loss']:.4f}  {outcome['chosen']}\n"
            f"       {tried}",
            flush=True,
        )
    print(*(f"{count} of {families.total()}: {name}" for name, count in families.items()), sep="\n")


if __name__ == "__main__":
    main()

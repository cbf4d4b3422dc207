"""simulate_decoders: how often decoders of one-vs-one classifiers find the true class."""

import argparse
import re

from ..core.errors import UsageError
from .option_types import list_of, probability, whole_number
from .options import add_seed, check_files, Parser
from .reports import add_report, PICTURES, reports_of

CLASSES = [16, 32, 64, 128, 256, 512]
ERRORS = [0.1, 0.3]
OPPONENTS = ["1log", "3log", "5log"]
_OPPONENTS = re.compile(r"[1-9][0-9]{0,5}|(?:[0-9]{1,4}\.?[0-9]{0,9}|\.[0-9]{1,9})log")


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "simulate_decoders",
        "Simulate one-vs-one classifiers with random errors, "
        "and print the accuracy of the decoders MAX-WIN, POLL, POLL with TOP-t, ADAG "
        "and DDAG against the number of classes.",
    )
    group = parser.group("model")
    group.add(
        "--class-count K,K,...",
        "numbers of classes (default 16,32,64,128,256,512)",
        _distinct(whole_number(2, 4096)),
    )
    group.add(
        "--error-rate P,P,...",
        "probabilities that a classifier of the true class is wrong; the "
        "others toss a coin (default 0.1,0.3)",
        _distinct(probability),
        excludes="--similarity",
    )
    group.add(
        "--similarity R",
        "in place of --error-rate, the similarity of the point to each class, "
        "the true one first: values `r,r,...`, a file of them, or a family for any number of "
        "classes, `geometric:Q` (Q to the power i - 1) or `power:Q` (1/i to the power Q). "
        "Classifier {i, j} says i with probability r_i/(r_i + r_j)",
    )
    group = parser.group("decoders")
    group.add(
        "--opponents L,L,...",
        "opponents that POLL draws for each class: a number, or "
        "`3log` for 3 log2 K, rounded up (default 1log,3log,5log)",
        _distinct(_opponents),
        default=OPPONENTS,
    )
    group.add(
        "--chance Q",
        "wanted probability that POLL is right: the table has the opponents that are `enough` for "
        "it, and a `bound` (default 0.9)",
        probability,
        default=0.9,
    )
    group.add(
        "--finalists T",
        "number of best classes of POLL that TOP-t compares by their full scores (default 5)",
        whole_number(1),
        default=5,
    )
    group = parser.group("simulation")
    group.add(
        "--rounds N",
        "points for each number in the table (default 10000)",
        whole_number(1, 10**9),
        default=10000,
    )
    add_seed(group)
    group = parser.group("output")
    group.add("--json", "print one JSON object, with a standard error for each number")
    add_report(
        group,
        "of success against the number of classes",
        *PICTURES,
        ".json",
        ".csv",
    )
    return parser.finish()


def execute(args):
    """Make a plan of the options, and simulate by it."""
    reports = reports_of(args)
    if args.report:
        check_files(args.files, inputs={"--similarity": [args.similarity]})
    plan = _plan(args)
    from .work.simulate_decoders import run

    run(plan, args.similarity, reports)


def _plan(args):
    from ..experiments.simulation import read_similarity, similarity_family, SimulationPlan

    classes = args.class_count or CLASSES
    errors = args.error_rate or ERRORS
    similarity = None
    if args.similarity is not None:
        errors = [None]
        similarity = similarity_family(args.similarity)
        if similarity is None:
            r = read_similarity(args.similarity)
            if args.class_count not in (None, [len(r)]):
                raise UsageError(f"--class-count: there are similarities of {len(r)} classes")
            classes, similarity = [len(r)], lambda k: r
    return SimulationPlan(
        classes,
        errors,
        args.opponents,
        args.finalists,
        args.rounds,
        args.seed,
        similarity,
        args.chance,
    )


def _distinct(convert):
    def values(text):
        result = list_of(convert)(text)
        if len(set(result)) < len(result):
            raise argparse.ArgumentTypeError(f"expected each value once, found '{text}'")
        return result

    return values


def _opponents(text):
    if not _OPPONENTS.fullmatch(text) or float(text.removesuffix("log")) == 0:
        raise argparse.ArgumentTypeError(
            f"expected a number such as 20, or a multiple of log2 such as 3log, found '{text}'"
        )
    return text

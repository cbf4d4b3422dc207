"""The options of tune_m."""

from __future__ import annotations

import argparse

from ..models import TUNED_KERNELS
from ..score.scores import BY_OPTION
from .exploring import add_exploration
from .options import Parser, finite_number, time_span, whole_number

__all__ = ["PROG", "get_parser"]

PROG = "tune_m"
_LARGEST = 60  # exponent of 2


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Search kernel, its parameters and C by cross-validation, and write the training control "
        "file to standard output with the options found in place of each \"\".",
        usage="%(prog)s [--per-partition] [--kernels KERNEL,...] [--log2c LO:HI[:STEP]] "
              "[--log2g LO:HI[:STEP]] [--degrees LO:HI] [--coef0 VALUE,...] [--refine N] "
              "[--time-limit TIME] [-Q DECODER] [--by SCORE] [-d PARTS | -f FRACTION] "
              "[--trials N] [--seed N] [-+ OPTIONS] [--json FILE] [--csv FILE] [--plot FILE] "
              "[-j N] [--platt WAY] [--kernel-memory MB] [--state FILE | --no-state] [-M | -A] "
              "[--min-class N] [-n] [-S N] [-a FILE] control train")
    parser.add_argument("control", help="training control file (- is standard input), or the name "
                                        "of a scheme of print_control")
    parser.add_argument("train", help="training data: base name of .vec and .cls files, or a "
                                      "text file with -M or -A")
    group = parser.add_argument_group("search")
    group.add_argument("--per-partition", action="store_true",
                       help="tune each binary problem on its own, in place of one set of options "
                            "for the whole configuration")
    group.add_argument("--kernels", type=_kernels, default=("rbf",), metavar="KERNEL,...",
                       help=f"kernels to try: {', '.join(TUNED_KERNELS)} (default rbf)")
    group.add_argument("--log2c", type=_axis, metavar="LO:HI[:STEP]",
                       help="first grid of C, exponents of 2 (default -1:9:2; for a linear kernel "
                            "moved with that of gamma)")
    group.add_argument("--log2g", type=_axis, metavar="LO:HI[:STEP]",
                       help="first grid of gamma, exponents of 2 (default: from 4 below to 4 "
                            "above 1 / (sum of the variances of the features), in steps of 2; "
                            "for polynomials 2)")
    group.add_argument("--degrees", type=_degrees, default=(1, 6), metavar="LO:HI",
                       help="degrees of polynomials (default 1:6)")
    group.add_argument("--coef0", type=_numbers, default=(0.0, 1.0), metavar="VALUE,...",
                       help="the options -r of polynomials (default 0,1: homogeneous and not)")
    group.add_argument("--refine", type=whole_number(0, 10), default=2, metavar="N",
                       help="how often the step is halved around the best (default 2)")
    group.add_argument("--time-limit", type=time_span, metavar="TIME",
                       help="stop when so much time has gone, in seconds, M:SS or H:MM:SS, and "
                            "write the best so far; the exit status is 3 then, and the same "
                            "command goes on from there")
    group = parser.add_argument_group("score")
    group.add_argument("-Q", "--decoder", metavar="DECODER",
                       help="a decoder of classify_m, or for trees recursive or full (default: "
                            "what suits the control)")
    group.add_argument("--by", choices=tuple(BY_OPTION), metavar="SCORE",
                       help=f"the score that decides: {', '.join(BY_OPTION)} (default "
                            "accuracy, with --per-partition brier)")
    group = parser.add_argument_group("output")
    group.add_argument("--json", metavar="FILE", help="everything that was tried, as JSON")
    group.add_argument("--csv", metavar="FILE", help="everything that was tried, as CSV")
    group.add_argument("--plot", metavar="FILE",
                       help="a picture of the score over C and gamma: .png, .svg or .pdf")
    add_exploration(parser, "1; -d 5 if neither -d nor -f is given")
    for action in parser._actions:
        if action.dest == "platt":
            action.default = None
            action.help = "decision values that fit the probabilities: loo, by a formula " \
                          "(default where all is C-SVC), or cv, from five folds, in half as much " \
                          "time again or more"
    return parser.finish()


def _parts(text, low=1, high=3):
    words = text.split(":")
    if not low <= len(words) <= high:
        raise argparse.ArgumentTypeError(f"expected LO:HI{'[:STEP]' if high == 3 else ''}, "
                                         f"found '{text}'")
    return words


def _axis(text):
    """(low, high, step) of exponents."""
    numbers = [finite_number(word) for word in _parts(text)]
    low, high, step = (*numbers, *([2.0] if len(numbers) == 2 else [])) if len(numbers) > 1 \
        else (numbers[0], numbers[0], 2.0)
    if not -_LARGEST <= low <= high <= _LARGEST:
        raise argparse.ArgumentTypeError(f"expected exponents of 2 from low to high, within "
                                         f"-{_LARGEST} and {_LARGEST}, found '{text}'")
    if not step > 0 or (high - low) / step > 100 or low < high < low + step:
        raise argparse.ArgumentTypeError(f"expected a step that leaves 2 to 101 values, "
                                         f"found '{text}'")
    return low, high, step


def _degrees(text):
    low, *high = (whole_number(1, 100)(word) for word in _parts(text, 1, 2))
    high = high[0] if high else low
    if high < low:
        raise argparse.ArgumentTypeError(f"expected LO:HI, found '{text}'")
    return low, high


def _kernels(text):
    words = tuple(word.strip() for word in text.split(","))
    for word in words:
        if word not in TUNED_KERNELS or words.count(word) > 1:
            raise argparse.ArgumentTypeError(f"expected {', '.join(TUNED_KERNELS)}, each once at "
                                             f"most, found '{text}'")
    return words


def _numbers(text):
    return tuple(dict.fromkeys(finite_number(word) for word in text.split(",")))

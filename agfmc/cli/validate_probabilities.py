"""validate_probabilities: probabilities compared with the truth, in libAGF's layout."""

import sys

from ..core.errors import UsageError
from .option_types import output_file
from .options import Parser


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "validate_probabilities",
        "Measure the quality of probabilities: Brier "
        "score, and calibration by cumulative sums of forecasts and events, in "
        "libAGF's layout.",
    )
    parser.add("truth", "file of true classes (.cls), or - for standard input")
    parser.add(
        "prob",
        "text with the probabilities and the class of each point, or - for standard "
        "input; with -b the base name of prob.cls and prob.con",
    )
    parser.add("output", "file for the sums, as text for plotting", output_file, nargs="?")
    group = parser.group("input")
    group.add(
        "-b, --results",
        "take the probabilities of the winning classes from classes and "
        "confidence ratings, prob.cls and prob.con",
    )
    group.add("-C, --no-labels", "there is no class after the probabilities")
    group.add("-H, --no-header", "there is no first line with the number of columns")
    group = parser.group("output")
    group.add("-B, --brier", "print only the Brier score")
    parser.file_names = {"truth": "labels"}
    return parser.finish()


def execute(args):
    """Read, score, write and print."""
    from ..answers import libagf_reports
    from ..score.probabilities import brier_winning, curves

    if args.output == "-":
        raise UsageError("output must be a file: the scores go to standard output")
    if args.results:
        p, happened, k, n = libagf_reports.samples_of_results(args.truth, args.prob)
    else:
        p, happened, k, n = libagf_reports.samples_of_text(
            args.truth, args.prob, not args.no_header, not args.no_labels
        )
    if args.brier and args.output is None:
        lines = None
    else:
        lines = curves(p, happened, k)
    if args.output is not None:
        libagf_reports.write_curves(args.output, lines)
    brier = brier_winning(p, happened)
    if args.brier:
        text = f"{brier:g}\n"
    else:
        text = libagf_reports.format_validation(brier, lines, n)
    sys.stdout.write(text)

"""cls_comp_stats: classes compared with the truth, in libAGF's layout."""

import sys

from .data_options import add_weights, weight_source
from .option_types import whole_number
from .options import Parser


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "cls_comp_stats",
        "Compare classes with the truth: contingency table, "
        "uncertainty coefficients, accuracy and the calibration of confidence "
        "ratings, in libAGF's layout.",
    )
    parser.add("truth", "file of true classes (.cls), or - for standard input")
    parser.add("result", "base name of result.cls and, if there are ratings, result.con")
    group = parser.group("output")
    group.add("-b, --brief", "one line for scripts: accuracy and uncertainty coefficient")
    group.add("-H, --no-header", "with -b: omit the line of headings")
    group.add(
        "-q, --bins BINS",
        "bins of the confidence ratings, for each side of 0 with two "
        "classes; 0 omits their table (default 10)",
        whole_number(0, 100_000),
        default=10,
    )
    add_weights(parser.group("weights"))
    parser.file_names = {"truth": "labels", "result": "answers"}
    return parser.finish()


def execute(args):
    """Read, score, print."""
    from ..answers.libagf_reports import brief_comparison, comparison

    source = weight_source(args, args.truth)
    if args.brief:
        line = brief_comparison(args.truth, args.result, source)
        sys.stdout.write(line if args.no_header else f"Acc.   U.C.\n{line}")
    else:
        sys.stdout.writelines(comparison(args.truth, args.result, args.bins, source))

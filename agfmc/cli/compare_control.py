"""compare_control: try configurations on the same splits of the data, and print a table.

The options of compare_control.
"""

from __future__ import annotations

import sys

from ..coding.schemes import COMPARED
from ..errors import JobsFailed, UsageError
from ..score.scores import BY_OPTION
from .experiments import add_exploration, for_data, ledger_of, load_data, plan_of, settings_of
from .messages import library_words
from .messages import json_text, Progress, report, say
from .options import Parser, whole_number
from .run import run_command

__all__ = ["PROG", "get_parser", "main"]

def execute(args):
    """Read, try, print."""
    from ..experiments.candidates import read_candidate
    from ..experiments.comparison import compare
    from ..experiments.result_cache import key_of

    if sum((args.csv, args.json, args.markdown)) > 1:
        raise UsageError("--csv, --json and --markdown exclude each other")
    if args.plot is not None:
        from ..picture.canvas import check_picture
        check_picture(args.plot)
    if args.train == "-" and "-" in args.control:
        raise UsageError("train and a control file cannot both be standard input")
    plan = plan_of(args, 10)
    candidates = _candidates(args, read_candidate)
    data, normalisation = load_data(args)
    candidates = [for_data(candidate, data, args) for candidate in candidates]
    settings = settings_of(args, normalisation)
    by = BY_OPTION[args.by]
    with library_words(), ledger_of(
            args, PROG, key_of("data", data.x, data.y), plan, repr(candidates), args.options,
            args.normalise, args.svd, args.platt,
            "" if normalisation is None else normalisation.digest()) as ledger:
        with Progress(args, "comparing") as progress:
            result = compare(data, candidates, plan, settings, ledger, by=by,
                             against=args.against, progress=progress)
        if ledger.found:
            report(args, PROG, f"{ledger.found} results of an earlier run were taken over")
        result = {"data": args.train, "options": args.options, **result}
        _print(args, result)
        if args.plot is not None:  # in here, so that the results are kept where it fails
            from ..picture.comparison import draw_comparison
            draw_comparison(args.plot, result, by)
    failed = [row for row in result["rows"] if "error" in row]
    for row in failed:
        say(PROG, f"{row['configuration']}:{row['decoder']}: {row['error']}")
    if failed:
        raise JobsFailed(f"{len(failed)} of {len(result['rows'])} rows could not be made")


def _candidates(args, read_candidate):
    wanted = None if args.decoders is None else tuple(
        word.strip() for word in args.decoders.split(","))
    candidates = [read_candidate(word, wanted, rows=args.rows, strict=args.strict,
                                 seed=args.seed, draws=args.draws, metric=args.metric,
                                 linkage=args.linkage) for word in args.control or COMPARED]
    names = [candidate.name for candidate in candidates]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name} is given twice: put its decoders together, as in "
                             f"{name}:inverse,vote")
    return candidates


def _print(args, result):
    from ..experiments.comparison_table import csv_table, markdown_table, plain_table

    if args.json:
        text = json_text(result)
    elif args.csv:
        text = csv_table(result)
    elif args.markdown:
        text = markdown_table(result)
    else:
        bold = sys.stdout.isatty()
        options = f", options {args.options}" if args.options else ""
        text = f"{result['points']} points, {result['classes']} classes; {result['plan']}" \
               f"{options}\n{plain_table(result, bold)}" + _legend(result, args, bold)
    sys.stdout.write(text)
    sys.stdout.flush()


def _legend(result, args, bold):
    against = result["against"]
    if against is None:
        return ""
    test = "McNemar's exact test (of accuracy)" if result["mcnemar"] else \
        "corrected resampled t test"
    return f"{'bold' if bold else '*'} best of its column; diff., p: paired difference in " \
           f"{args.by} to {against['configuration']} {against['decoder']}, {test}; " \
           "times in seconds of one core\n"


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)


PROG = "compare_control"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Try several configurations on the same splits of the data and print how well and how "
        "fast each classifies. Every binary problem is trained once, whatever configurations "
        "have it.",
        usage="%(prog)s [-f FRACTION | -d PARTS] [--trials N] [--seed N] [-+ OPTIONS] "
              "[-Q DECODER,...] [--by SCORE] [--against CONTROL] [--csv | --json | --markdown] "
              "[--plot FILE] [-j N] [--platt WAY] [--kernel-memory MB] [-G] [--rows N] "
              "[--draws N] [--metric NAME] [--linkage NAME] [--state FILE | --no-state] "
              "[-M | -A] [--min-class N] [-n] [-S N] [-a FILE] train [control ...]")
    parser.add_argument("train", help="training data: base name of .vec and .cls files, or a "
                                      "text file with -M or -A")
    parser.add_argument("control", nargs="*",
                        help="a training control file, or the name of a scheme of print_control; "
                             "with decoders after a colon if not those that suit it, as in "
                             f"one-vs-one:inverse,vote (default: {' '.join(COMPARED)})")
    group = parser.add_argument_group("decoders")
    group.add_argument("-Q", "--decoders", metavar="DECODER,...",
                       help="decoders for every control that names none: those of classify_m, "
                            "and for trees recursive and full; any other takes a tree as the "
                            "coding matrix it stands for (default: those that suit it)")
    group.add_argument("--against", metavar="CONTROL",
                       help="the configuration, CONTROL or CONTROL:DECODER, that the others are "
                            "compared with (default one-vs-one, or else the first)")
    group = parser.add_argument_group("output")
    group.add_argument("--csv", action="store_true", help="the table as CSV")
    group.add_argument("--json", action="store_true",
                       help="everything as JSON, with the values of each split")
    group.add_argument("--markdown", action="store_true", help="the table in Markdown")
    group.add_argument("--plot", metavar="FILE",
                       help="a picture too, score against time: .png, .svg or .pdf")
    group = parser.add_argument_group("schemes, as for print_control")
    group.add_argument("-G", "--strict", action="store_true", help="random codes without 0")
    group.add_argument("--rows", type=whole_number(1), metavar="N", help="rows of random codes")
    group.add_argument("--draws", type=whole_number(1, 10**6), default=1, metavar="N",
                       help="the best of N random codes (default 1)")
    group.add_argument("--metric", choices=("hausdorff", "mean-deviation"),
                       help="distance of classes, for schemes that are made from data")
    group.add_argument("--linkage", choices=("single", "complete", "average"),
                       help="distance of groups of classes, for trees from data")
    add_exploration(parser, "10 with -f, 1 with -d; -f 0.3 if neither is given", "uncertainty")
    return parser.finish()

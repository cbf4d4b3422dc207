"""eval_uc: score classes and probabilities against the truth."""

import argparse
import sys

from ..errors import UsageError
from .messages import json_text
from .options import Parser, PROPORTIONS, proportions, whole_number

__all__ = ["execute", "get_parser"]


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "eval_uc",
        "Score classification results: accuracy, uncertainty coefficient, contingency table, "
        "Brier scores and calibration.",
        usage="%(prog)s [-b] [-H] [-B] [-q BINS] [-k K] [--labels L,L,...] [--names FILE] "
              "[--priors P] [--json] [--plot FILE] truth result [probabilities]")
    parser.add_argument("truth", help="file of true classes (.cls), or - for standard input")
    parser.add_argument("result", help="base name of result.cls and result.con, as classify_m "
                                       "writes them")
    parser.add_argument("probabilities", nargs="?",
                        help="what classify_m printed: k probabilities and a class in each line, "
                             "with or without a first line `labels ...` (- is standard input)")
    group = parser.add_argument_group("output")
    group.add_argument("-b", "--brief", action="store_true",
                       help="one line for scripts: accuracy and uncertainty coefficient")
    group.add_argument("-H", "--no-header", action="store_true",
                       help="with -b or -B: leave the line of headings out")
    group.add_argument("-B", "--brier", action="store_true",
                       help="libAGF's Brier score alone, the root of the mean square over all "
                            "classes; with -b that of the winning classes")
    group.add_argument("-q", "--bins", type=whole_number(1, 100_000), default=10, metavar="BINS",
                       help="bins of the calibration table (default 10)")
    group.add_argument("--json", action="store_true", help="all scores as one JSON object")
    group.add_argument("--plot", metavar="FILE",
                       help="a picture of the contingency table and of the calibration: .png, "
                            ".svg or .pdf (needs matplotlib)")
    group = parser.add_argument_group("classes")
    group.add_argument("-k", "--classes", type=whole_number(2), metavar="K",
                       help="number of classes, which confidence ratings depend on; it is never "
                            "inferred from the labels")
    group.add_argument("--labels", type=_labels, metavar="L,L,...",
                       help="labels of the columns of probabilities, ascending")
    group.add_argument("--names", metavar="FILE",
                       help="names of the classes, line i for label i (default: the .names file "
                            "beside truth, if there is one)")
    group.add_argument("--priors", type=proportions, metavar="P",
                       help="proportions of the true classes where the classifier will be used, "
                            f"for which all scores are then estimated: {PROPORTIONS}")
    return parser.finish()


def _labels(text):
    from ..numerals import numeral

    try:
        return [numeral(word, whole=True) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected whole numbers with commas, found '{text}'") from None


def execute(args):
    """Read, score, print."""
    from ..prediction.evaluation import (evaluate, load_results, names_beside,
                                         warn_of_other_numbers, weighted)

    if args.truth == "-" and args.probabilities == "-":
        raise UsageError("truth and probabilities cannot both be standard input")
    if args.plot is not None:
        from ..picture.canvas import check_picture
        check_picture(args.plot)
    results = load_results(args.truth, args.result, args.probabilities, args.classes, args.labels,
                           args.names)
    if args.priors is not None:
        results = weighted(results, args.priors)
    scores = evaluate(results, args.bins)
    warn_of_other_numbers(scores)
    plain = (args.brief or args.brier) and not args.json and args.plot is None
    names = {} if plain else names_beside(args.truth, results.labels, args.names)
    if names:
        scores["names"] = list(names.values())
    if args.json:
        text = json_text(scores)
    elif args.brier:
        text = _brier(args, scores)
    elif args.brief:
        text = "" if args.no_header else "accuracy uncertainty coefficient\n"
        text += "%6.4f %6.4f\n" % (scores["accuracy"], scores["uncertainty_coefficient"])
    else:
        from ..prediction.evaluation import format_scores
        text = format_scores(scores)
    if args.plot is not None:
        from ..picture.scores import draw_scores
        draw_scores(args.plot, scores, names)
    sys.stdout.write(text)


def _brier(args, scores):
    key, what = ("brier_winning", "winning class") if args.brief else ("brier_all", "all classes")
    if scores[key] is None:
        raise UsageError("the Brier score over all classes needs the probabilities: give the file "
                         "that classify_m printed" if key == "brier_all" else
                         "the Brier score of the winning classes needs result.con and the number "
                         "of classes: give -k, or the probabilities")
    head = "" if args.no_header else f"Brier score, {what}\n"
    return head + "%8.6f\n" % scores[key]

"""eval_uc: score classes and probabilities against the truth."""

import sys

from ..core.errors import UsageError
from ..core.version import RESULTS
from ..files.kinds import ANSWERS_IN_HELP, is_answer_table
from .data_options import add_table
from .messages import json_text
from .options import add_bins, add_plot, check_plot, Parser
from .scoring import (
    add_classes,
    add_scores,
    add_true_classes,
    answers_request,
    check_kind,
    read_results,
    score_request,
)


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "eval_uc",
        "Score classification results: accuracy, scores of probabilities "
        "and prediction sets, contingency table, calibration.",
        operands="{answers | truth result [probabilities]}",
    )
    parser.add(
        "truth",
        f"a table of answers, as classify_m writes it ({ANSWERS_IN_HELP}; with "
        "--table any file, or -); or the file of true classes (.cls, or LIBSVM text; - is "
        "standard input)",
        metavar="{answers | truth}",
    )
    parser.add(
        "result", "base name of result.cls and result.con, as classify_m writes them", nargs="?"
    )
    parser.add(
        "probabilities",
        "standard output of classify_m: k probabilities and a class per "
        "line, with or without a first line `labels ...` (- is standard input)",
        nargs="?",
    )
    add_scores(parser)
    group = add_table(parser, "answers", roles=False)
    group.add(
        "--truth COLUMN",
        "column of the true classes, in the table of the answers or of "
        "--data (default: class, label or target, or the only one that has the names of "
        "the classes)",
        dest="column",
    )
    add_true_classes(group)
    group = parser.group("output")
    group.add("-b, --brief", "one line for scripts: accuracy and uncertainty coefficient")
    group.add("-H, --no-header", "with -b or -B: omit the line of headings")
    group.add(
        "-B, --brier",
        "print only libAGF's Brier score, the root of the mean square over "
        "all classes; with -b that of the winning classes",
    )
    add_bins(group)
    group.add("--json", "all scores as one JSON object", excludes="--csv")
    group.add("--csv", "all scores as CSV: score,class,value,low,high")
    add_plot(
        group, "of the contingency table, of the calibration, and of the error of the surest points"
    )
    add_classes(parser)
    parser.file_names = {
        "truth": "truth",
        "result": "answers",
        "control": "model",
        "probabilities": "printed",
        "before": "printed",
        "sets": "sets",
    }
    return parser.finish()


def execute(args):
    """Read, score, print."""
    from ..score.evaluation import (
        classwise_calibration,
        compared_scores,
        evaluate,
        warn_of_other_numbers,
    )

    of_table = args.table or args.column is not None or is_answer_table(args.truth)
    _check_operands(args, of_table)
    check_plot(args)
    form = next((name for name in ("json", "csv", "brier", "brief") if getattr(args, name)), None)
    request, scoring = (
        answers_request(args, args.truth, args.result, args.probabilities, args.column),
        score_request(args),
    )
    results, names_of = read_results(request, scoring)
    if form in ("brief", "brier") and args.plot is None:
        scores, names = compared_scores(results), {}
        scores |= {"points": len(results.truth), "labels": results.labels}
    else:
        scores, names = evaluate(results, args.bins, scoring), names_of()
    warn_of_other_numbers(scores)
    if names:
        scores["names"] = list(names.values())
    text = _text(form, not args.no_header, args.brief, scores, of_table)
    if args.plot is not None:
        from ..report.chart_scores import draw_scores

        draw_scores(
            args.plot, {**classwise_calibration(results, args.bins), **scores}, names, args.truth
        )
    sys.stdout.write(text)


def _check_operands(args, of_table):
    check_kind(args, of_table, "result")
    if of_table:
        return
    if args.result is None:
        raise UsageError(
            "operands are missing: expected a table of answers and --truth COLUMN, or "
            "truth result [probabilities] (try eval_uc --help)"
        )
    if is_answer_table(args.result):
        raise UsageError(
            f"a table of answers comes first: eval_uc {args.result} [--truth COLUMN] [--data TABLE]"
        )
    if args.truth.endswith(".vec"):
        raise UsageError(f"{args.truth} holds points: expected the true classes (.cls)")
    if args.truth == f"{args.result}.cls" and args.truth not in args.given_words:
        raise UsageError(f"{args.truth} holds the answers: expected the true classes before them")


def _text(form, header, brief, scores, of_table):
    from ..report.text import format_scores, scores_csv

    if form == "json":
        return json_text({"version": RESULTS, **scores})
    if form == "csv":
        return scores_csv(scores, of_table)
    if form == "brier":
        return _brier(header, brief, scores)
    if form == "brief":
        head = "accuracy uncertainty coefficient\n" * header
        return head + "%6.4f %6.4f\n" % (scores["accuracy"], scores["uncertainty_coefficient"])
    return format_scores(scores)


def _brier(header, brief, scores):
    key, what = ("brier_winning", "winning class") if brief else ("brier_all", "all classes")
    if scores[key] is None:
        raise UsageError(
            "the Brier score over all classes needs the probabilities: give the file "
            "that classify_m printed"
            if key == "brier_all"
            else "the Brier score of the winning classes needs result.con and the number "
            "of classes: give -k, or the probabilities"
        )
    return f"Brier score, {what}\n" * header + "%8.6f\n" % scores[key]

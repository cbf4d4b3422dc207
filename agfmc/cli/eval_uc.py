"""eval_uc: score classes and probabilities against the truth."""

import argparse
import functools
import sys
from dataclasses import replace

from ..errors import UsageError
from ..tables import is_answer_table
from .messages import json_text
from .options import (add_seed, add_table, add_weights, names, Parser, PROPORTIONS, proportions,
                      table_layout, weight_source, whole_number)

__all__ = ["execute", "get_parser"]


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "eval_uc",
        "Score classification results: accuracy, scores of probabilities and of sets of classes, "
        "contingency table, calibration.",
        usage="%(prog)s [-b] [-H] [-B] [-q BINS] [-k K] [--labels L,L,...] [--names FILE] "
              "[--priors P] [--top K] [--ordered] [--by-class] [--intervals [N]] [--seed N] "
              "[--costs FILE] [--weights FILE] [--class-weight WEIGHTS] "
              "[--sets FILE] [--control FILE] [--before FILE] [--json | --csv] [--plot FILE] "
              "{answers --truth COLUMN [--data TABLE [--id COLUMN,...]] [--predicted COLUMN] "
              "[--weight COLUMN] | "
              "truth result [probabilities]}")
    parser.add_argument("truth", metavar="{answers | truth}",
                        help="a table of answers, as classify_m writes it (.csv, .tsv, .jsonl; "
                             "with --table any file, or -); or file of true classes (.cls), or - "
                             "for standard input")
    parser.add_argument("result", nargs="?",
                        help="base name of result.cls and result.con, as classify_m writes them")
    parser.add_argument("probabilities", nargs="?",
                        help="what classify_m printed: k probabilities and a class in each line, "
                             "with or without a first line `labels ...` (- is standard input)")
    group = parser.add_argument_group("scores")
    group.add_argument("--top", type=whole_number(1), metavar="K",
                       help="the share of the points whose true class is among the K most "
                            "probable ones")
    group.add_argument("--ordered", action="store_true",
                       help="scores for classes that have an order, that of their labels: mean "
                            "class error, share within one class, ranked probability score")
    group.add_argument("--by-class", action="store_true",
                       help="calibration of the probability of each class")
    group.add_argument("--intervals", nargs="?", const=1000, default=0,
                       type=whole_number(10, 1_000_000), metavar="N",
                       help="intervals of 95 %% of all scores, from N bootstrap resamples "
                            "(default 1000); shares have theirs without it")
    add_seed(group)
    group.add_argument("--costs", metavar="FILE",
                       help="what it costs to answer one class where another is true, as for "
                            "classify_m: mean cost with its interval, beside that of the best "
                            "single answer to all points; rejected points cost what the column - "
                            "says")
    group.add_argument("--sets", metavar="FILE",
                       help="sets of classes, as classify_m --coverage and --stop write them: "
                            "coverage and sizes")
    group.add_argument("--control", metavar="FILE",
                       help="with sets: a control file, or a model, of whose tree the sets are "
                            "nodes, as those of classify_m --stop: hierarchical precision and "
                            "recall")
    group.add_argument("--before", metavar="FILE",
                       help="probabilities before calibration, as classify_m --uncalibrated "
                            "prints them: both side by side")
    group = add_table(parser, "the answers", roles=False)
    group.add_argument("--truth", dest="column", metavar="COLUMN",
                       help="the column of the true classes, in the table of the answers or of "
                            "--data")
    group.add_argument("--data", metavar="TABLE",
                       help="the table of the true classes, if it is not that of the answers")
    group.add_argument("--id", type=names, metavar="COLUMN,...",
                       help="with --data: columns by which the rows of both tables are joined "
                            "(default: those that both have; else the rows are in one order)")
    group.add_argument("--predicted", metavar="COLUMN",
                       help="the column of the answers (default class); the probability of a "
                            "class is in the column p:CLASS")
    group.add_argument("--weight", metavar="COLUMN",
                       help="the column of the weights of the rows, numbers of 0 or more, in the "
                            "table that has the true classes")
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
    group.add_argument("--csv", action="store_true",
                       help="all scores as CSV: score,class,value,low,high")
    group.add_argument("--plot", metavar="FILE",
                       help="a picture of the contingency table, of the calibration, and of the "
                            "error of the surest points: .png, .svg or .pdf (needs matplotlib)")
    group = parser.add_argument_group("classes")
    group.add_argument("-k", "--classes", type=whole_number(2), metavar="K",
                       help="number of classes, which confidence ratings depend on; it is never "
                            "inferred from the labels")
    group.add_argument("--labels", type=_labels, metavar="L,L,...",
                       help="labels of the columns of probabilities, ascending")
    group.add_argument("--names", metavar="FILE",
                       help="names of the classes, line i for label i (default: the .names file "
                            "beside truth, .cls or .truth, if there is one); of a table their "
                            "order (default: that of the columns of probabilities)")
    group.add_argument("--priors", type=proportions, metavar="P",
                       help="proportions of the true classes where the classifier will be used, "
                            f"for which all scores are then estimated: {PROPORTIONS}")
    add_weights(group)
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
    from ..prediction.evaluation import Asked, compared_scores, evaluate, warn_of_other_numbers

    _check_operands(args)
    if args.json and args.csv:
        raise UsageError("choose one of --json and --csv")
    if args.plot is not None:
        from ..picture.canvas import check_picture
        check_picture(args.plot)
    results, names_of = _results(args)
    whole = args.json or args.csv or args.plot is not None
    if (args.brief or args.brier) and not whole:
        scores, names = compared_scores(results), {}
        scores |= {"points": len(results.truth), "labels": results.labels}
    else:
        scores = evaluate(results, args.bins, Asked(args.top, args.ordered, args.by_class,
                                                    args.intervals, args.seed))
        names = names_of()
    warn_of_other_numbers(scores)
    if names:
        scores["names"] = list(names.values())
    text = _text(args, scores)
    if args.plot is not None:
        from ..picture.scores import draw_scores
        draw_scores(args.plot, scores, names)
    sys.stdout.write(text)


def _is_table(args):
    return args.table or args.column is not None or is_answer_table(args.truth)


def _check_operands(args):
    of_tables = [("--data", args.data), ("--id", args.id), ("--predicted", args.predicted),
                 ("--weight", args.weight), ("--delimiter", args.delimiter),
                 ("--no-quotes", args.no_quotes), ("--blanks", args.blanks)]
    if args.class_weight is not None and args.priors is not None:
        raise UsageError("--class-weight and --priors exclude each other: --priors says what all "
                         "points of a class count together")
    if args.costs == "-" and "-" in (args.truth, args.probabilities, args.data, args.before):
        raise UsageError("the costs and other files cannot both be standard input")
    if _is_table(args):
        if args.column is None:
            raise UsageError(f"expected --truth COLUMN, the column of the true classes in "
                             f"{args.truth}, or in the table of --data")
        for option, given in (("-k", args.classes), ("--labels", args.labels),
                              ("--sets", args.sets), ("--weights", args.weights),
                              ("the operand result", args.result)):
            if given is not None:
                way = "--weight COLUMN names the column of the weights" \
                    if option == "--weights" else "--data names the table of the true classes"
                raise UsageError(f"{option} is for files of numbers: a table of answers holds all, "
                                 f"and {way}")
        if [args.truth, args.data, args.before].count("-") > 1:
            raise UsageError("two tables cannot both be standard input")
        return
    for option, given in of_tables:
        if given:
            raise UsageError(f"{option} is for a table of answers, with --truth COLUMN")
    if args.result is not None and is_answer_table(args.result):
        raise UsageError(f"a table of answers comes first: eval_uc {args.result} --truth COLUMN "
                         "[--data TABLE]")
    if args.result is None:
        raise UsageError("operands are missing: expected a table of answers and --truth COLUMN, or "
                         "truth result [probabilities] (try eval_uc --help)")
    if args.truth == "-" and args.probabilities == "-":
        raise UsageError("truth and probabilities cannot both be standard input")
    if args.control is not None and args.sets is None:
        raise UsageError("--control needs --sets")


def _results(args):
    """The `Results` of all files, and a function that gives the {label: name}."""
    from ..formats.cost_matrix import read_costs
    from ..prediction.configuration import read_tree
    from ..prediction.evaluation import weighted, with_weights
    from ..prediction.result_files import with_weights_of

    tree = None if args.control is None else read_tree(args.control)
    read = [args.truth, args.probabilities, args.data, args.before, args.costs]
    source = weight_source(args, "-" if "-" in read else None)
    results, names_of = (_of_table if _is_table(args) else _of_files)(args, tree)
    names_of = functools.cache(names_of)  # which warns
    for option, given in (("--top", args.top), ("--by-class", args.by_class)):
        if given and results.p is None:
            raise UsageError(f"{option} needs probabilities of all classes: " + (
                "columns p:CLASS" if _is_table(args) else "give the file that classify_m printed"))
    if not _is_table(args):
        results = with_weights_of(results, args.truth, source,
                                  {} if source.classes is None else names_of())
    elif results.weights is not None or source.classes is not None:
        results = with_weights(results, results.weights, source.classes, names_of())
    if args.costs is not None:
        results = replace(results, costs=read_costs(args.costs, results.labels.tolist(),
                                                    names_of()))
    if args.priors is None:
        return results, names_of
    return weighted(results, args.priors, names_of()), names_of


def _of_table(args, tree):
    from ..formats.class_names import read_names
    from ..prediction.answer_scores import AnswerSource, load_answers

    results, names_found = load_answers(AnswerSource(
        args.truth, args.column, args.data, args.id or (), args.predicted or "class", args.before,
        table_layout(args), () if args.names is None else read_names(args.names), args.weight),
        tree)
    return results, lambda: dict(enumerate(names_found))


def _of_files(args, tree):
    from ..prediction.result_files import (load_results, names_beside, with_probabilities_before,
                                           with_sets)

    results = load_results(args.truth, args.result, args.probabilities, args.classes, args.labels,
                           args.names)
    if args.before is not None:
        results = with_probabilities_before(results, args.before)
    if args.sets is not None:
        results = with_sets(results, args.sets, tree)
    return results, lambda: names_beside(args.truth, results.labels, args.names)


def _text(args, scores):
    if args.json:
        return json_text(scores)
    if args.csv:
        from ..prediction.score_page import scores_csv
        return scores_csv(scores, _is_table(args))
    if args.brier:
        return _brier(args, scores)
    if args.brief:
        head = "" if args.no_header else "accuracy uncertainty coefficient\n"
        return head + "%6.4f %6.4f\n" % (scores["accuracy"], scores["uncertainty_coefficient"])
    from ..prediction.score_page import format_scores
    return format_scores(scores)


def _brier(args, scores):
    key, what = ("brier_winning", "winning class") if args.brief else ("brier_all", "all classes")
    if scores[key] is None:
        raise UsageError("the Brier score over all classes needs the probabilities: give the file "
                         "that classify_m printed" if key == "brier_all" else
                         "the Brier score of the winning classes needs result.con and the number "
                         "of classes: give -k, or the probabilities")
    head = "" if args.no_header else f"Brier score, {what}\n"
    return head + "%8.6f\n" % scores[key]

"""eval_uc: score classes and probabilities against the truth."""

import os
import sys
from dataclasses import replace

from ..core.errors import DataError, UsageError
from ..core.version import RESULTS
from ..files.kinds import ANSWERS_IN_HELP, is_answer_table, name_of_file
from ..files.opening import is_stream
from .data_options import add_recipe, add_table, weight_files
from .file_names import kind_by_content
from .messages import json_text
from .options import add_bins, Parser
from .pages import page_of
from .reports import add_report, PAGE, PICTURES, reports_of
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
        f"a table of answers, as classify_m writes it ({ANSWERS_IN_HELP}; text "
        "with a line of names in any file, or -); or the file of true classes (.cls, or "
        "LIBSVM text; - is standard input)",
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
    group = add_table(parser, roles=False)
    add_recipe(group)
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
    group.add("--json", "print all scores as one JSON object")
    add_report(
        group,
        "of the scores with intervals and of the hardest points; pictures are of the contingency "
        "table, of the calibration, and of the error of the surest points",
        PAGE,
        *PICTURES,
        ".json",
        ".csv",
    )
    group.add(
        "--model FILE",
        "with --report: the model of the answers, which the page describes, too",
        needs="--report",
    )
    add_classes(parser)
    parser.file_names = {
        "truth": "truth",
        "result": "answers",
        "control": "model",
        "model": "model",
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
    from ..report.chart_scores import draw_scores
    from ..report.text import scores_csv

    of_table = args.column is not None or is_answer_table(args.truth)
    if args.result is None and not of_table:
        of_table = kind_by_content(args.truth, "points") == "table"
    _check_operands(args, of_table)
    reports = reports_of(args)
    form = next((name for name in ("json", "brier", "brief") if getattr(args, name)), None)
    request = answers_request(args, args.truth, args.result, args.probabilities, args.column)
    scoring = score_request(args)
    model, arrange = None, None
    if args.model is not None:
        model = _read_model(args.model)
        request, arrange = _by_model(request, model)
    results, names_of = read_results(request, scoring, arrange)
    if model is not None:
        _check_classes(args.model, model.tree, results, names_of)
    if form in ("brief", "brier") and not args.report:
        scores = compared_scores(results)
        names = {}
        scores |= {"points": len(results.truth), "labels": results.labels}
    else:
        scores = evaluate(results, args.bins, scoring)
        names = names_of()
    warn_of_other_numbers(scores)
    if names:
        scores["names"] = list(names.values())
    printed = reports.write(
        {
            PAGE: lambda: _page_text(args, request, scoring, results, names, model),
            ".json": lambda: _text("json", False, False, scores),
            ".csv": lambda: scores_csv(scores, of_table),
        },
        lambda path: draw_scores(
            path, {**classwise_calibration(results, args.bins), **scores}, names, args.truth
        ),
    )
    if printed is None:
        printed = _text(form, not args.no_header, args.brief, scores)
    sys.stdout.write(printed)


def _read_model(path):
    """The `ModelPart` of a trained model."""
    from ..models.description import describe
    from ..models.files import load_configuration, ModelSource
    from ..report.content import ModelPart

    configuration = load_configuration(ModelSource(path))
    return ModelPart(configuration.tree, os.path.basename(path), describe(configuration))


def _by_model(request, model):
    """The `AnswersRequest` with the names of a model, and a function that gives answers of a table
    its labels; None for others, which have them."""
    from .gather import relabelled

    tree = model.tree
    if not request.of_table:
        names = None
        if sorted(tree.names) == list(range(len(tree.names))):
            names = tuple(tree.names[label] for label in sorted(tree.names)) or None
        return request._replace(class_names=names), None
    if model.info["recipe"]:
        source = replace(request.source, label=model.info["recipe"]["label"])
        request = request._replace(source=source)
    return request, lambda results, names: relabelled(
        results, [names[label] for label in sorted(names)], tree
    )


def _check_classes(path, tree, results, names_of):
    """`DataError` where the answers have classes that a model does not have."""
    strange = set(map(int, results.labels)) - set(tree.classes)
    if len(strange) == len(results.labels):
        raise DataError(
            "has none of the classes of the answers: it is another model than theirs", file=path
        )
    answered = sorted(strange & set(results.result.tolist()))
    if answered:
        raise DataError(
            f"does not have the class {names_of().get(answered[0], answered[0])}, "
            "which is among the answers: it is another model than theirs",
            file=path,
        )


def _page_text(args, request, scoring, results, names, model):
    """The page of the scores of answers, and of their `ModelPart` or None."""
    from ..report.content import ReportContent
    from ..report.page import render
    from .gather import answers_part, data_of_model, report_score_request

    page = page_of(args, _inputs(args, request))
    scores = report_score_request(results, scoring, scoring.intervals or None)
    if model is None:
        tree = None
    else:
        tree = model.tree
    part = answers_part(
        results, _origin(args), scores=scores, bins=args.bins, tree=tree, ids=_ids(request.source)
    )
    if model is None:
        info = None
    else:
        info = model.info
    return render(
        ReportContent(
            name_of_file(args.model or args.result or args.truth),
            names if model is None else {**model.tree.names, **names},
            None if model is None else data_of_model(info),
            model,
            part,
            provenance=page.provenance(info=info),
            steps=[page.step("writes this page")],
        )
    )


def _inputs(args, request):
    """The files whose digests are on the page."""
    files = [
        request.truth,
        request.probabilities,
        request.before,
        args.data,
        args.costs,
        args.sets,
        args.control,
        args.model,
        *weight_files(args),
    ]
    if request.result is not None:
        files += [f"{request.result}.cls", f"{request.result}.con"]
    return files


def _origin(args):
    """The origin of answers and true classes, in words."""
    if args.result is not None:
        return f"{args.result}, true classes in {args.truth}"
    if args.data is not None:
        return f"{args.truth}, true classes in {args.data}"
    return args.truth


def _ids(source):
    """A function that returns {row: id} of rows of a table of answers, or None."""
    from ..answers.columns import answer_ids

    if source is None or is_stream(source.path):
        return None
    return lambda rows: answer_ids(source.path, source.layout, source.predicted, rows, source.ids)


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


def _text(form, header, brief, scores):
    from ..report.text import format_scores

    if form == "json":
        return json_text({"version": RESULTS, **scores})
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

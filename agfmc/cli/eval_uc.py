"""eval_uc: score classes and probabilities against the truth."""

import functools
import os
import sys
from dataclasses import dataclass, replace

from ..core.errors import DataError, UsageError
from ..core.version import RESULTS
from ..files.kinds import ANSWERS_IN_HELP, is_answer_table, name_of_file
from ..files.opening import is_stream
from .data_options import (
    add_recipe,
    add_table,
    add_weights,
    table_layout,
    weight_files,
    weight_source,
)
from .file_names import kind_by_content
from .messages import json_text
from .option_types import list_of, names, PROPORTIONS, proportions, whole_number
from .options import add_bins, add_seed, Parser
from .pages import Page, page_of
from .reports import add_report, PAGE, PICTURES, Reports, reports_of


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
    _add_scores(parser)
    group = add_table(parser, roles=False)
    add_recipe(group)
    group.add(
        "--truth COLUMN",
        "column of the true classes, in the table of the answers or of "
        "--data (default: class, label or target, or the only one that has the names of "
        "the classes)",
        dest="column",
    )
    _add_true_classes(group)
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
    _add_classes(parser)
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


def _add_scores(parser):
    """The options of what is scored, and how."""
    group = parser.group("scores")
    group.add(
        "--top-accuracy K",
        "share of the points whose true class is among the K most probable ones",
        whole_number(1),
    )
    group.add(
        "--ordered",
        "scores for ordered classes, in the order of their labels: mean class "
        "error, share within one class, ranked probability score",
    )
    group.add("--by-class", "tables of calibration: of the answers, and of each class")
    group.add(
        "--intervals [N]",
        "95 %% intervals of all scores, from N bootstrap resamples "
        "(default 1000); shares have intervals without it",
        whole_number(10, 1_000_000),
        const=1000,
        default=0,
    )
    add_seed(group)
    group.add(
        "--costs FILE",
        "costs of each answer for each true class, as for classify_m: mean "
        "cost with its interval, and that of the best single answer to all points; "
        "rejected points have the cost in column -",
    )
    group.add(
        "--sets FILE",
        "prediction sets, as classify_m --coverage and --stop write them: coverage and sizes",
    )
    group.add(
        "--control FILE",
        "for prediction sets: a control file or model whose tree has the "
        "sets as nodes, as from classify_m --stop: hierarchical precision and recall",
    )
    group.add(
        "--before FILE",
        "probabilities before calibration, as classify_m --uncalibrated "
        "prints them, for comparison",
    )


def _add_true_classes(group):
    """The options of the table of the true classes, and of its columns."""
    group.add("--data TABLE", "table of the true classes, if it is not that of the answers")
    group.add(
        "--id COLUMN,...",
        "with --data: columns that join the rows of both tables "
        "(default: those that both have; else the rows have the same order); in a report "
        "they name the points",
        names,
    )
    group.add(
        "--predicted COLUMN",
        "column of the answers (default class); the probability of a "
        "class is in the column p:CLASS",
    )


def _add_classes(parser):
    """The options of the classes and weights of the points."""
    group = parser.group("classes")
    group.add(
        "-k, --class-count K",
        "number of classes, on which confidence ratings depend; it is "
        "never inferred from the labels",
        whole_number(2),
    )
    group.add(
        "--labels L,L,...",
        "labels of the columns of probabilities, ascending",
        list_of(whole_number(-(2**62))),
    )
    group.add(
        "--names FILE",
        "names of the classes, line i for label i (default: the .names "
        "file beside truth, .cls or .truth, if there is one); for a table their order "
        "(default: that of the columns of probabilities)",
    )
    group.add(
        "--priors P",
        f"proportions of the true classes for which all scores are estimated: {PROPORTIONS}",
        proportions,
        excludes="--class-weight",
    )
    add_weights(group)


@dataclass(frozen=True)
class _Request:
    """Answers to be scored, their true classes, and how the scores are written.

    What is not said here is as the option.

    Attributes
    ----------
    truth, result, probabilities : files, or, for `of_table`, the table of the answers, None, None
    source : `AnswerSource` of that table
    names, class_names : file of the names of the classes, or in its place the names of the model
    scores : `ScoreRequest`
    model : file of the model of the answers, or None
    form : "text", "json", "brier" or "brief"
    header, brief : lines of headings; the scores of the winning classes
    """

    reports: Reports
    source: object
    weights: object
    truth: str
    result: str | None
    probabilities: str | None
    class_count: int | None
    labels: list | None
    names: str | None
    before: str | None
    sets: str | None
    control: str | None
    costs: str | None
    priors: object
    scores: object
    bins: int
    model: str | None
    form: str
    header: bool
    brief: bool
    page: Page
    class_names: tuple | None = None

    @property
    def of_table(self):
        """True if the answers are columns of a table."""
        return self.source is not None


def execute(args):
    """Make a request of the options, and score by it."""
    from ..score.evaluation import ScoreRequest

    of_table = args.column is not None or is_answer_table(args.truth)
    if args.result is None and not of_table:
        of_table = kind_by_content(args.truth, "points") == "table"
    _check_operands(args, of_table)
    reports = reports_of(args)
    source = None
    if of_table:
        source = _answer_source(args)
    read = [args.truth, args.probabilities, args.data, args.before, args.costs]
    request = args.request(
        _Request,
        reports=reports,
        source=source,
        weights=weight_source(args, "-" if "-" in read else None),
        scores=args.request(ScoreRequest),
        form=next((name for name in ("json", "brier", "brief") if getattr(args, name)), "text"),
        header=not args.no_header,
        page=page_of(args, _inputs(args)),
    )
    _score(request)


def _answer_source(args):
    """The `AnswerSource` of the options."""
    from ..answers.result_tables import AnswerSource
    from ..data.class_names import read_names

    layout = table_layout(args.recipe, args.data or args.truth)
    return AnswerSource(
        args.truth,
        args.column,
        args.data,
        args.id or (),
        args.predicted or "class",
        args.before,
        names=() if args.names is None else read_names(args.names),
        weight=args.weight,
        **{"layout" if args.data is None else "data_layout": layout},
    )


def _score(request):
    """Read, score, print."""
    from ..score.evaluation import (
        classwise_calibration,
        compared_scores,
        evaluate,
        warn_of_other_numbers,
    )
    from ..report.chart_scores import draw_scores
    from ..report.csv_tables import scores_csv

    reports, form = request.reports, request.form
    model, arrange = None, None
    if request.model is not None:
        model = _read_model(request.model)
        request, arrange = _by_model(request, model)
    results, names_of = _read_results(request, arrange)
    if model is not None:
        _check_classes(request.model, model.tree, results, names_of)
    if form in ("brief", "brier") and not (reports.paths or reports.printed):
        scores = compared_scores(results)
        names = {}
        scores |= {"points": len(results.truth), "labels": results.labels}
    else:
        scores = evaluate(results, request.bins, request.scores)
        names = names_of()
    warn_of_other_numbers(scores)
    if names:
        scores["names"] = list(names.values())
    printed = reports.write(
        {
            PAGE: lambda: _page_text(request, results, names, model),
            ".json": lambda: _text("json", False, False, scores),
            ".csv": lambda: scores_csv(scores, request.of_table),
        },
        lambda path: draw_scores(
            path,
            {**classwise_calibration(results, request.bins), **scores},
            names,
            request.truth,
        ),
    )
    if printed is None:
        printed = _text(form, request.header, request.brief, scores)
    sys.stdout.write(printed)


def _read_results(request, arrange=None):
    """The `Results` of a request, and a function that returns {label: name}.

    arrange(results, names) returns both with other labels, before costs and weights.
    """
    from ..answers.results import with_weights_of
    from ..data.cost_file import read_costs
    from ..data.weights import proportions
    from ..models.files import read_tree
    from ..score.evaluation import weighted, with_weights

    tree = None if request.control is None else read_tree(request.control)
    scores, weights = request.scores, request.weights
    results, names_of = (_of_table if request.of_table else _of_files)(request, tree)
    if arrange is not None:
        results, arranged = arrange(results, names_of())
        names_of = lambda: arranged
    names_of = functools.cache(names_of)  # which warns
    for option, value in (("--top-accuracy", scores.top_accuracy), ("--by-class", scores.by_class)):
        if value and results.p is None:
            raise UsageError(
                f"{option} needs probabilities of all classes: "
                + (
                    "columns p:CLASS"
                    if request.of_table
                    else "give the file that classify_m printed"
                )
            )
    if not request.of_table:
        results = with_weights_of(
            results, request.truth, weights, {} if weights.classes is None else names_of()
        )
    elif results.weights is not None or weights.classes is not None:
        results = with_weights(results, results.weights, weights.classes, names_of())
    if request.costs is not None:
        results = replace(
            results, costs=read_costs(request.costs, results.labels.tolist(), names_of())
        )
    if request.priors is None:
        return results, names_of
    shares = proportions(request.priors, results.labels, names=names_of())
    return weighted(results, shares), names_of


def _of_table(request, tree):
    from ..answers.result_tables import load_answers

    results, names = load_answers(request.source, tree)
    return results, lambda: dict(enumerate(names))


def _of_files(request, tree):
    from ..answers.results import load_results, names_beside, with_probabilities_before, with_sets

    names = request.names or request.class_names
    if names is None and os.path.isfile(f"{request.result}.names"):
        names = f"{request.result}.names"
    results = load_results(
        request.truth,
        request.result,
        request.probabilities,
        request.class_count,
        request.labels,
        names,
    )
    if request.before is not None:
        results = with_probabilities_before(results, request.before)
    if request.sets is not None:
        results = with_sets(results, request.sets, tree)
    return results, lambda: names_beside(request.truth, results.labels, request.names)


def _read_model(path):
    """The `ModelPart` of a trained model."""
    from ..models.description import describe
    from ..models.files import load_configuration, ModelSource
    from ..report.content import ModelPart

    configuration = load_configuration(ModelSource(path))
    return ModelPart(configuration.tree, os.path.basename(path), describe(configuration))


def _by_model(request, model):
    """The request with the names of a model, and a function that gives answers of a table
    its labels; None for others, which have them."""
    from .gather import relabelled

    tree = model.tree
    if not request.of_table:
        names = None
        if sorted(tree.names) == list(range(len(tree.names))):
            names = tuple(tree.names[label] for label in sorted(tree.names)) or None
        return replace(request, class_names=names), None
    if model.info["recipe"]:
        source = replace(request.source, label=model.info["recipe"]["label"])
        request = replace(request, source=source)
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


def _page_text(request, results, names, model):
    """The page of the scores of answers, and of their `ModelPart` or None."""
    from ..report.content import ReportContent
    from ..report.page import render
    from .gather import answers_part, data_of_model, report_score_request

    page = request.page
    scores = report_score_request(results, request.scores, request.scores.intervals or None)
    info = tree = data = None
    if model is not None:
        info, tree, data = model.info, model.tree, data_of_model(model.info)
        names = {**tree.names, **names}
    part = answers_part(
        results,
        _origin(request),
        scores=scores,
        bins=request.bins,
        tree=tree,
        ids=_ids(request.source),
    )
    return render(
        ReportContent(
            name_of_file(request.model or request.result or request.truth),
            names,
            data,
            model,
            part,
            provenance=page.provenance(info=info),
            steps=[page.step("writes this page")],
        )
    )


def _inputs(args):
    """The files whose digests are on the page."""
    files = [
        args.truth,
        args.probabilities,
        args.before,
        args.data,
        args.costs,
        args.sets,
        args.control,
        args.model,
        *weight_files(args),
    ]
    if args.result is not None:
        files += [f"{args.result}.cls", f"{args.result}.con"]
    return files


def _origin(request):
    """The origin of answers and true classes, in words."""
    if request.result is not None:
        return f"{request.result}, true classes in {request.truth}"
    if request.source.data is not None:
        return f"{request.truth}, true classes in {request.source.data}"
    return request.truth


def _ids(source):
    """A function that returns {row: id} of rows of a table of answers, or None."""
    from ..answers.columns import answer_ids

    if source is None or is_stream(source.path):
        return None
    return lambda rows: answer_ids(source.path, source.layout, source.predicted, rows, source.ids)


def _check_operands(args, of_table):
    """`UsageError` for operands and options of the other kind of answers."""
    if of_table:
        args.refuse(
            ("result", "-k", "--labels", "--sets"),
            "is for files of numbers; a table of answers holds classes, probabilities and "
            "sets, and --data names the table of the true classes",
        )
        return
    if args.sets is None:
        args.refuse(["--control"], "needs --sets")
    args.refuse(
        ("--data", "--id", "--predicted", "--recipe"),
        "is for a table of answers, with --truth COLUMN",
    )
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
    from ..report.answers import score_blocks
    from ..report.text import blocks_text

    if form == "json":
        return json_text({"version": RESULTS, **scores})
    if form == "brier":
        return _brier(header, brief, scores)
    if form == "brief":
        head = "accuracy uncertainty coefficient\n" * header
        return head + "%6.4f %6.4f\n" % (scores["accuracy"], scores["uncertainty_coefficient"])
    return blocks_text(score_blocks(scores))


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

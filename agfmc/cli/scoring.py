"""The options of scores, and the results that they are of: those of eval_uc."""

import functools
import os
from dataclasses import replace
from typing import NamedTuple

from ..core.errors import UsageError
from .data_options import add_weights, table_layout, weight_source
from .option_types import list_of, names, PROPORTIONS, proportions, whole_number
from .options import add_seed


def add_scores(parser):
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


def add_true_classes(group):
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


def add_classes(parser):
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


def check_kind(args, of_table, *more):
    """`UsageError` for options of the other kind of answers; more: options of files."""
    if of_table:
        args.refuse(
            (*more, "-k", "--labels", "--sets"),
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


class AnswersRequest(NamedTuple):
    """Answers, their true classes, and what scores need besides.

    The other fields are as the options of eval_uc.

    Attributes
    ----------
    truth, result, probabilities : files, or, for `of_table`, the table of the answers, None, None
    source : options for reading that table
    names, class_names : file of the names of the classes, or in its place the names of the model
    """

    truth: str
    result: str | None
    probabilities: str | None
    source: object
    weights: object
    classes: int | None
    labels: list | None
    names: str | None
    before: str | None
    sets: str | None
    control: str | None
    costs: str | None
    priors: object
    class_names: tuple | None = None

    @property
    def of_table(self):
        """True if the answers are columns of a table."""
        return self.source is not None


def answers_request(args, truth, result=None, probabilities=None, column=None, **changes):
    """The `AnswersRequest` of options; without result truth is a table, column that of the classes.
    `changes` are other fields."""
    from ..answers.result_tables import AnswerSource
    from ..data.class_names import read_names

    if result is not None:
        source = None
    else:
        source = AnswerSource(
            truth,
            column,
            args.data,
            args.id or (),
            args.predicted or "class",
            args.before,
            names=() if args.names is None else read_names(args.names),
            weight=args.weight,
            **{
                "layout" if args.data is None else "data_layout": table_layout(
                    args.recipe, args.data or truth
                )
            },
        )
    read = [truth, probabilities, args.data, args.before, args.costs]
    return AnswersRequest(
        truth,
        result,
        probabilities,
        source,
        weight_source(args, "-" if "-" in read else None),
        args.class_count,
        args.labels,
        args.names,
        args.before,
        args.sets,
        args.control,
        args.costs,
        args.priors,
    )._replace(**changes)


def score_request(args, **changes):
    """The `ScoreRequest` of the options of `add_scores`; changes: other fields."""
    from ..score.evaluation import ScoreRequest

    return replace(
        ScoreRequest(args.top_accuracy, args.ordered, args.by_class, args.intervals, args.seed),
        **changes,
    )


def read_results(request, scores, arrange=None):
    """The `Results` of an `AnswersRequest`, and a function that returns {label: name}.

    `scores` is the `ScoreRequest`; arrange(results, names) returns both with other labels, before
    costs and weights.
    """
    from ..answers.results import with_weights_of
    from ..data.cost_file import read_costs
    from ..data.weights import proportions
    from ..models.files import read_tree
    from ..score.evaluation import weighted, with_weights

    tree = None if request.control is None else read_tree(request.control)
    weights = request.weights
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
        request.truth, request.result, request.probabilities, request.classes, request.labels, names
    )
    if request.before is not None:
        results = with_probabilities_before(results, request.before)
    if request.sets is not None:
        results = with_sets(results, request.sets, tree)
    return results, lambda: names_beside(request.truth, results.labels, request.names)

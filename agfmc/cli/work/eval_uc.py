"""The work of eval_uc."""

import functools
import os
import sys
from dataclasses import replace

from ...answers.result_tables import load_answers
from ...answers.results import (
    load_results,
    names_beside,
    with_probabilities_before,
    with_sets,
    with_weights_of,
)
from ...core.errors import DataError, UsageError
from ...core.version import RESULTS
from ...data.cost_file import read_costs
from ...data.weights import proportions
from ...models.description import describe
from ...models.files import load_configuration, ModelSource, read_tree
from ...report.answers import score_blocks
from ...report.chart_scores import draw_scores
from ...report.content import ModelPart
from ...report.csv_tables import scores_csv
from ...report.text import blocks_text
from ...score.evaluation import (
    classwise_calibration,
    compared_scores,
    evaluate,
    warn_of_other_numbers,
    weighted,
    with_weights,
)
from ...prediction.monitor import monitored, read_state
from ..messages import json_text
from ..reports import PAGE
from .gather import relabelled


def run(request):
    """Read, score, print."""
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
    if request.monitor is not None:
        scores["monitor"] = monitored(read_state(request.monitor))
    if names:
        scores["names"] = list(names.values())

    def page():
        from .eval_uc_page import page_text

        return page_text(request, results, names, model, scores)

    printed = reports.write(
        {
            PAGE: page,
            ".json": lambda: json_text({"version": RESULTS, **scores}),
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
    results, names = load_answers(request.source, tree)
    return results, lambda: dict(enumerate(names))


def _of_files(request, tree):
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
    configuration = load_configuration(ModelSource(path))
    return ModelPart(configuration.tree, os.path.basename(path), describe(configuration))


def _by_model(request, model):
    """The request with the names of a model, and a function that gives answers of a table
    its labels; None for others, which have them."""
    tree = model.tree
    if not request.of_table:
        names = None
        if sorted(tree.names) == list(range(len(tree.names))):
            names = tuple(tree.names[label] for label in sorted(tree.names)) or None
        return replace(request, class_names=names), None
    recipe = model.info["recipe"]
    if recipe:
        fold_case = request.source.fold_case or bool(recipe.get("fold_case"))
        source = replace(request.source, label=recipe["label"], fold_case=fold_case)
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


def _text(form, header, brief, scores):
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

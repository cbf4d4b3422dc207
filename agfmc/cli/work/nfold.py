"""The work of nfold."""

import sys
from dataclasses import replace

from ...core.version import RESULTS
from ...experiments.comparison import cross_validate
from ...experiments.learning_curve import learning_curve
from ...experiments.results import group_errors
from ...files.kinds import name_of_file
from ...report.answers import score_blocks
from ...report.blocks import text
from ...report.chart_importance import learning_curves
from ...report.chart_scores import draw_scores
from ...report.content import ModelPart
from ...report.text import blocks_text
from ...report.trials import validation_blocks
from ...score.evaluation import classwise_calibration, evaluate
from ..messages import json_text, Progress
from ..reports import PAGE
from .experiments import head_of, opened_experiment, report_reused
from .gather import provenance
from .held_out_files import write_held_out
from .pages import make_page, TrainingRows, validation_part


def run(request):
    """Read, cross-validate, print, write."""
    curve = None
    with opened_experiment(request) as experiment:
        candidate = request.suited(request.candidate, experiment)
        with Progress("cross-validating") as progress:
            results = cross_validate(experiment, candidate, progress=progress)
        report_reused(experiment)
        if request.curve:
            with Progress("learning curve") as progress:
                curve = learning_curve(experiment, candidate, results[0], progress)
        if request.outbase is not None:
            write_held_out(request.outbase, *results, data=experiment.data)
        # in here, so that what is finished is stored where it fails
        _print(request, experiment, candidate, results, curve)


def _make_page(request, experiment, candidate, results, curve):
    rows = TrainingRows(request.source, request.form, experiment.data)
    answers = validation_part(experiment, candidate, results, rows, request.bins)
    return make_page(
        request,
        experiment,
        f"{candidate.name}: {name_of_file(request.source)}",
        "cross-validates, and writes this page",
        rows=rows,
        provenance=provenance(
            request.page,
            [
                ("seed of training", str(request.settings.seed)),
                ("seed of the splits", str(experiment.plan.seed)),
            ],
        ),
        answers=answers,
        model=ModelPart(experiment.design_of(candidate)[0].tree),
        curve=curve,
    )


def _print(request, experiment, candidate, results, curve):
    plan = experiment.plan
    names = experiment.data.name_of
    result = results[0]
    uncalibrated = results[1:] if request.both else []
    if uncalibrated:
        before = uncalibrated[0].results.p
    else:
        before = None
    scores = evaluate(replace(result.results, before=before), request.bins)
    if names:
        scores["names"] = [names.get(label, "") for label in result.results.labels]
    head = {
        "configuration": candidate.name,
        "decoder": result.decoder,
        "classifiers": result.classifiers,
        "plan": plan.description,
        **head_of(request, experiment),
        **group_errors(result.results),
        "calibrated": result.calibrated,
    }

    def all_numbers():
        content = {**scores, "over_splits": result.columns}
        if curve is not None:
            content["curve"] = curve
        for other in uncalibrated:
            content["uncalibrated"] = {
                **evaluate(other.results, request.bins),
                "over_splits": other.columns,
            }
        return json_text({"version": RESULTS, **head, **content})

    printed = request.reports.write(
        {
            PAGE: lambda: _make_page(request, experiment, candidate, results, curve),
            ".json": all_numbers,
        },
        lambda path: draw_scores(
            path,
            {**classwise_calibration(result.results, request.bins), **scores},
            names,
            request.source,
            learning_curves(curve),
        ),
    )
    if printed is None:
        columns = []
        for one in [*uncalibrated, result]:
            if one.results.winner is None:
                caption = ""
            elif one.calibrated:
                caption = "calibrated"
            else:
                caption = "not calibrated"
            columns.append((caption, one.columns, one.zero_probability))
        blocks = validation_blocks(head, columns, curve)
        if not request.brief:
            blocks += [text(""), text("all held-out points together"), *score_blocks(scores)]
        printed = blocks_text(blocks)
    sys.stdout.write(printed)
    sys.stdout.flush()

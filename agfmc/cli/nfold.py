"""nfold: cross-validation of one control file."""

import sys
from dataclasses import dataclass, replace

from ..core.errors import UsageError
from ..core.version import RESULTS
from ..files.atomic import check_output
from ..files.kinds import name_of_file
from .data_options import add_control
from .experiments import (
    add_answers,
    add_experiment,
    experiment_request,
    ExperimentRequest,
    opened_experiment,
    plan_of,
    read_one_candidate,
    report_reused,
)
from .messages import json_text, Progress
from .option_types import output_base
from .options import add_bins, check_files, Parser, refuse_ending
from .pages import make_page
from .reports import add_report, PAGE, PICTURES, Reports, reports_of

_SEED = 1001  # of splits that are not those of a tune_m or a compare_control before


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "nfold",
        "Cross-validate one configuration: hold out each fold in turn, "
        "train on the others, and classify it. Print the scores, and write the "
        "answers for the holdout points.",
    )
    add_control(parser)
    parser.add(
        "outbase",
        "base name of the answers: outbase.cls, .con, .truth and, if there are "
        "probabilities, .txt, for eval_uc; .raw.txt has the uncalibrated ones, for "
        "calibrate_m, and .names the class names",
        output_base,
        nargs="?",
    )
    group = parser.group("output")
    group.add(
        "-Q, --decoder DECODER",
        "a decoder of classify_m, or for trees recursive or full; "
        "any other decodes a tree as a coding matrix (default: the one that suits the "
        "control; for trees full)",
    )
    add_answers(group, both=True)
    group.add(
        "-b, --brief",
        "print only the scores of the splits, without the report of eval_uc "
        "for all holdout points together",
    )
    group.add(
        "--json",
        "everything as JSON: the keys of eval_uc --json for all holdout points "
        "together, and over_splits, with the values of each split",
    )
    group.add(
        "--curve",
        "a learning curve: the scores with 1/8, 1/4, 1/2, 3/4 and all of each "
        "training part, which say whether more samples would help",
    )
    add_bins(group)
    add_report(
        group,
        "of the data, the configuration, the scores with intervals, and the most difficult "
        "points; pictures are of the calibration and the contingency table",
        PAGE,
        *PICTURES,
        ".json",
    )
    add_experiment(parser, "1; -d 5 if neither -d nor -f is given", seed=_SEED)
    return parser.finish()


@dataclass(frozen=True)
class _Request(ExperimentRequest):
    """A cross-validation.

    Attributes
    ----------
    candidate : the `Candidate` that is judged
    outbase : base name of the answers, or None
    curve : also a learning curve is made
    json, brief, both, bins, reports : what is printed and written of the results
    """

    candidate: object = None
    outbase: str | None = None
    curve: bool = False
    json: bool = False
    brief: bool = False
    both: bool = False
    bins: int = 10
    reports: Reports | None = None


def execute(args):
    """Make a request of the options, and cross-validate by it."""
    _check_outputs(args)
    reports = reports_of(args)
    plan = plan_of(args, 1, 5)
    if args.seed is None:
        plan = plan._replace(seed=_SEED)
    candidate = read_one_candidate(args)
    request = experiment_request(
        args, plan, _Request, [args.control], candidate=candidate, reports=reports
    )
    if (args.outbase is not None or reports.has(PAGE)) and not args.uncalibrated:
        request = replace(request, calibrated=(True, False))
    _cross_validate(request)


def _cross_validate(request):
    """Read, cross-validate, print, write."""
    from ..experiments.comparison import cross_validate
    from .held_out_files import write_held_out

    curve = None
    with opened_experiment(request) as experiment:
        candidate = request.suited(request.candidate, experiment)
        with Progress("cross-validating") as progress:
            results = cross_validate(experiment, candidate, progress=progress)
        report_reused(experiment)
        if request.curve:
            from ..experiments.learning_curve import learning_curve

            with Progress("learning curve") as progress:
                curve = learning_curve(experiment, candidate, results[0], progress)
        if request.outbase is not None:
            write_held_out(request.outbase, *results, data=experiment.data)
        # in here, so that what is finished is stored where it fails
        _print(request, experiment, candidate, results, curve)


def _check_outputs(args):
    if args.outbase is None:
        return
    if args.outbase == "-":
        raise UsageError("outbase is a base name of several files, not standard output")
    ends = (".cls", ".con", ".truth", ".txt", ".raw.txt", ".raw.con", ".wgt", ".grp", ".names")
    refuse_ending(args.outbase, ends)
    outputs = [args.outbase + end for end in ends]
    check_files(args.files, {"outbase": outputs})
    for path in outputs:
        check_output(path)


def _make_page(request, experiment, candidate, results, curve):
    from ..report.content import ModelPart
    from .gather import TrainingRows, validation_part

    rows = TrainingRows(request.source, request.form, experiment.data)
    answers = validation_part(experiment, candidate, results, rows, request.bins)
    return make_page(
        request,
        experiment,
        f"{candidate.name}: {name_of_file(request.source)}",
        "cross-validates, and writes this page",
        rows=rows,
        provenance=request.page.provenance(
            [
                ("seed of training", str(request.settings.seed)),
                ("seed of the splits", str(experiment.plan.seed)),
            ]
        ),
        answers=answers,
        model=ModelPart(experiment.design_of(candidate)[0].tree),
        curve=curve,
    )


def _print(request, experiment, candidate, results, curve):
    from ..experiments.results import group_errors
    from ..report.answers import score_blocks
    from ..report.blocks import text
    from ..report.chart_importance import learning_curves
    from ..report.chart_scores import draw_scores
    from ..report.text import blocks_text
    from ..report.trials import validation_blocks
    from ..score.evaluation import classwise_calibration, evaluate

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
        **request.head(experiment),
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
    if printed is None and request.json:
        printed = all_numbers()
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

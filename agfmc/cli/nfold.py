"""nfold: cross-validation of one control file."""

from dataclasses import dataclass, replace

from ..core.errors import UsageError
from ..files.atomic import check_output
from .data_options import add_control
from .experiments import (
    add_answers,
    add_experiment,
    experiment_request,
    ExperimentRequest,
    plan_of,
    read_one_candidate,
)
from .option_types import output_base
from .options import add_bins, check_files, Parser, refuse_ending
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
    brief, both, bins, reports : what is printed and written of the results
    """

    candidate: object = None
    outbase: str | None = None
    curve: bool = False
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
    from .work.nfold import run

    run(request)


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

"""compare_control: try configurations on the same splits of the data, and print a table."""

import os
from dataclasses import dataclass

from ..designs.schemes import COMPARED
from ..score.rows import BY_COST
from .data_options import add_train
from .experiments import add_answers, add_experiment, experiment_request, ExperimentRequest, plan_of
from .options import Parser
from .reports import add_report, PAGE, PICTURES, Reports, reports_of


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "compare_control",
        "Compare configurations on the same splits of the data by "
        "their scores and times. A binary problem that several configurations share "
        "is trained once.",
    )
    add_train(parser)
    parser.add(
        "control",
        "a training control file, or a scheme of print_control, with its parameters as in "
        '"empirical linkage=average"; '
        "optionally with decoders after a colon, as in one-vs-one:inverse,vote (default: "
        f"{' '.join(COMPARED)})",
        nargs="*",
    )
    group = parser.group("decoders")
    group.add(
        "-Q, --decoder DECODER,...",
        "decoders of every control that names none: those of "
        "classify_m, and for trees recursive and full; any other decodes a tree as a "
        "coding matrix (default: those that suit the control; for trees full and "
        "least-squares)",
    )
    add_answers(group, both=True)
    group.add(
        "--against CONTROL",
        "the configuration, CONTROL or CONTROL:DECODER, that the "
        "others are compared with (default one-vs-one, or else the first)",
    )
    group = parser.group("output")
    group.add("--json", "print everything as JSON, with the values of each split")
    add_report(
        group,
        "of the data, and of the configurations with their differences; pictures are of the "
        "differences with intervals, and of scores against kernel values or evaluated classifiers",
        PAGE,
        *PICTURES,
        ".json",
        ".csv",
        ".md",
    )
    add_experiment(
        parser,
        "10 with -f, 1 with -d; -f 0.3 if neither is given",
        by=True,
        loo="if all classifiers are learner=nystrom, score exact leave-one-out values, "
        "without holdout data; each configuration is trained once",
    )
    return parser.finish()


@dataclass(frozen=True)
class _Request(ExperimentRequest):
    """A comparison.

    Attributes
    ----------
    control : control files and schemes, () for `COMPARED`
    candidates : the `Candidate`s that they stand for
    by : name of the score that decides
    against : name of the one that the others are compared with, or None
    options : training options
    """

    control: list = ()
    candidates: tuple = ()
    by: str = ""
    against: str | None = None
    options: str = ""
    reports: Reports | None = None


def execute(args):
    """Make a request of the options, and compare by it."""
    from ..experiments.candidates import read_candidates

    reports = reports_of(args)
    decoders = None
    if args.decoder is not None:
        decoders = tuple(word.strip() for word in args.decoder.split(","))
    candidates = read_candidates(args.control or COMPARED, decoders, args.seed)
    request = experiment_request(
        args,
        plan_of(args, 10),
        _Request,
        filter(os.path.isfile, args.control),
        candidates=candidates,
        by=BY_COST[args.by],
        reports=reports,
    )
    from .work.compare_control import run

    run(request)

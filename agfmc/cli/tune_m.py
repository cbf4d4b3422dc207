"""tune_m: search training options by cross-validation, and write them into the control file."""

from dataclasses import dataclass, replace

from ..control.learners import LEARNERS, PARAMETERS
from ..core.errors import UsageError
from ..core.kernels import SEARCHED_KERNELS, TUNED_KERNELS
from ..score.rows import BY_COST
from .data_options import add_control
from .experiments import (
    add_answers,
    add_experiment,
    add_sample,
    experiment_request,
    ExperimentRequest,
    plan_of,
    read_one_candidate,
)
from .option_types import whole_number
from .options import add_time_limit, deadline_of, Joined, Parser
from .reports import add_report, PAGE, PICTURES, Reports, reports_of


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "tune_m",
        "Search the parameters of a learner (kernel, gamma, C; the number "
        "of neighbours of nodes) by cross-validation, and write the training control "
        'file to standard output with the best options in place of each "".',
    )
    add_control(parser)
    group = parser.group("search")
    group.add(
        "--search WAY",
        "fast, the grid on small samples and its best points on more data "
        "(default), or full, everything on all splits",
        choices=("fast", "full"),
        default="fast",
    )
    group.add(
        "--again",
        "also tune the rows of control that have options: those of the learner "
        "of -+, of the options in the head of control, or else of its first row. The "
        "search starts from -+, the head, or the most frequent options of these rows",
    )
    group.add("--space NAME=VALUES", _space_help(), action=Joined)
    group.add(
        "--refine N",
        "largest number of times that the step is halved around the best "
        "point (default 1; with --search full 2)",
        whole_number(0, 10),
    )
    add_time_limit(group, "write the best so far")
    group = parser.group("score")
    group.add(
        "-Q, --decoder DECODER",
        "a decoder of classify_m, or for trees recursive or full "
        "(default: the one that suits the control; for trees full)",
    )
    add_answers(group)
    add_sample(group)
    group = parser.group("output")
    add_report(
        group,
        "of the data, the control and all trials; a picture is of the score over C and gamma",
        PAGE,
        *PICTURES,
        ".json",
        ".csv",
        printable=False,
    )
    add_experiment(
        parser,
        "1; -d 5 if neither -d nor -f is given",
        by=True,
        loo="for learner=nystrom, also score the result by leave-one-out values, without holdout data",
    )
    return parser.finish()


@dataclass(frozen=True)
class _Request(ExperimentRequest):
    """A search.

    Attributes
    ----------
    candidate : the `Candidate` whose options are searched
    space : `SearchSpace`
    by : name of the score that decides
    search : way of the search
    deadline : on `time.monotonic`, or None
    """

    candidate: object = None
    space: object = None
    by: str = ""
    search: str = ""
    deadline: float | None = None
    reports: Reports | None = None


def execute(args):
    """Make a request of the options, and search by it."""
    from ..experiments.candidates import opened_again
    from ..experiments.search import read_space

    reports = reports_of(args, printable=False)
    candidate = read_one_candidate(args)
    if args.again:
        if candidate.tree is None:
            raise UsageError(
                f"--again is for a control file: {candidate.name} is a scheme, whose rows "
                "have no options"
            )
        # the rows that have options are tuned, too
        tree = opened_again(candidate.tree, args.options, args.seed)
        candidate = replace(candidate, tree=tree)
    request = experiment_request(
        args,
        plan_of(args, 1, 5),
        _Request,
        [args.control],
        candidate=candidate,
        space=read_space(args.space or "", args.refine),
        by=BY_COST[args.by],
        deadline=deadline_of(args.time_limit),
        reports=reports,
    )
    from .work.tune_m import run

    run(request)


def _space_help():
    lines = [
        'what is tried, as in --space "C=-5:15:2 gamma=-10:4 kernel=rbf"; the first grids of '
        "numbers are exponents of 2, LO:HI[:STEP] or a single one:"
    ]
    for parameter in reversed(PARAMETERS.values()):
        grids = {}
        for name, row in LEARNERS.items():
            for searched in row.searched:
                if searched.column == parameter.column:
                    grid = f"{searched.low:g}:{searched.high:g}:{searched.step:g}"
                    if searched.scaled:
                        grid += ", shifted to suit the scale of the data,"
                    grids.setdefault(grid, []).append(name)
        words = "; ".join(f"{grid} for {' and '.join(names)}" for grid, names in grids.items())
        lines.append(f"{parameter.word}: default {words}")
    return "\n".join(
        [
            *lines,
            "degree: degrees of polynomials, LO:HI or a single one (default 1:6)",
            "coef0: -r of polynomials, with commas (default 0,1: homogeneous and inhomogeneous)",
            f"kernel: {', '.join(TUNED_KERNELS)}, with commas (default: that of the given options, "
            f"-t, or {' and '.join(SEARCHED_KERNELS)} if they name none)",
        ]
    )

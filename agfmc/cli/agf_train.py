"""agf_train: from training data to a calibrated model in one command."""

import os
import time
from dataclasses import dataclass, replace

from ..core.errors import UsageError
from ..files.atomic import check_output
from ..files.opening import is_stream
from ..score.rows import BY_COST, BY_OPTION, COST
from .data_options import add_train, add_training_kind, gives_dialect, weight_files
from .experiments import add_state, experiment_request, ExperimentRequest
from .mbh2mbm import check_model_name
from .option_types import list_of, output_file, time_span, whole_number
from .options import add_seed, add_workers, Parser
from .reports import add_report, PAGE, Reports, reports_of

# The options that the commands of the script have too: of the data, and of experiments.
_DATA_OPTIONS = (
    "-M",
    "-A",
    "--label",
    "--id",
    "--ignore",
    "--weight",
    "--class-weight",
    "--group",
    "--group-places",
    "--min-class",
)
_TRYING_OPTIONS = ("--costs", "--state", "--no-state")


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "agf_train",
        "Train a calibrated model: score configurations of several families, tune the best, "
        "train the best one, or an average of several, on all data, and write one file.",
    )
    add_train(parser)
    parser.add("model", "the model file to be written (.mbm)", output_file)
    group = parser.group("work")
    group.add(
        "--time-limit TIME",
        "limit for the whole run, in seconds, M:SS or H:MM:SS (default "
        "5:00). The search ends earlier if nothing improves, and leaves the time that the "
        "training on all data takes",
        time_span,
        default=300.0,
    )
    group.add(
        "--learners LEARNER,...",
        "learners to try: svm, nystrom, trees, logistic, neighbours (default: all, but "
        "svm only for at most 20,000 rows, trees if LightGBM is installed, and neighbours of more "
        "than 40 classes)",
        list_of(str),
    )
    group.add(
        "--kernels KERNEL,...", "kernels to try: rbf, laplacian (default: both)", list_of(str)
    )
    group.add(
        "--combine WHEN",
        "train an average of several configurations: auto, where it is better than the best "
        "one (default), always or never",
        choices=("auto", "always", "never"),
        default="auto",
    )
    group.add(
        "--by SCORE",
        f"score on holdout data that decides: {', '.join(BY_OPTION)} "
        f"(default log-loss), or, with --costs, {COST.option}",
        choices=tuple(BY_COST),
        default="log-loss",
    )
    group.add(
        "--costs FILE",
        "costs of each answer for each true class, as for classify_m: the "
        "answers that are compared are those with the least expected cost, and the mean cost "
        "is one more score",
    )
    group.add(
        "--answer-time MICROSECONDS",
        "leave out what takes longer than this for the answer to one row, on one core",
        whole_number(1),
    )
    add_workers(group, default=0)
    add_seed(group)
    add_state(parser)
    group = parser.group("output")
    group.add(
        "--script FILE",
        "write a shell script that trains the same model again; its comments give the choices "
        "and their scores (- is standard output)",
        output_file,
    )
    group.add(
        "-v, --verbose",
        "print the columns of a table and all configurations that were tried, with their scores",
    )
    add_report(
        group,
        "of data, comparison, model, and a final five-fold cross-validation, "
        "which takes about five times as long as the training. The search leaves a fifth "
        "of the time limit for it; it is omitted if it would clearly exceed the limit",
        PAGE,
        printable=False,
    )
    add_training_kind(parser, stream="", dialect=True)
    parser.set_defaults(
        options="", normalise=True, svd=None, norm_file=None, platt="auto", uncalibrated=False
    )  # of other commands
    return parser.finish()


@dataclass(frozen=True)
class _Request(ExperimentRequest):
    """A model to be searched and trained.

    Attributes
    ----------
    model : file to be written
    time_limit, by, learners, kernels, ensemble : as for `train_best`
    jobs : number of threads, or the text that names an executor
    recipe, recipe_out : file of the recipe that the table is read by, and of one that is made of the
        options, or None
    data_words, trying_words : options that the commands of the script have too, as words
    script : file of the script, or None
    verbose : print all that was tried
    """

    model: str = ""
    time_limit: float = 0.0
    by: str = ""
    learners: list | None = None
    kernels: list | None = None
    ensemble: bool | None = None
    answer_time: float | None = None
    jobs: int | str = 0
    recipe: str | None = None
    recipe_out: str | None = None
    data_words: list = ()
    trying_words: list = ()
    reports: Reports | None = None
    script: str | None = None
    verbose: bool = False


def _request_of(args):
    """The `_Request` of the options; everything is checked that needs no data."""
    from ..experiments.experiment import SplitPlan
    from ..experiments.families import check_names
    from ..tables.recipe_file import recipe_path

    check_model_name(args.model)
    check_names(args.learners, args.kernels)
    if is_stream(args.train):
        raise UsageError(
            f"the data are read several times: expected the name of a file, found '{args.train}'"
        )
    if "-" in weight_files(args):
        if args.group == "-":
            what = "groups"
        else:
            what = "weights"
        raise UsageError(f"the {what} are read several times: expected the name of a file")
    ensemble = None
    if args.combine != "auto":
        ensemble = args.combine == "always"
    request = experiment_request(
        args,
        SplitPlan(None, 5, 1, args.seed),
        _Request,
        by=BY_COST[args.by],
        ensemble=ensemble,
        data_words=args.option_words(*_DATA_OPTIONS),
        trying_words=args.option_words(*_TRYING_OPTIONS),
        reports=reports_of(args, printable=False),
    )
    check_output(request.model)
    if request.script is not None and not is_stream(request.script):
        check_output(request.script)
    if request.form.kind != "table":
        return request
    if not gives_dialect(args):
        return replace(request, recipe=recipe_path(args.recipe, args.train))
    recipe_out = f"{os.path.splitext(args.model)[0]}.recipe"
    check_output(recipe_out)
    return replace(request, recipe_out=recipe_out)


def execute(args):
    """Make a request of the options, and search and train by it."""
    start = time.monotonic()
    request = _request_of(args)
    from .work.agf_train import run

    run(request, start)

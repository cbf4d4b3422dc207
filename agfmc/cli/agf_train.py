"""agf_train: from training data to a calibrated model in one command."""

import os
import time
from contextlib import contextmanager, ExitStack
from dataclasses import dataclass, replace

from ..core.errors import UsageError
from ..files.atomic import check_output, replacing_with
from ..core.text import time_words
from ..files.opening import is_stream
from ..score.rows import BY_COST, BY_OPTION, COST
from .data_options import add_train, add_training_kind, gives_dialect, weight_files
from .experiments import add_state, experiment_request, ExperimentRequest, opened_experiment
from .hints import classify_command, operand
from .mbh2mbm import check_model_name
from .messages import counted, in_options, Progress, report, write_stderr, write_stdout
from .option_types import list_of, output_file, time_span, whole_number
from .options import add_seed, add_workers, Parser
from .reports import add_report, PAGE, Reports, reports_of

_RESERVED = 0.2  # of the time limit, for the page
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
    group.add("-v, --verbose", "print all configurations that were tried, with their scores")
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
    """Search, train, write the model; then make page and script, and say what was done."""
    from ..data.training import with_source_in_errors

    start = time.monotonic()
    request = _request_of(args)
    with opened_experiment(request) as experiment:
        if request.reports.has(PAGE):
            with with_source_in_errors(request.source):
                experiment.check_splits()
        model, result = _train(request, experiment, start)
        _print_result(request, experiment, result)
        try:
            if request.reports.has(PAGE):
                from .training_page import TrainingPage

                page = TrainingPage(request, experiment, model, result, start)
                request.reports.write({PAGE: page.text})
        finally:  # the model is there, and its script tells how it was made
            _write_script(request, model, result)
        _report_end(request, experiment, start)


def _write_script(request, model, result):
    if request.script is None:
        return
    from .training_script import training_script

    text = training_script(request, model, result)
    if is_stream(request.script):
        write_stdout([text])
    else:
        with replacing_with({request.script: text}):
            pass


@contextmanager
def _progress(deadline=None):
    """A function as `train_best` calls it, with a line of `Progress` for each kind of work."""
    with ExitStack() as stack:
        lines = {}

        def follow(what, *state):
            if what not in lines:
                stack.close()
                lines[what] = stack.enter_context(Progress(what, deadline))
            lines[what](*state)

        yield follow


def _train(request, experiment, start):
    """Search and train, and write the model, with the recipe of the options; -> the results of
    `train_best`."""
    from ..api.functions import train_best
    from ..data.training import with_source_in_errors
    from ..models.files import save
    from ..tables.recipe_file import format_recipe

    limit = request.time_limit
    if request.reports.has(PAGE):
        limit *= 1 - _RESERVED
    with (
        _progress(start + request.time_limit) as progress,
        with_source_in_errors(request.source),
    ):
        model, result = train_best(
            experiment.data,
            by=request.by,
            learners=request.learners,
            kernels=request.kernels,
            ensemble=request.ensemble,
            answer_time=request.answer_time,
            time_limit=limit - (time.monotonic() - start),
            costs=experiment.costs,
            cache=experiment.cache,
            progress=progress,
            seed=experiment.settings.seed,
            workers=experiment.settings.workers,
        )
    result["notes"] = [in_options(note) for note in result["notes"]]
    recipes = {}
    if request.recipe_out is not None:
        recipes[request.recipe_out] = format_recipe(experiment.data.recipe, request.recipe_out)
    with replacing_with(recipes):
        save(request.model, model)
    return model, result


def _print_result(request, experiment, result):
    """Lines on what was tried, what was chosen, and how good it is; with -v a table."""
    from ..report.text import blocks_text
    from ..report.trials import choice_words, estimate_words, gain_words, best_blocks

    if request.verbose:
        head = request.head(experiment)
        write_stderr(blocks_text(best_blocks({**result, **head})))
    families = {entry["configuration"] for entry in result["entries"]}
    report(
        f"{counted(result['rows'], 'row')}, {result['classes']} classes: tried "
        f"{counted(len(result['entries']), 'configuration')} of "
        f"{len(families)} {'families' if len(families) > 1 else 'family'}"
        + "".join(f"; {name}: {why}" for name, why in result["left_out"].items())
    )
    report(f"chosen: {choice_words(result['choice'])}")
    report(f"estimate for new data: {estimate_words(result['estimate'], result['by'])}")
    report(gain_words(result))


def _report_end(request, experiment, start):
    """Lines on what was written, and what to do next."""
    line = classify_command(request.model, request.form.kind, request.source)
    if request.costs is not None:
        costs = operand(request.costs)
        line = line.replace("classify_m", f"classify_m --costs {costs}", 1)
    kept = ""
    if experiment.cache.path is not None:
        kept = f"; results for another run are in {experiment.cache.path}"
        if experiment.cache.reused:
            kept += f", which had {counted(experiment.cache.reused, 'result')} of these before"
    report(f"wrote {request.model} after {time_words(time.monotonic() - start)}{kept}")
    report(f"classify new data with: {line}")

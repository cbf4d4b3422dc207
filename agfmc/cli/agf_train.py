"""agf_train: from training data to a calibrated model in one command."""

import os
import shlex
import time
from contextlib import contextmanager
from dataclasses import replace
from logging import WARNING

from ..core.errors import AgfmcError, one_line, UsageError
from ..core.text import spread
from ..files.atomic import check_output, private_folder, replacing_with
from ..files.kinds import name_of_file
from ..files.opening import is_stream
from ..score.rows import BY_COST, BY_OPTION, COST, SCORES
from . import mbh2mbm, multi_borders, nfold, tune_m
from .data_options import (
    add_train,
    add_training_kind,
    gives_dialect,
    input_format,
    recipe_path,
    weight_files,
)
from .experiments import add_state, experiment_request, opened_experiment, plan_of, report_reused
from .hints import classify_command, operand
from .messages import messages_from, Progress, report, time_words, write_stderr, write_stdout
from .option_types import list_of, output_file, time_span
from .options import add_seed, add_workers, Parser
from .pages import names_in, page_of, plain, training_inputs, training_part
from .reports import add_report, PAGE, reports_of

_RESERVED = 0.2  # of the time limit, for the page
_OVERRUN = 10.0, 0.1  # by which the page may exceed the limit: seconds, or a share of it
_PARTS, _OTHER_SPLITS = 5, 1000  # of the answers for the page; added to the seed of their splits
_CHOSEN = (
    "the configuration was chosen on these points, so these scores and those of the "
    "comparison are slightly too good: quote the estimate for new data, or scores of rows that "
    "took no part (classify_m, eval_uc)"
)


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "agf_train",
        "Train a calibrated model: compare configurations with several "
        "learners, tune the best, train the best one, or an average of the best, on "
        "all data, and write one file. Standard output is a shell script that trains "
        "the same model again; its comments give the choices and their scores.",
    )
    add_train(parser)
    parser.add("model", "the model file to be written (.mbm)", output_file)
    group = parser.group("work")
    group.add(
        "--time-limit TIME",
        "limit for the whole run, in seconds, M:SS or H:MM:SS (default "
        "5:00). The search ends at three quarters of it, or earlier if nothing improves; "
        "the final training is never interrupted",
        time_span,
        default=300.0,
    )
    group.add(
        "--learners LEARNER,...",
        "learners to try: svm, nystrom, trees (default: nystrom, "
        "svm for at most 20,000 rows, and trees if LightGBM is installed)",
        list_of(str),
    )
    group.add(
        "--kernels KERNEL,...", "kernels to try: rbf, laplacian (default: both)", list_of(str)
    )
    group.add(
        "--ensemble",
        "train an average of the best configurations with different learners "
        "or kernels, even if it is not clearly better than the best one",
        excludes="--single",
    )
    group.add("--single", "train the best configuration alone")
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
    add_workers(group, default=0)
    add_seed(group)
    add_state(parser)
    add_report(
        parser.group("output"),
        "of data, comparison, model, and a final five-fold cross-validation, "
        "which takes about five times as long as the training. The search leaves a fifth "
        "of the time limit for it; it is omitted if it would clearly exceed the limit",
        PAGE,
        printable=False,
    )
    add_training_kind(parser, stream="", dialect=True)
    return parser.finish()


def execute(args):
    """Search, train and merge; then say what was done."""
    from ..experiments.portfolio import check_names

    start = time.monotonic()
    mbh2mbm.check_model_name(args.model)
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
    form = input_format(args, args.train)
    recipe = f"{os.path.splitext(args.model)[0]}.recipe"
    for path in (args.model, recipe) if gives_dialect(args) else (args.model,):
        check_output(path)
    args.norm_file = None  # as for commands that have -a
    page = page_of(args, training_inputs(args))
    reports = reports_of(args, printable=False)
    with private_folder() as folder:
        run = _Run(args, form, folder, start)
        with _searched(run) as chosen:
            control = _write_control(run, chosen)
            seconds = _train(run, control, chosen)
            if run.recipe is not None:
                with replacing_with({recipe: run.recipe}):
                    pass
        try:
            if reports.has(PAGE):
                answers = _answers(run, control, seconds)
                importance = _importance(run, chosen, answers, seconds)
                reports.write({PAGE: lambda: _make_page(run, page, answers, importance)})
        except AgfmcError:  # the model is there, and its script tells how it was made
            _show(run)
            raise
    _show(run)
    line = classify_command(args.model, form.kind, args.train)
    if args.costs is not None:
        line = line.replace("classify_m", f"classify_m --costs {operand(args.costs)}", 1)
    report(f"wrote {args.model}; classify new data with: {line}")


def _show(run):
    write_stdout([*run.comments, f"mkdir -p {shlex.quote(run.steps)}\n", *run.script])


class _Run:
    """A run, and the lines for standard output, a shell script that repeats it.

    folder: of the files between the steps, and steps: the one in the script;  comments: comments,
    script: the commands of the steps that are behind;  comparison: as JSON has it, or None;
    curve: log losses, as on the page;  notes: sentences on what was left out;  alone: a line of the
    scores without features.
    """

    def __init__(self, args, form, folder, start):
        self.args, self.folder, self.start = args, folder, start
        self.model = operand(args.model)
        self.train = operand(args.train)
        self.steps = f"{os.path.splitext(self.model)[0]}.steps"
        self.comments = []
        self.script = []
        self.comparison = None
        self.curve = []
        self.notes = []
        self.alone = ""
        self.search_limit = args.time_limit
        if args.report:
            self.search_limit *= 1 - _RESERVED
        self.data = args.option_words(
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
        self.recipe = None  # the text of one that is made
        if form.kind == "table":
            self.data += self._recipe_words(form)
        self.common = ["-n", f"-j{args.jobs}", f"--seed={args.seed}", *self.data]
        self.trying = args.option_words("--costs", "--state", "--no-state")

    def _recipe_words(self, form):
        """--recipe for the steps: the one that is made of the options, or the one that was found."""
        path = recipe_path(self.args.recipe, self.args.train)
        if gives_dialect(self.args):
            from ..data.from_table import read_table
            from ..tables.recipe_file import format_recipe

            path = self.path("train.recipe")
            self.recipe = format_recipe(read_table(self.args.train, form, lazy=True).recipe, path)
            self.add_file(path, self.recipe)
        if path is None:
            return []
        return ["--recipe", path]

    def add_file(self, path, text):
        """Write a file between the steps, and add it to the script."""
        with replacing_with({path: text}):
            pass
        self.script.append(f"cat > {self.line([path])} <<'END'\n{text}END\n")

    def comment(self, text):
        """Add comments."""
        self.comments += [f"# {one_line(line)}\n" for line in text.splitlines()]

    def note(self, text):
        """Report what the time limit or the training left out; the page and the script have it."""
        self.notes.append(text)
        self.comment(text)
        report(text)

    def omits(self, seconds, part, commands):
        """True, with a note, if a part of the page takes so long that the limit is clearly
        exceeded; commands: what adds it."""
        overrun = max(_OVERRUN[0], _OVERRUN[1] * self.args.time_limit)
        is_late = time.monotonic() + seconds > self.start + self.args.time_limit + overrun
        if is_late:
            self.note(
                f"{part}: that would take about {time_words(max(seconds, 1))}, more than the "
                f"time limit leaves; the commands for it: {commands}"
            )
        return is_late

    @property
    def left(self):
        """Seconds until the time limit."""
        return max(self.start + self.args.time_limit - time.monotonic(), 0.0)

    def path(self, name):
        """A file between the steps."""
        return os.path.join(self.folder, name)

    def parsed(self, command, words):
        """The arguments of the command of a module."""
        return command.get_parser().parse_args(words[1:])

    def line(self, words):
        """A command as it stands in the script."""
        at = self.folder
        return shlex.join(
            self.steps + word.removeprefix(at)
            if word == at or word.startswith(at + os.sep)
            else word
            for word in words
        )

    def add(self, words):
        """Add a command."""
        self.script.append(f"{self.line(words)}\n")


@contextmanager
def _searched(run):
    """The `Chosen` of a portfolio, for `with`: what is finished is kept until that block ends."""
    from ..core.weights import total_weights
    from ..data.training import with_source_in_errors
    from ..executors.remote import workers_of
    from ..experiments.portfolio import Portfolio
    from ..report.answers import shares_alone
    from ..report.text import blocks_text
    from ..report.trials import portfolio_blocks

    args = run.args
    words = ["tune_m", f"--by={args.by}", *run.trying, *run.common, "one-vs-one", run.train]
    parsed = run.parsed(tune_m, words)
    request = experiment_request(parsed, args.train, plan_of(parsed, 1, _PARTS))
    with opened_experiment(request) as experiment:
        with (
            Progress("searching", deadline=run.start + args.time_limit) as progress,
            with_source_in_errors(args.train),
        ):
            portfolio = Portfolio(
                experiment,
                BY_COST[args.by],
                run.start,
                run.search_limit,
                workers_of(experiment.settings.workers),
                True if args.ensemble else False if args.single else None,
                progress,
            )
            chosen = portfolio.search(args.learners, args.kernels)
            run.curve = list(portfolio.curve.values())
            data = experiment.data
            alone = shares_alone(
                list(total_weights(data.y, data.weights and data.weights.w).values())
            )
            run.alone = (
                "  without features, from the shares of the classes: log loss "
                f"{alone['log_loss']:.4f}, accuracy {alone['accuracy']:.4f}\n"
            )
        report_reused(experiment)
        if chosen.choice is not None:
            result = chosen.result
            head = request.head(experiment)
            write_stderr(blocks_text(portfolio_blocks(result, head), star=True))
            run.comparison = plain({"data": args.train, "options": "", **result, **head})
        yield chosen


def _write_control(run, chosen):
    """Write the control file that was chosen, and what is said of it; -> its name."""
    from ..models.control_files import control_text
    from ..report.trials import estimate_words

    path = run.path("chosen.mbt")
    choice = chosen.choice
    run.add_file(path, control_text(chosen.tree, path))
    if choice is None:
        run.comment("no estimate for new data, because nothing was scored before the time limit")
    else:
        row = choice.row
        result = choice.result
        members = " and ".join(result["members"].get(row["configuration"], ()))
        estimate = ""
        if chosen.estimate is not None:
            words = estimate_words(chosen.estimate, result["by"])
            report(f"estimate for new data: {words}")
            estimate = f"estimate for new data: {words}\n"
        run.comment(
            f"{estimate}{run.alone}"
            f"configuration: {row['configuration']}{': ' * bool(members)}{members}\n"
            f"  in the comparison: {_scores(row)} ({result['points']} points, "
            f"{result['plan']}"
            + (
                f"; the best of {len(result['rows'])} on these points, and so slightly too "
                "good: quote the estimate"
                if len(result["rows"]) > 1
                else ""
            )
            + ")"
        )
    for text in chosen.cut:
        run.note(text)
    if choice is not None and choice.margin is not None:
        run.comment(
            f"{choice.top['configuration']} is better than the single best by "
            f"{choice.margin.gain:.4f}, {'' if row is choice.top else 'not '}more than one "
            f"standard error, {choice.margin.error:.4f}"
        )
    if chosen.seconds is not None and chosen.seconds > max(run.left, 1.0):
        report(
            "the time limit cannot be kept: training on all points takes about "
            f"{time_words(chosen.seconds)}"
        )
    return path


def _scores(columns):
    """Log loss and accuracy of {score: summary or None}, as far as there are any."""
    return ", ".join(
        f"{SCORES[name].title} {spread(columns[name])}"
        for name in ("log_loss", "accuracy")
        if columns[name] is not None
    )


def _train(run, control, chosen):
    """Train and merge; -> the seconds that it took."""
    from ..models.files import read_tree

    start = time.monotonic()
    out = run.path("m.mbc")
    weights = [f"--member-weights={chosen.member_weights}"] * (chosen.member_weights is not None)
    words = [
        "multi_borders",
        *run.common,
        *weights,
        "-a",
        run.path("m.std"),
        "-y",
        run.folder,
        control,
        run.train,
        "m",
        out,
    ]
    run.add(words)
    with messages_from(WARNING):  # the reports name files that go
        multi_borders.execute(run.parsed(multi_borders, words))
        words = ["mbh2mbm", "-y", run.folder, out, run.model]
        run.add(words)
        mbh2mbm.execute(run.parsed(mbh2mbm, words))
    count = len(chosen.tree.roots)
    left = len(read_tree(out).roots)
    if left < count:
        run.note(
            f"the model averages {left} of the {count} configurations: the others got no weight"
        )
    return time.monotonic() - start


def _answers(run, control, seconds):
    """(`AnswersPart` or None, `Experiment` or None) of points that are held out, one more step.
    seconds: those of the last training."""
    from .gather import TrainingRows

    args = run.args
    splits = f"--seed={args.seed + _OTHER_SPLITS}"
    words = [
        "nfold",
        f"-d{_PARTS}",
        *run.trying,
        *(splits if word.startswith("--seed=") else word for word in run.common),
        control,
        run.train,
    ]
    held = run.path("held")
    answers = [f"{held}.truth", held, f"{held}.txt"]
    if run.omits(
        _PARTS * seconds,
        "the page has no held-out answers, and does not show which columns matter",
        f"{run.line([*words, held])}; "
        f"{run.line(['eval_uc', '--report=FILE.html', f'--model={run.model}', *answers])}",
    ):
        return None, None
    with nfold.cross_validated(*nfold.validation(run.parsed(nfold, words), True)) as (
        request,
        experiment,
        candidate,
        results,
    ):
        rows = TrainingRows(args.train, request.form, experiment.data)
        part = nfold.answers_of(
            experiment, replace(candidate, name="the chosen configuration"), results, rows
        )
    run.add([*words, held])
    run.comment(
        f"held-out answers on the page: decoder {results[0].decoder}\n  on the page: "
        f"{_scores(results[0].columns)} ({experiment.plan.description}; {_CHOSEN})\n"
    )
    return replace(part, warnings=(_CHOSEN,)), (request, experiment, rows)


def _importance(run, chosen, answers, seconds):
    """The importance of the columns to a model of the first training part, measured on the points
    that were held out there; None where there are no answers, or no time."""
    part, source = answers
    if part is None:
        return None
    from ..data.weights import chosen_rows
    from ..experiments.experiment import splits
    from ..prediction.calibrate import calibrated
    from ..prediction.importance import data_columns, EFFECTS, importance, POINTS, VALUES
    from ..training.in_memory import train_configuration

    experiment = source[1]
    data = source[1].data
    train, test = (
        chosen_rows(data, rows) for rows in next(splits(data.y, experiment.plan, data.groups))[1:]
    )
    passes = 10 * len(data_columns(data.recipe, data.x.shape[1])) + EFFECTS * VALUES
    needed = seconds + passes * part.splits["classify_s"]["mean"] * min(1, POINTS / len(test.y))
    if run.omits(
        needed,
        "the page does not show which columns matter",
        f"mbm_info --importance HOLDOUT --report FILE.html {run.model}",
    ):
        return None
    settings = replace(experiment.settings, member_weights=chosen.member_weights)
    if not isinstance(settings.workers, int):  # the executor has ended
        settings = replace(settings, workers=0)
    configuration = calibrated(
        *train_configuration(chosen.tree, train, settings=settings), weights=settings.member_weights
    )
    result = importance(
        replace(configuration, recipe=data.recipe), test, effects=EFFECTS, seed=run.args.seed
    )
    return {**result, "trained": "; the model that is measured was trained on all others"}


def _make_page(run, page, answers, importance):
    from ..models.files import load
    from ..models.description import describe
    from ..report.content import ModelPart, ReportContent, Step
    from ..report.page import render
    from .gather import data_of_model, file_digests

    part, source = answers
    configuration = load(run.args.model)
    info = describe(configuration)
    data = data_of_model(info)
    names = configuration.tree.names
    if source is not None:
        data = training_part(*source)
        names = names_in(source[1].data)
    title = name_of_file(run.args.model)
    steps = [
        page.step("does all of this"),
        Step(f"mkdir -p {shlex.quote(run.steps)}", "the same in steps"),
        *(Step(line.rstrip("\n")) for line in run.script),
    ]
    model = ModelPart(configuration.tree, os.path.basename(run.args.model), info)
    content = ReportContent(
        title,
        names,
        data,
        model,
        part,
        run.comparison,
        None,
        page.provenance(file_digests([run.args.model]), info),
        steps,
        importance,
        {
            "log_loss": run.curve,
            "words": "The best contender of each stage, on a sample of the data.",
        },
        run.notes,
    )
    return render(content)

"""agf_train: from training data to a calibrated model in one command."""

import logging
import os
import shlex
import time
from dataclasses import replace

from ..core.errors import AgfmcError, one_line, UsageError
from ..core.text import spread
from ..experiments.budget import plan_budget
from ..files.atomic import check_output, private_folder
from ..files.opening import is_stream
from ..score.rows import BY_OPTION, SCORES
from . import mbh2mbm, multi_borders, nfold, print_control, tune_m
from .data_options import TABLES, weight_files
from .hints import classify_command, operand
from .messages import messages_from, report, time_words, write_stdout
from .option_types import option_words, output_file, time_span, whole_number
from .options import add_seed, add_train, add_training_kind, input_format, Parser
from .pages import add_report, names_in, page_name, page_of, plain, training_inputs, training_part

_CHOICE, _TUNING = 0.4, 0.8  # shares of the time that are over at their ends, at the latest
_LEAST = 0.1  # the share that tuning has in any case
_OF_PARTS = 0.8  # the training part with -d5
_LOO = "--platt=loo"  # as tune_m does: folds would take several times as long
_PARTS, _OTHER_SPLITS = 5, 1000  # of the answers for the page; added to the seed of their splits
_CHOSEN = "the options were chosen on these points, so that these scores are slightly too good"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser("agf_train", "Train a calibrated model: choose a configuration by "
                    "cross-validation, tune its options, train on all data, and write one file. "
                    "Standard output is a shell script that repeats these steps; its comments "
                    "give the choices and their scores.")
    add_train(parser)
    parser.add("model", "the model file to be written (.mbm)", output_file)
    group = parser.group("work")
    group.add("--time-limit TIME", "limit for the whole run, in seconds, M:SS or H:MM:SS (default "
              "5:00). Choosing the configuration takes at most two fifths of it, and tuning "
              "leaves at least a fifth; the final training is never interrupted",
              time_span, default=300.0)
    group.add("--by SCORE", f"score on holdout data that decides: {', '.join(BY_OPTION)} "
              "(default log-loss)", choices=tuple(BY_OPTION), default="log-loss")
    group.add("-j, --jobs N", "threads; 0 means all cores of this process (default). The model "
              "does not depend on it unless the time limit is reached", whole_number(0, 1024),
              default=0)
    add_seed(group)
    add_report(parser, "data, comparison, search, model, and a final five-fold cross-validation, "
               "which takes about five times as long as the training and is omitted if it would "
               "exceed the time limit")
    add_training_kind(parser)
    return parser.finish()


def execute(args):
    """Choose, tune, train and merge, each as the command that does it; then say what was done."""
    from ..data.training import training_labels

    start = time.monotonic()
    mbh2mbm.check_model_name(args.model)
    if is_stream(args.train):
        raise UsageError("the data are read several times: expected the name of a file, found "
                         f"'{args.train}'")
    if "-" in weight_files(args):
        raise UsageError("the weights are read several times: expected the name of a file")
    form = input_format(args, args.train)
    check_output(args.model)
    args.norm_file = None  # as for commands that have -a
    page = page_of(args, training_inputs(args))
    budget = plan_budget(*training_labels(args.train, form), args.train, args.min_class)
    with private_folder() as folder:
        run = _Run(args, budget, folder, start)
        control, options = _tune(run, _choose(run))
        seconds = _train(run, control, options)
        try:
            if page.requested:
                _write_page(run, page, _answers(run, control, options, seconds))
        except AgfmcError:  # the model is there, and its script tells how it was made
            _show(run)
            raise
    _show(run)
    report(f"wrote {args.model}; classify new data with: "
           f"{classify_command(args.model, form.kind, args.train)}")


def _show(run):
    write_stdout([*run.comments, f"mkdir -p {shlex.quote(run.steps)}\n", *run.script])


class _Run:
    """A run, and the lines for standard output, a shell script that repeats it.

    budget: a `TrainingBudget`;  folder: of the files between the steps, and steps: the one in
    the script;  comments: comments, script: the commands of the steps that are behind;  comparison,
    search: their results, as JSON has it, or None.
    """

    def __init__(self, args, budget, folder, start):
        from ..executors.threads import available_cores

        self.args, self.budget, self.folder = args, budget, folder
        self.model, self.train = operand(args.model), operand(args.train)
        self.steps = f"{os.path.splitext(self.model)[0]}.steps"
        self.comments, self.script = [], []
        self.comparison = self.search = None
        self.data = option_words(args, "-M", "-A", *TABLES, "--missing", "--no-header", "--weights",
                                 "--class-weight", "--min-class")
        self.common = ["-n", f"-j{args.jobs}", f"--seed={args.seed}", *self.data]
        self.options = [f"--options={budget.options}"] * bool(budget.options)
        self.cores = args.jobs or available_cores()
        self._start = start

    def comment(self, text, first=False):
        """Add comments, behind the others or before them."""
        at = 0 if first else len(self.comments)
        self.comments[at:at] = [f"# {one_line(line)}\n" for line in text.splitlines()]

    def left(self, share):
        """Seconds until a share of the time is over."""
        return max(self._start + share * self.args.time_limit - time.monotonic(), 0.0)

    def path(self, name):
        """A file between the steps."""
        return os.path.join(self.folder, name)

    def parsed(self, command, words, *more):
        """The arguments of the command of a module; more: words for this run alone."""
        return command.get_parser().parse_args([*words[1:], *more])

    def add(self, words, to=None, text=None):
        """Add a command, with its output to a file between the steps; text: that takes its place.
        """
        at = self.folder
        line = shlex.join(self.steps + word.removeprefix(at) if word == at or
                          word.startswith(at + os.sep) else word for word in words)
        to = "" if to is None else f" > {shlex.quote(os.path.join(self.steps, to))}"
        self.script.append(f"{line}{to}\n" if text is None else f"cat{to} <<'END'\n{text}END\n")

    def write(self, words, name, tree, exact=True):
        """Write the control file that a command with these words writes, and add it; exact: False
        where they would now write another one."""
        from ..models.control_files import control_text, write_control

        write_control(self.path(name), tree)
        self.add(words, name, None if exact else control_text(tree, self.path(name)))


def _sample(rows):
    return [] if rows is None else [f"--sample={rows}"]


def _choose(run):
    """Choose the configuration; -> about the seconds to train it, None where it was not tried, or
    with another learner."""
    from ..training.run import TimeUp

    by, budget = run.args.by, run.budget
    words = ["print_control", "--best", f"--by={by}", "-d5", "--trials=1", _LOO,
             *_sample(budget.choosing), *run.common, run.train]
    args = run.parsed(print_control, words, f"--time-limit={run.left(_CHOICE):f}")
    try:
        with print_control.best(args) as (tree, choice):
            run.write(words, "chosen.mbt", tree, choice.complete)
    except TimeUp:
        words = ["print_control", "-Q", "one-vs-one", *run.data, run.train]
        args = run.parsed(print_control, words)
        tree = print_control.designed(args, print_control.scheme_of(args),
                                      input_format(args, args.source)).tree
        run.write(words, "chosen.mbt", tree)
        run.comment("configuration: one-vs-one, as there was no time to compare it with others")
        return None
    row, result = choice.row, choice.result
    run.comparison = plain({"data": run.args.train, "options": args.options, **result,
                            "choice": _reason(choice)})
    among = len({one["configuration"] for one in result["rows"]})
    splits = result["plan"] if choice.complete else \
        f"{choice.splits} of {result['splits']} splits, then the time limit"
    run.comment(f"configuration: {row['configuration']}, decoder {row['decoder']}\n  in the "
            f"comparison: {_scores(row)} ({result['points']} points, {splits}; chosen among "
            f"{among})")
    return None if budget.options else budget.training_seconds(
        row["train_s"]["mean"], [_OF_PARTS * result["points"]]) / run.cores


def _reason(choice):
    """The words of a page on a `Choice`: the row, the best one, and the margin that decided."""
    margin, (row, top) = choice.margin, (
        {name: row[name] for name in ("configuration", "decoder")}
        for row in (choice.row, choice.top))
    return {**row, "top": top, "gain": None if margin is None else margin.gain,
            "error": None if margin is None else margin.error}


def _scores(columns):
    """Log loss and accuracy of {score: summary or None}, as far as there are any."""
    return ", ".join(f"{SCORES[name].title} {spread(columns[name])}"
                     for name in ("log_loss", "accuracy") if columns[name] is not None)


def _tune(run, seconds):
    """Search options for the configuration; -> (control file, words of the options for training).
    seconds: about those for the training, or None."""
    from ..report.text import estimate_line

    words = ["tune_m", f"--by={run.args.by}", *run.options, *_sample(run.budget.tuning),
             *run.common, run.path("chosen.mbt"), run.train]
    limit = max(min(run.left(_TUNING), run.left(1.0) - (seconds or 0.0)),
                _LEAST * run.args.time_limit)
    start = time.monotonic()
    request = tune_m.search_request(run.parsed(tune_m, words, f"--time-limit={limit:f}"))
    with tune_m.searched(request) as (result, tree, _, _):
        if result["complete"]:
            run.write(words, "tuned.mbt", tree)
        if result["tried"]:
            run.search = plain({**result, "control": os.path.join(run.steps, "chosen.mbt")})
    if tree is None:
        run.comment("options: the default ones, as there was no time to try others")
        return "chosen.mbt", run.options
    point = result["points"][result["best"]]
    best, whole = point["options"], _OF_PARTS * (run.budget.tuning or run.budget.rows)
    seconds = run.budget.training_seconds(
        time.monotonic() - start, [one["rows"] or whole for one in result["points"]
                                   if one["score"] is not None for _ in one["parts"]])
    if seconds > max(run.left(1.0), 1.0):
        report("the time limit cannot be kept: training on all points takes about "
               f"{time_words(seconds)}")
    limited = "" if result["complete"] else ", then the time limit"
    trained = "" if point["rows"] is None else f", trained on {point['rows']} rows"
    run.comment(f"options: {best}\n  in the search: {_scores(result['scores'])} of points that "
                f"chose among {result['tried']}{trained}{limited}")
    run.comment(estimate_line(result["estimate"], result["by"]), first=True)
    return ("tuned.mbt", []) if result["complete"] else ("chosen.mbt", [f"--options={best}"])


def _train(run, control, options):
    """Train with the options in words, and merge; -> the seconds that it took."""
    start = time.monotonic()
    out = run.path("m.mbc")
    loo = [] if run.options else [_LOO]  # landmarks have leave-one-out values of their own
    words = ["multi_borders", *run.common, *loo, *options, "-a",
             run.path("m.std"), "-y", run.folder, run.path(control), run.train, "m", out]
    run.add(words)
    with messages_from(logging.WARNING):  # the reports name files that go
        multi_borders.execute(run.parsed(multi_borders, words))
        words = ["mbh2mbm", "-y", run.folder, out, run.model]
        run.add(words)
        mbh2mbm.execute(run.parsed(mbh2mbm, words))
    return time.monotonic() - start


def _answers(run, control, options, seconds):
    """(`AnswersPart` or None, `Experiment` or None) of points that are held out, one more step.
    seconds: those of the last training."""
    from .gather import TrainingRows

    args = run.args
    needed = _PARTS * seconds
    if needed > max(run.left(1.0), 1.0):
        report(f"the page has no held-out answers: they would take about {time_words(needed)}, "
               "more than the time limit leaves")
        return None, None
    loo = [] if run.options else [_LOO]
    splits = f"--seed={args.seed + _OTHER_SPLITS}"
    words = ["nfold", f"-d{_PARTS}", *(splits if word.startswith("--seed=") else word
                                       for word in run.common),
             *loo, *options, run.path(control), run.train]
    with nfold.cross_validated(run.parsed(nfold, words), True) as (
            request, experiment, candidate, results, _):
        rows = TrainingRows(args.train, request.form, experiment.data)
        part = nfold.answers_of(experiment, replace(candidate, name="the chosen configuration"),
                                 results, rows)
    run.add([*words, run.path("held")])
    run.comment(f"held-out answers on the page: decoder {results[0].decoder}\n  on the page: "
            f"{_scores(results[0].columns)} ({experiment.plan.description}; {_CHOSEN})\n")
    return replace(part, warnings=(_CHOSEN,)), (request, experiment, rows)


def _write_page(run, page, answers):
    from ..models.files import load
    from ..models.description import describe
    from ..report.content import ModelPart, ReportContent, Step
    from .gather import data_of_model, file_digests

    part, source = answers
    configuration = load(run.args.model)
    info = describe(configuration)
    data, names = data_of_model(info), configuration.tree.names
    if source is not None:
        data, names = training_part(*source), names_in(source[1].data)
    title = page.title(page_name(run.args.model))
    steps = [page.step("does all of this"), Step(f"mkdir -p {shlex.quote(run.steps)}",
                                                 "the same in steps"),
             *(Step(line.rstrip("\n")) for line in run.script)]
    model = ModelPart(configuration.tree, os.path.basename(run.args.model), info)
    content = ReportContent(title, names, data, model, part, run.comparison, run.search, page.card,
                            page.provenance(file_digests([run.args.model]), info), steps)
    page.write(content)

"""eval_uc: score classes and probabilities against the truth."""

from dataclasses import dataclass

from ..core.errors import UsageError
from ..files.kinds import ANSWERS_IN_HELP, is_answer_table
from .data_options import (
    add_recipe,
    add_table,
    add_weights,
    parts_of_recipe,
    weight_files,
    weight_source,
)
from .file_names import kind_by_content
from .option_types import list_of, names, PROPORTIONS, proportions, whole_number
from .options import add_bins, add_seed, Parser
from .pages import Page, page_of
from .reports import add_report, PAGE, PICTURES, Reports, reports_of


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "eval_uc",
        "Score classification results: accuracy, scores of probabilities "
        "and prediction sets, contingency table, calibration.",
        operands="{answers | truth result [probabilities]}",
    )
    parser.add(
        "truth",
        f"a table of answers, as classify_m writes it ({ANSWERS_IN_HELP}; text "
        "with a line of names in any file, or -); or the file of true classes (.cls, or "
        "LIBSVM text; - is standard input)",
        metavar="{answers | truth}",
    )
    parser.add(
        "result", "base name of result.cls and result.con, as classify_m writes them", nargs="?"
    )
    parser.add(
        "probabilities",
        "standard output of classify_m: k probabilities and a class per "
        "line, with or without a first line `labels ...` (- is standard input)",
        nargs="?",
    )
    _add_scores(parser)
    group = add_table(parser, roles=False)
    add_recipe(group)
    group.add(
        "--truth COLUMN",
        "column of the true classes, in the table of the answers or of "
        "--data (default: class, label or target, or the only one that has the names of "
        "the classes)",
        dest="column",
    )
    _add_true_classes(group)
    group = parser.group("output")
    group.add("-b, --brief", "one line for scripts: accuracy and uncertainty coefficient")
    group.add("-H, --no-header", "with -b or -B: omit the line of headings")
    group.add(
        "-B, --brier",
        "print only libAGF's Brier score, the root of the mean square over "
        "all classes; with -b that of the winning classes",
    )
    add_bins(group)
    group.add("--json", "print all scores as one JSON object")
    add_report(
        group,
        "of the scores with intervals and of the hardest points; pictures are of the contingency "
        "table, of the calibration, and of the error of the surest points",
        PAGE,
        *PICTURES,
        ".json",
        ".csv",
    )
    group.add(
        "--model FILE",
        "with --report: the model of the answers, which the page describes, too",
        needs="--report",
    )
    _add_classes(parser)
    parser.file_names = {
        "truth": "truth",
        "result": "answers",
        "control": "model",
        "model": "model",
        "probabilities": "printed",
        "before": "printed",
        "sets": "sets",
    }
    return parser.finish()


def _add_scores(parser):
    """The options of what is scored, and how."""
    group = parser.group("scores")
    group.add(
        "--top-accuracy K",
        "share of the points whose true class is among the K most probable ones",
        whole_number(1),
    )
    group.add(
        "--ordered",
        "scores for ordered classes, in the order of their labels: mean class "
        "error, share within one class, ranked probability score",
    )
    group.add("--by-class", "tables of calibration: of the answers, and of each class")
    group.add(
        "--intervals [N]",
        "95 %% intervals of all scores, from N bootstrap resamples "
        "(default 1000); shares have intervals without it",
        whole_number(10, 1_000_000),
        const=1000,
        default=0,
    )
    add_seed(group)
    group.add(
        "--costs FILE",
        "costs of each answer for each true class, as for classify_m: mean "
        "cost with its interval, and that of the best single answer to all points; "
        "rejected points have the cost in column -",
    )
    group.add(
        "--sets FILE",
        "prediction sets, as classify_m --coverage and --stop write them: coverage and sizes",
    )
    group.add(
        "--control FILE",
        "for prediction sets: a control file or model whose tree has the "
        "sets as nodes, as from classify_m --stop: hierarchical precision and recall",
    )
    group.add(
        "--monitor FILE",
        "the state that classify_m --monitor keeps: its values go to the page and to --json",
    )
    group.add(
        "--before FILE",
        "probabilities before calibration, as classify_m --uncalibrated "
        "prints them, for comparison",
    )


def _add_true_classes(group):
    """The options of the table of the true classes, and of its columns."""
    group.add("--data TABLE", "table of the true classes, if it is not that of the answers")
    group.add(
        "--id COLUMN,...",
        "with --data: columns that join the rows of both tables "
        "(default: those that both have; else the rows have the same order); in a report "
        "they name the points",
        names,
    )
    group.add(
        "--predicted COLUMN",
        "column of the answers (default class); the probability of a "
        "class is in the column p:CLASS",
    )


def _add_classes(parser):
    """The options of the classes and weights of the points."""
    group = parser.group("classes")
    group.add(
        "-k, --class-count K",
        "number of classes, on which confidence ratings depend; it is "
        "never inferred from the labels",
        whole_number(2),
    )
    group.add(
        "--labels L,L,...",
        "labels of the columns of probabilities, ascending",
        list_of(whole_number(-(2**62))),
    )
    group.add(
        "--names FILE",
        "names of the classes, line i for label i (default: the .names "
        "file beside truth, .cls or .truth, if there is one); for a table their order "
        "(default: that of the columns of probabilities)",
    )
    group.add(
        "--priors P",
        f"proportions of the true classes for which all scores are estimated: {PROPORTIONS}",
        proportions,
        excludes="--class-weight",
    )
    add_weights(group)


@dataclass(frozen=True)
class _Request:
    """Answers to be scored, their true classes, and how the scores are written.

    What is not said here is as the option.

    Attributes
    ----------
    truth, result, probabilities : files, or, for `of_table`, the table of the answers, None, None
    source : `AnswerSource` of that table
    names, class_names : file of the names of the classes, or in its place the names of the model
    scores : `ScoreRequest`
    model : file of the model of the answers, or None
    form : "text", "brier" or "brief"
    header, brief : lines of headings; the scores of the winning classes
    """

    reports: Reports
    source: object
    weights: object
    truth: str
    result: str | None
    probabilities: str | None
    class_count: int | None
    labels: list | None
    names: str | None
    before: str | None
    sets: str | None
    monitor: str | None
    control: str | None
    costs: str | None
    priors: object
    scores: object
    bins: int
    model: str | None
    form: str
    header: bool
    brief: bool
    page: Page
    class_names: tuple | None = None

    @property
    def of_table(self):
        """True if the answers are columns of a table."""
        return self.source is not None


def execute(args):
    """Make a request of the options, and score by it."""
    from ..score.evaluation import ScoreRequest

    of_table = args.column is not None or is_answer_table(args.truth)
    if args.result is None and not of_table:
        of_table = kind_by_content(args.truth, "points") == "table"
    _check_operands(args, of_table)
    reports = reports_of(args)
    source = None
    if of_table:
        source = _answer_source(args)
    read = [args.truth, args.probabilities, args.data, args.before, args.costs]
    request = args.request(
        _Request,
        reports=reports,
        source=source,
        weights=weight_source(args, "-" if "-" in read else None),
        scores=args.request(ScoreRequest),
        form=next((name for name in ("brier", "brief") if getattr(args, name)), "text"),
        header=not args.no_header,
        page=page_of(args, _inputs(args)),
    )
    from .work.eval_uc import run

    run(request)


def _answer_source(args):
    """The `AnswerSource` of the options."""
    from ..answers.result_tables import AnswerSource
    from ..data.class_names import read_names

    layout, roles = parts_of_recipe(args.recipe, args.data or args.truth)
    return AnswerSource(
        args.truth,
        args.column,
        args.data,
        args.id or (),
        args.predicted or "class",
        args.before,
        names=() if args.names is None else read_names(args.names),
        weight=args.weight,
        fold_case=bool(roles.fold_case),
        **{"layout" if args.data is None else "data_layout": layout},
    )


def _inputs(args):
    """The files whose digests are on the page."""
    files = [
        args.truth,
        args.probabilities,
        args.before,
        args.data,
        args.costs,
        args.sets,
        args.control,
        args.model,
        *weight_files(args),
    ]
    if args.result is not None:
        files += [f"{args.result}.cls", f"{args.result}.con"]
    return files


def _check_operands(args, of_table):
    """`UsageError` for operands and options of the other kind of answers."""
    if of_table:
        args.refuse(
            ("result", "-k", "--labels", "--sets"),
            "is for files of numbers; a table of answers holds classes, probabilities and "
            "sets, and --data names the table of the true classes",
        )
        return
    if args.sets is None:
        args.refuse(["--control"], "needs --sets")
    args.refuse(
        ("--data", "--id", "--predicted", "--recipe"),
        "is for a table of answers, with --truth COLUMN",
    )
    if args.result is None:
        raise UsageError(
            "operands are missing: expected a table of answers and --truth COLUMN, or "
            "truth result [probabilities] (try eval_uc --help)"
        )
    if is_answer_table(args.result):
        raise UsageError(
            f"a table of answers comes first: eval_uc {args.result} [--truth COLUMN] [--data TABLE]"
        )
    if args.truth.endswith(".vec"):
        raise UsageError(f"{args.truth} holds points: expected the true classes (.cls)")
    if args.truth == f"{args.result}.cls" and args.truth not in args.given_words:
        raise UsageError(f"{args.truth} holds the answers: expected the true classes before them")

"""The options, the data and the result cache of commands that train on splits of the data."""

from dataclasses import dataclass

from ..core.errors import ControlError, UsageError
from ..score.rows import ALL_SCORES, BY_COST, BY_OPTION, COST
from ..training.request import PointsRequest
from .data_options import add_normalisation, add_training_kind, input_format, points_request
from .option_types import fraction, output_file, whole_number
from .options import add_platt, add_seed, add_workers, workers
from .pages import Page, page_of, training_inputs

_BY = "log-loss"  # decides wherever something is chosen


def add_experiment(parser, trials, by=False, loo=None, seed=1):
    """The options of splits, training, data and unfinished work.

    `trials` is the default of that option; `by` adds the option --by, and `loo`, a help text, the
    value loo of -d; `seed` is as for `add_seed`, of the splits.
    """
    parser.without_programs = True
    parser.hints = {"-O": "programs classify in classify_m alone"}
    group = add_splits(parser, trials, loo)
    add_seed(group, seed)
    group = parser.group("training")
    group.add(
        "-+, --options OPTIONS",
        'training options where a control file has "", as for multi_borders',
        default="",
    )
    add_trying(group, by)
    group.add(
        "--costs FILE",
        "costs of each answer for each true class, as for classify_m: "
        "decoders that give all probabilities answer with the least expected cost, and the "
        "mean cost is one more score",
    )
    add_state(parser)
    add_training_kind(parser)
    add_normalisation(parser)


def add_splits(parser, trials, loo=None):
    """-f, -d and --trials; -> their group.  `loo` is as for `add_experiment`."""
    parts_type = whole_number(2, 10**6)
    parts_help = "divide the data into PARTS stratified folds, and hold out each in turn"
    if loo is not None:
        parts_help += f"; loo: {loo} (not with --trials)"
        parts_type = _parts_or_loo
    group = parser.group("splits")
    group.add(
        "-f, --fraction FRACTION",
        "hold out this fraction of each class, drawn at random in each trial",
        fraction,
        excludes="-d",
    )
    group.add(
        "-d, --parts PARTS",
        parts_help,
        parts_type,
    )
    group.add("--trials N", f"number of repetitions (default {trials})", whole_number(1, 10**6))
    return group


def _parts_or_loo(text):
    if text == "loo":
        return text
    return whole_number(2, 10**6)(text)


def add_sample(group):
    """--sample, of the commands that choose by experiments."""
    group.add(
        "--sample N",
        "choose by about N rows, a stratified random sample with at least "
        "five rows of each class, or all that there are",
        whole_number(1),
    )


def add_trying(group, by=False):
    """--platt, -j and --by."""
    add_platt(group)
    add_workers(group)
    if by:
        group.add(
            "--by SCORE",
            f"score on all holdout data that decides: {', '.join(BY_OPTION)} "
            f"(default {_BY}), or, with --costs, {COST.option}. With few points per class, "
            "uncertainty is too large, even of random answers",
            choices=tuple(BY_COST),
            default=_BY,
        )


def add_answers(group, both=False):
    """--uncalibrated, and --both where there is that option."""
    group.add("--uncalibrated", "score the uncalibrated probabilities of the decoder")
    if both:
        group.add(
            "--both", "score calibrated and uncalibrated probabilities", excludes="--uncalibrated"
        )


def add_state(parser):
    """--state and --no-state."""
    group = parser.group("unfinished work")
    group.add(
        "--state FOLDER",
        "store the result cache in FOLDER, which runs on several "
        "machines can share (default: a folder for these data in the user's cache folder)",
        output_file,
        excludes="--no-state",
    )
    group.add("--no-state", "store no results, and reuse none")


def plan_of(args, trials, parts=None, repeats=1):
    """The `SplitPlan` of the options; without -f and -d, `trials` random splits, or `parts`. The
    data are divided into parts `repeats` times."""
    from ..experiments.experiment import SplitPlan

    if args.parts == "loo":
        if args.trials is not None:
            raise UsageError("-d loo and --trials exclude each other")
        return SplitPlan(seed=args.seed, left_out=True)
    if args.fraction is not None or args.parts is not None:
        chosen = args.parts
    else:
        chosen = parts
    if chosen is None:
        default = trials
    else:
        default = repeats
    return SplitPlan(args.fraction or 0.3, chosen, args.trials or default, args.seed)


@dataclass(frozen=True)
class ExperimentRequest(PointsRequest):
    """The data, splits and settings of an experiment, but for the normalisation in `norm_file`.

    Attributes
    ----------
    sample : number of rows, or None
    costs : file, or None
    folder, stores : as for `state`
    workers : result of `options.workers`
    page : `Page` of the results
    """

    plan: object = None
    sample: int | None = None
    costs: str | None = None
    calibrated: tuple = ()
    folder: str | None = None
    stores: bool = True
    workers: object = None
    page: Page | None = None

    def suited(self, candidate, experiment):
        """The `Candidate` for the classes that --min-class has left in the data."""
        if self.min_class is None:
            return candidate
        return candidate.for_classes(experiment.data.counts)


def experiment_request(args, plan, kind=ExperimentRequest, inputs=(), **values):
    """The `ExperimentRequest` of the options, or, as `Arguments.request` makes it, one of another
    kind with further `values`. `inputs` are further files that the command reads."""
    costs = getattr(args, "costs", None)
    if costs is None and getattr(args, "by", None) == COST.option:
        raise UsageError(f"--by {COST.option} needs the costs of the answers: --costs FILE")
    form = input_format(args, args.train)
    points = points_request(args, args.train, form, platt=args.platt)
    if points.norm_file and points.settings.fits_normalisation:
        raise UsageError(
            "-a with -n or -S would write a normalisation, and here each training "
            "part has its own: leave -a out, or give it alone"
        )
    if getattr(args, "both", False):
        calibrated = (True, False)
    else:
        calibrated = (not args.uncalibrated,)
    return args.request(
        kind,
        **vars(points),
        plan=plan,
        calibrated=calibrated,
        folder=args.state,
        stores=not args.no_state,
        workers=workers(args.jobs),
        page=page_of(args, [*training_inputs(args, points), *inputs]),
        **values,
    )


def read_one_candidate(args):
    """The `Candidate` of the operand control and the option --decoder."""
    from ..experiments.candidates import read_candidate

    candidate = read_candidate(
        args.control,
        None if args.decoder is None else (args.decoder,),
        1 if args.seed is None else args.seed,
    )
    if candidate.decoders is not None and len(candidate.decoders) > 1:
        raise UsageError(f"{args.parser.prog} takes one decoder: compare_control takes several")
    if candidate.decoders is None and candidate.tree is not None:
        _check_named(candidate.tree, getattr(args, "by", None))
    return candidate


def _check_named(tree, by):
    """Raise `ControlError` where the decoder that a control names does not give the score `by`."""
    from ..prediction.decoding import named_decoding

    named = named_decoding(tree)
    score = ALL_SCORES[BY_COST[by]] if by else None
    if named and score and score.takes not in ("table", "costs") and named.decoder.gives == "votes":
        raise tree.place(tree.headings["decoder"]).error(
            ControlError,
            f"the decoder {named.name} gives no {score.title}: choose another "
            "decoder with -Q, or another score with --by",
        )

"""Options of the commands that try configurations on splits of the data, and what they say."""

from __future__ import annotations

import argparse

from ..errors import DataError, UsageError
from ..score.scores import BY_OPTION
from .messages import report
from .options import (add_input_kind, add_min_class, add_normalisation, add_seed, add_workers,
                      finite_number, input_kind, reading, whole_number)

__all__ = ["add_exploration", "add_splits", "add_state", "add_trying", "for_data",
           "ledger_of", "load_data", "plan_of", "settings_of"]


def add_exploration(parser, trials, by=None, platt="cv"):
    """The options of splits, training, data and unfinished work.

    trials: what is done without -f, -d and --trials, for the help;  by: of the score
    that decides, its default, where there is such a choice;  platt: its default.
    """
    add_seed(add_splits(parser, trials))
    group = parser.add_argument_group("training")
    group.add_argument("-+", "--options", metavar="OPTIONS", default="",
                       help='training options where a control file has "", as for multi_borders')
    add_trying(group, by, platt)
    add_state(parser)
    add_min_class(add_input_kind(parser))
    add_normalisation(parser)


def add_splits(parser, trials):
    """-f, -d and --trials; -> their group."""
    group = parser.add_argument_group("splits")
    group.add_argument("-f", "--fraction", type=_fraction, metavar="FRACTION",
                       help="hold out this fraction of each class, drawn at random in each trial")
    group.add_argument("-d", "--parts", type=whole_number(2, 10**6), metavar="PARTS",
                       help="divide the data into so many parts, each with its share of every "
                            "class, and hold out one after the other")
    group.add_argument("--trials", type=whole_number(1, 10**6), metavar="N",
                       help=f"how often that is done (default {trials})")
    return group


def add_trying(group, by=None, platt="cv"):
    """How the binary classifiers are trained, and by which score configurations are judged."""
    group.add_argument("--platt", choices=("cv", "loo"), default=platt, metavar="WAY",
                       help="decision values that fit the probabilities: cv, from five folds, or "
                            f"loo, by a formula, in less than half the time (default {platt})")
    group.add_argument("--kernel-memory", type=whole_number(0, 10**9), default=512, metavar="MB",
                       help="megabytes for tables of kernel values (default 512; 0: none). "
                            "Results do not depend on it")
    add_workers(group)
    if by is not None:
        group.add_argument("--by", choices=tuple(BY_OPTION), default=by, metavar="SCORE",
                           help=f"the score that decides: {', '.join(BY_OPTION)} "
                                f"(default {by})")


def add_state(parser):
    """--state and --no-state."""
    group = parser.add_argument_group("unfinished work")
    group.add_argument("--state", metavar="FILE",
                       help="keep what is finished in FILE, also after the end: later runs take "
                            "from it what they can (default: a file in the user's cache folder "
                            "that goes when the run has come to its end)")
    group.add_argument("--no-state", action="store_true",
                       help="keep nothing: an interrupted run would begin again")


def _fraction(text):
    value = finite_number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, found '{text}'")
    return value


def plan_of(args, trials, parts=None, repeats=1):
    """The `Plan` of the options; trials of random splits, or parts, where nothing is said.

    repeats: how often the data are divided into parts.
    """
    from ..experiments.splits import Plan

    if args.fraction is not None and args.parts is not None:
        raise UsageError("-f and -d exclude each other")
    chosen = args.parts if args.fraction is not None or args.parts is not None else parts
    default = trials if chosen is None else repeats
    return Plan(args.fraction or 0.3, chosen, args.trials or default, args.seed)


def load_data(args):
    """(raw `Dataset`, `Normalisation` or None) of args.train."""
    from ..data_tools.training_data import about, load_training
    from ..formats.vectors import read_std

    kind = input_kind(args)
    if args.normalise and args.norm_file or args.svd is not None and args.norm_file:
        raise UsageError("-a with -n or -S would write a normalisation, and here each training "
                         "part has its own: leave -a out, or give it alone")
    words = {name: value for name, value in reading(args).items()
             if name in ("missing", "header", "min_class")}
    data, _, _ = load_training(args.train, kind, **words)
    if data.y.min() == data.y.max():
        raise DataError("holds one class: there is nothing to tell apart", file=args.train)
    normalisation = None if args.norm_file is None else read_std(args.norm_file)
    if normalisation is not None:
        with about(args.train):
            normalisation.apply(data.x[:1])  # or it does not fit the data
    return data, normalisation


def for_data(candidate, data, args):
    """The `Candidate` for the classes that --min-class has left in the `Dataset`."""
    return candidate if args.min_class is None else candidate.for_classes(set(data.y.tolist()))


def settings_of(args, normalisation):
    """The `Settings` of the options."""
    from ..experiments.trial import Settings
    from ..executors.threads import available_cores

    return Settings(args.options, args.seed, args.normalise, args.svd, normalisation,
                    args.platt == "loo", args.jobs or available_cores(), args.kernel_memory)


def ledger_of(args, prog, *parts):
    """The `ResultCache` of the options, for `with`; parts: all that tells this run from others."""
    from ..experiments.result_cache import automatic_path, key_of, ResultCache

    if args.state is not None and args.no_state:
        raise UsageError("--state and --no-state exclude each other")
    if args.no_state:
        ledger = ResultCache(None)
    elif args.state is not None:
        ledger = ResultCache(args.state, keep=True)
    else:
        ledger = ResultCache(automatic_path(key_of(prog, *parts)))
    return _Resumable(ledger, args, prog)


class _Resumable:
    """A ledger in a `with` block that tells what a signal leaves to be done.

    (Not made with contextlib, which takes longer to load than the parser to be built.)
    """

    def __init__(self, ledger, args, prog):
        self._ledger, self._args, self._prog = ledger, args, prog

    def __enter__(self):
        return self._ledger.__enter__()

    def __exit__(self, kind, error, trace):
        if kind is not None and not issubclass(kind, Exception) and self._ledger.keeps_anything():
            report(self._args, self._prog, "interrupted: the same command goes on from there")
        return self._ledger.__exit__(kind, error, trace)

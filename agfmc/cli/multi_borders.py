"""multi_borders: train every classifier of a control file."""

from __future__ import annotations

import os
import sys
import time

from ..errors import UsageError
from .executing import check_executor
from .hints import refuse_scheme
from .messages import show
from .multi_borders_options import PROG, get_parser
from .multi_borders_training import train_all
from .options import input_kind, reading
from .run import run_command

__all__ = ["get_parser", "main"]


def execute(args):
    """Plan the jobs, then train them or print them."""
    from ..formats.controlfile import read_control
    from ..flow.pairs import PairTally
    from ..flow.planning import check_outputs
    from ..flow.training import save_normalisation
    from .multi_borders_lines import command_line

    deadline = None if args.time_limit is None else time.monotonic() + args.time_limit
    check_executor(args)
    if args.executor is not None and (args.dry_run or args.command is not None):
        raise UsageError("--executor goes neither with -0 nor with --")
    if args.null and not args.dry_run:
        raise UsageError("--null goes with -0")
    if args.dry_run and args.only is not None:
        raise UsageError("-0 and --only exclude each other")
    if args.command is None and (args.convert is not None or args.keep):
        raise UsageError("-^ and -K go with -- COMMAND")
    if args.command is None and args.allow_commands:
        raise UsageError("--allow-commands goes with -- COMMAND: LIBSVM's options are all safe")
    if args.command is not None and args.unnormalised:
        raise UsageError("-u and -- exclude each other: the other program writes its own models")
    if args.command is not None and not (args.svm or args.lvq):
        # libAGF's: LVQ text, if there are no binary files of that name
        args.lvq = os.path.isfile(args.train) and not os.path.exists(f"{args.train}.vec")
    kind = input_kind(args)
    if args.dense and not args.svm:
        raise UsageError("--dense goes with -M")
    if not os.path.basename(args.model):
        raise UsageError(f"expected a base name for the model files, found '{args.model}'")
    if (args.control or "-") == "-" and args.train == "-":
        raise UsageError("control and train cannot both be standard input")
    if args.dry_run and "-" in (args.control_out, args.train):
        raise UsageError("with -0, train and control-out must be files: the commands read them")
    if args.command is not None and (args.platt, args.kernel_memory) != (None, None):
        raise UsageError("--platt and --kernel-memory are for LIBSVM: they do not go with --")
    if args.command is not None and deadline is not None:
        raise UsageError("--time-limit and -- exclude each other: what another program has "
                         "finished is not known again by a later run")
    refuse_scheme(args.control, f"{args.train} | multi_borders ... - {args.train} ...")
    if args.control is None and kind == "binary" and os.path.isfile(args.train) \
            and not os.path.exists(f"{args.train}.vec"):
        raise UsageError("expected the operands control, train, model and control-out, or without "
                         f"the first, which is then standard input: {args.train} is no base name "
                         "of data")
    trainer = _trainer(args)
    work = _plan(args, kind, read_control(args.control or "-"), trainer)
    if args.cv_errors is not None and trainer is not None:
        raise UsageError("--cv-errors counts LIBSVM's cross-validation: it does not go with --")
    if args.cv_errors is not None and deadline is not None:
        raise UsageError("--time-limit and --cv-errors exclude each other: the counts are made "
                         "while everything is trained in one run")
    if args.cv_irrelevant and args.cv_errors is None:
        raise UsageError("--cv-irrelevant goes with --cv-errors")
    tally = None if args.cv_errors is None else PairTally(
        work.jobs, work.data.x, work.data.y, args.cv_irrelevant)
    ends = (".vec", ".cls", ".names") if kind == "binary" else ("",)
    check_outputs(work, args.control_out if args.only is None else "-", [
        args.control or "-", None if work.fitted else args.norm_file,
        *(f"{args.train}{end}" for end in ends)], trainer is not None, args.cv_errors)
    if args.dry_run:
        lines = [command_line(PROG, args, work, job) for job in [*work.jobs, *work.directs]]
        save_normalisation(work)
        _save(args, work.tree)
        sys.stdout.write("".join(lines))
        return
    train_all(args, work, trainer, tally, deadline)
    if args.only is None:
        _save(args, work.tree)


def _trainer(args):
    """The `Trainer` of the options, or None where LIBSVM trains."""
    if args.command is None:
        return None
    from ..external.command import Command
    from ..flow.exttrain import Trainer

    return Trainer(Command(args.command), args.convert and Command(args.convert),
                   "lvq" if args.lvq else "svm", args.keep)


def _plan(args, kind, tree, trainer):
    from functools import partial

    from ..flow.exttrain import any_options
    from ..flow.planning import plan
    from ..train.options import parse_options

    parse = parse_options if trainer is None else partial(
        any_options, own=args.options or "", allowed=args.allow_commands)
    return plan(tree, args.train, kind, args.model, default=args.options, seed=args.seed,
                only=args.only, path=args.path, unnormalised=args.unnormalised,
                loo=args.platt == "loo", dense=args.dense,
                parse=parse, **reading(args))


def _save(args, tree):
    from ..control.tree import changed
    from ..control.write import tree_lines
    from ..formats.controlfile import write_control

    if args.no_names:
        tree = changed(tree, names={})
    if args.control_out == "-":
        show(tree_lines(tree))
    else:
        write_control(args.control_out, tree)


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)

"""multi_borders: train every classifier of a control file."""

from __future__ import annotations

import os
import sys

from ..errors import JobsFailed, UsageError
from .library import library_words
from .messages import Progress, report, say
from .multi_borders_options import PROG, get_parser
from .options import input_kind, reading
from .run import run_command

__all__ = ["get_parser", "main"]


def execute(args):
    """Plan the jobs, then train them or print them."""
    from ..formats.controlfile import read_control
    from ..flow.pairs import PairTally
    from ..flow.training import check_outputs, save_normalisation
    from .multi_borders_lines import command_line

    if args.dry_run and args.only is not None:
        raise UsageError("-0 and --only exclude each other")
    if args.command is None and (args.convert is not None or args.keep):
        raise UsageError("-^ and -K go with -- COMMAND")
    if args.command is not None and args.unnormalised:
        raise UsageError("-u and -- exclude each other: the other program writes its own models")
    if args.command is not None and not (args.svm or args.lvq):
        # libAGF's: LVQ text, if there are no binary files of that name
        args.lvq = os.path.isfile(args.train) and not os.path.exists(f"{args.train}.vec")
    kind = input_kind(args)
    if not os.path.basename(args.model):
        raise UsageError(f"expected a base name for the model files, found '{args.model}'")
    if (args.control or "-") == "-" and args.train == "-":
        raise UsageError("control and train cannot both be standard input")
    if args.dry_run and "-" in (args.control_out, args.train):
        raise UsageError("with -0, train and control-out must be files: the commands read them")
    if args.command is not None and (args.platt, args.kernel_memory) != (None, None):
        raise UsageError("--platt and --kernel-memory are for LIBSVM: they do not go with --")
    trainer = _trainer(args)
    work = _plan(args, kind, read_control(args.control or "-"), trainer)
    if args.cv_errors is not None and trainer is not None:
        raise UsageError("--cv-errors counts LIBSVM's cross-validation: it does not go with --")
    if args.cv_irrelevant and args.cv_errors is None:
        raise UsageError("--cv-irrelevant goes with --cv-errors")
    tally = None if args.cv_errors is None else PairTally(
        work.jobs, work.data.x, work.data.y, args.cv_irrelevant)
    if args.only is None:
        ends = (".vec", ".cls", ".names") if kind == "binary" else ("",)
        check_outputs(work, args.control_out, [
            args.control or "-", args.norm_file, *(f"{args.train}{end}" for end in ends)])
    if args.dry_run:
        lines = [command_line(PROG, args, work, job) for job in [*work.jobs, *work.directs]]
        save_normalisation(work)
        _save(work.tree, args.control_out)
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        return
    _train(args, work, trainer, tally)
    if args.only is None:
        _save(work.tree, args.control_out)


def _trainer(args):
    """The `Trainer` of the options, or None where LIBSVM trains."""
    if args.command is None:
        return None
    from ..external.command import Command
    from ..flow.exttrain import Trainer

    return Trainer(Command(args.command), args.convert and Command(args.convert),
                   "lvq" if args.lvq else "svm", args.keep)


def _plan(args, kind, tree, trainer):
    from ..flow.exttrain import any_options
    from ..flow.training import plan
    from ..train.options import parse_options

    return plan(tree, args.train, kind, args.model, default=args.options, seed=args.seed,
                only=args.only, path=args.path, unnormalised=args.unnormalised,
                loo=args.platt == "loo",
                parse=parse_options if trainer is None else any_options, **reading(args))


def _train(args, work, trainer, tally):
    from ..flow.exttrain import train_external
    from ..flow.training import save_normalisation, train, train_directs

    failures = []
    control_out = args.control_out if args.only is None else None
    with library_words(), Progress(args, "training") as progress:
        if trainer is None:
            failures = train(work, args.jobs, progress, control_out, tally and tally.add,
                             args.kernel_memory)
        else:
            train_external(work, trainer, args.jobs, progress, control_out,
                           lambda: save_normalisation(work))
        train_directs(work, progress, control_out, trainer and trainer.convert,
                      "lvq" if args.lvq else "svm")
    for failure in failures:
        say(PROG, str(failure))
    if failures:
        raise JobsFailed(f"{len(failures)} of {len(work.jobs)} binary classifiers could not be "
                         "trained; the finished ones are kept, and control-out is not written")
    if tally is not None:
        tally.write(args.cv_errors)
    if args.keep:
        report(args, PROG, "the temporary files are kept in the folders "
                           f"{os.path.join(args.path or '', args.model)}*.tmp")


def _save(tree, path):
    from ..control.write import format_tree
    from ..formats.controlfile import write_control

    if path == "-":
        sys.stdout.write(format_tree(tree))
    else:
        write_control(path, tree)


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)

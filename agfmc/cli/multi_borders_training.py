"""The training of multi_borders, and what it says."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from ..errors import JobsFailed
from .executing import executor, fitting
from .library import library_words
from .messages import Progress, report, say
from .multi_borders_options import PROG

__all__ = ["train_all"]


def train_all(args, work, trainer, tally, deadline):
    """Train what an earlier run has not left, and report; `JobsFailed` where something is missing.

    trainer: `Trainer`, or None;  tally: `PairTally`, or None;  deadline: on
    `time.monotonic`, or None.
    """
    from ..flow.exttrain import train_external
    from ..flow.resume import replaced
    from ..flow.training import Outcome, save_normalisation, train, train_directs

    kept = _kept(args, work, trainer, tally)
    total = len(work.jobs) + len(work.directs)
    control_out = _earlier(args)
    with library_words(), executor(args) as pool, Progress(args, "training", PROG) as progress:
        if trainer is None:
            made = train(work, args.jobs, progress, control_out, tally and tally.add,
                         args.kernel_memory, kept=kept, deadline=deadline, **fitting(pool))
        else:
            train_external(work, trainer, args.jobs, progress, control_out,
                           lambda: save_normalisation(work, control_out))
            made = Outcome(len(work.jobs))
        direct = train_directs(work, progress, control_out, trainer and trainer.convert,
                               "lvq" if args.lvq else "svm", kept=kept, deadline=deadline)
    for failure in made.errors:
        say(PROG, str(failure))
    if made.stopped or direct.stopped:
        raise JobsFailed(f"the time is over: {made.done + direct.done} of {total} classifiers are "
                         f"trained; the same command {'without --retrain ' * args.retrain}goes on "
                         "from there")
    if made.errors:
        raise JobsFailed(f"{len(made.errors)} of {len(work.jobs)} binary classifiers could not be "
                         "trained; the finished ones are kept, and control-out is not written")
    other = replaced(work, only_direct=trainer is not None)
    if other is not None:
        raise JobsFailed(f"'{other}' is no longer what this run has written: another run took the "
                         "same names. control-out is not written; the same command goes on from "
                         "there")
    if tally is not None:
        tally.write(args.cv_errors)
    if args.keep:
        report(args, PROG, "the temporary files are kept in the folders "
                           f"{os.path.join(args.path or '', args.model)}*.tmp")


def _earlier(args):
    """control-out, if an earlier run may have left it: with --only it is not written, and
    standard output has just been opened."""
    if args.only is not None or args.control_out == "-":
        return None
    with suppress(OSError, ValueError):  # no file yet, or no such stream
        if os.path.samestat(os.stat(args.control_out), os.fstat(sys.stdout.fileno())):
            return None
    return args.control_out


def _kept(args, work, trainer, tally):
    """Names of the models of an earlier run that need no training."""
    from ..flow.resume import finished

    if args.retrain:
        return frozenset()
    kept = finished(work, only_direct=trainer is not None)
    if kept and tally is not None:
        report(args, PROG, "--cv-errors counts samples that are held out: all are trained again")
        return frozenset()
    if kept:
        report(args, PROG, f"kept from an earlier run: {len(kept)} of "
                           f"{len(work.jobs) + len(work.directs)} classifiers "
                           "(--retrain trains all)")
    return kept

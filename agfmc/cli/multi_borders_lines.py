"""The lines that multi_borders -0 prints: one shell command for each classifier."""

from __future__ import annotations

import os
import shlex
import sys

from ..errors import UsageError

__all__ = ["command_line"]


def command_line(prog, args, work, job):
    """A shell command that trains one job of `work` on its own, and what ends it."""
    words = [*_ourselves(prog), f"--only={job.name}",
             f"--options={getattr(job, 'text', '')}", f"--seed={args.seed}"]
    if args.svm:
        words += ["-M", f"--missing={args.missing!r}"] + ["--dense"] * work.dense
    if args.lvq:
        words += ["-A"] + ["-H"] * args.no_header
    if args.min_class is not None:
        words.append(f"--min-class={args.min_class}")
    if work.norm_file is not None:
        words.append(f"--norm-file={work.norm_file}")
    words += ["-u"] * args.unnormalised
    if args.platt is not None:
        words.append(f"--platt={args.platt}")
    if args.kernel_memory is not None:
        words.append(f"--kernel-memory={args.kernel_memory}")
    if args.cv_errors is not None:
        words.append(f"--cv-errors={args.cv_errors}.{os.path.basename(job.name)}")
    words += ["--cv-irrelevant"] * args.cv_irrelevant
    words += ["--retrain"] * args.retrain
    if args.time_limit is not None:
        words.append(f"--time-limit={args.time_limit!r}")
    if args.path is not None:
        words.append(f"--path={args.path}")
    if args.command is not None:
        words.append(f"--command={args.command}")
    if args.convert is not None:
        words.append(f"--convert={args.convert}")
    words += ["--allow-commands"] * args.allow_commands
    words += ["-K"] * args.keep + ["--quiet"] * args.quiet
    words += map(_operand, (args.control_out, args.train, args.model, args.control_out))
    for word in words:
        if "\n" in word and not args.null:
            raise UsageError("with -0, no name or option may hold a line break unless --null is "
                             f"given too: {word!r} cannot stand in one line")
    return shlex.join(words) + ("\0" if args.null else "\n")


def _operand(name):
    """A name that cannot be taken for an option."""
    return f"./{name}" if name.startswith("-") else name


def _ourselves(prog):
    """The words that start this very program, also where the shell has another environment."""
    program = os.path.abspath(sys.argv[0])
    if os.path.basename(program) == prog and os.path.isfile(program) and sys.executable:
        return [sys.executable, program]
    return [prog]

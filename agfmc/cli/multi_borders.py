"""multi_borders: train every binary classifier of a control file."""

from __future__ import annotations

import os
import shlex
import sys

from ..errors import JobsFailed, UsageError
from .library import library_words
from .messages import Progress, say
from .options import (
    Parser, add_input_kind, add_normalisation, add_seed, add_workers, input_kind, reading,
)
from .run import run_command

__all__ = ["get_parser", "main"]

PROG = "multi_borders"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Train the binary support vector machines that a control file describes. Writes one "
        "LIBSVM model file for each, with probabilities, and the control file for "
        "classification.",
        usage="%(prog)s [-0] [--only NAME] [-M | -A] [-n] [-a FILE] [-S N] [-j N] [--seed N] "
              "[-+ OPTIONS] [control] train model control-out")
    parser.add_argument("control", nargs="?",
                        help="training control file, as print_control writes it "
                             "(- or left out: standard input)")
    parser.add_argument("train", help="training data: base name of .vec and .cls files, or a "
                                      "text file with -M or -A")
    parser.add_argument("model", help="base name of the model files: model-00 for rows of a "
                                      "coding matrix, model.00 for branches of a tree")
    parser.add_argument("control_out", metavar="control-out",
                        help="control file for classification, written last "
                             "(- is standard output)")
    group = parser.add_argument_group("training")
    group.add_argument("-+", "--options", metavar="OPTIONS",
                       help='training options where the control file has "": LIBSVM\'s -s -t '
                            "-d -g -r -c -n -m -e -h, and -w0 -w1 for the left and right side; -b "
                            "and -q change nothing: probabilities are always fitted")
    add_seed(group)
    add_workers(group)
    group.add_argument("-0", "--dry-run", dest="dry_run", action="store_true",
                       help="train nothing: print one shell command for each binary "
                            "classifier, to be run in any order or side by side; the control "
                            "file and the normalisation are written")
    group.add_argument("--only", metavar="NAME",
                       help="train only the model of that name, and do not write control-out; "
                            "control may then be the control file that -0 wrote")
    add_input_kind(parser)
    add_normalisation(parser)
    return parser.finish()


def execute(args):
    """Plan the jobs, then train them or print them."""
    from ..flow.training import check_outputs, plan, save_normalisation, train
    from ..formats.controlfile import read_control

    if args.dry_run and args.only is not None:
        raise UsageError("-0 and --only exclude each other")
    kind = input_kind(args)
    if not os.path.basename(args.model):
        raise UsageError(f"expected a base name for the model files, found '{args.model}'")
    if (args.control or "-") == "-" and args.train == "-":
        raise UsageError("control and train cannot both be standard input")
    if args.dry_run and "-" in (args.control_out, args.train):
        raise UsageError("with -0, train and control-out must be files: the commands read them")
    tree = read_control(args.control or "-")
    work = plan(tree, args.train, kind, args.model, default=args.options, seed=args.seed,
                only=args.only, **reading(args))
    if args.only is None:
        ends = (".vec", ".cls", ".names") if kind == "binary" else ("",)
        check_outputs(work, args.control_out, [
            args.control or "-", args.norm_file, *(f"{args.train}{end}" for end in ends)])
    if args.dry_run:
        lines = [_command(args, work, job) for job in work.jobs]
        save_normalisation(work)
        _save(work.tree, args.control_out)
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        return
    with library_words(), Progress(args, "training") as progress:
        failures = train(work, args.jobs, progress,
                         args.control_out if args.only is None else None)
    for failure in failures:
        say(PROG, str(failure))
    if failures:
        raise JobsFailed(f"{len(failures)} of {len(work.jobs)} binary classifiers could not be "
                         "trained; the finished ones are kept, and control-out is not written")
    if args.only is None:
        _save(work.tree, args.control_out)


def _save(tree, path):
    from ..control.write import format_tree
    from ..formats.controlfile import write_control

    if path == "-":
        sys.stdout.write(format_tree(tree))
    else:
        write_control(path, tree)


def _ourselves():
    """The words that start this very program, also where the shell has another environment."""
    program = os.path.abspath(sys.argv[0])
    if os.path.basename(program) == PROG and os.path.isfile(program) and sys.executable:
        return [sys.executable, program]
    return [PROG]


def _command(args, work, job):
    """A shell command that trains one job on its own."""
    words = [*_ourselves(), f"--only={job.name}", f"--options={job.text}", f"--seed={job.seed}"]
    if args.svm:
        words += ["-M", f"--missing={args.missing!r}"]
    if args.lvq:
        words += ["-A"] + ["-H"] * args.no_header
    if work.norm_file is not None:
        words.append(f"--norm-file={work.norm_file}")
    words += ["--quiet"] * args.quiet
    words += ["--", args.control_out, args.train, args.model, args.control_out]
    for word in words:
        if "\n" in word or "\0" in word:
            raise UsageError("with -0, no name or option may hold a line break: "
                             f"{word!r} cannot stand in one line")
    return shlex.join(words)


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)

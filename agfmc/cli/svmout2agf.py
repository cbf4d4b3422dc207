"""svmout2agf: what svm-predict wrote to libAGF's binary files."""

from __future__ import annotations

import os
import sys

from ..errors import UsageError
from .options import Parser
from .run import run_command

__all__ = ["get_parser", "main"]

PROG = "svmout2agf"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Convert the output file of LIBSVM's svm-predict to classes and confidence ratings, "
        "base.cls and base.con.",
        usage="%(prog)s in base")
    parser.add_argument("in", help="what svm-predict wrote (- is standard input)")
    parser.add_argument("base", help="base name of the files to be written")
    return parser.finish()


def execute(args):
    """Convert, and print the probabilities."""
    from ..flow.svmoutput import convert_svm_output

    source = vars(args)["in"]
    if not os.path.basename(args.base):
        raise UsageError(f"expected a base name for the output files, found '{args.base}'")
    for name in (f"{args.base}.cls", f"{args.base}.con"):
        if source != "-" and os.path.realpath(name) == os.path.realpath(source):
            raise UsageError(f"{name} would take the place of the input: choose another name")
    convert_svm_output(source, args.base, sys.stdout)


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)

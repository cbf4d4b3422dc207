"""lvq2agf: LVQ text to libAGF's binary files."""

from __future__ import annotations

import os

from ..errors import UsageError
from .options import Parser
from .run import run_command

__all__ = ["get_parser", "main"]

PROG = "lvq2agf"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Convert LVQ text, a line with the number of features and then a line of features and "
        "label for each sample, to libAGF's binary files base.vec and base.cls.",
        usage="%(prog)s [-H] [-C] infile [base]")
    parser.add_argument("infile", help="LVQ text (- is standard input)")
    parser.add_argument("base", nargs="?",
                        help="base name of the files to be written (default: infile without its "
                             "extension)")
    group = parser.add_argument_group("conversion")
    group.add_argument("-H", "--no-header", action="store_true",
                       help="there is no first line with the number of features")
    group.add_argument("-C", "--no-labels", action="store_true",
                       help="the lines hold no labels: only base.vec is written")
    return parser.finish()


def execute(args):
    """Convert."""
    from ..flow.convert import convert_text

    base = args.base
    if base is None:
        base = os.path.splitext(args.infile)[0]
        if args.infile == "-" or base == args.infile:
            raise UsageError("expected the base name of the files to be written, as "
                             f"'{args.infile}' has no extension to leave out")
    convert_text(args.infile, "lvq", base, header=not args.no_header, labels=not args.no_labels)


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)

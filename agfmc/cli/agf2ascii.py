"""agf2ascii: libAGF's binary files to text."""

from __future__ import annotations

import sys

from ..errors import UsageError
from .options import Parser
from .run import run_command

__all__ = ["get_parser", "main"]

PROG = "agf2ascii"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Print libAGF's binary files base.vec and base.cls as text: LVQ text, or LIBSVM text "
        "with -M. Every value is printed in full.",
        usage="%(prog)s [-M | [-H] [-C]] [--words] base")
    parser.add_argument("base", help="base name of the .vec and .cls files")
    group = parser.add_argument_group("output")
    group.add_argument("-M", "--svm", action="store_true",
                       help="LIBSVM text, `label index:value ...`, zeros left out")
    group.add_argument("-H", "--no-header", action="store_true",
                       help="LVQ text without the first line, the number of features")
    group.add_argument("-C", "--no-labels", action="store_true",
                       help="LVQ text without labels; base.cls is not read")
    group.add_argument("--words", action="store_true",
                       help="the class names of base.names in place of the labels")
    return parser.finish()


def execute(args):
    """Read and print."""
    from ..formats.dataset import read_training
    from ..formats.lvq import lvq_lines
    from ..formats.svmwriter import check_words, svm_lines

    if args.svm and (args.no_header or args.no_labels):
        raise UsageError("-H and -C are for LVQ text, not for -M")
    if args.words and args.no_labels:
        raise UsageError("--words and -C exclude each other")
    data = read_training(args.base, labels=not args.no_labels)
    names = data.names if args.words else None
    if args.words:
        if names is None:
            raise UsageError(f"--words needs the class names in {args.base}.names")
        check_words(data.y, names, f"{args.base}.names")
    lines = (svm_lines(data.x, data.y, names) if args.svm
             else lvq_lines(data.x, data.y, not args.no_header, names))
    sys.stdout.writelines(lines)


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)

"""float_to_class: a continuous quantity to classes."""

from __future__ import annotations

from .messages import report
from .options import Parser, finite_number, whole_number
from .run import run_command

__all__ = ["get_parser", "main"]

PROG = "float_to_class"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Turn a continuous quantity into ordered classes: class 0 below the first threshold, and "
        "so on; a value on a threshold belongs to the class above it.",
        usage="%(prog)s [-q N] [-g] file out [min max | threshold ...]")
    parser.add_argument("file", help="values, float32 one after the other (.dat)")
    parser.add_argument("out", help="file of classes to be written (.cls)")
    parser.add_argument("numbers", nargs="*", default=[], type=finite_number,
                        metavar="min max | threshold",
                        help="with -q, the ends of the range that is divided (default: of the "
                             "values); without -q, the thresholds themselves")
    group = parser.add_argument_group("classes")
    group.add_argument("-q", "--classes", type=whole_number(2, 2**31 - 1), metavar="N",
                       help="number of classes, of equal width between min and max (default 2)")
    group.add_argument("-g", "--geometric", action="store_true",
                       help="thresholds in geometric progression, for values above 0")
    return parser.finish()


def execute(args):
    """Convert, and report the thresholds."""
    from ..flow.convert import classes_from_floats
    from ..formats.vectors import write_cls

    classes, edges = classes_from_floats(args.file, args.classes, args.geometric,
                                         tuple(args.numbers))
    write_cls(args.out, classes)
    report(args, PROG, f"{len(edges) + 1} classes, thresholds "
                       + " ".join(f"{edge:.9g}" for edge in edges))


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)

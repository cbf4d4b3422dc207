"""The options of compare_control."""

from __future__ import annotations

from ..codes.schemes import COMPARED
from .exploring import add_exploration
from .options import Parser, whole_number

__all__ = ["PROG", "get_parser"]

PROG = "compare_control"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Try several configurations on the same splits of the data and print how well and how "
        "fast each classifies. Every binary problem is trained once, whatever configurations "
        "have it.",
        usage="%(prog)s [-f FRACTION | -d PARTS] [--trials N] [--seed N] [-+ OPTIONS] "
              "[-Q DECODER,...] [--by SCORE] [--against CONTROL] [--csv | --json | --markdown] "
              "[--plot FILE] [-j N] [--platt WAY] [--kernel-memory MB] [-G] [--rows N] "
              "[--draws N] [--metric NAME] [--linkage NAME] [--state FILE | --no-state] "
              "[-M | -A] [--min-class N] [-n] [-S N] [-a FILE] train [control ...]")
    parser.add_argument("train", help="training data: base name of .vec and .cls files, or a "
                                      "text file with -M or -A")
    parser.add_argument("control", nargs="*",
                        help="a training control file, or the name of a scheme of print_control; "
                             "with decoders after a colon if not those that suit it, as in "
                             f"one-vs-one:inverse,vote (default: {' '.join(COMPARED)})")
    group = parser.add_argument_group("decoders")
    group.add_argument("-Q", "--decoders", metavar="DECODER,...",
                       help="decoders for every control that names none: those of classify_m, "
                            "and for trees recursive and full; any other takes a tree as the "
                            "coding matrix it stands for (default: those that suit it)")
    group.add_argument("--against", metavar="CONTROL",
                       help="the configuration, CONTROL or CONTROL:DECODER, that the others are "
                            "compared with (default one-vs-one, or else the first)")
    group = parser.add_argument_group("output")
    group.add_argument("--csv", action="store_true", help="the table as CSV")
    group.add_argument("--json", action="store_true",
                       help="everything as JSON, with the values of each split")
    group.add_argument("--markdown", action="store_true", help="the table in Markdown")
    group.add_argument("--plot", metavar="FILE",
                       help="a picture too, score against time: .png, .svg or .pdf")
    group = parser.add_argument_group("schemes, as for print_control")
    group.add_argument("-G", "--strict", action="store_true", help="random codes without 0")
    group.add_argument("--rows", type=whole_number(1), metavar="N", help="rows of random codes")
    group.add_argument("--draws", type=whole_number(1, 10**6), default=1, metavar="N",
                       help="the best of N random codes (default 1)")
    group.add_argument("--metric", choices=("hausdorff", "mean-deviation"),
                       help="distance of classes, for schemes that are made from data")
    group.add_argument("--linkage", choices=("single", "complete", "average"),
                       help="distance of groups of classes, for trees from data")
    add_exploration(parser, "10 with -f, 1 with -d; -f 0.3 if neither is given", "uncertainty")
    return parser.finish()

"""The options of print_control."""

from __future__ import annotations

from ..coding.schemes import DEFAULT, SCHEMES
from .options import Parser, add_input_kind, add_normalisation, add_seed, whole_number

__all__ = ["PROG", "get_parser"]

PROG = "print_control"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Write to standard output a training control file: the partitions of the classes "
        "that a multi-class classifier is built from.",
        usage="%(prog)s [-Q TYPE] [-G] [-Y] [-P] [-n] [-S N] [-a FILE] [-M | -A] [--seed N] "
              "[--names FILE] [-y FOLDER] {n | data | control} [nrow]")
    parser.add_argument(
        "source", metavar="{n | data | control}",
        help="the number of classes, labelled 0 to n-1; or training data, whose labels are "
             "used (base name of .vec and .cls files, or a text file with -M or -A); or, for "
             "-Q 9, a control file (- is standard input)")
    parser.add_argument("nrow", nargs="?", type=whole_number(1),
                        help="rows of a random code (default 4 ceil(n/4)); for -Q 10 the "
                             "number of entries that are not 0 in a row of the full matrix")
    group = parser.add_argument_group("scheme")
    group.add_argument("-Q", "--type", default=str(DEFAULT.number), metavar="TYPE",
                       help="the scheme, by number or name:\n" + "\n".join(
                           f"{s.number} {s.name}: {s.summary}" for s in SCHEMES))
    group.add_argument("-G", "--strict", action="store_true",
                       help="random codes without 0: every classifier tells all classes apart")
    group.add_argument("-Y", "--reduced", action="store_true",
                       help="orthogonal codes with one row fewer: the Hadamard matrix is "
                            "normalised and its constant row left out")
    group.add_argument("-P", "--print-matrix", action="store_true",
                       help="the coding matrix too, on standard error, columns in ascending "
                            "order of the labels")
    add_seed(group)
    group.add_argument("--options", default="", metavar="TEXT",
                       help='training options to write into the quotes (default none: "")')
    group.add_argument("-y", "--path", metavar="FOLDER",
                       help="with -Q 9: folder that is put before the names of the models")
    group.add_argument("--names", metavar="FILE",
                       help="class names, line i for label i, carried along as comments")
    add_input_kind(parser, "data")
    add_normalisation(parser)
    return parser.finish()

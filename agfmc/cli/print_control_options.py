"""The options of print_control."""

from __future__ import annotations

from ..codes.schemes import COMPARED, SCHEMES
from .exploring import add_splits, add_state, add_trying
from .options import (Parser, add_input_kind, add_min_class, add_normalisation, add_seed,
                      whole_number)

__all__ = ["PROG", "get_parser"]

PROG = "print_control"
_METRICS = ("hausdorff", "mean-deviation")
_LINKAGES = ("single", "complete", "average")


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Write to standard output a training control file: the partitions of the classes "
        "that a multi-class classifier is built from.",
        usage="%(prog)s [-Q TYPE] [-G] [-Y] [-P] [--metric NAME] [--linkage NAME] [--draws N] "
              "[-+ TEXT] [--dot] [--plot FILE] [-n] [-S N] [-a FILE] [-M | -A] [--min-class N] "
              "[--seed N] [--names FILE | --no-names] [-y FOLDER] [--best [-d PARTS | -f FRACTION] "
              "[--trials N] [--by SCORE] [-j N] [--platt WAY] [--kernel-memory MB] "
              "[--state FILE | --no-state]] {n | data | control | table} [nrow]")
    parser.add_argument(
        "source", metavar="{n | data | control | table}",
        help="the number of classes, labelled 0 to n-1; or training data, whose labels are "
             "used (base name of .vec and .cls files, or a text file with -M or -A); or, for "
             "-Q 9, a control file; or, for -Q contingency and -Q adjacent-ordered, how often "
             "classes were confused: what eval_uc --json or multi_borders --cv-errors wrote "
             "(- is standard input)")
    parser.add_argument("nrow", nargs="?", type=whole_number(1),
                        help="rows of a random code (default 4 ceil(n/4)); for -Q 10 the "
                             "number of entries that are not 0 in a row of the full matrix")
    group = parser.add_argument_group("scheme")
    group.add_argument("-Q", "--type", metavar="TYPE",
                       help="the scheme, by number or name:\n" + "\n".join(
                           f"{s.heading}: {s.summary}" for s in SCHEMES))
    group.add_argument("-G", "--strict", action="store_true",
                       help="random codes without 0: every classifier tells all classes apart")
    group.add_argument("-Y", "--reduced", action="store_true",
                       help="orthogonal codes with one row fewer: the Hadamard matrix is "
                            "normalised and its constant row left out")
    group.add_argument("--metric", choices=_METRICS,
                       help="with -Q 3 (default hausdorff) and -Q adjacent-ordered (default "
                            "mean-deviation): the distance of two classes, that of Hausdorff or "
                            "that of the means over the root of the deviations' product")
    group.add_argument("--linkage", choices=_LINKAGES,
                       help="with -Q 3 (default single) and -Q contingency (default average): "
                            "the distance of two groups, the smallest, the largest or the mean "
                            "of the distances between their classes")
    group.add_argument("--draws", type=whole_number(1, 10**7), metavar="N",
                       help="with -Q 7 and -Q 16: the best of N random codes, with columns, then "
                            "rows, as far as possible from each other (default 1)")
    group.add_argument("-P", "--print-matrix", action="store_true",
                       help="the coding matrix too, on standard error, columns in ascending "
                            "order of the labels")
    add_seed(group)
    group.add_argument("-+", "--options", default="", metavar="TEXT",
                       help='training options to write into the quotes (default none: "")')
    group.add_argument("-y", "--path", metavar="FOLDER",
                       help="with -Q 9: folder that is put before the names of the models")
    group.add_argument("--names", metavar="FILE",
                       help="class names, line i for label i, carried along as comments")
    group.add_argument("--no-names", action="store_true",
                       help="leave out the class names that data or a control file give: libAGF "
                            "cannot read a control file that holds them")
    group = parser.add_argument_group("best")
    group.add_argument("--best", action="store_true",
                       help="the configuration that cross-validation on data prefers, with a table "
                            "of all of them on standard error; -Q may list schemes with commas "
                            f"(default {','.join(COMPARED)} and adjacent-ordered), and --options "
                            "is also what they are trained with")
    add_trying(group, "uncertainty")
    add_splits(parser, "10 with -f, 2 with -d; -d 5 if neither is given")
    add_state(parser)
    group = parser.add_argument_group("pictures")
    group.add_argument("--dot", action="store_true",
                       help="Graphviz text in place of the control file")
    group.add_argument("--plot", metavar="FILE",
                       help="a picture too: the tree, with the distances where this command "
                            "makes it from them, or the coding matrix; .png, .svg or .pdf; needs "
                            "matplotlib")
    add_min_class(add_input_kind(parser, "data"))
    add_normalisation(parser)
    return parser.finish()

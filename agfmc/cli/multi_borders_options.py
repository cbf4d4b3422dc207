"""The options of multi_borders."""

from __future__ import annotations

from .executing import add_executor
from .options import (Parser, add_input_kind, add_min_class, add_normalisation, add_seed,
                      add_workers, time_span, whole_number)

__all__ = ["PROG", "get_parser"]

PROG = "multi_borders"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Train the binary support vector machines that a control file describes. Writes one "
        "LIBSVM model file for each, with probabilities, and the control file for "
        "classification.",
        usage="%(prog)s [-0 [--null]] [--only NAME] [-M [--dense] | -A] [--min-class N] "
              "[-n] [-a FILE [-u]] [-S N] [-j N | --executor WHERE] [--seed N] [-y FOLDER] "
              "[--retrain] [--time-limit TIME] [--platt WAY] [--kernel-memory MB] "
              "[--cv-errors FILE [--cv-irrelevant]] [--no-names] [-+ OPTIONS] "
              "[-- COMMAND [-^ COMMAND] [-K] [--allow-commands]] [control] train model control-out")
    parser.dashes = "--command"
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
    add_executor(group)
    group.add_argument("-0", "--dry-run", dest="dry_run", action="store_true",
                       help="train nothing: print one shell command for each "
                            "classifier, to be run in any order or side by side; the control "
                            "file and the normalisation are written")
    group.add_argument("--null", action="store_true",
                       help="with -0: end each command with a NUL character, for xargs -0; names "
                            "of data and folders may then hold line breaks")
    group.add_argument("--only", metavar="NAME",
                       help="train only the model of that name, and do not write control-out; "
                            "control may then be the control file that -0 wrote")
    group.add_argument("--retrain", action="store_true",
                       help="train everything; without it, models of an earlier run that this "
                            "one would write again are kept")
    group.add_argument("--time-limit", type=time_span, metavar="TIME",
                       help="stop after so many seconds (or H:MM:SS) and keep what is finished; "
                            "the exit status is 3 then, and the same command goes on from there")
    group.add_argument("--platt", choices=("cv", "loo"), metavar="WAY",
                       help="decision values that fit the probabilities: cv, from five folds "
                            "(default), or loo, from leaving out each sample by a formula, in "
                            "less than half the time; for C-SVC only")
    group.add_argument("--kernel-memory", type=whole_number(0, 10**9), metavar="MB",
                       help="megabytes for tables of kernel values, used where they save time "
                            "(default 512; 0: none). Results do not depend on it")
    group.add_argument("--cv-errors", metavar="FILE",
                       help="for one-vs-one: write how often each pair of classes was confused "
                            "when its samples were held out, for order_classes and classify_m")
    group.add_argument("--cv-irrelevant", action="store_true",
                       help="with --cv-errors: also where each classifier sends the samples of "
                            "all other classes, which takes longer")
    group.add_argument("-y", "--path", metavar="FOLDER",
                       help="folder of the model files, which control-out does not name")
    group.add_argument("--no-names", action="store_true",
                       help="leave the class names out of control-out: libAGF cannot read a "
                            "control file that holds them")
    group = parser.add_argument_group("training by another program")
    group.add_argument("--command", metavar="COMMAND",
                       help="`-- COMMAND` does the same: the program that trains each binary "
                            "classifier, called `COMMAND OPTIONS data model` like svm-train; data "
                            "is LIBSVM text, or LVQ text with -A, with the labels 0 and 1")
    group.add_argument("-^", "--convert", metavar="COMMAND",
                       help="program that makes the data what the trainer takes, from its "
                            "standard input to its standard output")
    group.add_argument("-K", "--keep", action="store_true",
                       help="keep the temporary files of the trainer, in folders MODEL.*.tmp")
    group.add_argument("--allow-commands", action="store_true",
                       help="pass on whatever options stand in control; without it those that "
                            "could name a file to the trainer are refused")
    group = add_input_kind(parser)
    add_min_class(group)
    group.add_argument("--dense", action="store_true",
                       help="with -M: points become a full table in memory, also where all "
                            "classifiers are linear and they could stay sparse")
    add_normalisation(parser, unnormalised="write support vectors as they were before the "
                                           "normalisation, which classify_m and mbh2mbm then need")
    return parser.finish()

"""classify_m: classes and probabilities of points."""

from __future__ import annotations

import argparse
import os
import sys
import warnings

from ..decode.methods import DEFAULT, METHODS
from ..errors import AgfmcWarning, UsageError
from .messages import report
from .options import Parser, add_input_kind, add_workers, input_kind
from .run import run_command

__all__ = ["get_parser", "main"]

PROG = "classify_m"
_MODES = ("recursive", "path", "full")


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Classify points with a trained configuration. Writes the classes (output.cls) and "
        "their confidence ratings (output.con), and prints the class probabilities.",
        usage="%(prog)s [-Q METHOD] [-0] [--tree MODE] [--reject P] [-a FILE] [-j N] [--header] "
              "[-M [-E VALUE] | -A [-H] [-C]] {control | model} test output")
    parser.add_argument("model", metavar="{control | model}",
                        help="control file for classification, whose binary models are read, or "
                             "one model file (.mbm)")
    parser.add_argument("test", help="points to classify: a .vec file, or text with -M or -A "
                                     "(- is standard input, to its end)")
    parser.add_argument("output", help="base name of output.cls (int32 classes) and output.con "
                                       "(float32 confidence ratings (k p - 1)/(k - 1))")
    group = parser.add_argument_group("decoding")
    group.add_argument("-Q", "--method", default=str(DEFAULT.number), metavar="METHOD",
                       help="the decoder of coding matrices, by number or name:\n" + "\n".join(
                           (f"{m.number} " if m.number is not None else "")
                           + f"{m.name}: {m.summary}" for m in METHODS))
    group.add_argument("-0", "--decision-values", action="store_true",
                       help="print the raw decision values of the binary models, in the order "
                            "and with the signs of LIBSVM, instead of probabilities")
    group.add_argument("--tree", choices=_MODES, default=_MODES[0], metavar="MODE",
                       help="for decision trees and nested configurations: recursive (default) "
                            "descends to one class and prints nothing; path prints the "
                            "probability of that class; full asks every binary classifier and "
                            "prints all probabilities, products along the branches")
    group.add_argument("--reject", type=_share, metavar="P",
                       help="answer -1 where the winner's probability is below P")
    group.add_argument("-a", "--norm-file", metavar="FILE",
                       help="normalisation (.std) to be applied to the points; an error for a "
                            "model file that holds its own")
    add_workers(group)
    group.add_argument("--header", action="store_true",
                       help="print a line `labels 0 1 ...` first, where a column for each class "
                            "follows: the labels of the columns")
    kinds = add_input_kind(parser, "test")
    kinds.add_argument("-C", "--no-labels", action="store_true",
                       help="with -A: the lines hold no labels")
    return parser.finish()


def _share(text):
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"expected a probability from 0 to 1, found '{text}'")
    return value


def execute(args):
    """Load the model, then stream points in and answers out."""
    from ..decode.stops import Stops
    from ..flow.configuration import load
    from ..flow.executors import available_cores
    from ..flow.predict import Classifier, classify
    from ..formats.dataset import iter_points
    from ..formats.files import replacing_all
    from ..formats.probtext import format_points
    from ..formats.vectors import cls_bytes, con_bytes, read_std

    kind = input_kind(args)
    if not os.path.basename(args.output):
        raise UsageError(f"expected a base name for the output files, found '{args.output}'")
    for source in (f"{args.output}.vec", args.output):
        if args.test != "-" and os.path.realpath(source) == os.path.realpath(args.test):
            raise UsageError(f"output would take the place of {args.output}.cls, the labels of "
                             f"{args.test}: choose another name")
    if args.no_labels and kind != "lvq":
        raise UsageError("-C goes with -A")
    if args.model == "-" and args.test == "-":
        raise UsageError("control and test cannot both be standard input")
    normalisation = None if args.norm_file is None else read_std(args.norm_file)
    classifier = Classifier(load(args.model, normalisation), args.method, args.tree,
                            args.decision_values, args.reject,
                            open_ended=kind == "svm")
    if kind == "svm" and args.missing != 0 and classifier.features is None:
        raise UsageError("-E needs a model that tells its number of features, and the files of "
                         f"{args.model} do not: what a line leaves out can only be 0")
    chunks = iter_points(args.test, kind, classifier.rows, d=classifier.features,
                         missing=args.missing, header=not args.no_header,
                         labels=not args.no_labels)
    stops = Stops()
    rejected = points = 0
    show_classes = not args.decision_values and classifier.method.name != "binary"
    all_columns = show_classes and classifier.mode in ("flat", "full")
    header = f"labels {' '.join(map(str, classifier.classes))}\n".encode() \
        if args.header and all_columns else b""
    names = [f"{args.output}.cls", f"{args.output}.con"]
    with replacing_all(names, binary=True) as (classes_file, confidence_file):
        for answers in classify(classifier, chunks, args.jobs or available_cores()):
            classes_file.write(cls_bytes(answers.classes))
            confidence_file.write(con_bytes(answers.confidence))
            if answers.columns is not None:
                sys.stdout.buffer.write(header + format_points(
                    answers.columns, answers.classes if show_classes else None))
                header = b""
            for stop in answers.stops:
                stops += stop
            points += len(answers.classes)
            rejected += int((answers.classes < 0).sum())
        sys.stdout.flush()  # before the files appear: a reader that left ends the run here
    if stops.warning():
        warnings.warn(stops.warning(), AgfmcWarning, stacklevel=2)
    if args.reject is not None:
        report(args, PROG, f"{rejected} of {points} points rejected")


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)

"""The options of classify_m."""

from __future__ import annotations

import argparse

from ..decode.methods import DEFAULT, METHODS
from .executing import add_executor
from .options import Parser, add_input_kind, add_seed, add_workers, whole_number
from .proportions import PROPORTIONS, proportions

__all__ = ["PROG", "get_parser"]

PROG = "classify_m"
_MODES = ("recursive", "path", "full")


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Classify points with a trained configuration. Writes the classes (output.cls) and "
        "their confidence ratings (output.con), and prints the class probabilities.",
        usage="%(prog)s [-Q METHOD] [-0] [--tree MODE] [--reject P] [-a FILE [-u]] [-y FOLDER] "
              "[-j N | --executor WHERE] [--header] [--opponents L] [--top T] [--seed N] "
              "[--pair-errors FILE] [--priors P [--trained-priors P]] [--count] [--margins] "
              "[-c CODE] [-Z] [-M [-E VALUE] | -A [-H] [-C]] [-O COMMAND [-K]] [--allow-commands] "
              "{control | model} test output")
    parser.add_argument("model", metavar="{control | model}",
                        help="control file for classification, whose binary models are read, or "
                             "one model file: .mbm, libAGF's ASCII model, or LIBSVM's")
    parser.add_argument("test", help="points to classify: a .vec file, or text with -M or -A "
                                     "(- is standard input, to its end)")
    parser.add_argument("output", help="base name of output.cls (int32 classes) and output.con "
                                       "(float32 confidence ratings (k p - 1)/(k - 1)); with -O "
                                       "the text file that is written in their place")
    _add_decoding(parser.add_argument_group("decoding"))
    _add_asking(parser.add_argument_group("decoders that ask some of the classifiers"))
    kinds = add_input_kind(parser, "test")
    kinds.add_argument("-C", "--no-labels", action="store_true",
                       help="with -A: the lines hold no labels")
    group = parser.add_argument_group("other programs")
    group.add_argument("-O", "--predictor", metavar="COMMAND",
                       help="program that reads the binary models, called `COMMAND points model "
                            "output` like svm-predict -b 1; test is then LVQ text, unless -M or "
                            "its name ends in .vec, and output a text file as svm-predict's")
    group.add_argument("-K", "--keep", action="store_true",
                       help="keep the temporary files of other programs, in folders agfmc.*.tmp")
    group.add_argument("--allow-commands", action="store_true",
                       help="run the commands that stand in control for classifiers of code G")
    return parser.finish()


def _add_decoding(group):
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
    group.add_argument("--priors", type=proportions, metavar="P",
                       help="the classes are met in these proportions, which are not those of the "
                            f"training: {PROPORTIONS}; for decoders that give all probabilities")
    group.add_argument("--trained-priors", type=proportions, metavar="P",
                       help="with --priors: the proportions in training, where the models do not "
                            "tell them")
    group.add_argument("-a", "--norm-file", metavar="FILE",
                       help="normalisation (.std) to be applied to the points; an error for a "
                            "model file that holds its own")
    group.add_argument("-u", "--unnormalised", action="store_true",
                       help="with -a: the support vectors are not normalised either, and are "
                            "normalised as they are read")
    group.add_argument("-y", "--path", metavar="FOLDER",
                       help="folder of the models that control names")
    group.add_argument("-c", "--sigmoid", type=whole_number(0, 3), metavar="CODE",
                       help="function g of r = g(a f + b) for a decision value f: 0 tanh, for "
                            "which a and b are fitted, 1 error function, 2 logistic function, 3 "
                            "arctangent; models without probabilities have a = 1, b = 0")
    group.add_argument("-Z", "--libsvm", action="store_true",
                       help="the models are LIBSVM's: they always are")
    add_workers(group)
    add_executor(group)
    group.add_argument("--header", action="store_true",
                       help="print a line `labels 0 1 ...` first, where a column for each class "
                            "follows: the labels of the columns")


def _add_asking(group):
    group.add_argument("--opponents", default="3log", metavar="L",
                       help="with -Q poll: random opponents of each class, a number, or a multiple "
                            "of log2 of the number of classes such as 3log (default)")
    group.add_argument("--top", type=whole_number(1), metavar="T",
                       help="with -Q poll: the T best classes are asked for all their votes")
    add_seed(group)
    group.add_argument("--pair-errors", metavar="FILE",
                       help="with -Q radag: errors of the pairs, as multi_borders --cv-errors "
                            "writes them")
    group.add_argument("--count", action="store_true",
                       help="report the binary classifiers asked and the kernel evaluations for "
                            "a point, on average; with any decoder")
    group.add_argument("--margins", action="store_true",
                       help="report the sum of 1/margin^2 over the binary classifiers")


def _share(text):
    from ..numerals import numeral

    try:
        value = numeral(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"expected a probability from 0 to 1, found '{text}'")
    return value

"""The options of order_classes."""

from __future__ import annotations

import argparse

from .options import (Parser, add_input_kind, add_min_class, add_normalisation, add_seed,
                      finite_number, whole_number)

__all__ = ["PROG", "get_parser"]

PROG = "order_classes"
_METRICS = ("mean-deviation", "hausdorff")


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Write to standard output a control file with its classes in a better order: for DDAGs, "
        "which ask one-against-one classifiers in the order of the braces, or, with --path, for "
        "adjacent codes.",
        usage="%(prog)s [--errors FILE] [--priors P,P,...] [--error-rate Q] [--exact-up-to N] "
              "[--seed N] [--path [--metric NAME] [-n] [-S N] [-a FILE]] [-M | -A] "
              "[--min-class N] control [train]")
    parser.add_argument("control", help="control file: one against one, trained or not; with "
                                        "--path any coding matrix that is not trained yet (- is "
                                        "standard input)")
    parser.add_argument("train", nargs="?",
                        help="training data, for the frequencies of the classes or, with --path, "
                             "their distances (base name, or a text file with -M or -A)")
    group = parser.add_argument_group("order for DDAGs")
    group.add_argument("--errors", metavar="FILE",
                       help="errors of the classifiers, counted in cross-validation (- is "
                            "standard input); without it all are taken to err alike")
    group.add_argument("--priors", type=_numbers, metavar="P,P,...",
                       help="how frequent the classes are, in ascending order of their labels "
                            "(default: as in train, else as in the file of errors, else all "
                            "alike)")
    group.add_argument("--error-rate", type=_probability, metavar="Q",
                       help="without --errors: how often a classifier errs, for the accuracy "
                            "that is reported (default 0.1)")
    group.add_argument("--exact-up-to", type=whole_number(0, 14), metavar="N",
                       help="with --errors: up to N classes the best order there is (default "
                            "10, a few seconds; each class more takes ten times as long)")
    add_seed(group)
    group = parser.add_argument_group("order for adjacent codes")
    group.add_argument("--path", action="store_true",
                       help="the shortest path through the classes of train")
    group.add_argument("--metric", choices=_METRICS,
                       help="distance of two classes: that of the means over the root of the "
                            "deviations' product (default), or that of Hausdorff")
    add_min_class(add_input_kind(parser))
    add_normalisation(parser)
    return parser.finish()


def _numbers(text):
    return [finite_number(word) for word in text.split(",")]


def _probability(text):
    value = finite_number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, found '{text}'")
    return value

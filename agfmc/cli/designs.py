"""The options of print_control for schemes, random trees and ensembles."""

import argparse

from ..core.errors import UsageError
from ..designs.schemes import find_scheme, LINKAGES, METRICS
from .data_options import NORMALISATION
from .option_types import given, refuse_given, whole_number
from .options import is_trained

_KINDS = ("uniform", "class-balanced", "data-balanced")
_AVERAGES = {"arithmetic": "average", "geometric": "geometric"}  # their decoders
# Options of the schemes of members, with the option of the scheme that has them.
_OF_MEMBERS = {"--kind": "kind", "--draws": "draws", "nrow": "rows", "-G": "strict"}


def add_scheme_options(group, draws=None):
    """The options of schemes that print_control and compare_control have, `draws` by default."""
    group.add("-G, --strict", "random codes without 0: every classifier separates all classes")
    group.add(
        "--metric",
        "with -Q 3 (default hausdorff) and -Q adjacent-ordered (default "
        "mean-deviation): the distance of two classes, Hausdorff's or that of the means "
        "over the root of the product of the deviations",
        choices=METRICS,
    )
    group.add(
        "--linkage",
        "with -Q 3 (default single) and -Q contingency (default average): the "
        "distance of two groups, the smallest, the largest or the mean of the distances "
        "between their classes",
        choices=LINKAGES,
    )
    group.add(
        "--draws N",
        "with -Q 7 and -Q 16, and ensembles of them: the best of N random codes, which has "
        "the largest distances between columns, then rows (default 1)",
        whole_number(1, 10**7),
        default=draws,
    )


def add_drawing(parser):
    """The group of options of random trees and of ensembles."""
    group = parser.group("random trees and ensembles")
    group.add(
        "--kind",
        "with -Q random-tree, and ensembles of them: all trees with equal "
        "probability, or with half of the classes, or about half of the points, on each "
        "side of every node (default uniform, for ensembles class-balanced)",
        choices=_KINDS,
    )
    group.add(
        "--of SCHEME",
        "with -Q ensemble: the scheme of its members, random-tree "
        "(default), random or random-as-orthogonal",
    )
    group.add(
        "--members N",
        "with -Q ensemble: number of different configurations (default 10, or as many as exist)",
        whole_number(2, 10_000),
    )
    group.add(
        "--average",
        "with -Q ensemble: write the decoder of this average of the "
        "probabilities into the head of the control file (default: none, which means "
        "arithmetic)",
        choices=_AVERAGES,
    )


def with_average(average, tree):
    """`tree` with the decoder of the option --average in its head."""
    from ..control.build import with_heading

    return tree if average is None else with_heading(tree, "decoder", _AVERAGES[average])


def scheme_settings(args):
    """The settings of schemes."""
    return {
        "rows": args.nrow,
        **{
            name: getattr(args, name)
            for name in (
                "strict",
                "reduced",
                "seed",
                "draws",
                "metric",
                "linkage",
                "kind",
                "of",
                "members",
            )
        },
    }


class Operands(argparse.Action):
    """The operands after the first: `nrow`, one whole number, else `controls`, files."""

    def __call__(self, parser, namespace, values, option_string=None):
        """Read the operands."""
        rows = len(values) == 1 and values[0].isascii() and values[0].isdigit()
        try:
            namespace.nrow = whole_number(1)(values[0]) if rows else None
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, str(error)) from None
        namespace.controls = () if rows else tuple(values)


def joined_controls(args):
    """The ensemble of the control files that are the operands."""
    from ..control.build import joined
    from ..models.control_files import read_control

    refuse_given(
        args,
        (*_OF_MEMBERS, "--of", "--members", *NORMALISATION, "--options"),
        "is for new configurations: the control files that are joined keep theirs",
    )
    if (args.source, *args.controls).count("-") > 1:
        raise UsageError("- is standard input, which can be read once")
    trees = [read_control(name) for name in (args.source, *args.controls)]
    trained = is_trained(trees[0])
    for tree in trees:
        if trained:
            tree.require_names()
        else:
            tree.require_options()
    return joined(trees)


def refuse_unheeded(args, scheme):
    """UsageError for an option that a scheme, or that of its members, does not heed."""
    of = find_scheme(args.of or scheme.options["of"]) if "of" in scheme.options else scheme
    for option in given(args, *_OF_MEMBERS):
        if _OF_MEMBERS[option] not in of.options:
            raise UsageError(f"{option} is not for an ensemble of {of.name}")

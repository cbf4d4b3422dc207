"""The options of print_control for designs that are searched for in data."""

import argparse
from dataclasses import replace
from typing import NamedTuple

from ..core.errors import UsageError
from ..designs.schemes import COMPARED_SPLITS, find_scheme, LINKAGES, METRICS
from .data_options import NORMALISATION
from .experiments import report_reused, state
from .messages import Progress
from .option_types import given, not_negative, or_auto, refuse_given, whole_number
from .options import is_trained

LOSSES = ("log-loss", "error")  # and cost:FILE
_KINDS = ("uniform", "class-balanced", "data-balanced")
_AVERAGES = {"arithmetic": "average", "geometric": "geometric"}  # their decoders
# Options of searches, and of the schemes of members, with the option of the scheme that has them.
SEARCHING = {
    **dict.fromkeys(("--rows", "--pool", "--from"), "code"),
    "--search-options": "options",
    "--splits": "search",
    "--balance": "search",
}
_OF_MEMBERS = {"--kind": "kind", "--draws": "draws", "nrow": "rows", "-G": "strict"}
_OF_DRAWS = ("--search-options", "--by")  # that the best of many draws heeds


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
        "with -Q 7 and -Q 16: the best of N random codes, which has the "
        "largest distances between columns, then rows; with -Q random-tree and data, the "
        "tree with the least leave-one-out loss of N (default 1)",
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
        "(default), random or random-as-orthogonal; random-tree with --draws, the best of "
        "so many; or best-tree, the best trees of tenths of the points",
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
    """The settings of schemes that do not search."""
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
        (*_OF_MEMBERS, "--of", "--members", *SEARCHING, *NORMALISATION, "--by", "--options"),
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
    heeded = _OF_DRAWS if of.name == "random-tree" and args.draws is not None else ()
    for option in given(args, *SEARCHING, "--by"):
        if "classes" in of.made_of and option not in heeded:
            name = of.name if of is scheme else f"an ensemble of {of.name} (--of)"
            raise UsageError(f"{option} is for {searches_with(option)}, not for {name}")


def add_searching(parser):
    """The group of options of searches."""
    group = parser.group("search for a tree")
    group.add(
        "--search-options TEXT",
        "options, as of learner=nystrom, of the classifiers that "
        "evaluate splits or rows of a code: -m landmarks (default 400), -g, -l, --loo and "
        "others (default: the kernel of --options, or the gamma with the least "
        "leave-one-out error)",
    )
    group.add(
        "--splits N",
        "evaluate at most N splits of classes: if these are all splits, the "
        "result is the best tree of all, otherwise that of a local search (default "
        "300,000, which is all for 12 classes)",
        whole_number(1, 10**9),
    )
    group.add(
        "--balance W",
        "add W to the loss for each classifier that is evaluated for a "
        "point; auto takes the tree that evaluates the fewest, of those within a standard "
        "error of the least loss (default 0)",
        or_auto(not_negative),
    )
    group = parser.group("search for a code")
    group.add(
        "--rows M|auto",
        "with -Q best-code, the same as nrow: M rows; auto stops when "
        "more rows do not improve the loss on points that did not choose them by a "
        "standard error (default auto)",
        or_auto(whole_number(1)),
    )
    group.add(
        "--pool N",
        "with -Q best-code: choose from N candidate rows: all that exist, if "
        "they are no more, else one-vs-rest, all pairs and random ones (default 2000)",
        whole_number(1, 10**6),
    )
    group.add(
        "--from CONTROL",
        "with -Q best-code: start from the partitions of this control "
        "file, and add, exchange or remove rows (default: start without rows)",
        dest="start",
    )


def searches_with(option):
    """The schemes, in words, that an option of searches for trees is for."""
    return (
        "-Q best-tree"
        + ", random-tree with --draws" * (option in _OF_DRAWS)
        + ", best-code" * (option == "--search-options")
        + " and -Q ensemble --of best-tree"
        + " or with --draws" * (option in _OF_DRAWS)
    )


class SearchChoices(NamedTuple):
    """Settings of the search for a design.

    Attributes
    ----------
    search : `CodeSearch`, or `TreeSearch` but for its loss
    loss : text of --by, or None
    names : file of the class names, or None
    settings : settings of `designs.design.search`
    folder, stores : as for `state`
    """

    search: object
    loss: str | None
    names: str | None
    settings: dict
    folder: str | None
    stores: bool


def search_choices(args, scheme):
    """The `SearchChoices` of the options."""
    from ..executors.threads import available_cores
    from ..designs.code_search import CodeSearch, POINTS, POOL
    from ..designs.split_costs import LEFT_OUT, SPLITS, TreeSearch
    from ..models.control_files import read_control

    if "code" not in scheme.options:
        search = TreeSearch(
            _machine(args, LEFT_OUT), args.splits or SPLITS, balance=args.balance or 0.0
        )
    elif args.rows is not None and args.nrow is not None:
        raise UsageError("nrow and --rows are the same: expected one of them")
    else:
        search = CodeSearch(
            _machine(args, POINTS),
            None if args.rows == "auto" else args.rows,
            args.pool or POOL,
            None if args.start is None else read_control(args.start),
        )
    return SearchChoices(
        search,
        args.by,
        args.names,
        {"options": args.options, "workers": args.jobs or available_cores()},
        args.state,
        not args.no_state,
    )


def searched_design(scheme, points, source, settings, choices):
    """The result of a search of a scheme in `LabelledPoints`: its `tree`, and `notes`.

    `source` is that of the points, `settings` are those of schemes, `choices` the `SearchChoices`.
    """
    from ..designs.best_tree import count_splits
    from ..data.training import with_source_in_errors
    from ..experiments.caches import CostStore
    from ..designs.design import search

    names, keeps = points.names, "store" in scheme.options
    if choices.names is not None:
        from ..data.class_names import read_names_of

        names = read_names_of(choices.names, points.labels)
        points = points._replace(names=names)
    options = {**choices.settings, **settings}
    if "code" in scheme.options:
        options["code"] = choices.search
    else:
        options["search"] = replace(choices.search, loss=_loss(choices.loss, points.labels, names))
    stores = choices.stores and (
        choices.folder is not None or keeps and count_splits(len(points.labels)) > COMPARED_SPLITS
    )
    with state(choices.folder, stores, points) as cache, with_source_in_errors(source):
        if keeps:
            options["store"] = store = CostStore(cache, points)
        with Progress("searching") as progress:
            design = search(scheme.name, points, progress=progress, **options)
        if keeps:
            report_reused(store)
    return design


def draw_design(path, tree, design):
    """The picture of a design, with the losses of its nodes where a search knows them."""
    if getattr(design, "best", None) is None:
        from ..report.chart_control import draw_control

        draw_control(path, tree, getattr(design, "heights", None))
        return
    from ..report.chart_control import draw_losses

    shares = dict(zip(design.costs.labels, design.costs.splits.shares.tolist()))
    draw_losses(path, replace(design.best, tree=tree), shares, design.costs.search.loss.title)


def with_losses(tree, design):
    """A design with the loss of each node and its share of the points as texts, where a search
    knows them."""
    from ..control.build import rename

    if getattr(design, "best", None) is None:
        return tree
    return rename(
        tree,
        [
            f"{node.loss:.4f} +- {node.error:.4f}\n{100 * node.share:.1f} % of points"
            for node in design.best.nodes
        ],
    )


def _machine(args, left_out):
    from ..designs.tree_search import machine_options

    if args.search_options is None:
        return None
    if "learner=" in args.search_options:
        raise UsageError(
            "--search-options: expected options of learner=nystrom, whose name is left out"
        )
    if weights := {"-w0", "-w1"}.intersection(args.search_options.split()):
        raise UsageError(f"--search-options {min(weights)}: the sides of splits have no weights")
    return machine_options(f"learner=nystrom {args.search_options}", left_out)


def _loss(text, labels, names):
    from ..designs.split_costs import Loss

    word, _, file = (text or LOSSES[0]).partition(":")
    if word == "cost" and file:
        from ..data.cost_file import read_costs

        costs = read_costs(file, labels, names).costs
        return Loss("cost", costs - costs.diagonal()[:, None])
    if text is not None and text not in LOSSES:
        raise UsageError(f"--by {text}: expected {', '.join(LOSSES)} or cost:FILE for a search")
    return Loss(word)

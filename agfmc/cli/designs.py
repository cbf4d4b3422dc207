"""The options of print_control for designs that are searched for in data."""

import argparse

from ..codes.schemes import COMPARED_SPLITS, find_scheme
from ..errors import UsageError
from .experiments import report_reused, state
from .messages import Progress
from .options import finite_number, normalisation_options, whole_number

__all__ = ["Operands", "add_drawing", "add_searching", "drawn_design", "found_design",
           "joined_controls", "searching_options", "with_average"]

LOSSES = ("log-loss", "error")  # and cost:FILE


_KINDS = ("uniform", "class-balanced", "data-balanced")
_AVERAGES = {"arithmetic": "average", "geometric": "geometric"}  # their decoders
_OF_DRAWS = ("--search-options", "--by", "--alternatives")  # that the best of many draws heeds


def add_drawing(parser):
    """The group of options of random trees and of ensembles."""
    group = parser.add_argument_group("random trees and ensembles")
    group.add_argument("--kind", choices=_KINDS,
                       help="with -Q random-tree, and ensembles of them: all trees alike, or with "
                            "half of the classes, or about half of the points, on each side of "
                            "every node (default uniform)")
    group.add_argument("--of", metavar="SCHEME",
                       help="with -Q ensemble: the scheme of its members, random-tree (default), "
                            "random or random-as-orthogonal, of one draw after the other; "
                            "random-tree with --draws, the best of so many; or best-tree, the "
                            "best trees there are")
    group.add_argument("--members", type=whole_number(2, 10_000), metavar="N",
                       help="with -Q ensemble: how many different configurations (default 10, or "
                            "as many as there are)")
    group.add_argument("--average", choices=_AVERAGES,
                       help="with -Q ensemble: write the decoder of this average of the "
                            "probabilities into the head of the control file (default none, which "
                            "is the arithmetic one)")


def with_average(args, tree):
    """`tree` with the decoder of --average in its head."""
    from ..control.build import with_heading

    return tree if args.average is None else with_heading(tree, "decoder", _AVERAGES[args.average])


def drawn_design(args, scheme, labels):
    """The design of a scheme for labels, without data, as `found_design` returns it."""
    from ..training.design import design
    from ..training.drawn_designs import Designed

    _refuse_idle(args, scheme)
    for given, option in normalisation_options(args):
        if given:
            raise UsageError(f"{option} is for training data: found the number {args.source}")
    return Designed(design(scheme.name, labels, seed=args.seed, **_drawing(args)))


def _drawing(args):
    """The settings of schemes whose designs are drawn."""
    return {"kind": args.kind, "draws": args.draws, "of": args.of, "members": args.members,
            "rows": args.nrow, "strict": args.strict}


class Operands(argparse.Action):
    """The operands after the first: `nrow`, one whole number, else `controls`, files."""

    def __call__(self, parser, namespace, values, option_string=None):
        """Read them."""
        rows = len(values) == 1 and values[0].isascii() and values[0].isdigit()
        try:
            namespace.nrow = whole_number(1)(values[0]) if rows else None
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, str(error)) from None
        namespace.controls = () if rows else tuple(values)


def joined_controls(args):
    """The ensemble of the control files that are the operands."""
    from ..control.build import joined
    from ..formats.controlfile import read_control

    for given, option in (*_of_members(args), (args.of is not None, "--of"),
                          (args.members is not None, "--members"), *searching_options(args),
                          *normalisation_options(args), (args.by is not None, "--by"),
                          (args.options != "", "--options")):
        if given:
            raise UsageError(f"{option} is for new configurations: the control files that are "
                             "joined keep theirs")
    return joined(map(read_control, (args.source, *args.controls)))


def _of_members(args):
    """(given, option) of the options of the schemes that members are of."""
    return ((args.kind is not None, "--kind"), (args.draws is not None, "--draws"),
            (args.nrow is not None, "nrow"), (args.strict, "-G"))


def _refuse_idle(args, scheme):
    """UsageError for an option that a scheme, or that of its members, does not heed."""
    of = find_scheme(args.of or scheme.options["of"]) if "of" in scheme.options else scheme
    for given, option in _of_members(args):
        if given and {"-G": "strict", "nrow": "rows"}.get(option, option[2:]) not in of.options:
            raise UsageError(f"{option} is not for an ensemble of {of.name}")
    heeded = _OF_DRAWS if of.name == "random-tree" and args.draws is not None else ()
    for given, option in (*searching_options(args), (args.by is not None, "--by")):
        if given and "classes" in of.made_of and option not in heeded:
            raise UsageError(f"{option} is for a search: expected -Q best-tree"
                             + (", or random-tree with --draws" if option in _OF_DRAWS else "")
                             + f", found {of.name}")


def add_searching(parser):
    """The group of options of searches."""
    group = parser.add_argument_group("search for a tree, with -Q best-tree")
    group.add_argument("--search-options", metavar="TEXT",
                       help="options, as of learner=nystrom, of the classifiers that splits are "
                            "judged by: -m landmarks (default 400), -g, -l, --loo and others "
                            "(default: the kernel that --options give, or the gamma with the least "
                            "leave-one-out error)")
    group.add_argument("--splits", type=whole_number(1, 10**9), metavar="N",
                       help="try at most N splits of classes: where all of them are no more, the "
                            "best tree of all is found, else one that a local search comes to "
                            "(default 300000, which is all for 12 classes)")
    group.add_argument("--max-depth", type=whole_number(1), metavar="D",
                       help="trees of depth D at most: the classifiers on the way to any class")
    group.add_argument("--balance", type=_balance, metavar="W",
                       help="add W to the loss for each classifier that a point is asked on its "
                            "way; auto takes the tree that asks the fewest, of those within a "
                            "standard error of the least loss (default 0)")
    group.add_argument("--together", action="append", metavar="CLASS,CLASS,...",
                       help="tell these classes, by label or name, apart last: they are one branch "
                            "(may be given several times)")
    group.add_argument("--top", metavar="'CLASS ... / CLASS ...'",
                       help="the root of the tree: the classes on its left and its right side")
    group.add_argument("--alternatives", type=whole_number(0, 1000), metavar="K",
                       help="list the K next best trees in comments, and how they differ")


def _balance(text):
    return text if text == "auto" else finite_number(text)


def searching_options(args):
    """(given, option) of the options of searches."""
    return tuple((getattr(args, option.strip("-").replace("-", "_")) is not None, option)
                 for option in ("--search-options", "--splits", "--max-depth", "--balance",
                                "--together", "--top", "--alternatives"))


def found_design(args, prog, scheme, data):
    """What the search of a scheme finds in a `Dataset`: its `tree`, and `notes`."""
    from ..codes.best_tree import count_splits
    from ..executors.threads import available_cores
    from ..experiments.kept_costs import KeptCosts
    from ..training.design import search_design

    if args.executor is not None:
        raise UsageError("--executor needs --best: a search has threads alone, -j")
    _refuse_idle(args, scheme)
    labels = sorted(data.counts)
    options = {"search": _tree_search(args, labels, data.name_of), "options": args.options,
               "seed": args.seed, "workers": args.jobs or available_cores(),
               **_drawing(args)}
    long = "kept" in scheme.options and count_splits(len(labels)) > COMPARED_SPLITS
    with state(args, prog, data, wanted=long) as cache:
        kept = KeptCosts(cache, data.x, data.y)
        with Progress(args, "searching", prog) as progress:
            found = search_design(scheme.name, data.x, data.y, labels, data.name_of,
                                  progress=progress, kept=kept, **options)
        report_reused(args, prog, kept)
    return found


def _tree_search(args, labels, names):
    from ..training.tree_search import machine_options, SPLITS, TreeSearch

    together = [_classes(text.split(","), labels, names, "--together") for text in
                args.together or ()]
    if args.top is not None:
        together += _sides(args.top, labels, names)
    machine = None if args.search_options is None else \
        machine_options(f"learner=nystrom {args.search_options}")
    return TreeSearch(machine, args.splits or SPLITS, _loss(args.by, labels, names), args.max_depth,
                      args.balance or 0.0, together, args.alternatives or 0)


def _loss(text, labels, names):
    """The `Loss` of --by."""
    from ..training.split_costs import Loss

    word, _, file = (text or LOSSES[0]).partition(":")
    if word == "cost" and file:
        from ..formats.cost_matrix import read_costs
        costs = read_costs(file, labels, names).costs
        return Loss("cost", costs - costs.diagonal()[:, None])
    if text is not None and text not in LOSSES:
        raise UsageError(f"--by {text}: expected {', '.join(LOSSES)} or cost:FILE for a search")
    return Loss(word)


def _classes(words, labels, names, option):
    """Labels of classes that are given by label or by name."""
    label_of = {**{str(label): label for label in labels},
                **{name: label for label, name in names.items() if label in labels}}
    found = []
    for word in map(str.strip, words):
        if word not in label_of:
            raise UsageError(f"{option}: there is no class '{word}' in the data: expected labels "
                             "or names of classes, with commas between them")
        if label_of[word] in found:
            raise UsageError(f"{option}: class '{word}' is given twice")
        found.append(label_of[word])
    if len(found) < 2 and option == "--together":
        raise UsageError(f"{option} {','.join(words)}: expected two classes or more")
    return found


def _sides(text, labels, names):
    """The two sides of --top."""
    sides = [side.replace(",", " ").split() for side in text.split("/")]
    if len(sides) != 2 or not all(sides):
        raise UsageError(f"--top '{text}': expected the classes on the left side, a slash, and "
                         "those on the right side")
    found = [_classes(side, labels, names, "--top") for side in sides]
    both = sorted(found[0] + found[1])
    if both != sorted(set(both)) or set(both) != set(labels):
        wrong = next((label for label in labels if both.count(label) != 1))
        raise UsageError(f"--top '{text}': expected every class of the data on one side; class "
                         f"{wrong} is on {'both' if wrong in both else 'none'}")
    return found

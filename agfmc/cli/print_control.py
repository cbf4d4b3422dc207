"""print_control: write the control file of a scheme."""

from __future__ import annotations

import sys

from ..coding.schemes import find_scheme
from ..errors import DataError, UsageError
from .messages import say
from .options import input_kind, reading
from .print_control_options import PROG, get_parser
from .run import run_command

__all__ = ["get_parser", "main"]


def execute(args):
    """Design the control tree and print it."""
    from ..control.build import rename, to_code
    from ..control.write import format_tree

    scheme = find_scheme(args.type)
    if args.nrow is not None and scheme.name not in ("random", "orthogonal-special"):
        raise UsageError(f"nrow is for -Q 7 (random) and -Q 10 (orthogonal-special), "
                         f"not for {scheme.name}")
    if scheme.name == "convert" and args.options:
        raise UsageError("--options is for a new control file; one that is converted keeps its own")
    _refuse_idle(args, scheme)
    kind = input_kind(args)
    if scheme.name == "convert":
        from ..formats.controlfile import read_control
        tree = to_code(_placed(read_control(args.source), args.path))
    elif scheme.name == "empirical":
        tree = _from_data(args, kind)
    else:
        from ..flow.design import design
        labels, names = _labels(args, kind)
        tree = design(scheme.name, labels, rows=args.nrow, strict=args.strict,
                      reduced=args.reduced, seed=args.seed, names=names)
    if args.options:
        tree = rename(tree, [args.options] * len(tree.rows), quoted=True)
    if args.names is not None:
        from ..control.tree import changed
        from ..formats.names import read_names_of
        tree = changed(tree, names=read_names_of(args.names, tree.classes))
    if args.print_matrix:
        _print_matrix(tree)
    sys.stdout.write(format_tree(tree))


def _placed(tree, path):
    """`tree` with the names of its models below the folder `path`, if there is one."""
    from ..control.build import rename
    from ..formats.controlfile import model_file

    if path is None:
        return tree
    tree.require_names()
    return rename(tree, [model_file(row.text, path) for row in tree.rows])


def _print_matrix(tree):
    """The coding matrix, and how far its rows and columns are from each other."""
    from ..coding.matrix import format_matrix, smallest_distances
    from ..flow.design import matrix_of

    rows, labels = matrix_of(tree)
    sys.stderr.write("".join(f"{line}\n" for line in format_matrix(rows, len(labels))))
    if len(rows) > 1:
        say(PROG, "smallest distance between rows {}, between columns {}".format(
            *smallest_distances(rows, len(labels))))


def _refuse_idle(args, scheme):
    """UsageError for an option that would change nothing."""
    for given, option, wanted in (
            (args.strict, "-G", "random"), (args.reduced, "-Y", "orthogonal"),
            (args.normalise, "-n", "empirical"), (args.svd is not None, "-S", "empirical"),
            (args.norm_file is not None, "-a", "empirical"),
            (args.path is not None, "-y", "convert")):
        if given and scheme.name != wanted:
            raise UsageError(f"{option} is for -Q {wanted}, not for {scheme.name}")


def _labels(args, kind):
    """The class labels that the operand stands for, and the names that data give them."""
    if args.source.isascii() and args.source.isdigit():
        k = int(args.source) if len(args.source) < 8 else 10**7
        if k > 100_000:
            raise UsageError(f"{args.source} classes are more than the 100000 that are supported")
        return range(k), {}
    from ..formats.dataset import read_labels
    labels, names = read_labels(args.source, kind, header=not args.no_header)
    _require_two(labels, args.source)
    return labels, names


def _from_data(args, kind):
    from ..flow.design import tree_from_data
    from ..flow.prepare import load_training

    if args.source.isascii() and args.source.isdigit():
        raise UsageError("-Q 3 designs the tree from data: expected training data, "
                         f"found the number {args.source}")
    data, normalisation, _ = load_training(args.source, kind, **reading(args))
    _require_two(set(data.y.tolist()), args.source)
    if args.norm_file is not None and (args.normalise or args.svd is not None):
        from ..formats.vectors import write_std
        write_std(args.norm_file, normalisation)
    return tree_from_data(data.x, data.y, names=dict(enumerate(data.names or ())))


def _require_two(labels, source):
    if len(labels) < 2:
        raise DataError("holds one class: there is nothing to tell apart", file=source)


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)

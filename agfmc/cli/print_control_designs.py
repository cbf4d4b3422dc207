"""The control tree of print_control's operand and options."""

from __future__ import annotations

import os

from ..codes.schemes import DEFAULT, find_scheme
from ..errors import DataError, UsageError
from .hints import refuse_scheme
from .options import data_files, reading, refuse_inputs

__all__ = ["designed", "is_number", "scheme_of"]


def scheme_of(args):
    """The `Scheme` that is asked for; None where a control file is shown as it is.

    That is without -Q, with --dot or --plot, where the operand is standard input or
    a file of exactly that name.
    """
    if args.type is not None:
        return find_scheme(args.type)
    if not is_number(args.source) and not os.path.exists(f"{args.source}.cls"):
        refuse_scheme(args.source, "N, for N classes, or DATA")
    shown = (args.dot or args.plot is not None) and not (args.svm or args.lvq) \
        and not is_number(args.source) \
        and (args.source == "-" or os.path.exists(args.source) and not os.path.isdir(args.source))
    return None if shown else DEFAULT


def designed(args, scheme, kind):
    """(tree, heights): the control tree; heights of a tree that was made by distances, or None.
    """
    if scheme is None:
        from ..formats.controlfile import read_control
        return read_control(args.source), None
    if "control" in scheme.made_of:
        from ..formats.controlfile import read_control
        refuse_scheme(args.source, "DATA writes one")
        return scheme.make(_placed(read_control(args.source), args.path)), None
    options = {"rows": args.nrow, "strict": args.strict, "reduced": args.reduced,
               "seed": args.seed, "draws": args.draws, "metric": args.metric,
               "linkage": args.linkage}
    if "classes" not in scheme.made_of:
        return _from_operand(args, scheme, kind, options)
    from ..flow.design import design
    labels, names = _labels(args, kind)
    return design(scheme.name, labels, names=names, **options), None


def _placed(tree, path):
    """`tree` with the names of its models below the folder `path`, if there is one."""
    from ..control.build import rename
    from ..formats.controlfile import model_file

    if path is None:
        return tree
    tree.require_names()
    return rename(tree, [model_file(row.text, path) for row in tree.rows])


def is_number(text):
    """Is the operand a number of classes?"""
    return text.isascii() and text.isdigit()


def _labels(args, kind):
    """The class labels that the operand stands for, and the names that data give them."""
    if is_number(args.source):
        k = int(args.source) if len(args.source) < 8 else 10**7
        if k > 100_000:
            raise UsageError(f"{args.source} classes are more than the 100000 that are supported")
        return range(k), {}
    from ..formats.dataset import read_labels
    counts, names = read_labels(args.source, kind, header=not args.no_header)
    labels = list(counts)
    if args.min_class is not None:
        from ..flow.prepare import large_classes
        labels = large_classes(counts, args.min_class, args.source, names)
    _require_two(labels, args.source)
    return labels, names


def _from_operand(args, scheme, kind, options):
    """A design from training data or from a contingency table."""
    from ..flow.design import design_from_confusions, design_from_data

    if is_number(args.source):
        wanted = " or ".join({"data": "training data", "confusions": "a contingency table"}[word]
                             for word in scheme.made_of)
        raise UsageError(f"-Q {scheme.heading.split()[0]} designs from data: expected {wanted}, "
                         f"found the number {args.source}")
    if "data" not in scheme.made_of or "confusions" in scheme.made_of and kind == "binary":
        from ..formats.confusions import holds_confusions, read_confusions
        if "data" not in scheme.made_of or holds_confusions(args.source):
            confusions = read_confusions(args.source)
            if "data" in scheme.made_of:
                _refuse_data_options(args)
            return design_from_confusions(scheme.name, confusions, **options)
    data = _data(args, kind)
    return design_from_data(scheme.name, data.x, data.y, names=dict(enumerate(data.names or ())),
                            **options)


def _refuse_data_options(args):
    for given, option in ((args.metric is not None, "--metric"), (args.normalise, "-n"),
                          (args.svd is not None, "-S"), (args.norm_file is not None, "-a"),
                          (args.min_class is not None, "--min-class")):
        if given:
            raise UsageError(f"{option} is for training data, and {args.source} holds how often "
                             "classes were confused")


def _data(args, kind):
    """The points as they are, or as -n, -S and -a make them."""
    from ..flow.prepare import load_training

    if args.normalise or args.svd is not None:
        refuse_inputs([args.norm_file], data_files(args.source, kind))
    data, normalisation, _ = load_training(args.source, kind, **reading(args))
    _require_two(set(data.y.tolist()), args.source)
    if args.norm_file is not None and (args.normalise or args.svd is not None):
        from ..formats.vectors import write_std
        write_std(args.norm_file, normalisation)
    return data


def _require_two(labels, source):
    if len(labels) < 2:
        raise DataError("holds one class: there is nothing to tell apart", file=source)

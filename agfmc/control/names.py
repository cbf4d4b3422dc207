"""Names of classes: each class has one, and no other class has the same."""

from __future__ import annotations

from ..errors import ControlError
from .tree import changed

__all__ = ["clash", "named_as"]


def clash(named):
    """What is wrong with the (label, name) pairs `named`: (number of the pair, words) or None."""
    name_of, label_of = {}, {}
    for number, (label, name) in enumerate(named):
        if name_of.setdefault(label, name) != name:
            return number, f"class {label} has two names, {name_of[label]!r} and {name!r}"
        if label_of.setdefault(name, label) != label:
            return number, f"two classes, {label_of[name]} and {label}, have " \
                           f"the same name, {name!r}"
    return None


def named_as(tree, names):
    """`tree` with the names of the data, {label: name}, where it has none of its own.

    Raises `ControlError` where the two would give a class two names, or two classes one:
    the labels of the data are other classes than the control file means.
    """
    own = {label: names[label] for label in tree.labels if label in names}
    if not tree.names:
        return changed(tree, names=own)
    if found := clash([*tree.names.items(), *own.items()]):
        raise ControlError(f"{found[1]}: its '# class' lines and the data disagree; print_control "
                           "writes them from the data, and mbh2mbm --names renames the classes of "
                           "a model", file=tree.source)
    return tree

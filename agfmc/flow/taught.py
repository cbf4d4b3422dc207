"""The classes that a model was taught to tell apart, as its settings say."""

from __future__ import annotations

import re

__all__ = ["classes_text", "other_classes", "without_classes"]

_CLASSES = re.compile(r"; classes ([-0-9,/]+)(;|$)")
_RANGE = re.compile(r"(-?[0-9]{1,10})(?:-([0-9]{1,10}))?")


def classes_text(sides):
    """`0-2,5/3`: the labels on each side, ascending, those that follow each other as a range."""
    return "/".join(",".join(_ranges(sorted(labels))) for labels in sides)


def other_classes(settings, sides):
    """What the settings of a model say of its sides, where it is not true of `sides`; else None.

    It is true where every label stands on the side that it stood on in training, be it
    that labels are left out.  Settings that say nothing of it fit any sides.
    """
    told = _CLASSES.search(settings)
    if told is None or told[1] == classes_text(sides):
        return None
    taught = told[1].split("/")
    if len(taught) == len(sides) and all(map(_within, sides, taught)):
        return None
    return told[1]


def without_classes(settings):
    """The settings without what they say of the classes."""
    return _CLASSES.sub(r"\2", settings)


def _ranges(labels):
    first = last = None
    for label in labels:
        if first is not None and label == last + 1:
            last = label
            continue
        if first is not None:
            yield _range(first, last)
        first = last = label
    if first is not None:
        yield _range(first, last)


def _range(first, last):
    return str(first) if first == last else f"{first}-{last}"


def _within(labels, text):
    """Is each label in one of the ranges of the text?"""
    found = [_RANGE.fullmatch(word) for word in text.split(",")]
    if None in found:
        return False
    ranges = [(int(word[1]), int(word[2] or word[1])) for word in found]
    wanted = iter(sorted(labels))
    label = next(wanted, None)
    for first, last in sorted(ranges):  # both are walked once
        while label is not None and first <= label <= last:
            label = next(wanted, None)
    return label is None

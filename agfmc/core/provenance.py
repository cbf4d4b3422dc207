"""Provenance of a trained model, and the JSON record in which its file has it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from .errors import one_line
from .text import runs_text

# What models of one configuration do not share: fields of each side, or of each class, and others.
_SIZES = ("samples", "weights", "seen")
_OF_ONE = (*_SIZES, "classes", "groups", "left_out")
_MOST = 10**12  # of any whole number, which a file may have chosen


@dataclass(frozen=True)
class Provenance:
    """The origin of a model: options, seed, samples, normalisation.

    Attributes
    ----------
    version : str
        That of this package.
    library : str
        The library that trained, and its version.
    options : str
        The training options in their one spelling.
    features : int
        The number of features that the model was trained on.
    probabilities : str
        How they were fitted.
    seed : int
        That of the training.
    samples : tuple of int
        The numbers of samples of each side in training.
    classes : str
        The labels of each side in training, as `classes_text` writes them.
    weights : tuple of float
        The sums of the weights of the samples of each side.
    seen : tuple of float
        The same without class weights.
    groups : int
        The number of groups of the samples, which no fold divided.
    left_out : int
        The number of samples that were left out in turn, for the probabilities.
    normalised : str
        The digest of the normalisation of the points in training.
    vectors : str
        "raw" if the support vectors are not normalised.

    A field is None where it is not known, or there was no such thing.  The record in a file may have
    a seal besides (`files.codec.sealed`), which belongs to the file.
    """

    version: str | None = None
    library: str | None = None
    options: str | None = None
    features: int | None = None
    probabilities: str | None = None
    seed: int | None = None
    samples: tuple | None = None
    classes: str | None = None
    weights: tuple | None = None
    seen: tuple | None = None
    groups: int | None = None
    left_out: int | None = None
    normalised: str | None = None
    vectors: str | None = None

    @classmethod
    def from_line(cls, line: str) -> Provenance:
        """The provenance in a line that `to_line` wrote, or version 0.3.0.

        That of any other program is unknown, and has no fields.
        """
        if not line:
            return cls()
        try:
            if line.startswith("{"):
                record = json.loads(line)
            else:
                record = _record_of_old(line)
            return cls(
                **{
                    field.name: _checked(field.type, record[field.name])
                    for field in fields(cls)
                    if field.name in record
                }
            )
        except (ValueError, TypeError, RecursionError):
            return cls()

    def to_record(self) -> dict[str, Any]:
        """The fields that are known, as plain values."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def to_line(self) -> str:
        """The record as a line of JSON, "" for a model of unknown origin."""
        if self:
            return json.dumps(self.to_record())
        return ""

    def __bool__(self) -> bool:
        return self != Provenance()

    def with_samples(self, samples, sides, sums=(None, None), groups=None) -> Provenance:
        """The provenance of a model with so many samples of each side in training.

        `sides` has the labels of each side. `sums` are those of the weights of each side, with
        class weights in them and without, the latter None where there are no class weights; both
        None where samples have no weights. `groups` are those of the samples, or None.
        """
        weights, seen = sums
        return replace(
            self,
            samples=tuple(map(int, samples)),
            classes=classes_text(sides),
            weights=_rounded(weights),
            seen=_rounded(weights if seen is None else seen),
            groups=None if groups is None else len(set(groups.tolist())),
        )

    def other_classes(self, sides) -> str | None:
        """The classes in training, as text, where they are not true of `sides`; else None.

        They are true where every label stands on the side that it stood on in training, be it
        that labels are left out.  A record that says nothing of classes fits any sides.
        """
        if self.classes is None or self.classes == classes_text(sides):
            return None
        trained = self.classes.split("/")
        if len(trained) == len(sides) and all(map(_is_within, sides, trained)):
            return None
        return self.classes

    def for_pairs(self, labels):
        """A function of two labels: the `Provenance` of one classifier of a file for all of them.

        It differs from this one where this one has the samples of each class, the labels
        ascending.
        """
        if self.samples is None or len(self.samples) != len(labels) or self.classes is not None:
            return lambda left, right: self
        position = {label: i for i, label in enumerate(sorted(labels))}

        def of_pair(left, right):
            sizes = {}
            for name in _SIZES:
                values = getattr(self, name)
                if values is not None and len(values) == len(labels):
                    sizes[name] = values[position[left]], values[position[right]]
            return replace(self, classes=f"{left}/{right}", **sizes)

        return of_pair


def shared(provenances, sides, features=None) -> Provenance:
    """The `Provenance` that all classifiers of a file have in common, `sides` being their labels.

    The samples are those of the classes, ascending, if the classifiers agree on them. A
    normalisation stays if any classifier went through it: its points are normalised, even if the
    others have none. `features` is added where no classifier has the number.
    """
    record: dict[str, Any] = {"features": features}
    for field in fields(Provenance):
        values = {getattr(provenance, field.name) for provenance in provenances}
        if field.name == "normalised":
            values.discard(None)
        if len(values) == 1 and values != {None} and field.name not in _OF_ONE:
            (record[field.name],) = values
    sizes = {name: _sizes_of_all(name, provenances, sides) for name in _SIZES}
    if sizes["samples"] is not None:
        record.update(sizes)
    return Provenance(**record)


def settings_text(record: Mapping) -> str:
    """The settings of the training in a record, which other models share, as words for people."""
    return "; ".join(
        str(value) if name in ("version", "library", "probabilities") else f"{name} {value}"
        for name, value in record.items()
        if name not in _OF_ONE
    )


def classes_text(sides) -> str:
    """`0-2,5/3`: the labels on each side, ascending, those that follow each other as a range."""
    return "/".join(runs_text(sorted(labels)) for labels in sides)


def libsvm_version() -> str:
    """The version of the installed package of LIBSVM, which need not be loaded for that."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("libsvm-official")
    except PackageNotFoundError:
        return "unknown"


def _record_of_old(line):
    """The record of a line of version 0.3.0, of parts between semicolons."""
    parts = line.split("; ")
    record: dict[str, Any] = {}
    for part in parts:
        name, _, value = part.partition(" ")
        if name in ("options", "classes", "normalised", "vectors"):
            record[name] = value
        elif name in ("features", "groups", "seed"):
            record[name] = int(value)
        elif name in _SIZES:
            record[name] = json.loads(f"[{value.replace(' ', ',')}]")
        elif name == "leave-one-out":
            record |= {"probabilities": name, "left_out": int(value)}
        elif name in ("folds", "platt", "own"):
            record["probabilities"] = part
        elif part == parts[0]:
            record["version"] = part
        elif part == parts[1]:
            record["library"] = part
    if "weights" in record:
        record.setdefault("seen", record["weights"])
    return record


def _checked(kind, value):
    """A value of a record as a field has it; `ValueError` for what is none."""
    if kind.startswith("tuple"):
        numbers = tuple(value)
        if not all(type(number) in (int, float) and 0 <= number < math.inf for number in numbers):
            raise ValueError("expected numbers")
        return numbers
    if kind.startswith("int"):
        if type(value) is not int or not 0 <= value < _MOST:
            raise ValueError("expected a whole number")
    elif type(value) is not str:
        raise ValueError("expected text")
    else:
        return one_line(value)
    return value


def _rounded(sums):
    """Sums of weights with twelve digits: the order of the samples changes others."""
    if sums is None:
        return None
    return tuple(float(f"{total:.12g}") for total in sums)


def _sizes_of_all(name, provenances, sides):
    """The field of that name, of `_SIZES`, with a number for each class, ascending; None unless the
    classifiers agree on them."""
    sizes: dict[int, float] = {}
    for provenance, labels in zip(provenances, sides):
        numbers = getattr(provenance, name)
        if numbers is None or provenance.classes != classes_text([[label] for label in labels]):
            return None
        if any(sizes.setdefault(label, size) != size for label, size in zip(labels, numbers)):
            return None
    return tuple(sizes[label] for label in sorted(sizes))


def _is_within(labels, text):
    """Return True if all labels are within the ranges of a text such as `0-2,5`."""
    ranges = []
    for word in text.split(","):
        first, _, last = word.partition("-")
        try:
            ranges.append((int(first), int(last or first)))
        except ValueError:
            return False
    labels = sorted(labels, reverse=True)
    for first, last in sorted(ranges):
        while labels and first <= labels[-1] <= last:  # both are walked once
            labels.pop()
    return not labels

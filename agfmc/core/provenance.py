"""Provenance of a trained model, and the one line of text in which its file has it.

The line has parts between semicolons: the version of this package, the library that trained,
`options ...`, `features N`, how the probabilities were fitted, `seed N`, `samples N N` (of each
side), `classes 0-2,5/3` (of each side), `weights W W` (the sums of the weights of the samples of
each side, where they had any), `seen W W` (the same without class weights, where these were given),
`groups N` (of the samples, where no fold divided them),
`normalised DIGEST`, `vectors raw`, `leave-one-out N` (samples whose values the
probabilities were fitted to).  A part that is not understood, as another program's may be, or that
tells of a metric, as of version 0.3.0, stays where it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from .text import runs_text

_SUM = r"[0-9]{1,16}(?:\.[0-9]{1,16})?(?:e[+-][0-9]{1,3})?"
_PARTS = {
    "options": re.compile(r"options (.*)"),
    "features": re.compile(r"features ([0-9]{1,8})"),
    "seed": re.compile(r"seed ([0-9]+)"),
    "samples": re.compile(r"samples ([0-9]{1,12}(?: [0-9]{1,12})*)"),
    "classes": re.compile(r"classes ([-0-9,/]+)"),
    "weights": re.compile(rf"weights ({_SUM}(?: {_SUM})*)"),
    "seen": re.compile(rf"seen ({_SUM}(?: {_SUM})*)"),
    "groups": re.compile(r"groups ([0-9]{1,12})"),
    "normalised": re.compile(r"normalised ([0-9a-f]{16})"),
    "vectors": re.compile(r"vectors (raw)"),
    "leave-one-out": re.compile(r"leave-one-out ([0-9]{1,12})"),
}
_SIZES = ("samples", "weights", "seen")  # of each side, or of each class
# what one model of a configuration does not share with others
_OF_ONE = (*_SIZES, "classes", "groups")
_RANGE = re.compile(r"(-?[0-9]{1,10})(?:-([0-9]{1,10}))?")


def _value(name, convert, doc):
    """The property of a `Provenance` that its part of that name gives; None without the part."""

    def value(self):
        words = self._words.get(name)
        return None if words is None else convert(*words)

    return property(value, doc=doc)


@dataclass(frozen=True)
class Provenance:
    """The origin of a model: options, seed, samples, normalisation.

    `parts` are those of its line, in their order. A property is None where the line has no such
    part.
    """

    parts: tuple = ()

    options = _value("options", str, "The training options in their one spelling.")
    features = _value("features", int, "The number of features that the model was trained on.")
    samples = _value(
        "samples",
        lambda text: tuple(map(int, text.split())),
        "The numbers of samples of each side in training.",
    )
    weights = _value(
        "weights",
        lambda text: tuple(map(float, text.split())),
        "The sums of the weights of the samples of each side.",
    )
    _seen = _value(
        "seen", lambda text: tuple(map(float, text.split())), "The sums without class weights."
    )
    groups = _value("groups", int, "The number of groups of the samples, which no fold divided.")
    classes = _value(
        "classes", str, "The labels of each side in training, as `classes_text` writes them."
    )
    normalisation = _value(
        "normalised", str, "The digest of the normalisation of the points in training."
    )
    raw_vectors = _value("vectors", bool, "True if the support vectors are not normalised.")

    @property
    def seen(self):
        """The `weights` without class weights; where there are none, the `weights`."""
        return self._seen or self.weights

    @classmethod
    def from_line(cls, line):
        """The provenance in a line; `to_line` gives the same line."""
        return cls(tuple(line.split("; ")) if line else ())

    @classmethod
    def of_training(
        cls, version, options, *, library="", features=None, probabilities="", seed=None
    ):
        """The provenance of a model that is trained here, but for its samples.

        `options` are in their normal spelling; `probabilities` says how they were fitted.
        """
        return cls(
            tuple(
                filter(
                    None,
                    [
                        version,
                        library,
                        f"options {options}",
                        "" if features is None else f"features {features}",
                        probabilities,
                        "" if seed is None else f"seed {seed}",
                    ],
                )
            )
        )

    def with_samples(self, samples, sides, normalised=(), weights=(), groups=None):
        """The provenance of a model with so many samples of each side in training.

        `sides` has the labels of each side, `normalised` the parts about the normalisation of the
        samples, from `Normalisation.provenance`. `weights` are the sums of the weights of each
        side, with class weights in them and without, or None where there are no class weights; ()
        where samples have no weights. `groups` are those of the samples, or None.
        """
        sums = [
            f"{name} {' '.join(f'{total:.12g}' for total in totals)}"
            for name, totals in zip(("weights", "seen"), weights)
            if totals is not None
        ]
        if groups is not None:
            sums.append(f"groups {len(set(groups.tolist()))}")
        return Provenance(
            (
                *self.parts,
                f"samples {' '.join(map(str, samples))}",
                f"classes {classes_text(sides)}",
                *sums,
                *normalised,
            )
        )

    def __bool__(self):
        return bool(self.parts)

    def to_line(self):
        """The line, "" for a model of unknown origin."""
        return "; ".join(self.parts)

    @cached_property
    def _words(self):
        words = {}
        for part in self.parts:
            name = part.partition(" ")[0]
            if name in _PARTS and (match := _PARTS[name].fullmatch(part)):
                words.setdefault(name, match.groups())
        return words

    def other_classes(self, sides):
        """The classes in training, as text, where they are not true of `sides`; else None.

        They are true where every label stands on the side that it stood on in training, be it
        that labels are left out.  A line that says nothing of classes fits any sides.
        """
        if self.classes is None or self.classes == classes_text(sides):
            return None
        trained = self.classes.split("/")
        if len(trained) == len(sides) and all(map(_within, sides, trained)):
            return None
        return self.classes

    def without_identity(self):
        """The provenance without what differs from one model of a configuration to another."""
        return Provenance(
            tuple(
                "leave-one-out" if _is(part, ("leave-one-out",)) else part
                for part in self.parts
                if not _is(part, _OF_ONE)
            )
        )

    def with_raw_vectors(self, features):
        """The provenance of a model whose support vectors, of so many features, are not normalised."""
        return Provenance(
            (
                *(
                    f"features {features}" if _is(part, ("features",)) else part
                    for part in self.parts
                ),
                "vectors raw",
            )
        )

    def for_pairs(self, labels):
        """A function of two labels: the `Provenance` of one classifier of a file for all of them.

        It differs from this one where this one has the samples of each class, the labels
        ascending.
        """
        if self.samples is None or len(self.samples) != len(labels) or self.classes is not None:
            return lambda left, right: self
        position = {label: i for i, label in enumerate(sorted(labels))}

        def of_pair(left, right):
            parts = []
            for part in self.parts:
                name, *numbers = part.split(" ")
                pair = position[left], position[right]
                if not _is(part, _SIZES) or max(pair) >= len(numbers):
                    parts.append(part)
                    continue
                parts.append(f"{name} {numbers[pair[0]]} {numbers[pair[1]]}")
                if name == "samples":
                    parts.append(f"classes {left}/{right}")
            return Provenance(tuple(parts))

        return of_pair


def shared(provenances, sides, features=None):
    """The `Provenance` that all classifiers of a file have in common, `sides` being their labels.

    The samples are those of the classes, ascending, if the classifiers agree on them. A
    normalisation stays if any classifier went through it: its points are normalised, even if the
    others have none. `features` is added where no classifier has the number.
    """
    first = provenances[0].parts
    common = set(first).intersection(*(one.parts for one in provenances[1:]))
    common = {part for part in common if not _is(part, _OF_ONE)}
    sizes = {name: _sizes_of_all(name, provenances, sides) for name in _SIZES}
    if sizes["samples"] is None:
        sizes = {}
    parts = [
        part if part in common else sizes[part.partition(" ")[0]]
        for part in first
        if part in common or _is(part, _SIZES) and sizes.get(part.partition(" ")[0])
    ]
    digests = {
        f"normalised {one.normalisation}" for one in provenances if one.normalisation is not None
    } - common
    if features is not None and not any(_is(part, ("features",)) for part in parts):
        parts.insert(1, f"features {features}")
    return Provenance((*parts, *(digests if len(digests) == 1 else ())))


def _sizes_of_all(name, provenances, sides):
    """The part of that name, of `_SIZES`, with a number for each class, ascending; None unless the
    classifiers agree on them."""
    size = {}
    for one, labels in zip(provenances, sides):
        words = one._words.get(name, ("",))[0].split()
        if (
            len(words) != 2
            or one.classes != classes_text([[label] for label in labels])
            or any(size.setdefault(label, word) != word for label, word in zip(labels, words))
        ):
            return None
    return f"{name} {' '.join(size[label] for label in sorted(size))}"


def _is(part, names):
    name = part.partition(" ")[0]
    return name in names and _PARTS[name].fullmatch(part) is not None


def classes_text(sides):
    """`0-2,5/3`: the labels on each side, ascending, those that follow each other as a range."""
    return "/".join(runs_text(sorted(labels)) for labels in sides)


def _within(labels, text):
    words = [_RANGE.fullmatch(word) for word in text.split(",")]
    if None in words:
        return False
    labels = sorted(labels, reverse=True)
    for first, last in sorted((int(word[1]), int(word[2] or word[1])) for word in words):
        while labels and first <= labels[-1] <= last:  # both are walked once
            labels.pop()
    return not labels


def libsvm_version() -> str:
    """The version of the installed package of LIBSVM, which need not be loaded for that."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("libsvm-official")
    except PackageNotFoundError:
        return "unknown"

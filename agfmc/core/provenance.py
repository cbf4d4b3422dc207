"""Provenance of a trained model, and the one line of text in which its file has it.

The line has parts between semicolons: the version of this package, the library that trained,
`options ...`, `features N`, how the probabilities were fitted, `seed N`, `samples N N` (of each
side), `classes 0-2,5/3` (of each side), `weights W W` (the sums of the weights of the samples of
each side, where they had any), `seen W W` (the same without class weights, where these were given),
`normalised DIGEST`, `metric N rounds of N points, N classes, data DIGEST` (where the normalisation
was learned), `vectors raw`, `leave-one-out N` (samples whose values the
probabilities were fitted to).  A part that is not understood, as another program's may be, stays
where it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

_SUM = r"[0-9]{1,16}(?:\.[0-9]{1,16})?(?:e[+-][0-9]{1,3})?"
_PARTS = {
    "options": re.compile(r"options (.*)"),
    "features": re.compile(r"features ([0-9]{1,8})"),
    "seed": re.compile(r"seed ([0-9]+)"),
    "samples": re.compile(r"samples ([0-9]{1,12}(?: [0-9]{1,12})*)"),
    "classes": re.compile(r"classes ([-0-9,/]+)"),
    "weights": re.compile(rf"weights ({_SUM}(?: {_SUM})*)"),
    "seen": re.compile(rf"seen ({_SUM}(?: {_SUM})*)"),
    "normalised": re.compile(r"normalised ([0-9a-f]{16})"),
    "metric": re.compile(r"metric (?P<rounds>[0-9]{1,2}) rounds of (?P<points>[0-9]{1,12}) points, "
                         r"(?P<classes>[0-9]{1,8}) classes, data (?P<data>[0-9a-f]{16})"),
    "vectors": re.compile(r"vectors (raw)"),
    "leave-one-out": re.compile(r"leave-one-out ([0-9]{1,12})"),
}
# what one model of a configuration does not share with others

_SIZES = ("samples", "weights", "seen")  # of each side, or of each class
_OF_ONE = (*_SIZES, "classes")
_RANGE = re.compile(r"(-?[0-9]{1,10})(?:-([0-9]{1,10}))?")


class MetricOrigin(NamedTuple):
    """The rounds, points, classes and digest of the data that a normalisation was learned from."""

    rounds: int
    points: int
    classes: int
    data: str

    def to_part(self):
        """The part of a line that tells of it."""
        return f"metric {self.rounds} rounds of {self.points} points, {self.classes} classes, " \
               f"data {self.data}"


@dataclass(frozen=True)
class Provenance:
    """The origin of a model: options, seed, samples, normalisation.

    parts: the parts of its line, in their order.  Every property is None where the line has
    no such part.
    """

    parts: tuple = ()

    @classmethod
    def from_line(cls, line):
        """The provenance in a line; `to_line` gives the same line."""
        return cls(tuple(line.split("; ")) if line else ())

    @classmethod
    def of_training(cls, version, options, *, library="", features=None, probabilities="",
                    seed=None):
        """The provenance of a model that is trained here, but for its samples.

        options: in their one spelling;  probabilities: how they were fitted.
        """
        return cls(tuple(filter(None, [
            version, library, f"options {options}",
            "" if features is None else f"features {features}", probabilities,
            "" if seed is None else f"seed {seed}"])))

    def with_samples(self, samples, sides, normalised=()):
        """The same of a model with so many samples of each side in training.

        sides: the labels of each;  normalised: the parts that tell of the normalisation that the
        samples went through, as `Normalisation.provenance` gives them.
        """
        return Provenance((*self.parts, f"samples {' '.join(map(str, samples))}",
                           f"classes {classes_text(sides)}", *normalised))

    def with_weights(self, weighted, seen=None):
        """The same of a model whose samples had weights, behind the samples and their classes.

        weighted, seen: their sums on each side, with class weights in them and without; None
        where there are no class weights.
        """
        parts = [f"weights {_sums_text(weighted)}",
                 *([] if seen is None else [f"seen {_sums_text(seen)}"])]
        at = 1 + max(place for place, part in enumerate(self.parts)
                     if _is(part, ("samples", "classes")))
        return Provenance((*self.parts[:at], *parts, *self.parts[at:]))

    def __bool__(self):
        return bool(self.parts)

    def to_line(self):
        """The line, "" for a model of unknown origin."""
        return "; ".join(self.parts)

    @cached_property
    def _values(self):
        """{name: value, or {name: value}} of the parts that are understood, the first of each."""
        values = {}
        for part in self.parts:
            pattern = _PARTS.get(part.partition(" ")[0])
            found = pattern and pattern.fullmatch(part)
            if found:
                values.setdefault(part.partition(" ")[0], found.groupdict() or found[1])
        return values

    @property
    def options(self):
        """The training options in their one spelling."""
        return self._values.get("options")

    @property
    def features(self):
        """The number of features that the model was trained on."""
        return int(self._values["features"]) if "features" in self._values else None

    @property
    def samples(self):
        """The numbers of samples of each side in training, as a tuple."""
        numbers = self._values.get("samples")
        return None if numbers is None else tuple(map(int, numbers.split()))

    @property
    def weights(self):
        """The sums of the weights of the samples of each side, as a tuple; None without weights."""
        return self._sums("weights")

    @property
    def seen(self):
        """The same without class weights; where there are none, those of all weights."""
        return self._sums("seen") or self.weights

    def _sums(self, name):
        numbers = self._values.get(name)
        return None if numbers is None else tuple(map(float, numbers.split()))

    @property
    def classes(self):
        """The labels of each side in training, as `classes_text` writes them."""
        return self._values.get("classes")

    @property
    def normalisation(self):
        """The digest of the normalisation that the points went through in training."""
        return self._values.get("normalised")

    @property
    def metric(self):
        """The `MetricOrigin` of the normalisation, if it was learned."""
        words = self._values.get("metric")
        return None if words is None else MetricOrigin(
            *(int(words[name]) for name in ("rounds", "points", "classes")), words["data"])

    @property
    def raw_vectors(self):
        """True if the support vectors are not normalised."""
        return "vectors" in self._values

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
        """The same without what differs from one model of a configuration to another."""
        return Provenance(tuple("leave-one-out" if _is(part, ("leave-one-out",)) else part
                                for part in self.parts if not _is(part, _OF_ONE)))

    def with_raw_vectors(self, features):
        """The same of a model whose support vectors were not normalised, of so many features."""
        return Provenance((*(f"features {features}" if _is(part, ("features",)) else part
                             for part in self.parts), "vectors raw"))

    def for_pairs(self, labels):
        """A function of two labels: the `Provenance` of one classifier of a file for all of them.

        It differs from this one where this one has the samples of each class, the labels
        ascending.
        """
        if self.samples is None or len(self.samples) != len(labels) or self.classes is not None:
            return lambda left, right: self
        place = {label: at for at, label in enumerate(sorted(labels))}

        def of_pair(left, right):
            return Provenance(tuple(new for part in self.parts for new in _of_pair(
                part, place[left], place[right], f"classes {left}/{right}")))

        return of_pair


def shared(provenances, sides, features=None):
    """The `Provenance` that all classifiers of a file have in common; sides: their labels.

    The samples are those of the classes, ascending, if the classifiers agree on them.  A
    normalisation is kept if any classifier went through it: its points are normalised, even
    if the others have none.  features: added where no classifier has the number.
    """
    first = provenances[0].parts
    common = set(first).intersection(*(one.parts for one in provenances[1:]))
    common = {part for part in common if not _is(part, _OF_ONE)}
    sizes = {name: _sizes_of_all(name, provenances, sides) for name in _SIZES}
    if sizes["samples"] is None:
        sizes = {}
    parts = [part if part in common else sizes[part.partition(" ")[0]] for part in first
             if part in common or _is(part, _SIZES) and sizes.get(part.partition(" ")[0])]
    digests = {f"normalised {one.normalisation}" for one in provenances
               if one.normalisation is not None} - common
    if features is not None and not any(_is(part, ("features",)) for part in parts):
        parts.insert(1, f"features {features}")
    return Provenance((*parts, *(digests if len(digests) == 1 else ())))


def _sizes_of_all(name, provenances, sides):
    """The part of that name, of `_SIZES`, with a number for each class, ascending; None unless the
    classifiers agree on them."""
    size = {}
    for one, labels in zip(provenances, sides):
        numbers = one._values.get(name)
        words = () if numbers is None else numbers.split()
        if len(words) != 2 or one.classes != classes_text([[label] for label in labels]) or \
                any(size.setdefault(label, word) != word for label, word in zip(labels, words)):
            return None
    return f"{name} {' '.join(size[label] for label in sorted(size))}"


def _of_pair(part, left, right, classes):
    """The parts of a pair in place of one with a number for each class; left, right: their places.

    classes: the part that names the two, which comes behind the samples.
    """
    name, *numbers = part.split(" ")
    if not _is(part, _SIZES) or max(left, right) >= len(numbers):
        return (part,)
    own = f"{name} {numbers[left]} {numbers[right]}"
    return (own, classes) if name == "samples" else (own,)


def _sums_text(sums):
    return " ".join(f"{total:.12g}" for total in sums)


def _is(part, names):
    """True if a part of a line begins with one of these words."""
    name = part.partition(" ")[0]
    return name in names and _PARTS[name].fullmatch(part) is not None


def classes_text(sides):
    """`0-2,5/3`: the labels on each side, ascending, those that follow each other as a range."""
    return "/".join(",".join(_ranges(sorted(labels))) for labels in sides)


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
    """A mask of the labels that are in one of the ranges of the text."""
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


def libsvm_version() -> str:
    """The version of the installed package of LIBSVM, which need not be loaded for that."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("libsvm-official")
    except PackageNotFoundError:
        return "unknown"

"""The text file of cross-validated errors of one-against-one classifiers.

A line `i j n_i errors_i n_j errors_j` for each pair of classes says that of n_i
samples of class i the classifier of the pair took errors_i for class j, and the
same for class j.  A line `t i j n wins_i` says that of n samples of a third class t
it took wins_i for class i.  Blank lines, and comments from `#`, are allowed.
Shapes: k classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import DataError
from .inputs import open_input
from .numbers import blocks
from .textlabels import show

__all__ = ["PairErrors", "format_pair_errors", "read_pair_errors"]

_MOST_CLASSES = 1024  # arrays (k, k)
_MOST_IRRELEVANT = 256  # arrays (k, k, k)
_LABEL = 2 ** 31 - 1
_COUNT = 2 ** 53


@dataclass(frozen=True, eq=False)
class PairErrors:
    """Errors of the classifiers of all pairs, counted.

    labels: k labels, ascending;  n, errors (k, k) int64: of n[i, j] samples of class i
    the classifier {i, j} got errors[i, j] wrong, n = 0 where nothing is known;
    irrelevant, wins (k, k, k) int64 or None: of irrelevant[t, i, j] samples of class t it
    sent wins[t, i, j] to i, kept for (i, j) and (j, i) alike;  source: the file.
    """

    labels: tuple
    n: np.ndarray
    errors: np.ndarray
    irrelevant: np.ndarray | None = None
    wins: np.ndarray | None = None
    source: str | None = None

    def error_rates(self, labels=None):
        """e (k, k) = (errors + 1) / (n + 2) of these labels (default all), in their order.

        e[i, j] is how likely the classifier {i, j} errs on class i.  Raises DataError,
        which names the pair, where the classifier of two labels is unknown.
        """
        at = self._places(labels)
        n = self.n[np.ix_(at, at)]
        known = n > 0
        np.fill_diagonal(known, True)
        missing = np.argwhere(~(known & known.T))
        if len(missing):
            i, j = (self.labels[at[place]] for place in missing[0])
            raise DataError(f"has no errors of the pair {i} {j}", file=self.source)
        return (self.errors[np.ix_(at, at)] + 1.0) / (n + 2.0)

    def shares(self, labels=None):
        """h (k, k, k) = (wins + 1) / (n + 2) of these labels, or None where nothing is known.

        h[t, i, j] is how likely the classifier {i, j} sends class t to i: 1/2 where
        nothing is known, and h[t, j, i] = 1 - h[t, i, j].
        """
        if self.irrelevant is None:
            return None
        at = self._places(labels)
        cube = np.ix_(at, at, at)
        return (self.wins[cube] + 1.0) / (self.irrelevant[cube] + 2.0)

    def class_counts(self, labels=None):
        """(k,) samples of each class: the most that any of its classifiers saw."""
        at = self._places(labels)
        return self.n[np.ix_(at, at)].max(axis=1)

    def _places(self, labels):
        places = {label: i for i, label in enumerate(self.labels)}
        labels = self.labels if labels is None else labels
        for label in labels:
            if label not in places:
                raise DataError(f"has no errors of class {label}", file=self.source)
        return np.array([places[label] for label in labels], dtype=np.intp)


def read_pair_errors(path, stdin=None):
    """The `PairErrors` in a file, or in standard input for `-`.

    Raises DataError with the line of whatever cannot be: other than five or six whole
    numbers, more errors than samples, a pair or a pair with a third class given
    twice, and more classes than memory should hold.
    """
    pairs, others = {}, {}
    with open_input(path, stdin) as file:
        for text, first_line in blocks(file):
            for line, words in enumerate(text.split(b"\n"), first_line):
                try:
                    _add(pairs, others, words.split(), line)
                except _Bad as bad:
                    raise DataError(str(bad), file=file.name, line=line) from None
    if not pairs:
        raise DataError("has no errors of any pair", file=path)
    return _arrays(pairs, others, path)


class _Bad(Exception):
    """What is wrong with a line."""


def _add(pairs, others, words, line):
    if words:
        numbers = _numbers(words)
        if len(numbers) == 6:
            _add_pair(pairs, numbers, line)
        else:
            _add_other(others, numbers, line)


def _numbers(words):
    if len(words) not in (5, 6):
        raise _Bad("expected `i j n_i errors_i n_j errors_j` or `t i j n wins_i`, found "
                   f"{len(words)} word{'s' if len(words) > 1 else ''}")
    for word in words:
        if not word.isdigit():
            raise _Bad(f"expected a whole number, found {show(word)}")
    numbers = [int(word) if len(word) < 20 else _COUNT + 1 for word in words]
    if max(numbers) > _COUNT:
        raise _Bad(f"a number is larger than {_COUNT}")
    count = 2 if len(numbers) == 6 else 3
    if max(numbers[:count]) > _LABEL:
        raise _Bad(f"{max(numbers[:count])} is no label: the largest is {_LABEL}")
    return numbers


def _add_pair(pairs, numbers, line):
    i, j, n_i, errors_i, n_j, errors_j = numbers
    if i == j:
        raise _Bad(f"expected two classes, found {i} twice")
    for label, n, errors in ((i, n_i, errors_i), (j, n_j, errors_j)):
        if n == 0:
            raise _Bad(f"there are no samples of class {label}")
        if errors > n:
            raise _Bad(f"{errors} errors on class {label}, which has {n} samples")
    if i > j:
        i, j, n_i, errors_i, n_j, errors_j = j, i, n_j, errors_j, n_i, errors_i
    if (i, j) in pairs:
        raise _Bad(f"the pair {i} {j} is on line {pairs[i, j][0]} too")
    pairs[i, j] = (line, n_i, errors_i, n_j, errors_j)


def _add_other(others, numbers, line):
    t, i, j, n, wins = numbers
    if i == j or t in (i, j):
        raise _Bad(f"expected three different classes, found {t} {i} {j}")
    if wins > n:
        raise _Bad(f"{wins} samples of class {t} went to class {i}, but there are {n}")
    if i > j:
        i, j, wins = j, i, n - wins
    if (t, i, j) in others:
        raise _Bad(f"class {t} for the pair {i} {j} is on line {others[t, i, j][0]} too")
    others[t, i, j] = (line, n, wins)


def _arrays(pairs, others, path):
    labels = sorted({label for pair in pairs for label in pair})
    k = len(labels)
    most = _MOST_IRRELEVANT if others else _MOST_CLASSES
    if k > most:
        raise DataError(f"holds {k} classes, more than the {most} that are supported"
                        + (" with lines of third classes" if others else ""), file=path)
    place = {label: i for i, label in enumerate(labels)}
    n, errors = np.zeros((2, k, k), dtype=np.int64)
    for (i, j), (_, n_i, errors_i, n_j, errors_j) in pairs.items():
        i, j = place[i], place[j]
        n[i, j], n[j, i], errors[i, j], errors[j, i] = n_i, n_j, errors_i, errors_j
    if not others:
        return PairErrors(tuple(labels), n, errors, source=path)
    irrelevant, wins = np.zeros((2, k, k, k), dtype=np.int64)
    for (t, i, j), (line, count, won) in others.items():
        if (i, j) not in pairs or t not in place:
            what = f"the pair {i} {j}" if (i, j) not in pairs else f"class {t}"
            raise DataError(f"there is no line with the errors of {what}", file=path, line=line)
        t, i, j = place[t], place[i], place[j]
        irrelevant[t, i, j] = irrelevant[t, j, i] = count
        wins[t, i, j], wins[t, j, i] = won, count - won
    return PairErrors(tuple(labels), n, errors, irrelevant, wins, path)


def format_pair_errors(pair_errors):
    """The text of a file that `read_pair_errors` reads back."""
    labels, n, errors = pair_errors.labels, pair_errors.n, pair_errors.errors
    lines = ["# i j  n_i errors_i  n_j errors_j\n"]
    for i, j in zip(*np.triu_indices(len(labels), 1)):
        if n[i, j] and n[j, i]:
            lines.append(f"{labels[i]} {labels[j]}  {n[i, j]} {errors[i, j]}  "
                         f"{n[j, i]} {errors[j, i]}\n")
    if pair_errors.irrelevant is not None:
        lines.append("# t  i j  n wins_i\n")
        for t, i, j in np.argwhere(pair_errors.irrelevant):
            if i < j:
                lines.append(f"{labels[t]}  {labels[i]} {labels[j]}  "
                             f"{pair_errors.irrelevant[t, i, j]} {pair_errors.wins[t, i, j]}\n")
    return "".join(lines)

"""Files of confusions, how often each class was mistaken for another, of either kind.

A contingency table, as eval_uc prints it: a JSON object of which "labels", the k
classes, and "contingency", k rows (truth) of k columns (answers), are looked at; a further
column is of points that were rejected.

The errors of one-against-one classifiers, as `cv_errors` of multi_borders has them: a line
`i j n_i errors_i n_j errors_j` for each pair of classes says that of n_i samples of class i
the classifier of the pair took errors_i for class j, and the same for class j.  A line
`t i j n wins_i` says that of n samples of a third class t it took wins_i for class i.  Blank
lines, and comments from `#`, are allowed.  Numbers of samples are sums of weights where these have
any: decimal fractions.

Shapes: k classes.
"""

import io
import os
import re
import stat
from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated

import numpy as np

from ..control.tree import MAX_LABEL
from ..core.errors import DataError
from ..files.atomic import checked
from ..files.codec import decode, strict_json
from ..files.number_text import blocks
from ..files.opening import open_input, read_bytes
from .class_names import show

_LARGEST = 16 * 2**20  # bytes of JSON
_MOST_CLASSES = 1024  # arrays (k, k)
_MOST_IRRELEVANT = 256  # arrays (k, k, k)
_COUNT = 2**53
_WEIGHT = re.compile(rb"[0-9]+(\.[0-9]*)?(e[-+]?[0-9]{1,3})?", re.ASCII)
_HEAD = 1 << 16
_EXPECTED = (
    "expected a contingency table (what `json` prints) or the errors of pairs "
    "(what `cv_errors` writes)"
)


@dataclass(frozen=True, eq=False)
class Confusions:
    """Confusions of classes, from any kind of report.

    Attributes
    ----------
    labels : k labels, ascending
    errors : samples (k, k) of class i that were taken for class j, float64
    samples : numbers (k, k) of samples that these are of
    alternatives : number of answers to choose from
    """

    labels: tuple
    errors: np.ndarray
    samples: np.ndarray
    alternatives: int


@dataclass(frozen=True)
class _Contingency:
    """The keys of a contingency table that are read."""

    labels: tuple[Annotated[int, range(MAX_LABEL + 1)], ...]
    contingency: tuple[tuple[Annotated[float, (0, _COUNT)], ...], ...]


def holds_confusions(path):
    """Return True if `path` is one of these files, rather than the base name of training data.

    True for standard input and pipes, which cannot be binary data, and for a regular
    file of exactly that name that begins with `{` or with a line of errors of pairs.
    """
    if path == "-":
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    if not stat.S_ISREG(mode):
        return not stat.S_ISDIR(mode)
    with open_input(path) as file:
        return _kind(file.read(_HEAD)) is not None


def read_confusions(path, stdin=None):
    """The `Confusions` in a file, or in standard input for `-`.

    Raises DataError for what is neither of the two, and for a table that cannot be: other
    than whole numbers, rows of other lengths, labels listed twice, one class alone, more
    classes or bytes than memory should hold.
    """
    raw = read_bytes(
        path,
        stdin,
        expected=_EXPECTED.removeprefix("expected "),
        most=lambda head: None if _kind(head[:_HEAD]) == "pairs" else _LARGEST,
    )
    kind = _kind(raw[:_HEAD])
    if kind is None:
        raise DataError(f"{_EXPECTED}, found neither", file=path)
    if kind == "table":
        return _table(raw, path)
    pairs = _pair_errors(io.BytesIO(raw), path)
    pairs.error_rates()  # the errors of every pair are known
    return Confusions(pairs.labels, pairs.errors.astype(np.float64), pairs.n.astype(np.float64), 2)


def _kind(head):
    if head.lstrip().startswith(b"{"):
        return "table"
    for line in head.split(b"\n"):
        words = line.partition(b"#")[0].split()
        if words:
            numbers = len(words) in (5, 6) and all(map(_WEIGHT.fullmatch, words))
            if numbers:
                return "pairs"
            return None
    return None


def _table(raw, path):
    def fail(message):
        return DataError(message, file=path)

    try:
        plain = strict_json(raw)
    except (ValueError, RecursionError) as error:
        raise fail(f"expected JSON: {error}"[:200]) from None
    stored = decode(
        _Contingency, {key: plain[key] for key in ("labels", "contingency") if key in plain}, fail
    )
    k = len(stored.labels)
    if k < 2:
        raise fail(f'expected two classes or more in "labels", found {k}')
    if k > _MOST_CLASSES:
        raise fail(f"holds {k} classes, more than the {_MOST_CLASSES} that are supported")
    label, count = Counter(stored.labels).most_common(1)[0]
    if count > 1:
        raise fail(f'"labels" lists class {label} twice')
    if len(stored.contingency) != k:
        raise fail(
            f'expected {k} rows in "contingency", one for each of "labels", found '
            f"{len(stored.contingency)}"
        )
    for i, row in enumerate(stored.contingency, 1):
        if len(row) not in (k, k + 1) or len(row) != len(stored.contingency[0]):
            raise fail(
                f'expected {k} numbers in row {i} of "contingency", or in all rows {k + 1}, '
                f"found {len(row)}"
            )
    order = np.argsort(stored.labels)
    table = np.array(stored.contingency, np.float64)[np.ix_(order, order)]
    if not table.any():
        raise fail('"contingency" holds no points')
    samples = np.repeat(table.sum(axis=1)[:, None], k, axis=1)
    return Confusions(tuple(sorted(stored.labels)), table, samples, k)


@dataclass(frozen=True, eq=False)
class PairErrors:
    """Errors of the classifiers of all pairs, counted.

    Attributes
    ----------
    labels : k labels, ascending
    n, errors : (k, k) int64, or float64 for sums of weights: of n[i, j] samples of class i the
        classifier {i, j} got errors[i, j] wrong, n = 0 where nothing is known
    irrelevant, wins : (k, k, k) likewise, or None: of irrelevant[t, i, j] samples of class t the
        classifier sent wins[t, i, j] to i, alike for (i, j) and (j, i)
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
        at = self._positions(labels)
        n = self.n[np.ix_(at, at)]
        known = (n > 0) | np.eye(len(n), dtype=bool)
        missing = np.argwhere(~(known & known.T))
        if len(missing):
            i, j = (self.labels[position] for position in at[missing[0]])
            raise DataError(f"has no errors of the pair {i} {j}", file=self.source)
        return (self.errors[np.ix_(at, at)] + 1.0) / (n + 2.0)

    def shares(self, labels=None):
        """h (k, k, k) = (wins + 1) / (n + 2) of these labels, or None where nothing is known.

        h[t, i, j] is how likely the classifier {i, j} sends class t to i: 1/2 where
        nothing is known, and h[t, j, i] = 1 - h[t, i, j].
        """
        if self.irrelevant is None:
            return None
        at = self._positions(labels)
        cube = np.ix_(at, at, at)
        return (self.wins[cube] + 1.0) / (self.irrelevant[cube] + 2.0)

    def class_counts(self, labels=None):
        """(k,) samples of each class: the most that any of its classifiers saw."""
        at = self._positions(labels)
        return self.n[np.ix_(at, at)].max(axis=1)

    def _positions(self, labels):
        if labels is None:
            labels = self.labels
        for label in labels:
            if label not in self.labels:
                raise DataError(f"has no errors of class {label}", file=self.source)
        return np.array([self.labels.index(label) for label in labels], dtype=np.intp)


def read_pair_errors(path, stdin=None):
    """The `PairErrors` in a file, or in standard input for `-`.

    Raises DataError with the line of whatever cannot be: other than five or six
    numbers, labels that are no whole ones, more errors than samples, a pair or a pair with a
    third class given twice, and more classes than memory should hold.
    """
    with open_input(path, stdin) as file:
        return _pair_errors(file, path)


def _pair_errors(file, path):
    pairs, others = {}, {}  # {(i, j): (line, n_i, errors_i, n_j, errors_j)}, {(t, i, j): ...}
    for text, first_line in blocks(SimpleNamespace(read=file.read, name=path)):
        for line, words in enumerate(text.split(b"\n"), first_line):
            try:
                if words := words.split():
                    _add(pairs, others, _line_numbers(words), line)
            except DataError as error:
                raise DataError(error.message, file=path, line=line) from None
    if not pairs:
        raise DataError("has no errors of any pair", file=path)
    return _arrays(pairs, others, path)


def _line_numbers(words):
    if len(words) not in (5, 6):
        raise DataError(
            "expected `i j n_i errors_i n_j errors_j` or `t i j n wins_i`, found "
            f"{len(words)} word{'s' if len(words) > 1 else ''}"
        )
    if len(words) == 6:
        count = 2
    else:
        count = 3
    for i, word in enumerate(words):
        if not (word.isdigit() if i < count else _WEIGHT.fullmatch(word)):
            raise DataError(f"expected a {'whole ' * (i < count)}number, found {show(word)}")
    numbers = [
        (int(word) if len(word) < 20 else _COUNT + 1) if word.isdigit() else float(word)
        for word in words
    ]
    if max(numbers) > _COUNT:
        raise DataError(f"a number is larger than {_COUNT}")
    if max(numbers[:count]) > MAX_LABEL:
        raise DataError(f"{max(numbers[:count])} is no label: the largest is {MAX_LABEL}")
    return numbers


def _add(pairs, others, numbers, line):
    if len(numbers) == 6:
        i, j, n_i, errors_i, n_j, errors_j = numbers
        if i == j:
            raise DataError(f"expected two classes, found {i} twice")
        for label, n, errors in ((i, n_i, errors_i), (j, n_j, errors_j)):
            if n == 0:
                raise DataError(f"there are no samples of class {label}")
            if errors > n:
                raise DataError(f"{errors} errors on class {label}, which has {n} samples")
        key = (i, j)
        known = pairs
        counts = (n_i, errors_i, n_j, errors_j)
        if i > j:
            key = (j, i)
            counts = (n_j, errors_j, n_i, errors_i)
    else:
        t, i, j, n, wins = numbers
        if len({t, i, j}) < 3:
            raise DataError(f"expected three different classes, found {t} {i} {j}")
        if wins > n:
            raise DataError(f"{wins} samples of class {t} went to class {i}, but there are {n}")
        key = (t, i, j)
        known = others
        counts = (n, wins)
        if i > j:
            key = (t, j, i)
            counts = (n, n - wins)
    if key in known:
        if known is pairs:
            what = "the pair"
        else:
            what = f"class {key[0]} for the pair"
        raise DataError(f"{what} {key[-2]} {key[-1]} is on line {known[key][0]} too")
    known[key] = (line, *counts)


def _arrays(pairs, others, path):
    labels = sorted({label for pair in pairs for label in pair})
    k = len(labels)
    if others:
        most = _MOST_IRRELEVANT
    else:
        most = _MOST_CLASSES
    if k > most:
        raise DataError(
            f"holds {k} classes, more than the {most} that are supported"
            + (" with lines of third classes" if others else ""),
            file=path,
        )
    position = {label: i for i, label in enumerate(labels)}
    whole = all(
        type(number) is int for line in (*pairs.values(), *others.values()) for number in line
    )
    if whole:
        dtype = np.int64
    else:
        dtype = np.float64
    n, errors = np.zeros((2, k, k), dtype)
    for (i, j), (_, n_i, errors_i, n_j, errors_j) in pairs.items():
        i, j = position[i], position[j]
        n[i, j], n[j, i], errors[i, j], errors[j, i] = n_i, n_j, errors_i, errors_j
    if not others:
        return PairErrors(tuple(labels), n, errors, source=path)
    irrelevant, wins = np.zeros((2, k, k, k), dtype)
    for (t, i, j), (line, count, won) in others.items():
        if (i, j) not in pairs or t not in position:
            if (i, j) not in pairs:
                what = f"the pair {i} {j}"
            else:
                what = f"class {t}"
            raise DataError(f"there is no line with the errors of {what}", file=path, line=line)
        t, i, j = position[t], position[i], position[j]
        irrelevant[t, i, j] = irrelevant[t, j, i] = count
        wins[t, i, j], wins[t, j, i] = won, count - won
    return PairErrors(tuple(labels), n, errors, irrelevant, wins, path)


def format_pair_errors(pair_errors, path=None):
    """The text of `PairErrors`, which is `checked`."""
    labels = pair_errors.labels
    n = pair_errors.n
    errors = pair_errors.errors
    others = pair_errors.irrelevant
    wins = pair_errors.wins
    lines = ["# i j  n_i errors_i  n_j errors_j\n"]
    for i, j in zip(*np.triu_indices(len(labels), 1)):
        if n[i, j] and n[j, i]:
            lines.append(
                f"{labels[i]} {labels[j]}  {_text(n[i, j])} {_text(errors[i, j])}  "
                f"{_text(n[j, i])} {_text(errors[j, i])}\n"
            )
    if others is not None:
        lines.append("# t  i j  n wins_i\n")
        lines += [
            f"{labels[t]}  {labels[i]} {labels[j]}  {_text(others[t, i, j])} "
            f"{_text(wins[t, i, j])}\n"
            for t, i, j in np.argwhere(others)
            if i < j
        ]
    return checked("".join(lines), lambda text: _pair_errors(io.BytesIO(text.encode()), path), path)


def _text(number):
    if isinstance(number, np.floating):
        return f"{number:.15g}"
    return f"{number}"

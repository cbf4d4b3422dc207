"""Files of confusions, how often each class was mistaken for another, of either kind.

A contingency table, as `eval_uc --json` prints it: a JSON object of which `labels`, the k
classes, and `contingency`, k rows (truth) of k columns (answers), are looked at; a further
column is of points that were rejected.

The errors of one-against-one classifiers, as `multi_borders --cv-errors` writes them: a line
`i j n_i errors_i n_j errors_j` for each pair of classes says that of n_i samples of class i
the classifier of the pair took errors_i for class j, and the same for class j.  A line
`t i j n wins_i` says that of n samples of a third class t it took wins_i for class i.  Blank
lines, and comments from `#`, are allowed.  Numbers of samples are sums of weights where these have
any: decimal fractions.

Shapes: k classes.
"""

import io
import json
import os
import re
import stat
from dataclasses import dataclass
from io import BytesIO

import numpy as np

from ..control.tree import MAX_LABEL
from ..core.errors import DataError
from ..files.atomic import checked
from ..files.number_text import blocks
from ..files.opening import open_input, read_bytes
from .class_names import show

_LARGEST = 16 * 2**20  # bytes of JSON
_MOST_CLASSES = 1024  # arrays (k, k)
_MOST_IRRELEVANT = 256  # arrays (k, k, k)
_COUNT = 2**53
_WEIGHT = re.compile(rb"[0-9]+(\.[0-9]*)?(e[-+]?[0-9]{1,3})?", re.ASCII)
_HEAD = 1 << 16
_WANTED = ("expected a contingency table (what eval_uc --json prints) or the errors of pairs "
           "(what multi_borders --cv-errors writes)")


@dataclass(frozen=True, eq=False)
class Confusions:
    """errors (k, k) float64: samples of class i that were taken for class j;  samples (k, k):
    of how many;  labels: k labels, ascending;  alternatives: answers to choose from."""

    labels: tuple
    errors: np.ndarray
    samples: np.ndarray
    alternatives: int


def holds_confusions(path):
    """True if `path` is one of these files, rather than the base name of training data.

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
    raw = read_bytes(path, stdin, expected=_WANTED.removeprefix("expected "),
                     most=lambda head: None if _kind(head[:_HEAD]) == "pairs" else _LARGEST)
    kind = _kind(raw[:_HEAD])
    if kind is None:
        raise DataError(f"{_WANTED}, found neither", file=path)
    try:
        return _table(raw) if kind == "table" else \
            _pairs(read_pair_errors("-", stdin=io.BytesIO(raw)))
    except DataError as error:
        raise DataError(error.message, file=path, line=error.line) from None


def _kind(head):
    """'table', 'pairs' or None, from the first bytes of a file."""
    if head.lstrip().startswith(b"{"):
        return "table"
    for line in head.split(b"\n"):
        words = line.partition(b"#")[0].split()
        if words:
            numbers = len(words) in (5, 6) and all(map(_WEIGHT.fullmatch, words))
            return "pairs" if numbers else None
    return None


def _pairs(found):
    found.error_rates()  # the errors of every pair are known
    samples = found.n.astype(np.float64)
    return Confusions(found.labels, found.errors.astype(np.float64), samples, 2)


def _table(raw):
    try:
        scores = json.loads(raw.decode("utf-8"),  # a number too large for anything stays text
                            parse_int=lambda text: int(text) if len(text) < 20 else text)
    except UnicodeDecodeError:
        raise DataError("expected JSON, found bytes that are not UTF-8 text") from None
    except RecursionError:
        raise DataError("expected JSON of a few levels, found more") from None
    except ValueError as error:
        raise DataError(f"expected JSON: {error}") from None
    labels = _numbers(scores.get("labels"), "`labels`", MAX_LABEL)
    k = len(labels)
    if k < 2:
        raise DataError(f"expected two classes or more in `labels`, found {k}")
    if k > _MOST_CLASSES:
        raise DataError(f"holds {k} classes, more than the {_MOST_CLASSES} that are supported")
    if len(set(labels)) < k:
        twice = next(label for i, label in enumerate(labels) if label in labels[:i])
        raise DataError(f"`labels` lists class {twice} twice")
    rows = scores.get("contingency")
    if not isinstance(rows, list) or len(rows) != k:
        raise DataError(f"expected {k} rows in `contingency`, one for each of `labels`, found "
                        + (str(len(rows)) if isinstance(rows, list) else "no list"))
    table = np.empty((k, k))
    for i, row in enumerate(rows):
        numbers = _numbers(row, f"row {i + 1} of `contingency`", _COUNT, (int, float))
        if len(numbers) not in (k, k + 1) or len(numbers) != len(rows[0]):
            raise DataError(f"expected {k} numbers in row {i + 1} of `contingency`"
                       f", or in all rows {k + 1}, found {len(numbers)}")
        table[i] = numbers[:k]
    if not table.any():
        raise DataError("`contingency` holds no points")
    order = np.argsort(labels)
    table = table[np.ix_(order, order)]
    samples = np.repeat(table.sum(axis=1)[:, None], k, axis=1)
    return Confusions(tuple(sorted(labels)), table, samples, k)


def _numbers(values, what, largest, kinds=(int,)):
    if not isinstance(values, list):
        raise DataError(f"expected a list of whole numbers in {what}, "
                        + ("found none" if values is None else "found something else"))
    for value in values:
        if type(value) not in kinds or not 0 <= value <= largest:
            found = f"{value!r:.40}" if isinstance(value, (int, float, str)) else "something else"
            raise DataError(f"expected a whole number from 0 to {largest} in {what}, found {found}")
    return values


@dataclass(frozen=True, eq=False)
class PairErrors:
    """Errors of the classifiers of all pairs, counted.

    labels: k labels, ascending;  n, errors (k, k) int64, or float64 for sums of weights: of n[i, j]
    samples of class i the classifier {i, j} got errors[i, j] wrong, n = 0 where nothing is known;
    irrelevant, wins (k, k, k), of these kinds, or None: of irrelevant[t, i, j] samples of class t
    it sent wins[t, i, j] to i, kept for (i, j) and (j, i) alike;  source: the file.
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

    Raises DataError with the line of whatever cannot be: other than five or six
    numbers, labels that are no whole ones, more errors than samples, a pair or a pair with a
    third class given twice, and more classes than memory should hold.
    """
    pairs, others = {}, {}
    with open_input(path, stdin) as file:
        for text, first_line in blocks(file):
            for line, words in enumerate(text.split(b"\n"), first_line):
                try:
                    if words := words.split():
                        _add(pairs, others, _line_numbers(words), line)
                except DataError as error:
                    raise DataError(error.message, file=file.name, line=line) from None
    if not pairs:
        raise DataError("has no errors of any pair", file=path)
    return _arrays(pairs, others, path)


def _line_numbers(words):
    if len(words) not in (5, 6):
        raise DataError("expected `i j n_i errors_i n_j errors_j` or `t i j n wins_i`, found "
                        f"{len(words)} word{'s' if len(words) > 1 else ''}")
    count = 2 if len(words) == 6 else 3
    for place, word in enumerate(words):
        if not (word.isdigit() if place < count else _WEIGHT.fullmatch(word)):
            raise DataError(f"expected a {'whole ' * (place < count)}number, found "
                            f"{show(word)}")
    numbers = [(int(word) if len(word) < 20 else _COUNT + 1) if word.isdigit() else float(word)
               for word in words]
    if max(numbers) > _COUNT:
        raise DataError(f"a number is larger than {_COUNT}")
    if max(numbers[:count]) > MAX_LABEL:
        raise DataError(f"{max(numbers[:count])} is no label: the largest is {MAX_LABEL}")
    return numbers


def _add(pairs, others, numbers, line):
    if len(numbers) == 5:
        _add_other(others, numbers, line)
        return
    i, j, n_i, errors_i, n_j, errors_j = numbers
    if i == j:
        raise DataError(f"expected two classes, found {i} twice")
    for label, n, errors in ((i, n_i, errors_i), (j, n_j, errors_j)):
        if n == 0:
            raise DataError(f"there are no samples of class {label}")
        if errors > n:
            raise DataError(f"{errors} errors on class {label}, which has {n} samples")
    if i > j:
        i, j, n_i, errors_i, n_j, errors_j = j, i, n_j, errors_j, n_i, errors_i
    if (i, j) in pairs:
        raise DataError(f"the pair {i} {j} is on line {pairs[i, j][0]} too")
    pairs[i, j] = (line, n_i, errors_i, n_j, errors_j)


def _add_other(others, numbers, line):
    t, i, j, n, wins = numbers
    if i == j or t in (i, j):
        raise DataError(f"expected three different classes, found {t} {i} {j}")
    if wins > n:
        raise DataError(f"{wins} samples of class {t} went to class {i}, but there are {n}")
    if i > j:
        i, j, wins = j, i, n - wins
    if (t, i, j) in others:
        raise DataError(f"class {t} for the pair {i} {j} is on line {others[t, i, j][0]} too")
    others[t, i, j] = (line, n, wins)


def _arrays(pairs, others, path):
    labels = sorted({label for pair in pairs for label in pair})
    k = len(labels)
    most = _MOST_IRRELEVANT if others else _MOST_CLASSES
    if k > most:
        raise DataError(f"holds {k} classes, more than the {most} that are supported"
                        + (" with lines of third classes" if others else ""), file=path)
    place = {label: i for i, label in enumerate(labels)}
    whole = all(type(number) is int for line in (*pairs.values(), *others.values())
                for number in line)
    kind = np.int64 if whole else np.float64
    n, errors = np.zeros((2, k, k), dtype=kind)
    for (i, j), (_, n_i, errors_i, n_j, errors_j) in pairs.items():
        i, j = place[i], place[j]
        n[i, j], n[j, i], errors[i, j], errors[j, i] = n_i, n_j, errors_i, errors_j
    if not others:
        return PairErrors(tuple(labels), n, errors, source=path)
    irrelevant, wins = np.zeros((2, k, k, k), dtype=kind)
    for (t, i, j), (line, count, won) in others.items():
        if (i, j) not in pairs or t not in place:
            what = f"the pair {i} {j}" if (i, j) not in pairs else f"class {t}"
            raise DataError(f"there is no line with the errors of {what}", file=path, line=line)
        t, i, j = place[t], place[i], place[j]
        irrelevant[t, i, j] = irrelevant[t, j, i] = count
        wins[t, i, j], wins[t, j, i] = won, count - won
    return PairErrors(tuple(labels), n, errors, irrelevant, wins, path)


def format_pair_errors(pair_errors, path=None):
    """The text of `PairErrors`, which is `checked`."""
    labels, n, errors = pair_errors.labels, pair_errors.n, pair_errors.errors
    lines = ["# i j  n_i errors_i  n_j errors_j\n"]
    for i, j in zip(*np.triu_indices(len(labels), 1)):
        if n[i, j] and n[j, i]:
            lines.append(f"{labels[i]} {labels[j]}  {_text(n[i, j])} {_text(errors[i, j])}  "
                         f"{_text(n[j, i])} {_text(errors[j, i])}\n")
    if pair_errors.irrelevant is not None:
        lines.append("# t  i j  n wins_i\n")
        for t, i, j in np.argwhere(pair_errors.irrelevant):
            if i < j:
                lines.append(f"{labels[t]}  {labels[i]} {labels[j]}  "
                             f"{_text(pair_errors.irrelevant[t, i, j])} "
                             f"{_text(pair_errors.wins[t, i, j])}\n")
    return checked("".join(lines), lambda text: read_pair_errors("-", BytesIO(text.encode())), path)


def _text(number):
    """A number of samples, or a sum of weights to fifteen digits."""
    return f"{number:.15g}" if isinstance(number, np.floating) else f"{number}"

"""Files of costs: what it costs to answer one class where another is true.

The first line names the columns, answers, by labels or names of classes; a last column `-` is the
cost of no answer.  A line follows for each true class: its label or name, and a number for each
column; or the numbers alone, in the order of the columns.  Fields stand between blanks; or between
tabs or commas where the first line has these, so that names may hold blanks.  Blank lines, and
comments from `#`, are allowed.
"""

import csv
import io
from collections.abc import Mapping, Sequence

import numpy as np

from ..core.costs import CostMatrix
from ..core.errors import and_more, DataError
from ..core.text import numeral
from ..files.opening import read_bytes, SMALL_TEXT

_LONGEST = 2**20  # of a line
_MOST_CLASSES = 1024
_SHOWN = 40


def read_costs(path, labels: Sequence[int], names: Mapping[int, str] | None = None
               ) -> CostMatrix:
    """The `CostMatrix` in a file, or in standard input for `-`, for classes in the order of labels.

    names: {label: name};  a name goes before a label that reads the same.  Classes of the file
    that are not among the labels are left aside.
    Raises DataError, with the line where there is one, for what is no such file, a class that it
    lacks, and a right answer that costs more than a wrong one.
    """
    raw = read_bytes(path, most=SMALL_TEXT, expected="a matrix of costs")
    label_of = _label_of(labels, names or {})
    lines = _lines(raw, path, label_of)
    line, words = next(lines, (1, ()))
    if len(words) < 2:
        raise DataError("expected a line of two classes or more, the columns of a matrix of costs",
                        file=path, line=line)
    columns = _columns(words, label_of, path, line)
    place = {label: at for at, label in enumerate(columns) if isinstance(label, int)}
    for label in labels:
        if label not in place:
            raise DataError(_lacking(label, names, columns), file=path, line=line)
    refuses = words[-1] == "-"
    table, found = _rows(lines, columns, words[:len(columns)], path, (line, refuses))
    order = [place[label] for label in labels]
    costs = table[np.ix_(order, order)]
    for row, at in enumerate(order):
        if (costs[row] < costs[row, row]).any():
            other = int(np.argmin(costs[row]))
            raise DataError(f"a wrong answer, {words[order[other]]}, costs {costs[row, other]:g}, "
                            f"the right one, {words[at]}, {costs[row, row]:g}: expected true "
                            "classes in the rows, and right answers that cost no more than wrong "
                            "ones", file=path, line=found[at])
    if (costs == np.diag(costs)[:, None]).all():
        raise DataError("wrong answers cost no more than right ones: expected a cost of mistakes",
                        file=path, line=found[0])
    return CostMatrix(costs, table[order, -1] if refuses else None)


def _lacking(label, names, columns):
    """The message about a class without a column."""
    name = (names or {}).get(label)
    message = f"class {label}" + f", '{name}'," * (name is not None) + " has no column: "
    if name is not None and " " in name and name.split()[0] in columns:
        return message + "names with blanks need tabs or commas between the columns"
    strange = [column for column in columns if isinstance(column, str)]
    if name is None and strange:
        return message + f"expected one for each class, found {_shown(strange[0])}, and the " \
                         "names of the classes are not known here (eval_uc --names FILE gives them)"
    return message + "expected one for each class"


def _lines(raw, path, label_of):
    """(line, fields) of the lines of a file that have any.

    label_of: {word: label}, by which a comma divides the columns or is a part of their names.
    """
    divide = None
    for number, line in enumerate(io.BytesIO(raw.removeprefix(b"\xef\xbb\xbf")), 1):
        if len(line) > _LONGEST:
            raise DataError(f"expected lines of at most {_LONGEST} bytes", file=path, line=number)
        text = line.partition(b"#")[0].decode("utf-8", "surrogateescape").rstrip("\r\n ")
        if not text.strip():
            continue
        first = divide is None
        divide = divide or _divider(text, label_of)
        try:
            words = divide(text)
        except csv.Error as error:
            raise DataError(f"expected fields with commas between them: {error}", file=path,
                            line=number) from None
        if first and words[0] == "":  # above the names of the rows
            del words[0]
        yield number, words


def _divider(text, label_of):
    """The function that divides lines into fields, by the first one."""
    if "\t" in text:
        return _at_tabs
    known = sum(word in label_of for word in text.split())
    commas = "," in text and (not known or known < sum(
        word.strip(" \"") in label_of for word in text.split(",")))
    return _at_commas if commas else str.split


def _at_tabs(text):
    return [word.strip() for word in text.split("\t")]


def _at_commas(text):
    row, = csv.reader([text], skipinitialspace=True)
    return [word.strip() for word in row]


def _label_of(labels, names):
    """{word: label} of classes by label and by name."""
    return {**{str(label): label for label in labels},
            **{names[label]: label for label in labels if label in names}}


def _columns(words, label_of, path, line):
    """The label of each column that is a class; the word itself for a class not asked for."""
    *classes, last = words
    classes += [last] * (last != "-")
    if len(classes) > _MOST_CLASSES:
        raise DataError(f"{len(classes)} columns are more than the {_MOST_CLASSES} classes that "
                        "are supported", file=path, line=line)
    columns: dict = {}
    for word in classes:
        if word in ("", "-"):
            raise DataError("expected the label or name of a class in each column"
                            + (", and the cost of no answer, -, in the last one" if word else ""),
                            file=path, line=line)
        label = label_of.get(word, word)
        if label in columns:
            raise DataError(f"the columns {_shown(columns[label])} and {_shown(word)} are one "
                            "class", file=path, line=line)
        columns[label] = word
    return list(columns)


def _rows(lines, columns, classes, path, head):
    """(table (k, columns), line of each row), rows in the order of the columns.

    columns: labels, or words for other classes;  classes: as they stand there;  head: the line
    before them, and whether it has a last column -.
    """
    line, refuses = head
    k, width = len(classes), len(classes) + refuses
    table, found = np.empty((k, width)), [0] * k
    at_of = {word: at for at, word in enumerate(classes)}
    named, count = None, 0
    for line, words in lines:
        if named is None:
            named = len(words) == width + 1
        if len(words) != width + named:
            what = "a class and " if named else ""
            raise DataError(f"expected {what}{width} numbers, one for each column, found "
                            f"{len(words)} fields", file=path, line=line)
        if count == k:
            raise DataError(f"expected {k} rows, one for each class, found more", file=path,
                            line=line)
        at = at_of.get(words[0]) if named else count
        if at is None or found[at]:
            raise DataError(f"expected one of the columns before the numbers of a true class, "
                            f"found {_shown(words[0])}" + " again" * (at is not None),
                            file=path, line=line)
        found[at] = line
        table[at] = [_cost(word, path, line) for word in words[named:]]
        count += 1
    if count < k:
        message = f"expected {k} rows, one for each class, found {count}"
        if named:
            gone = [_shown(word) for word, at in zip(classes, found) if not at]
            message += f", none for {gone[0]}{and_more(gone)}"
        if isinstance(columns[-1], str) and not refuses:
            message += f": {_shown(columns[-1])} is none of the classes here (a last column of " \
                       "the costs of no answer is headed by -)"
        raise DataError(message, file=path, line=line)
    return table, found


def _cost(word, path, line):
    try:
        value = numeral(word)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise DataError(f"expected a cost, a finite number of 0 or more, found {_shown(word)}",
                        file=path, line=line)
    return value


def _shown(word):
    return repr(word if len(word) <= _SHOWN else word[:_SHOWN - 3] + "...")

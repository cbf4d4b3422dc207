"""Files of costs: what it costs to answer one class where another is true.

The first line names the columns, answers, by labels or names of classes; a last column `-` is the
cost of no answer.  A line follows for each true class: its label or name, and a number for each
column; or the numbers alone, in the order of the columns.  Fields stand between blanks; or between
tabs or commas where the first line has these, so that names may hold blanks.  Blank lines, and
comments from `#`, are allowed.
"""

import csv
from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np

from ..core.costs import CostMatrix
from ..core.errors import and_more, DataError
from ..core.text import numeral
from ..files.opening import read_bytes, SMALL_TEXT
from .class_names import show

_LONGEST = 2**20  # of a line
_MOST_CLASSES = 1024


def read_costs(path, labels: Sequence[int], names: Mapping[int, str] | None = None) -> CostMatrix:
    """The `CostMatrix` in a file, or in standard input for `-`, for classes in the order of labels.

    `names` is {label: name}; a name goes before a label that reads the same. Classes of the file
    that are not among the labels are left aside. Raises `DataError`, with the line where there is
    one, for what is no such file, a class that it lacks, and a right answer that costs more than a
    wrong one.
    """
    names = names or {}
    label_of = {str(label): label for label in labels}
    label_of |= {names[label]: label for label in labels if label in names}
    lines = _lines(path, label_of)
    line, words = next(lines, (1, ()))
    if len(words) < 2:
        raise DataError(
            "expected a line of two classes or more, the columns of a matrix of costs",
            file=path,
            line=line,
        )
    rejects = words[-1] == "-"
    if rejects:
        classes = words[:-1]
    else:
        classes = words
    position = _columns(classes, label_of, path, line)
    for label in labels:
        if label not in position:
            raise DataError(_lacking(label, names, position), file=path, line=line)
    table, line_of = _rows(lines, classes, rejects, path, line, label_of)
    order = [position[label] for label in labels]
    costs = table[np.ix_(order, order)]
    right = np.diag(costs)
    for row, at in enumerate(order):
        if (costs[row] < right[row]).any():
            other = int(np.argmin(costs[row]))
            raise DataError(
                f"a wrong answer, {words[order[other]]}, costs {costs[row, other]:g}, "
                f"the right one, {words[at]}, {right[row]:g}: expected true "
                "classes in the rows, and right answers that cost no more than wrong "
                "ones",
                file=path,
                line=line_of[at],
            )
    if (costs == right[:, None]).all():
        raise DataError(
            "wrong answers cost no more than right ones: expected a cost of mistakes",
            file=path,
            line=line_of[0],
        )
    return CostMatrix(costs, table[order, -1] if rejects else None)


def _lacking(label, names, columns):
    name = names.get(label)
    message = f"class {label}" + f", '{name}'," * (name is not None) + " has no column: "
    if name is not None and " " in name and name.split()[0] in columns:
        return message + "names with blanks need tabs or commas between the columns"
    others = [column for column in columns if isinstance(column, str)]
    if name is None and others:
        return (
            message + f"expected one for each class, found {show(others[0])}, and the "
            "names of the classes are not known here (`names=FILE` gives them)"
        )
    return message + "expected one for each class"


def _lines(path, label_of):
    raw = read_bytes(path, most=SMALL_TEXT, expected="a matrix of costs")
    header = True
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if len(line) >= _LONGEST:
            raise DataError(f"expected lines of at most {_LONGEST} bytes", file=path, line=number)
        text = line.partition(b"#")[0].decode("utf-8", "surrogateescape").rstrip("\r\n ")
        if not text.strip():
            continue
        if header:
            mark = _delimiter(text, label_of)
        try:
            if mark is None:
                words = text.split()
            else:
                words = _fields(text, mark)
        except csv.Error as error:
            raise DataError(
                f"expected fields with commas between them: {error}", file=path, line=number
            ) from None
        yield number, words[1:] if header and words[0] == "" else words
        header = False


def _delimiter(text, label_of):
    """The character between fields, by the first line; None for blanks."""
    if "\t" in text:
        return "\t"
    known = sum(word in label_of for word in text.split())
    if "," in text and (
        not known or known < sum(word.strip(' "') in label_of for word in text.split(","))
    ):
        return ","
    return None


def _fields(text, mark):
    (row,) = csv.reader(
        [text],
        delimiter=mark,
        skipinitialspace=True,
        quoting=csv.QUOTE_MINIMAL if mark == "," else csv.QUOTE_NONE,
    )
    return [word.strip() for word in row]


def _columns(classes, label_of, path, line):
    """{label: position} of the columns; for an unknown class its word."""
    if len(classes) > _MOST_CLASSES:
        raise DataError(
            f"{len(classes)} columns are more than the {_MOST_CLASSES} classes that are supported",
            file=path,
            line=line,
        )
    position: dict = {}
    for i, word in enumerate(classes):
        if word in ("", "-"):
            raise DataError(
                "expected the label or name of a class in each column"
                + (", and the cost of no answer, -, in the last one" if word else ""),
                file=path,
                line=line,
            )
        label = label_of.get(word, word)
        if label in position:
            raise DataError(
                f"the columns {show(classes[position[label]])} and {show(word)} are one class",
                file=path,
                line=line,
            )
        position[label] = i
    return position


def _rows(lines, classes, rejects, path, line, label_of):
    """(table (k, columns), line of each row), rows in the order of the columns."""
    k = len(classes)
    width = len(classes) + rejects
    table = np.empty((k, width))
    line_of = [0] * k
    named, count = None, 0
    for line, words in lines:
        if named is None:
            named = len(words) == width + 1
        if len(words) != width + named:
            if named:
                what = "a class and "
            else:
                what = ""
            raise DataError(
                f"expected {what}{width} numbers, one for each column, found {len(words)} fields",
                file=path,
                line=line,
            )
        if count == k:
            raise DataError(
                f"expected {k} rows, one for each class, found more", file=path, line=line
            )
        known = not named or words[0] in classes
        if named and known:
            row = classes.index(words[0])
        else:
            row = count
        if not known or line_of[row]:
            raise DataError(
                "expected one of the columns before the numbers of a true class, "
                f"found {show(words[0])}" + " again" * known,
                file=path,
                line=line,
            )
        line_of[row] = line
        table[row] = [_cost(word, path, line) for word in words[named:]]
        count += 1
    if count < k:
        message = f"expected {k} rows, one for each class, found {count}"
        if named:
            missing = [show(word) for word, seen in zip(classes, line_of) if not seen]
            message += f", none for {missing[0]}{and_more(missing)}"
        if classes[-1] not in label_of and not rejects:
            message += (
                f": {show(classes[-1])} is none of the classes here (a last column of "
                "the costs of no answer is headed by -)"
            )
        raise DataError(message, file=path, line=line)
    return table, line_of


def _cost(word, path, line):
    with suppress(ValueError):
        if 0 <= (value := numeral(word)) < float("inf"):
            return value
    raise DataError(
        f"expected a cost, a finite number of 0 or more, found {show(word)}", file=path, line=line
    )

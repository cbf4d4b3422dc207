"""Text file of a multinomial logistic regression, read with every check, written without loss.

    agfmc logistic 1
    classes c
    features d
    ridge r
    points n
    c lines of d + 1 numbers: the weights of a class and, last, its intercept
    # agfmc what made it (may be left out)
"""

import math
import re
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from ..errors import ModelError
from ..provenance import Provenance
from .consistency import checked
from .inputs import read_bytes
from .seal import check_seal, unsealed
from .text import NUMBER, numbers

__all__ = ["LogisticModel", "format_logistic_model", "read_logistic_model"]

_TITLE = "agfmc logistic 1"
_KEYS = ("classes", "features", "ridge", "points")
_MARK = "# agfmc "


@dataclass(frozen=True, eq=False)
class LogisticModel:
    """weights (c, d + 1), the last column the intercept; what they were fitted with.

    provenance: what it was made from.
    """

    weights: np.ndarray
    ridge: float
    points: int
    provenance: Provenance = Provenance()


def format_logistic_model(model):
    """The text of a `LogisticModel`, which is `checked`; each number reads back bit for bit."""
    c, width = model.weights.shape
    lines = [_TITLE, f"classes {c}", f"features {width - 1}", f"ridge {float(model.ridge)!r}",
             f"points {int(model.points)}"]
    lines += [" ".join(map(repr, row)) for row in model.weights.tolist()]
    if model.provenance:
        lines.append(_MARK + model.provenance.to_line())
    return checked("\n".join(lines) + "\n", lambda text: read_logistic_model(None, text.encode()))


def read_logistic_model(path, raw=None):
    """Read the text file of a `LogisticModel`; raw: its bytes, if read already.

    Raises `ModelError` with the line of whatever is invalid.
    """
    raw = read_bytes(path) if raw is None else raw
    check_seal(raw, path)

    def fail(message, line=None):
        return ModelError(message, file=path, line=line)

    try:
        text = raw.decode("ascii")
    except UnicodeDecodeError as error:
        line = raw[:error.start].count(b"\n") + 1
        raise fail("expected a logistic model, found other bytes", line) from None
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].split() != _TITLE.split():
        if lines[0].split()[:2] == _TITLE.split()[:2]:
            raise fail(f"expected version 1 of this format, found '{lines[0][:40]}'", 1)
        found = f"'{lines[0][:40]}'" if text.strip() else "an empty file"
        raise fail(f"expected '{_TITLE}', found {found}", 1)
    if lines.pop() != "":
        raise fail("truncated: the last line is not complete", len(lines) + 1)
    c, d, ridge, points = (_header(lines, at, key, fail) for at, key in enumerate(_KEYS, 1))
    first = len(_KEYS) + 1
    body = list(takewhile(lambda line: not line.startswith("#"), lines[first:first + c]))
    rest = lines[first + len(body):]
    # before anything of that size is made: a number takes two characters
    if len(body) < c:
        raise fail(f"truncated: expected {c} lines of weights, found {len(body)}",
                   first + len(body) + bool(rest))
    for line, row in enumerate(body, first + 1):
        if len(row) < 2 * d + 1:
            raise fail(f"expected {d + 1} numbers, found {len(row.split())}", line)
    weights = np.empty((c, d + 1))
    for i, row in enumerate(body):
        weights[i] = _weights(row, d + 1, first + 1 + i, fail)
    provenance = Provenance()
    if rest and rest[0].startswith(_MARK):
        provenance = Provenance.from_line(unsealed(rest.pop(0)[len(_MARK):]))
    if rest:
        raise fail("expected the end of the file", len(lines) - len(rest) + 1)
    return LogisticModel(weights, ridge, points, provenance)


def _header(lines, at, key, fail):
    """The value of the header's line `at` (from 0)."""
    words = lines[at].split() if at < len(lines) else []
    if len(words) != 2 or words[0] != key:
        found = f"'{lines[at][:40]}'" if at < len(lines) else "the end of the file"
        raise fail(f"expected '{key}' and a number, found {found}", at + 1)
    if key == "ridge":
        value = float(words[1]) if NUMBER.fullmatch(words[1].encode()) else math.nan
        if not 0.0 <= value < math.inf:
            raise fail(f"ridge: expected a number that is not negative, found '{words[1][:40]}'",
                       at + 1)
        return value
    least = 2 if key == "classes" else 1
    if not re.fullmatch(r"\d{1,12}", words[1]) or int(words[1]) < least:
        raise fail(f"{key}: expected a whole number from {least} up, found '{words[1][:40]}'",
                   at + 1)
    return int(words[1])


def _weights(row, count, line, fail):
    """The `count` numbers of a line."""
    words = row.split()
    if len(words) != count:
        raise fail(f"expected {count} numbers, found {len(words)}", line)
    values = numbers(np.frombuffer(row.encode(), np.uint8), count)
    if values is None:
        bad = next((word for word in words if not NUMBER.fullmatch(word.encode())
                    or math.isinf(float(word))), row)
        raise fail(f"expected a finite number, found '{bad[:40]}'", line)
    return values

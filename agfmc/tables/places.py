"""Places: columns of coordinates, cells with two of them, and a grid whose cells are groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, TYPE_CHECKING

from ..core.errors import one_line, UsageError

if TYPE_CHECKING:
    import numpy as np

DEGREES = (90, 360)  # of latitudes and longitudes, at most
_DEGREE = 111_195.0  # metres, on a sphere with the mean radius of the earth
_START, _END = r"(?:^|[ ._-]|decimal)", r"(?:$|[ ._-])"
_NAMES = {  # of the first and the second coordinate
    True: ("lat(?:itude)?", "(?:lon|lng|long|longitude)"),
    False: (
        "(?:easting|utm[ ._-]?[xe]|[xe][ ._-]?utm|x[ ._-]?coord|coord[ ._-]?x)",
        "(?:northing|utm[ ._-]?[yn]|[yn][ ._-]?utm|y[ ._-]?coord|coord[ ._-]?y)",
    ),
}
_PAIRS = tuple(  # with decimal points, and with commas
    re.compile(rf"\(?({number})(?:{between})({number})\)?", re.ASCII)
    for number, between in (
        (r"[+-]?\d{1,9}(?:\.\d{1,15})?", " *[,;] *| +"),
        (r"[+-]?\d{1,9}(?:,\d{1,15})?", " *; *|,? +"),
    )
)
_FRACTION = re.compile(r"\.|,(?!\d{3}$)")  # 1,000 may be a thousand
_CLEAR = 0.5  # of the cells have two fractions: 47,8 may be one number, and 3 12 a list
_LENGTH = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(k?m)", re.ASCII)


class Places(NamedTuple):
    """Names of two columns of coordinates, the latitude or the easting first."""

    first: str
    second: str
    in_degrees: bool


@dataclass(frozen=True)
class PairRecipe:
    """One of the two numbers in the cells of a column.

    Attributes
    ----------
    column : name of the column
    number : 0 or 1
    """

    column: Annotated[str, "[^\0\ud800-\udfff]*"]
    number: Literal[0, 1]


def place_columns(names: Sequence[str]) -> Places | None:
    """The columns of coordinates among those of these names, or None."""
    for in_degrees, patterns in _NAMES.items():
        first, second = (
            next((name for name in names if re.search(_START + pattern + _END, name, re.I)), None)
            for pattern in patterns
        )
        if first is not None and second is not None:
            return Places(first, second, in_degrees)
    return None


def pair_numbers(words: Iterable[str]) -> np.ndarray:
    """The two numbers (w, 2) in each word; infinite for others."""
    import numpy as np

    rows = [[float(text.replace(",", ".")) for text in _texts_of(word)] for word in words]
    return np.array([row or [np.inf] * 2 for row in rows], dtype=np.float64).reshape(-1, 2)


def _texts_of(word):
    """The texts of the two numbers in a word, () for others."""
    for pattern in _PAIRS:
        match = pattern.fullmatch(word)
        if match is not None:
            return match.groups()
    return ()


class PairSurvey:
    """Whether all words of a column are two numbers each."""

    def __init__(self):
        self._rows = self._clear = 0
        self._can_be = True

    def add(self, words: Mapping[str, int]) -> None:
        """Take more words of the column, {word: rows}."""
        for word, rows in words.items():
            if not self._can_be:
                return
            texts = _texts_of(word)
            self._can_be = bool(texts)
            self._rows += rows
            if texts and all(map(_FRACTION.search, texts)):
                self._clear += rows

    @property
    def holds_pairs(self) -> bool:
        """True if they are, and many have fractions."""
        return self._can_be and self._clear > _CLEAR * self._rows


def metres_of(size: str) -> float:
    """The metres of a length such as 10km or 500m; `UsageError` for anything else."""
    match = _LENGTH.fullmatch(size)
    if match is None or not float(match[1]):
        raise UsageError(
            f"`group_places`: expected a length, as 10km or 500m, found '{one_line(size)}'"
        )
    if match[2] == "km":
        return 1000 * float(match[1])
    return float(match[1])


def grid_cells(first: np.ndarray, second: np.ndarray, metres: float, in_degrees: bool) -> list[str]:
    """Names (n,) of the cells, of that side, of a grid that places lie in.

    Cells of degrees are those of bands along the parallels, of equal width in each band.
    """
    import numpy as np

    if in_degrees:
        band = np.floor(first * _DEGREE / metres)
        middle = np.radians((band + 0.5) * metres / _DEGREE)
        first, second = first * _DEGREE, second * _DEGREE * np.cos(middle)
    rows = np.floor(first / metres).astype(np.int64).tolist()
    columns = np.floor(second / metres).astype(np.int64).tolist()
    return [f"{row} {column}" for row, column in zip(rows, columns)]

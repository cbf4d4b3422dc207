"""What the survey of a table has to say: problems, what was done, and doubts."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from ..core.errors import AgfmcNotice, DataError, DataErrors, one_line
from ..core.text import first_words
from .number_forms import Fault
from .roles import quoted
from .words import OUTER, Table, with_points


class Findings:
    """Messages on the columns of a table, which are given all together.

    Attributes
    ----------
    left_out : {reason: names of columns}
    taken : {how: columns that were taken so}
    done : further messages on what was done
    kinds : {kind: columns} of those that are used, and left out
    doubts : warnings of what may be a mistake
    """

    def __init__(self, table: Table):
        self._table = table
        self._problems: list[tuple[int, str, int | None]] = []
        self._faults: list[tuple[int, Fault]] = []
        self.left_out: dict[str, list[str]] = defaultdict(list)
        self.taken: dict[str, list[str]] = defaultdict(list)
        self.done: list[str] = []
        self.kinds: dict[str, int] = {}
        self.doubts: list[str] = []

    def place(self, row: int) -> str:
        """A row of the table in words."""
        return f"{self._table.counted} {row}"

    def cell_at(self, position: int, row: int) -> str:
        """The cell of a column in that row, as it stands there."""
        for block in self._table.blocks({position: "text"}):
            if row in block.numbers:
                return block[position][block.numbers.index(row)].strip(OUTER)
        return ""

    def add_problem(self, position: int, text: str, row: int | None = None) -> None:
        """A column that cannot be used; row: the line or row of an example."""
        place = f"column {quoted(self._table.names[position])}"
        if row is not None:
            place += f", {self.place(row)}"
        self._problems.append((position, f"{place}: {text}", row))

    def add_fault(self, position: int, fault: Fault) -> None:
        """A column with cells that cannot be used, of which the first is shown."""
        self._faults.append((position, fault))

    def has_faults(self, position: int) -> bool:
        """True if the column has such cells."""
        return position in dict(self._faults)

    def raise_problems(self) -> None:
        """Give the doubts, and raise `DataErrors` of all problems, if there are any."""
        faults, self._faults = self._faults, []
        if faults:
            self._find_examples(faults)
        if self._problems:
            self._give_doubts()
            ordered = sorted(self._problems, key=lambda problem: (problem[0], problem[2] or 0))
            table = self._table
            errors = []
            for _, text, row in ordered:
                line = None
                if row is not None:
                    line = table.line_of(row)
                errors.append(DataError(text, file=table.file, line=line))
            raise DataErrors(errors)

    def _find_examples(self, faults):
        for block in self._table.blocks({position: "words" for position, _ in faults}):
            for position, fault in list(faults):
                cells = block[position]
                words = with_points(cells.words, self._table.decimal)
                is_wrong = cells.spread(list(map(fault.is_wrong, words)), False)
                if is_wrong.any():
                    faults.remove((position, fault))
                    row = int(np.argmax(is_wrong))
                    cell = one_line(words[cells.codes[row]])
                    self.add_problem(position, f'"{cell}" {fault.text}', block.number(row))
            if not faults:
                return
        for position, fault in faults:
            self.add_problem(position, fault.text)

    def all_done(self) -> list[str]:
        """What was done, each in a phrase."""
        parts = []
        if self.left_out:
            reasons = [
                f"{first_words(list(map(quoted, names)))} ({reason})"
                for reason, names in self.left_out.items()
            ]
            parts.append(f"left out: {', '.join(reasons)}")
        parts += [f"{how}: {first_words(columns)}" for how, columns in self.taken.items()]
        return parts + self.done

    def tell(self) -> None:
        """Give one notice of what was done, and the doubts."""
        done = self.all_done()
        if done:
            kinds = ", ".join(f"{kind} {count}" for kind, count in self.kinds.items())
            self._table.warn("; ".join([f"columns: {kinds}", *done]), AgfmcNotice)
        self._give_doubts()

    def _give_doubts(self):
        for doubt in self.doubts:
            self._table.warn(doubt)

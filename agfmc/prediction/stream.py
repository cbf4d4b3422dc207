"""Lines that come a few at a time, answered as they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..answers.tables import AnswerTable
from ..answers.types import Summary
from ..core.errors import DataError
from .classifier import Classifier, classify
from .contributions import Explainer


class LineAnswers:
    """Answers to lines; one that is wrong has an answer that says so, and the others are answered.

    Parameters
    ----------
    source : ArrivingRows or ArrivingPoints
    warn : function that is called with the `DataError` of each wrong line

    Attributes
    ----------
    failed : number of wrong lines
    """

    def __init__(self, classifier: Classifier, source: Any, table: AnswerTable, file: str,
                 warn: Callable, explainer: Explainer | None = None, counter=None):
        self.summary, self.failed = Summary(), 0
        self._classifier, self._source, self._table, self._file = classifier, source, table, file
        self._warn, self._explainer, self._counter = warn, explainer, counter

    def __call__(self, data: bytes, line: int) -> list[tuple]:
        """(cells of the head, formatted answers) of lines; the number of the first is `line`."""
        first, heads = 1 + self.summary.points + self.failed, []

        def points():
            for x, cells in self._source.points(data, line, first):
                heads.append(cells)
                yield x

        try:
            answers = list(classify(self._classifier, points(), 1, self._table.formatted,
                                    self._explainer))
        except DataError as error:
            head = self._source.cells(data, line, first)
            lines = data.removesuffix(b"\n").split(b"\n")
            if len(lines) > 1:
                return [part for number, one in enumerate(lines, line)
                        for part in self(one + b"\n", number)]
            self.failed += 1
            self._warn(DataError(error.message, file=self._file, line=line))
            return [(head, [self._table.text.failed(error.message)])]
        for block, _ in answers:
            self.summary.add(block, self._counter)
        return [(cells, text) for cells, (_, text) in zip(heads, answers)]

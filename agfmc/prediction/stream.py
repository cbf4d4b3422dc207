"""Lines that come a few at a time, answered as they come."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace

from ..answers.tables import AnswerTable, numbered
from ..core.answers import Summary
from ..core.errors import DataError
from ..data.from_table import RowsToClassify
from ..data.libsvm import svm_chunks
from ..files.opening import CutLine
from .classifier import Classifier, classify
from .contributions import Explainer


class LineAnswers:
    """Answers to lines; one that is wrong has an answer that says so, and the others are answered.

    Parameters
    ----------
    rows : RowsToClassify, or the `InputFormat` of LIBSVM text
    warn : function of the `DataError` of each wrong line, which gives the words of its answer;
        `failed` is the number of these lines

    Attributes
    ----------
    watched : function of the pairs of answers and text, which yields them, to be set
    """

    def __init__(
        self,
        classifier: Classifier,
        rows,
        table: AnswerTable,
        file: str,
        warn: Callable,
        explainer: Explainer | None,
        counter,
    ):
        self.summary = Summary()
        self.failed = 0
        self.ignored: Counter[str] = Counter()  # as of `svm_chunks`
        self._classifier, self._rows, self._table, self._file = classifier, rows, table, file
        self._warn, self._explainer, self._counter = warn, explainer, counter
        self.watched: Callable = iter

    def __call__(self, data: bytes, line: int) -> list[tuple]:
        """(cells of the head, formatted answers) of lines; the number of the first is `line`."""
        first = 1 + self.summary.points + self.failed
        heads = []
        if isinstance(data, CutLine):
            return self._fail(data.message, data, line, first)

        def points():
            for x, cells in self._points(data, line, first):
                heads.append(cells)
                yield x

        try:
            answers = list(
                classify(self._classifier, points(), 1, self._table.formatted, self._explainer)
            )
        except DataError as error:
            if middle := data.find(b"\n", len(data) // 2, -1) + 1 or data.rfind(b"\n", 0, -1) + 1:
                above = data[:middle]
                return self(above, line) + self(data[middle:], line + above.count(b"\n"))
            return self._fail(error.message, data, line, first)
        for block, _ in self.watched(answers):
            self.summary.add(block, self._counter)
        return [(cells, text) for cells, (_, text) in zip(heads, answers)]

    def _fail(self, message, data, line, first):
        self.failed += 1
        words = self._warn(DataError(message, file=self._file, line=line))
        heads = [range(first, first + 1)]
        if isinstance(self._rows, RowsToClassify):
            heads = self._rows.cells(data, first)
        return [(heads, [self._table.text.failed(words)])]

    def _points(self, data, line, first) -> Iterator[tuple]:
        classifier = self._classifier
        explains = self._explainer is not None
        if explains:
            step = self._explainer.rows
        else:
            step = classifier.rows
        if isinstance(self._rows, RowsToClassify):
            self._rows.table.put(data, line)
            return self._rows.chunks(step, first)
        text = SimpleNamespace(name=self._file, read=io.BytesIO(data).read)
        return numbered(
            svm_chunks(
                text,
                self._rows,
                step,
                classifier.features,
                classifier.values.takes_sparse and not explains and self._rows.fill == 0,
                ignored=self.ignored,
            ),
            first,
        )

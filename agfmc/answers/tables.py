"""Answers of a classifier as a table: ids, the class as a word, probabilities under its names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.errors import UsageError
from ..core.rows import by_name
from ..files.kinds import answer_format
from .quantity import Quantity
from .text_table import AGAINST, EXPECTED_COST, FLAGS, MARGIN, MOST_PROBABLE, Part, REASONS
from ..core.answers import Answers, Summary


@dataclass(frozen=True)
class AnswerTable:
    """The columns of a table of answers, and how they follow from `Answers`.

    Attributes
    ----------
    text : the writer of a format, as `AnswerText`
    id_columns : names of the columns of the input that come first
    labels : labels (k,) of the classes, ascending
    """

    text: Any
    id_columns: tuple[str, ...]
    labels: np.ndarray
    quantity: Quantity | None

    def formatted(self, answers: Answers) -> tuple[Answers, list]:
        """Answers without what is in the table, and their formatted text."""
        text = self.text.format_answers(
            [self._values(part, answers) for part in self.text.parts if part.kind != FLAGS]
        )
        return replace(answers, columns=None, ranked=None, explanation=None), text

    def _values(self, part, answers):
        if part.name == AGAINST:
            return self._numbers(answers.explanation.other)
        if part.name == MARGIN:
            return answers.explanation.margin - answers.explanation.reference
        if part.name == REASONS:
            contributions = answers.explanation.contributions
            most = np.argsort(-contributions, axis=1, kind="stable")[:, : len(part.names)]
            values = np.take_along_axis(contributions, most, axis=1)
            # behind the classes among the words
            return np.where(np.isnan(values), -1, len(self.labels) + most), values
        if part.kind == "number":
            if part.name == EXPECTED_COST:
                return answers.cost
            return answers.winner
        if part.kind == "word":
            return self._numbers(
                answers.probable if part.name == MOST_PROBABLE else answers.classes
            )
        if part.kind == "set":
            return answers.sets
        if part.kind == "ranked":
            return self._numbers(answers.ranked), answers.columns
        if self.quantity is None:
            return answers.columns
        return self.quantity(answers.columns)

    def _numbers(self, labels):
        return np.where(labels < 0, -1, np.searchsorted(self.labels, labels))


def answer_table(
    classifier,
    names: Sequence[str],
    id_columns: Sequence[str],
    path: str,
    quantity: Quantity | None = None,
    explained: tuple[Sequence[str], int] = ((), 0),
    flagged: bool = False,
) -> AnswerTable:
    """The `AnswerTable` of a classifier whose classes have these names, labels ascending.

    The ending of `path` decides how the output is written. A column of the input, one of
    `id_columns`, with a name of the answer's gets `input:` before it. `explained` are the names of
    the columns of the data, and how many of these, as reasons, are written. With `flagged` the
    flags of the rows come last.
    """
    form = answer_format(path)
    words = (*names, *explained[0])
    if form.delimiter is None:  # text with delimiters alone keeps bytes that are no UTF-8
        words = tuple(
            word.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for word in words
        )
    parts = _parts(classifier, words[: len(names)], quantity)
    if explained[0]:
        ranks = tuple(str(rank) for rank in range(1, min(explained[1], len(explained[0])) + 1))
        parts += (
            Part("word", AGAINST),
            Part("number", MARGIN, form="%.9g"),
            Part("ranked", REASONS, ranks, "reason", "%.9g", "contribution"),
        )
    if flagged:
        parts += (Part(FLAGS, FLAGS),)
    text = by_name(form.writer)(words, parts, form)
    columns = set(text.names)
    id_columns = tuple(f"input:{name}" if name in columns else name for name in id_columns)
    twice = sorted(
        name for name in set(id_columns) if id_columns.count(name) > 1 or name in columns
    )
    if twice:
        raise UsageError(
            f"the answers would have two columns '{twice[0]}': rename that of the input"
        )
    return AnswerTable(text, id_columns, classifier.classes, quantity)


def _parts(classifier, names, quantity):
    decoding = classifier.decoding
    parts = [Part("word", "class")]
    if decoding.prints_values:
        if decoding.raw:
            letter = "f"
        else:
            letter = "r"
        values = tuple(f"{letter}{i + 1}" for i in range(classifier.values.count))
        return (*parts, Part("numbers", "values", values, form="%.9g"))
    scores = classifier.gives_estimates or (
        decoding.decoder.gives == "votes" and classifier.all_classes
    )
    parts.append(Part("number", "score", form="%.9g") if scores else Part("number", "p"))
    if decoding.costs is not None:
        parts += [Part("number", EXPECTED_COST, form="%.7g"), Part("word", MOST_PROBABLE)]
    if quantity is not None:
        levels = tuple(f"quantile:{level:g}" for level in quantity.levels)
        parts.append(Part("numbers", "quantity", ("mean", *levels), form="%.7g"))
    elif decoding.top is not None:
        ranks = range(1, min(decoding.top, len(names)) + 1)
        parts.append(Part("ranked", "top", tuple(map(str, ranks)), "class"))
    elif decoding.stop is not None or decoding.coverage is not None:
        parts.append(Part("set", "set"))
    elif decoding.p_values:
        parts.append(Part("numbers", "p_values", names, "p_value:"))
    elif scores:
        parts.append(Part("numbers", "scores", names, "score:", "%.9g"))
    elif classifier.all_classes:
        parts.append(Part("numbers", "probabilities", names, "p:"))
    return tuple(parts)


def numbered(chunks: Iterable, first: int = 1) -> Iterator[tuple]:
    """(x, columns of the head) for chunks of points without ids: their numbers."""
    for x in chunks:
        yield x, [range(first, first + len(x))]
        first += len(x)


def write_answer_table(
    answers: Iterable[tuple],
    id_columns: Iterable,
    table: AnswerTable,
    path: str,
    show: Callable,
    counter,
) -> Summary:
    """Write answers, as `AnswerTable.formatted` returns them, to a file or show(bytes).

    Parameters
    ----------
    id_columns : iterable, columns of the head of each block, and flags where the table has some,
        read behind its answers
    path : str, `-` for show, which b"" ends
    counter : KernelCounter, optional, as for `write_answers`

    Returns
    -------
    Summary
    """
    summary, id_columns = Summary(), iter(id_columns)
    with table.text.opened(path, table.id_columns, show) as add:
        for block, text in answers:
            add(next(id_columns), text)
            summary.add(block, counter)
    return summary

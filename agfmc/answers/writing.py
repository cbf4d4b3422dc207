"""Answers of a classifier written to files: classes, confidence ratings, text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..data.libagf import cls_bytes, con_bytes
from ..files.atomic import replacing_all
from ..files.csv import writing_text
from .libagf_text import format_points, format_ranked, format_sets
from .quantity import Quantity
from ..core.answers import Answers, Summary


@dataclass(frozen=True)
class Layout:
    """Answers written: files of classes, ratings and sets, and lines that are printed.

    Attributes
    ----------
    labels : labels (k,) of the classes
    all_classes : the columns are numbers for all classes
    with_class : the class ends a line
    sets : answers have sets, which are printed, and written too
    header : the first line names the columns, where there is one for each class
    quantity : `Quantity` printed in place of the columns, or None
    decisions : in place of the columns, print the answer of the least expected cost, that cost, and
        the most probable class
    """

    labels: np.ndarray
    all_classes: bool = False
    with_class: bool = True
    sets: bool = False
    header: bool = False
    quantity: Quantity | None = None
    decisions: bool = False

    @property
    def head(self) -> bytes:
        """The first line, or nothing."""
        if not self.header:
            return b""
        if self.quantity is not None:
            return self.quantity.header
        if self.decisions:
            return b"decision cost most_probable\n"
        if self.all_classes:
            return _header(self.labels)
        return b""

    def formatted(self, answers: Answers) -> tuple:
        """Answers without columns, the text to be printed or None, and the bytes of each file."""
        if answers.sets is None:
            sets = None
        else:
            sets = format_sets(answers.sets, self.labels)
        if sets is None:
            text = self._text(answers)
        else:
            if answers.columns is None:
                text = sets
            else:
                text = format_sets(answers.sets, self.labels, answers.columns[:, 0])
        return (
            replace(answers, columns=None, ranked=None),
            text,
            cls_bytes(answers.classes),
            con_bytes(answers.confidence),
            sets,
        )

    def _text(self, answers):
        if self.decisions:
            return "".join(
                [
                    "% 4d %12.7g % 4d\n" % row
                    for row in zip(
                        answers.classes.tolist(), answers.cost.tolist(), answers.probable.tolist()
                    )
                ]
            ).encode()
        if answers.columns is None:
            return None
        if answers.ranked is not None:
            return format_ranked(answers.ranked, answers.columns)
        if self.quantity is not None:
            return self.quantity.lines(answers.columns, answers.classes)
        return format_points(answers.columns, answers.classes if self.with_class else None)


def write_answers(
    answers: Iterable[tuple], base: str, show: Callable, layout: Layout, counter=None
) -> Summary:
    """Classes to base.cls, confidence ratings to base.con, what is printed to show(bytes).

    Sets of classes, where there are some, are printed, and go to base.sets too; those that have
    probabilities, which are the columns of the answers, are printed behind them. The files appear
    together when `show` has had everything; show(b"") ends it.

    Parameters
    ----------
    answers : iterable, as `Layout.formatted` returns them
    counter : KernelCounter, optional, for a classifier that counts

    Returns
    -------
    Summary
    """
    head = layout.head
    summary = Summary()
    if layout.sets:
        ends = (".cls", ".con", ".sets")
    else:
        ends = (".cls", ".con")
    with replacing_all([base + end for end in ends], binary=True) as files:
        for block, text, *contents in answers:
            for file, content in zip(files, contents):
                file.write(content)
            if text is not None:
                show(head + text)
                head = b""
            summary.add(block, counter)
        show(b"")
    return summary


def write_predictions(
    answers: Iterable[Answers], path: str, show: Callable, labels: np.ndarray | None
) -> Summary:
    """One text file as svm-predict writes it: `labels ...`, then a class and probabilities.

    Parameters
    ----------
    path : str, `-` for show(bytes), which b"" ends
    labels : array (k,), optional
        Labels of the columns; None where only the probability of the answer is known (a tree that
        was descended), which is the one column.

    Returns
    -------
    Summary
    """
    summary = Summary()
    with writing_text(path, show) as write:
        if labels is not None:
            write(_header(labels))
        for block in answers:
            text = format_points(block.columns).decode()
            write(
                "".join(
                    f"{label}{line}\n"
                    for label, line in zip(block.classes.tolist(), text.splitlines())
                ).encode()
            )
            summary.add(block)
    return summary


def _header(labels):
    return f"labels {' '.join(map(str, labels))}\n".encode()

"""Answers of a classifier written to files: classes, confidence ratings, text."""

from __future__ import annotations

import functools
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from ..decode.convergence import Stops
from ..formats.atomic import replacing, replacing_all
from ..formats.probability_text import format_points, format_ranked
from ..formats.set_text import format_sets
from ..formats.vectors import cls_bytes, con_bytes
from .classifier import classify
from .quantity import Quantity

__all__ = ["Layout", "Summary", "output_ends", "write_answers", "write_predictions"]


@dataclass(frozen=True)
class Layout:
    """The columns that are printed of answers, and their form.

    header: a line first that names the columns, where there is one for each class;  quantity:
    in place of the columns, what that tells of them, or None;  decisions: in place of the columns,
    the answer of the least expected cost, that cost, and the most probable class.
    """

    header: bool = False
    quantity: Quantity | None = None
    decisions: bool = False

    def head(self, classifier) -> bytes:
        """The first line, or nothing."""
        if not self.header:
            return b""
        if self.quantity is not None:
            return self.quantity.header
        if self.decisions:
            return b"decision cost most_probable\n"
        return _labels(classifier) if classifier.all_classes else b""

    def text(self, answers, with_class) -> bytes | None:
        """The lines of some points; None where nothing is printed."""
        if self.decisions:
            return "".join(["% 4d %12.7g % 4d\n" % row for row in zip(
                answers.classes.tolist(), answers.cost.tolist(),
                answers.probable.tolist())]).encode()
        if answers.columns is None:
            return None
        if answers.ranked is not None:
            return format_ranked(answers.ranked, answers.columns)
        if self.quantity is not None:
            return self.quantity.lines(answers.columns, answers.classes)
        return format_points(answers.columns, answers.classes if with_class else None)


@dataclass
class Summary:
    """Numbers of a run: points, rejected points, and how the decoders stopped.

    queried, kernels: binary classifiers and kernel values that were needed, all points
    together, where they were counted;  members, empty: classes in all sets together, and sets
    without one;  cost: expected, of all answers together;  changed: answers that are not the most
    probable class.
    """

    points: int = 0
    rejected: int = 0
    stops: Stops = Stops()
    queried: int = 0
    kernels: int = 0
    members: int = 0
    empty: int = 0
    cost: float = 0.0
    changed: int = 0

    def add(self, answers, counter=None):
        """Count the points of `Answers`; counter: a `KernelCounter`, or None."""
        for stop in answers.stops:
            self.stops += stop
        self.points += len(answers.classes)
        self.rejected += int((answers.classes < 0).sum())
        if answers.sets is not None:
            sizes = np.count_nonzero(answers.sets, axis=1)
            self.members += int(sizes.sum())
            self.empty += int(np.count_nonzero(sizes == 0))
        if answers.cost is not None:
            self.cost += float(answers.cost.sum())
            self.changed += int(np.count_nonzero(answers.classes != answers.probable))
        if answers.queried is not None:
            self.queried += int(np.count_nonzero(answers.queried))
            if counter is not None:
                self.kernels += int(counter(answers.queried).sum())


def write_answers(classifier, chunks, workers, base, show, layout=Layout(), counter=None):
    """Classes to base.cls, confidence ratings to base.con, what is printed to show(bytes).

    Sets of classes, where they are wanted, are what is printed, and go to base.sets too; those
    that have probabilities, which are the columns of the answers, are printed behind them.

    layout: the `Layout` of what is printed.  counter: a `KernelCounter` for a classifier
    that counts.  workers: as for `classify`.  The files appear together when `show` has
    had everything; show(b"") ends it.  -> `Summary`.
    """
    with_class = not classifier.decoding.prints_values
    head = layout.head(classifier)
    summary = Summary()
    written = functools.partial(_written, layout, with_class, classifier.classes)
    ends = output_ends(classifier.decoding)
    with replacing_all([base + end for end in ends], binary=True) as files:
        for answers, text, *contents in classify(classifier, chunks, workers, written):
            for file, content in zip(files, contents):
                file.write(content)
            if text is not None:
                show(head + text)
                head = b""
            summary.add(answers, counter)
        show(b"")
    return summary


def output_ends(decoding):
    """The endings of the files that `write_answers` writes."""
    sets = decoding.guarantees.coverage is not None or decoding.stop is not None
    return (".cls", ".con", ".sets") if sets else (".cls", ".con")


def _written(layout, with_class, labels, answers):
    """Answers, the text to be printed, and the bytes of each file."""
    sets = None if answers.sets is None else format_sets(answers.sets, labels)
    if sets is None:
        text = layout.text(answers, with_class)
    else:
        text = sets if answers.columns is None else \
            format_sets(answers.sets, labels, answers.columns[:, 0])
    return (replace(answers, columns=None, ranked=None), text, cls_bytes(answers.classes),
            con_bytes(answers.confidence), sets)


def write_predictions(classifier, chunks, path, show):
    """One text file as svm-predict writes it: `labels ...`, then a class and probabilities.

    path: the file, or `-` for show(bytes), which b"" ends.

    Where only the probability of the answer is known (a tree that was
    descended), there is no line `labels`, and that is the one column.
    -> `Summary`.
    """
    summary = Summary()
    with ExitStack() as stack:
        write = show if path == "-" else stack.enter_context(
            replacing(path, binary=True, text=True)).write
        if classifier.all_classes:
            write(_labels(classifier))
        for answers in classify(classifier, chunks):
            text = format_points(answers.columns).decode()
            write("".join(f"{label}{line}\n" for label, line in zip(
                answers.classes.tolist(), text.splitlines())).encode())
            summary.add(answers)
        if path == "-":
            show(b"")
    return summary


def _labels(classifier):
    return f"labels {' '.join(map(str, classifier.classes))}\n".encode()

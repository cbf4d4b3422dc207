"""Answers of a classifier to files: classes, confidence ratings, text."""

from __future__ import annotations

import functools
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from ..decode.stops import Stops
from ..formats.atomic import replacing, replacing_all
from ..formats.probability_text import format_points
from ..formats.vectors import cls_bytes, con_bytes
from .classifier import classify

__all__ = ["Summary", "write_answers", "write_predictions"]


@dataclass(frozen=True)
class Summary:
    """What came of it: how many points, how many rejected, how the decoders stopped.

    asked, kernels: binary classifiers asked and kernel values needed, all points
    together, where it was counted.
    """

    points: int
    rejected: int
    stops: Stops
    asked: int = 0
    kernels: int = 0


class _Tally:
    def __init__(self, counter):
        self.points = self.rejected = self.asked = self.kernels = 0
        self.stops = Stops()
        self._counter = counter

    def add(self, answers):
        for stop in answers.stops:
            self.stops += stop
        self.points += len(answers.classes)
        self.rejected += int((answers.classes < 0).sum())
        if answers.asked is not None:
            self.asked += int(np.count_nonzero(answers.asked))
            if self._counter is not None:
                self.kernels += int(self._counter(answers.asked).sum())

    def summary(self):
        return Summary(self.points, self.rejected, self.stops, self.asked, self.kernels)


def write_answers(classifier, chunks, workers, base, show, header=False, counter=None):
    """Classes to base.cls, confidence ratings to base.con, what is printed to show(bytes).

    header: begin with a line `labels ...` where there is a column for each
    class.  counter: a `KernelCounter` for a classifier that counts.  workers: as for
    `classify`.  The files appear together when `show` has had everything; show(b"")
    ends it.  -> `Summary`.
    """
    with_class = not classifier.raw and classifier.method.name != "binary"
    head = _labels(classifier) if header and with_class and classifier.mode in ("flat", "full") \
        else b""
    tally = _Tally(counter)
    written = functools.partial(_written, with_class)
    with replacing_all([f"{base}.cls", f"{base}.con"], binary=True) as (classes, confidence):
        for answers, labels, ratings, text in classify(classifier, chunks, workers, written):
            classes.write(labels)
            confidence.write(ratings)
            if text is not None:
                show(head + text)
                head = b""
            tally.add(answers)
        show(b"")
    return tally.summary()


def _written(with_class, answers):
    """Answers, of which the text is made, and the bytes of labels, ratings and text."""
    text = None if answers.columns is None else format_points(
        answers.columns, answers.classes if with_class else None)
    return (replace(answers, columns=None), cls_bytes(answers.classes),
            con_bytes(answers.confidence), text)


def write_predictions(classifier, chunks, path, show):
    """One text file as svm-predict writes it: `labels ...`, then a class and probabilities.

    path: the file, or `-` for show(bytes), which b"" ends.

    Where only the probability of the answer is known (a tree that was
    descended), there is no line `labels`, and that is the one column.
    -> `Summary`.
    """
    tally = _Tally(None)
    with ExitStack() as stack:
        write = show if path == "-" else stack.enter_context(replacing(path, binary=True)).write
        if classifier.mode in ("flat", "full"):
            write(_labels(classifier))
        for answers in classify(classifier, chunks):
            text = format_points(answers.columns).decode()
            write("".join(f"{label}{line}\n" for label, line in zip(
                answers.classes.tolist(), text.splitlines())).encode())
            tally.add(answers)
        if path == "-":
            show(b"")
    return tally.summary()


def _labels(classifier):
    return f"labels {' '.join(map(str, classifier.classes))}\n".encode()

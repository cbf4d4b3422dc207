"""Classification, from a configuration and chunks of points to classes and probabilities."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

import numpy as np

from ..coding.matrix import rows_to_matrix
from ..control.tree import Leaf
from ..decode import tree as descent
from ..decode.front import plan
from ..decode.methods import find_method
from ..errors import DataError, ModelError, UsageError
from ..kernel.machine import BLOCK, Machine
from ..score.brier import confidence
from .executors import run_tasks

__all__ = ["Answers", "Classifier", "TREE_MODES", "classify"]

TREE_MODES = ("recursive", "path", "full")
REJECTED = -1


@dataclass(frozen=True, eq=False)
class Answers:
    """What is known of n points.

    classes (n,) int32 labels, -1 where rejected;  confidence (n,) = (k p - 1)
    / (k - 1) of the winner;  columns (n, c) what is printed, or None;  stops:
    how the decoders' iterations ended.
    """

    classes: np.ndarray
    confidence: np.ndarray
    columns: np.ndarray | None
    stops: tuple = ()


class Classifier:
    """A configuration with a decoder, ready for points.

    configuration: `Configuration`; method: number or name of the decoder of
    coding matrices; tree: for trees and nested configurations, "recursive"
    (descend to one class), "path" (the same, and its probability is printed)
    or "full" (all probabilities, products along the branches); raw: print f
    itself; reject: classes whose probability is below it become -1;
    open_ended: features that a chunk leaves out at its end are 0 (LIBSVM text,
    where the model does not tell their number), and not an error.  Raises
    `ModelError` where the method needs probabilities that the models lack.
    """

    def __init__(self, configuration, method="0", tree="recursive", raw=False, reject=None,
                 open_ended=False):
        self.model, self.tree = configuration.model, configuration.tree
        self.method = find_method(method)
        self.mode = tree if self.tree.hierarchical else "flat"
        self.raw = raw
        self.reject = reject
        self.open_ended = open_ended
        self.classes = np.array(self.tree.classes, dtype=np.int32)
        self._has_probabilities = bool(np.isfinite(self.model.a).all())
        decoder = self._decoder()
        self._labels = np.array(self.tree.labels, dtype=np.int32)
        self._columns = np.argsort(self._labels)  # of p in the order of the text
        self._ranges, self._plans = [], []
        at = 0
        for node in self.tree.nodes:
            self._ranges.append(range(at, at + len(node.rows)))
            at += len(node.rows)
            self._plans.append(None if node.bare else plan(rows_to_matrix(
                [(row.left, row.right) for row in node.rows], len(node.children)), decoder))
        self._branches = _branches(self.tree)
        self._lock = threading.Lock()
        self._machines = {}

    def _decoder(self):
        """The method that finds the class, checked against what the models can give."""
        method = self.method
        if self.reject is not None and (method.gives == "votes" or self.raw):
            raise UsageError("--reject needs a decoder that gives probabilities, "
                             f"not {'-0' if self.raw else method.name}")
        if not self._has_probabilities:
            if self.mode == "flat" and (self.raw or method.name == "vote"):
                return find_method("vote")
            raise ModelError("the binary models hold no probabilities (probA, probB): only "
                             "-Q 3 (vote) and -0 of a coding matrix can do without")
        if method.name == "binary" or self.raw:
            return find_method("least-squares")
        if method.gives == "votes" and self.mode != "flat" and \
                not all(node.bare for node in self.tree.nodes):
            raise UsageError(f"votes ({method.name}) cannot be multiplied along a tree: choose "
                             "a decoder that gives probabilities")
        return method

    @property
    def features(self):
        """Number of features of the points to classify; None where any number will do."""
        if self.model.normalisation is not None:
            return self.model.normalisation.matrix.shape[0]
        return None if self.model.any_width else self.model.sv.shape[1]

    @property
    def rows(self):
        """A good number of points for one call: bounded memory, whole blocks."""
        widest = max(len(self.model.rho), len(self.classes), self.model.sv.shape[1])
        return BLOCK * max(1, min(32, 4_000_000 // (BLOCK * widest)))

    def __call__(self, x):
        """`Answers` for points x (n, d).

        Raises `DataError` for another width, and for points that give a
        classifier no decision value: NaN, or too large for its kernel.
        """
        x = self._prepared(x)
        printed = self.raw or self.method.name == "binary"
        everyone = range(len(self.model.rho))
        if self.mode == "flat":
            f, r = self._values(everyone, x)
            decoded = self._plans[0](r)
            columns = f if self.raw else r if printed else decoded.p[:, self._columns]
            return self._answers(*_best(decoded.p), columns, [decoded.stops])
        stops = []
        if self.mode == "full" and not printed:
            _, r = self._values(everyone, x)
            p = descent.products(self._branches, [
                self._local(number, r[:, self._slice(number)], stops)
                for number in range(len(self._ranges))])
            return self._answers(*_best(p), p[:, self._columns], stops)
        if printed:  # everyone is asked anyway
            f, r = self._values(everyone, x)
            columns = f if self.raw else r
            leaf, winner = descent.descend_asking(
                self._branches, len(x), lambda number, rows: self._local(
                    number, r[rows][:, self._slice(number)], stops))
        else:
            leaf, winner = descent.descend_asking(
                self._branches, len(x), lambda number, rows: self._local(
                    number, self._values(self._ranges[number], x[rows])[1], stops))
            columns = winner[:, None] if self.mode == "path" else None
        return self._answers(leaf, winner, columns, stops)

    def _answers(self, leaf, winner, columns, stops):
        k = len(self.classes)
        classes = self._labels[leaf]
        if self.reject is not None:
            classes = np.where(winner < self.reject, REJECTED, classes)
        return Answers(classes.astype(np.int32), confidence(winner, k), columns, tuple(stops))

    def _slice(self, number):
        """Columns of r that belong to a node."""
        return slice(self._ranges[number].start, self._ranges[number].stop)

    def _prepared(self, x):
        """Points normalised, and at least as wide as the support vectors."""
        if self.model.normalisation is not None:
            return self.model.normalisation.apply(x)
        width = self.model.sv.shape[1]
        if self.model.any_width and self.open_ended:
            # Few different widths, so that few machines are made for them.
            return _widened(x, max(width, -(-x.shape[1] // 64) * 64))
        if x.shape[1] < width or x.shape[1] > width and not self.model.any_width:
            raise DataError(f"the points have {x.shape[1]} features, the model needs {width}")
        return x

    def _machine(self, columns, width):
        """The `Machine` of the classifiers `columns` (a range) for points of that width."""
        with self._lock:
            machine = self._machines.get((columns, width))
            if machine is None:
                model = self.model
                if width > model.sv.shape[1]:
                    # Support vectors are 0 in features that no model file mentions.
                    model = replace(model, sv=_widened(model.sv, width))
                machine = self._machines[columns, width] = Machine(model, columns)
        return machine

    def _values(self, columns, x):
        """f and r, (n, m'), of the classifiers `columns` (a range)."""
        machine = self._machine(columns, x.shape[1])
        f = machine.decision_values(x)
        wrong = np.isnan(f).any(axis=1)
        if wrong.any():
            raise DataError(f"{np.count_nonzero(wrong)} of {len(x)} points give no decision value: "
                            "they hold NaN, or numbers too large for the kernel")
        if not self._has_probabilities:
            return f, np.sign(f * self.model.orientation[machine.columns])
        r = f * self.model.a[machine.columns]
        r += self.model.b[machine.columns]
        return f, np.tanh(r, out=r)

    def _local(self, number, r, stops):
        """r (n,) of a bare node, or probabilities (n, c) of the children of a matrix."""
        if self._plans[number] is None:
            return r[:, 0]
        decoded = self._plans[number](r)
        stops.append(decoded.stops)
        return decoded.p


def _widened(x, width):
    """x (n, d) with columns of zeros behind it, up to `width`."""
    wide = np.zeros((len(x), width))
    wide[:, :x.shape[1]] = x
    return wide


def _best(p):
    """Leaf (n,), the first on ties, and value (n,) of the largest entry of each row."""
    leaf = p.argmax(axis=1)
    return leaf, p[np.arange(len(p)), leaf]


def _branches(tree):
    """The children of each node as `decode.tree` takes them, leaves in the order of the text."""
    return [[("leaf", span[0]) if isinstance(child, Leaf) else ("node", child)
             for child, span in zip(node.children, spans)]
            for node, spans in zip(tree.nodes, tree.spans())]


def classify(classifier, chunks, workers=1):
    """Yield `Answers` for each chunk of points (n, d), in order, with `workers` threads."""
    for _, answers in run_tasks(classifier, chunks, workers):
        yield answers

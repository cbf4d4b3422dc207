"""Classification, from a configuration and chunks of points to classes and probabilities."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

import numpy as np

from ..control.tree import Leaf
from ..decode.front import plan
from ..decode.methods import find_method
from ..errors import DataError, ModelError, UsageError
from ..kernel.machine import BLOCK, Machine
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
    itself; reject: classes whose probability is below it become -1.  Raises
    `ModelError` where the method needs probabilities that the models lack.
    """

    def __init__(self, configuration, method="0", tree="recursive", raw=False, reject=None):
        self.model, self.tree = configuration.model, configuration.tree
        self.method = find_method(method)
        self.mode = tree if self.tree.hierarchical else "flat"
        self.raw = raw
        self.reject = reject
        self.classes = np.array(self.tree.classes, dtype=np.int32)
        k = len(self.classes)
        self._has_probabilities = bool(np.isfinite(self.model.a).all())
        decoder = self._decoder()
        order = np.array([self.tree.classes.index(label) for label in self.tree.labels])
        self._columns = np.empty(k, dtype=np.int64)
        self._columns[order] = np.arange(k)
        self._first, self._plans = [], []
        at = 0
        for node in self.tree.nodes:
            self._first.append(at)
            at += len(node.rows)
            self._plans.append(None if node.bare else plan(_matrix(node), decoder))
        self._lock = threading.Lock()
        self._machines = {}
        self._spans = self.tree.spans()

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
                             "-Q 3 (vote) of a coding matrix, and -0, can do without")
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
        """`Answers` for points x (n, d).  Raises `DataError` for another width."""
        x = self._prepared(x)
        printed = self.raw or self.method.name == "binary"
        if self.mode == "flat":
            f, r = self._values(range(len(self.model.rho)), x)
            decoded = self._plans[0](r)
            columns = f if self.raw else r if printed else decoded.p[:, self._columns]
            p = decoded.p[:, self._columns]
            return self._answers(self.classes[p.argmax(axis=1)], p.max(axis=1), columns,
                                 (decoded.stops,))
        if self.mode == "full" and not printed:
            p, stops = self._full(x)
            return self._answers(self.classes[p.argmax(axis=1)], p.max(axis=1), p, stops)
        classes, winner, stops = self._descend(x)
        columns = winner[:, None] if self.mode == "path" else None
        if printed:
            f, r = self._values(range(len(self.model.rho)), x)
            columns = f if self.raw else r
        return self._answers(classes, winner, columns, stops)

    def _answers(self, classes, winner, columns, stops):
        k = len(self.classes)
        if self.reject is not None:
            classes = np.where(winner < self.reject, REJECTED, classes)
        return Answers(classes.astype(np.int32), (k * winner - 1.0) / (k - 1.0), columns,
                       tuple(stops))

    def _prepared(self, x):
        """Points normalised and as wide as the support vectors."""
        if self.model.normalisation is not None:
            return self.model.normalisation.apply(x)
        width = self.model.sv.shape[1]
        if x.shape[1] > width and self.model.any_width:
            # Support vectors are 0 in features that no model file mentions.
            with self._lock:
                sv = np.zeros((len(self.model.sv), x.shape[1]))
                sv[:, :width] = self.model.sv
                self.model = replace(self.model, sv=sv)
                self._machines.clear()
        elif x.shape[1] != width:
            raise DataError(f"the points have {x.shape[1]} features, the model needs {width}")
        return x

    def _values(self, columns, x):
        """f and r, (n, m'), of the classifiers `columns` (a range)."""
        with self._lock:
            machine = self._machines.get(columns)
            if machine is None:
                machine = self._machines[columns] = Machine(self.model, columns)
        f = machine.decision_values(x)
        if not self._has_probabilities:
            return f, np.sign(f * self.model.orientation[machine.columns])
        r = f * self.model.a[machine.columns]
        r += self.model.b[machine.columns]
        return f, np.tanh(r, out=r)

    def _local(self, number, r):
        """Probabilities of the children of a node (n, c), and how the decoder stopped."""
        if self._plans[number] is None:
            return np.concatenate([(1.0 - r) / 2.0, (1.0 + r) / 2.0], axis=1), ()
        decoded = self._plans[number](r)
        return decoded.p, (decoded.stops,)

    def _full(self, x):
        """All class probabilities (n, k): products along the branches."""
        _, r = self._values(range(len(self.model.rho)), x)
        p = np.ones((len(x), len(self.classes)))
        stops = []
        for number, node in enumerate(self.tree.nodes):
            first = self._first[number]
            local, how = self._local(number, r[:, first:first + len(node.rows)])
            stops.extend(how)
            for branch, (start, stop) in enumerate(self._spans[number]):
                p[:, start:stop] *= local[:, branch:branch + 1]
        return p[:, self._columns], stops

    def _descend(self, x):
        """Class and probability of the path of each point; only nodes on its way are asked."""
        classes = np.empty(len(x), dtype=np.int32)
        winner = np.ones(len(x))
        stops = []
        waiting = {0: np.arange(len(x))}
        for number, node in enumerate(self.tree.nodes):
            points = waiting.pop(number, None)
            if points is None or not len(points):
                continue
            first = self._first[number]
            _, r = self._values(range(first, first + len(node.rows)), x[points])
            local, how = self._local(number, r)
            stops.extend(how)
            # r >= 0 goes right, also where both sides are equally probable
            branch = (r[:, 0] >= 0).astype(np.int64) if node.bare else local.argmax(axis=1)
            winner[points] *= local[np.arange(len(points)), branch]
            for position, child in enumerate(node.children):
                chosen = points[branch == position]
                if isinstance(child, Leaf):
                    classes[chosen] = child.label
                else:
                    waiting[child] = chosen
        return classes, winner, stops


def _matrix(node):
    a = np.zeros((len(node.rows), len(node.children)), dtype=np.int8)
    for i, row in enumerate(node.rows):
        a[i, list(row.left)] = -1
        a[i, list(row.right)] = 1
    return a


def classify(classifier, chunks, workers=1):
    """Yield `Answers` for each chunk of points (n, d), in order, with `workers` threads."""
    for _, answers in run_tasks(classifier, chunks, workers):
        yield answers

"""Classification, from a configuration and chunks of points to classes and probabilities."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from ..coding.matrix import columns_are_orthogonal, rows_to_matrix
from ..control.tree import Leaf
from ..decode import tree as descent
from ..decode.front import plan
from ..decode.methods import find_method
from ..errors import AgfmcError, AgfmcWarning, DataError, ModelError, UsageError
from ..score.brier import confidence
from ..executors.remote import run_remote
from ..executors.threads import run_tasks
from .decision_values import MachineValues

__all__ = ["Answers", "Classifier", "TREE_MODES", "classify"]

TREE_MODES = ("recursive", "path", "full")
REJECTED = -1


@dataclass(frozen=True, eq=False)
class Answers:
    """What is known of n points.

    classes (n,) int32 labels, -1 where rejected;  confidence (n,) = (k p - 1)
    / (k - 1) of the winner;  columns (n, c) what is printed, or None;  stops:
    how the decoders' iterations ended;  asked (n, m): which binary classifiers
    were asked, or None where nobody counts.
    """

    classes: np.ndarray
    confidence: np.ndarray
    columns: np.ndarray | None
    stops: tuple = ()
    asked: np.ndarray | None = None


class Classifier:
    """A configuration with a decoder, ready for points.

    configuration: `Configuration`; method: number or name of the decoder of
    coding matrices; tree: for trees and nested configurations, "recursive"
    (descend to one class), "path" (the same, and its probability is printed)
    or "full" (all probabilities, products along the branches); raw: print f
    itself; reject: classes whose probability is below it become -1; values:
    what asks the binary classifiers, by default `MachineValues` of the
    configuration's model; asking: `AskOptions` of decoders that ask on their way;
    counting: tell what was asked; priors: an `Adjustment` of all probabilities, in the
    order of the tree's labels, to other proportions of the classes.  Raises
    `ModelError` where the method needs probabilities that the models lack, and
    `UsageError` where it does not suit the configuration.
    """

    def __init__(self, configuration, method="0", tree="recursive", raw=False, reject=None,
                 values=None, asking=None, counting=False, priors=None):
        self._made = configuration, method, tree, raw, reject, values, asking, counting, priors
        self.tree = configuration.tree
        self.values = MachineValues(configuration.model) if values is None else values
        self.method = find_method(method)
        self.mode = tree if self.tree.hierarchical else "flat"
        self.counting = counting
        self.raw = raw
        self.reject = reject
        self.priors = priors
        self.classes = np.array(self.tree.classes, dtype=np.int32)
        self._direct = configuration.direct
        decoder = self._decoder()
        self._labels = np.array(self.tree.labels, dtype=np.int32)
        self._columns = np.argsort(self._labels)  # of p in the order of the text
        self._ranges, self._plans = [], []
        at = 0
        for node in self.tree.nodes:
            self._ranges.append(range(at, at + len(node.rows)))
            at += len(node.rows)
            self._plans.append(None if node.bare or node.direct else self._plan(
                rows_to_matrix([(row.left, row.right) for row in node.rows], len(node.children)),
                decoder, asking))
        self._branches = _branches(self.tree)

    def __reduce__(self):
        """Travels as what it was made of: plans are made again where it arrives."""
        return Classifier, self._made

    def _plan(self, code, decoder, asking):
        if decoder.name == "orthogonal" and not columns_are_orthogonal(code):
            warnings.warn("the decoder orthogonal is for strict codes whose columns are "
                          "orthogonal: its probabilities are wrong for this one (0, "
                          "least-squares, suits any)", AgfmcWarning, stacklevel=4)
        if decoder.gives != "winner":
            return plan(code, decoder)
        if self.mode != "flat":
            raise UsageError(f"the decoder {decoder.name} is for a coding matrix alone, not for "
                             "one in a tree")
        from ..decode.asked import asking_plan, AskOptions

        self.mode = "asking"
        return asking_plan(code, decoder, AskOptions() if asking is None else asking)

    def _decoder(self):
        """The method that finds the class, checked against what the models can give."""
        method = self.method
        if (self.raw or method.name == "binary") and not self.values.count:
            raise UsageError(f"{'-0' if self.raw else '-Q -1'} prints a column for each binary "
                             "classifier, and this configuration has none")
        if self.reject is not None and (method.gives == "votes" or self.raw):
            raise UsageError("--reject needs a decoder that gives probabilities, "
                             f"not {'-0' if self.raw else method.name}")
        if self.priors is not None:
            self._check_priors(method)
        if method.takes == "g" and not self.values.has_decision_values:
            raise UsageError(f"the decoder {method.name} needs decision values, and other "
                             "programs give probabilities")
        if not self.values.has_probabilities:
            if self.mode == "flat" and (self.raw or method.name == "vote"):
                return find_method("vote")
            if self.mode == "flat" and (method.gives == "winner" or method.takes == "g"):
                return method
            raise ModelError("the binary models hold no probabilities (probA, probB): train them "
                             "again (multi_borders without --, or with -- \"svm-train -b 1\"); "
                             "votes (-Q vote, max-win, ddag ...), losses and -0 of a coding matrix "
                             "can do without, or -c, which makes them from the decision values")
        if method.name == "binary" or self.raw:
            return find_method("least-squares")
        if method.gives == "votes" and self.mode != "flat" and \
                any(node.rows and not node.bare for node in self.tree.nodes):
            raise UsageError(f"votes ({method.name}) cannot be multiplied along a tree: choose "
                             "a decoder that gives probabilities")
        return method

    def _check_priors(self, method):
        """Other proportions of the classes are for the probabilities of all of them."""
        if self.raw or method.gives not in ("probabilities", "estimates"):
            raise UsageError("--priors needs a decoder that gives the probabilities of all "
                             f"classes, not {'-0' if self.raw else method.name}")
        if self.mode not in ("flat", "full"):
            raise UsageError("--priors needs the probabilities of all classes: for a tree they "
                             "come with --tree full")

    @property
    def features(self):
        """Number of features of the points to classify; None where any number will do."""
        return self.values.features

    @property
    def rows(self):
        """A good number of points for one call: bounded memory, whole blocks.

        Where points part, more, so that those who meet again still fill blocks.
        """
        rows = self.values.rows(len(self.classes))
        return rows if self.mode in ("flat", "full") else 4 * rows

    def __call__(self, x):
        """`Answers` for points x (n, d).

        Raises `DataError` for another width, and for points that give a
        classifier no decision value: NaN, or too large for its kernel.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is looked at
            return self._called(x)

    def _called(self, x):
        x = self.values.prepared(x)
        if self.mode == "asking":
            decision = self._plans[0](len(x), lambda rows, columns: self.values(
                tuple(columns.tolist()), x if len(rows) == len(x) else x[rows])[1])
            return self._answers(decision.winner, decision.p, decision.p[:, None], [],
                                 decision.asked if self.counting else None)
        printed = self.raw or self.method.name == "binary"
        everyone = range(self.values.count)
        stops = []
        if self.mode == "flat":
            f, r = self.values(everyone, x) if everyone else (None, None)
            if self.method.takes == "g" and not printed:
                r = self.values.turned(f, everyone)
            if not self.raw:
                f = None  # its memory is wanted
            p = self._adjusted(self._local(0, x, r, stops))
            columns = f if self.raw else r if printed else p[:, self._columns]
            return self._answers(*_best(p), columns, stops)
        if self.mode == "full" and not printed:
            r = self.values(everyone, x)[1] if everyone else None
            p = self._adjusted(descent.products(self._branches, [
                self._local(number, x, self._part(number, r), stops)
                for number in range(len(self._ranges))]))
            return self._answers(*_best(p), p[:, self._columns], stops)
        if printed:  # everyone is asked anyway
            f, r = self.values(everyone, x)
            columns = f if self.raw else r
            asked = None
            leaf, winner = descent.descend_asking(
                self._branches, len(x), lambda number, rows: self._local(
                    number, x[rows], self._part(number, r)[rows], stops))
        else:
            asked = np.zeros((len(x), self.values.count), dtype=bool) if self.counting else None

            def ask(number, rows):
                if asked is not None:
                    span = self._ranges[number]
                    asked[rows, span.start:span.stop] = True
                return self._asked(number, x[rows], stops)

            leaf, winner = descent.descend_asking(self._branches, len(x), ask)
            columns = winner[:, None] if self.mode == "path" else None
        return self._answers(leaf, winner, columns, stops, asked)

    def _answers(self, leaf, winner, columns, stops, asked=None):
        """`Answers`; asked: None where everyone was."""
        k = len(self.classes)
        if np.isnan(winner).any():
            raise DataError("the numbers are too large for this decoder")
        classes = np.where(leaf < 0, REJECTED, self._labels[leaf])
        if self.reject is not None:
            classes = np.where(winner < self.reject, REJECTED, classes)
        if self.counting and asked is None:
            asked = np.ones((len(leaf), self.values.count), dtype=bool)
        return Answers(classes.astype(np.int32), confidence(winner, k), columns, tuple(stops),
                       asked)

    def _adjusted(self, p):
        return p if self.priors is None else self.priors(p)

    def _part(self, number, r):
        """The columns of r that belong to a node."""
        return None if r is None else r[:, self._ranges[number].start:self._ranges[number].stop]

    def _asked(self, number, x, stops):
        """`_local` of a node whose classifiers are asked for these points alone."""
        r = self.values(self._ranges[number], x)[1] if self._ranges[number] else None
        return self._local(number, x, r, stops)

    def _local(self, number, x, r, stops):
        """r (n,) of a bare node, else probabilities (n, c) of the children.

        x (n, d): the points; r (n, m'): of the classifiers of this node.
        """
        if number in self._direct:
            p = self._direct[number].probabilities(x)
            if np.isnan(p).any():
                raise DataError("points hold NaN, or numbers too large for a direct classifier")
            return p
        if self._plans[number] is None:
            return r[:, 0]
        decoded = self._plans[number](r)
        stops.append(decoded.stops)
        return decoded.p


def _best(p):
    """Leaf (n,), the first on ties, and value (n,) of the largest entry of each row."""
    leaf = p.argmax(axis=1)
    return leaf, p[np.arange(len(p)), leaf]


def _branches(tree):
    """The children of each node as `decode.tree` takes them, leaves in the order of the text."""
    return [[("leaf", span[0]) if isinstance(child, Leaf) else ("node", child)
             for child, span in zip(node.children, spans)]
            for node, spans in zip(tree.nodes, tree.spans())]


def classify(classifier, chunks, workers=1, then=None):
    """Yield `Answers` for each chunk of points (n, d), in order.

    workers: how many threads, or an executor of `concurrent.futures`;  then: what is done
    with the answers where they were made; its result is yielded.  For an executor it must
    be a function of a module, or a `functools.partial` of one.  Raises `UsageError` for
    an executor and classifiers that run commands.
    """
    commands = any(direct.learner.is_program for direct in classifier.tree.directs.values())
    if not isinstance(workers, int):
        if commands or not isinstance(classifier.values, MachineValues):
            raise UsageError("programs that stand for classifiers are run here: --executor does "
                             "not go with them")
        for _, answers in run_remote(workers, _answered, (classifier, then), enumerate(chunks, 1),
                                     ordered=True,
                                     name=lambda item: f"block {item[0]} of the points"):
            if isinstance(answers, AgfmcError):
                raise answers
            yield answers
        return
    with ExitStack() as stack:
        ask = classifier
        if commands:
            from ..learners.commands import killing_commands

            ask = stack.enter_context(killing_commands()).of(classifier)
        task = ask if then is None else lambda x: then(ask(x))
        for _, answers in run_tasks(task, chunks, workers):
            yield answers


def _answered(work, item):
    """On a worker: what comes of a numbered chunk of points."""
    classifier, then = work
    answers = classifier(item[1])
    return answers if then is None else then(answers)

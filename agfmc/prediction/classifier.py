"""Classification: from a configuration and points to classes and probabilities."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from ..answers.types import Answers
from ..control.matrix import columns_are_orthogonal, rows_to_matrix
from ..control.tree import Leaf
from ..core.errors import AgfmcError, AgfmcWarning, DataError, ModelError, UsageError
from ..core.models import LearnedDecoder
from ..core.points import as_numbers, is_sparse
from ..core.probabilities import confidence, REJECTED
from ..core.solver_status import SolverStatus
from ..decode.ensemble import average
from ..decode.front import CodeDecoder, pair_decoder
from ..decode.methods import find_method
from ..decode.nested import descend, most_probable, products
from ..executors.remote import run_remote
from ..executors.threads import run_tasks
from ..learners.program_classifiers import Execution, ExternalClassifier, ExternalValues
from ..learners.protocol import node_classifier
from ..models.configuration import Configuration, ModelFiles
from .decision import calibration_of, Decision
from .decision_values import MachineValues
from .decoding import decoders_of, Decoding, named_decoding


class Classifier:
    """A configuration with a decoder, ready for points.

    decoding: a `Decoding`, or the name of its method alone, None for the one that the control
    tree names, or else least squares;  execution: how the classifiers are run;  values: gives
    their decision values and those of multi-class nodes, None for the classifiers of the
    configuration.  Raises `ModelError` where the decoder needs probabilities
    that the models lack, and `UsageError` where it does not suit the configuration.

    all_classes is True where the columns of the answers are numbers for all classes;
    classes (k,) are their labels;  threshold: the least probability of an answer, or None.
    """

    def __init__(self, configuration: Configuration, decoding: Decoding | str | None = None,
                 execution: Execution = Execution(), values: Any = None):
        if decoding is None:
            decoding = named_decoding(configuration.tree) or Decoding()
        if not isinstance(decoding, Decoding):
            decoding = Decoding(decoding)
        decoding = decoding.suited_to(configuration.tree)
        self._made = configuration, decoding, execution, values
        if decoding.tree == "flat" and configuration.tree.hierarchical:
            configuration = configuration.as_code()
        self.tree = configuration.tree
        self.decoding, self.counting = decoding, execution.counting
        self.classes = np.array(self.tree.classes, dtype=np.int32)
        self._labels = np.array(self.tree.labels, dtype=np.int32)
        if values is not None:
            self.values = values
        elif isinstance(configuration.machines, ModelFiles):
            self.values = ExternalValues(configuration, execution)
        else:
            self.values = MachineValues(configuration, execution.points == "svm",
                                        execution.sigmoid)
        kind = _kind_of_prediction(self.tree, decoding)
        decision = Decision(calibration_of(self._made[0], decoding, execution), configuration,
                            decoding)
        method = _decoder(self.tree, decoding, self.values)
        nodes = _Nodes(configuration, execution, self.values,
                       None if kind is _QueryPrediction else method)
        self._prediction = kind(nodes, decoding, method, decision, execution.counting)
        self.threshold = decision.threshold
        self.all_classes = self._prediction.all_classes and decoding.top is None \
            and decoding.guarantees.coverage is None

    def __reduce__(self):
        """Pickled as what it was made of: plans are made again on arrival."""
        return Classifier, self._made

    @property
    def features(self) -> int | None:
        """Number of features of the points to classify; None where any number will do."""
        return self.values.features

    @property
    def rows(self) -> int:
        """A good number of points for one call: bounded memory, whole blocks.

        Where points part, more, so that those who meet again still fill blocks.
        """
        rows = self.values.rows(len(self.classes))
        return rows if self.evaluates_all else 4 * rows

    @property
    def evaluates_all(self) -> bool:
        """True where each point is put to every binary classifier, False where to some of them."""
        return not self._prediction.routes_points

    def __call__(self, x: np.ndarray) -> Answers:
        """`Answers` for points x (n, d).

        Raises `DataError` for another width, and for points that give a
        classifier no decision value: NaN, or too large for its kernel.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is looked at
            found = self._prediction(self.values.prepared(x))
            leaf, winner, sets = found.leaf, found.winner, found.sets
            ratings = confidence(winner, len(self.classes), 1 if self.decoding.stop is None else
                                 np.count_nonzero(sets, axis=1))
        if np.isnan(winner).any() or found.cost is not None and np.isnan(found.cost).any():
            raise DataError("the numbers are too large for this decoder")
        classes = np.where(leaf < 0, REJECTED, self._labels[leaf])
        if self.threshold is not None:
            classes = np.where(winner < self.threshold, REJECTED, classes)
        queried = found.queried
        if self.counting and queried is None:
            queried = np.broadcast_to(np.True_, (len(leaf), self.values.count))
        ranked, probable = (None if leaves is None else self._labels[leaves]
                            for leaves in (found.ranked, found.probable))
        return Answers(classes.astype(np.int32), ratings, found.columns, tuple(found.stops),
                       queried, sets, ranked, winner, found.cost, probable)

    def classify(self, x: np.ndarray, workers: int = 1) -> Answers:
        """`Answers` for any number of points x (n, d), with `workers` threads.

        The answers to a point do not depend on the others.  Raises `DataError` for points
        of another width, or that give no decision value.
        """
        step, x = self.rows, x if is_sparse(x) else as_numbers(x, "x", 2)
        parts = list(classify(self, (x[at:at + step] for at in range(0, max(len(x), 1), step)),
                              workers))

        def joined(name):
            pieces = [getattr(part, name) for part in parts]
            return None if pieces[0] is None else np.concatenate(pieces)

        stops = sum((stop for part in parts for stop in part.stops), SolverStatus())
        return Answers(joined("classes"), joined("confidence"), joined("columns"), (stops,),
                       *(joined(name) for name in ("queried", "sets", "ranked", "winner", "cost",
                                                   "probable")))

    def by_member(self, x: np.ndarray) -> list[np.ndarray]:
        """Probabilities (n, k) of points x (n, d) by each member of an ensemble, uncalibrated.

        In the order of `classes`.  Raises `UsageError` where no ensemble is averaged.
        """
        if not isinstance(self._prediction, _EnsemblePrediction):
            raise UsageError("this is no average of the members of an ensemble")
        prepared, order = self.values.prepared(x), np.argsort(self._labels)
        r = self._prediction.all_values(prepared)[1]
        return [p[:, order] for p in self._prediction.parts(prepared, r, [])]

    def probabilities(self, x: np.ndarray, workers: int = 1) -> np.ndarray:
        """Probabilities (n, k) of points x (n, d), in the order of `classes`.

        Raises `UsageError` for a decoder that does not give those of all classes.
        """
        if not self.all_classes or self.decoding.decoder.gives == "votes" or \
                self.decoding.guarantees.of_sets:
            way = "full" if self.decoding.descends(self.tree) else "least-squares"
            raise UsageError("this decoding does not give the probabilities of all classes: the "
                             f"decoder '{way}' alone does")
        return np.asarray(self.classify(x, workers).columns)


def classifier_for(configuration: Configuration, decoder: str | None = None) -> Classifier:
    """The `Classifier` with the decoder of that name, or with the one that suits the tree."""
    wanted = None if decoder is None else (decoder,)
    return Classifier(configuration, decoders_of(configuration.tree, wanted)[0])


def _decoder(tree, decoding, values):
    """The method that finds the class, checked against what the classifiers can give."""
    method, flat = decoding.decoder, not tree.hierarchical
    if decoding.prints_values and not values.count:
        raise UsageError(f"{'-0' if decoding.raw else '-Q -1'} prints a column for each binary "
                         "classifier, and this configuration has none")
    if method.takes == "g" and not values.has_decision_values:
        raise UsageError(f"the decoder {method.name} needs decision values, and other "
                         "programs give probabilities")
    if not values.has_probabilities:
        if flat and (decoding.raw or method.name == "vote"):
            return find_method("vote")
        if flat and (method.gives == "winner" or method.takes == "g"):
            return method
        raise ModelError("the binary models hold no probabilities (probA, probB): train them "
                         "again (multi_borders without --, or with -- \"svm-train -b 1\"); "
                         "votes (-Q vote, max-win, ddag ...), losses and -0 of a coding matrix "
                         "work without, and so does -c, which makes them from the decision values")
    if decoding.prints_values:
        return find_method("least-squares")
    coded = _coded(tree)
    where, done = ("an ensemble", "averaged over") if tree.is_ensemble else \
        ("a tree", "multiplied along")
    if method.gives == "votes" and not flat and coded:
        raise UsageError(f"votes ({method.name}) cannot be {done} {where}: choose "
                         "a decoder that gives probabilities")
    if (method.gives == "winner" or method.takes == "learned") and not flat and coded:
        raise UsageError(f"the decoder {method.name} is for a coding matrix alone, not for "
                         f"one in {where}")
    return method


def _coded(tree):
    """True where a node has a coding matrix."""
    return any(node.rows and not node.bare for node in tree.nodes)


def _kind_of_prediction(tree, decoding):
    """The class of predictions for a tree and a `Decoding`."""
    whole = not decoding.descends(tree)
    needing = "--priors" if decoding.priors is not None else \
        "--costs" if decoding.costs is not None else decoding.guarantees.of_sets
    if decoding.top is not None:
        needing = needing or decoding.guarantees.option
    if needing and not whole:
        raise UsageError(f"{needing} needs the probabilities of all classes: for a tree they "
                         "come with --tree full")
    if decoding.stop is not None and whole:
        raise UsageError("--stop is for decision trees and nested configurations, and this is not "
                         "one: --coverage gives sets of its classes")
    if tree.is_ensemble:
        return _EnsemblePrediction
    if decoding.prints_values:
        return _ValuesPrediction
    if not whole and decoding.top is not None:
        if decoding.decoder.gives == "estimates" and _coded(tree):
            raise UsageError("--top goes down a tree by probabilities, and "
                             f"{decoding.decoder.name} gives estimates, which may be negative: "
                             "choose another decoder, or --tree full")
        return _BestFirstPrediction if decoding.top < len(tree.classes) else _FullTreePrediction
    if tree.hierarchical:
        return _FullTreePrediction if whole else _DescentPrediction
    if decoding.decoder.gives == "winner" and tree.nodes[0].rows:
        return _QueryPrediction
    return _FlatPrediction


class _Nodes:
    """The nodes of a tree with their classifiers, ready for points.

    ranges: the numbers of the binary classifiers of each node;  branches: the children of
    each node as `decode.nested` takes them, leaves in the order of the text;  order (k,): of
    the leaves, their labels ascending.
    """

    def __init__(self, configuration, execution, values, method):
        tree = configuration.tree
        self.tree, self.values = tree, values
        self.order = np.argsort(np.array(tree.labels, dtype=np.int32))
        ends = np.cumsum([0, *(len(node.rows) for node in tree.nodes)]).tolist()
        self.ranges = [range(start, stop) for start, stop in zip(ends, ends[1:])]
        self.branches = [[("leaf", span[0]) if isinstance(child, Leaf) else ("node", child)
                          for child, span in zip(node.children, spans)]
                         for node, spans in zip(tree.nodes, tree.spans())]
        self._classifiers = getattr(values, "nodes", None) or {
            number: _ready(one, execution)
            for number, one in configuration.node_classifiers.items()}
        planned = [] if method is None else [
            number for number, node in enumerate(tree.nodes) if not node.bare and not node.direct]
        learned = _learned(configuration, execution, self.order) \
            if planned and method.takes == "learned" else None
        self._plans = {number: _plan(self.code(number), method, learned) for number in planned}

    def code(self, number):
        """The coding matrix (m, c) of a node."""
        node = self.tree.nodes[number]
        return rows_to_matrix([(row.left, row.right) for row in node.rows], len(node.children))

    def part(self, number, r):
        """The columns of r (n, m) that belong to a node."""
        return None if r is None else r[:, self.ranges[number].start:self.ranges[number].stop]

    def below(self, leaf, last):
        """The classes (n, k) bool, labels ascending: leaf (n,), or all below the node last (n,)
        where that is -1."""
        first, end = np.array([(spans[0][0], spans[-1][1]) for spans in self.tree.spans()]).T
        first, end = np.where(leaf < 0, (first[last], end[last]), (leaf, leaf + 1))[..., None]
        return (self.order >= first) & (self.order < end)

    def decoded(self, number, x, r, stops):
        """r (n,) of a bare node, else probabilities (n, c) of the children.

        x (n, d): the points; r (n, m'): of the classifiers of this node.
        """
        if number in self._classifiers:
            p = self._classifiers[number].probabilities(x)
            if np.isnan(p).any():
                raise DataError("points hold NaN, or numbers too large for a multi-class node")
            return p
        if number not in self._plans:
            return r[:, 0]
        decoded = self._plans[number](r)
        stops.append(decoded.stops)
        return decoded.p


def _ready(classifier, execution):
    """The classifier of a multi-class node, ready to use: an object with probabilities(x)."""
    if isinstance(classifier, ExternalClassifier):
        return classifier.run_by(execution)
    try:
        return node_classifier(classifier)
    except MemoryError as error:
        raise ModelError("there is not enough memory for its points",
                         file=classifier.name) from error


def _learned(configuration, execution, order):
    """The `LearnedDecoder` of a configuration with its rows in the order of the tree, or None."""
    if execution.sigmoid is not None:
        raise UsageError("-c: a learned decoder was fitted to the probabilities of the models' own "
                         "sigmoids: choose another decoder")
    found = configuration.calibration and configuration.calibration.learned
    rank = np.argsort(order)
    return found and LearnedDecoder(found.weights[rank], found.intercept[rank])


def _plan(code, method, learned):
    if method.name == "orthogonal" and not columns_are_orthogonal(code):
        warnings.warn("the decoder orthogonal is for strict codes whose columns are "
                      "orthogonal: its probabilities are wrong for this one (0, "
                      "least-squares, suits any)", AgfmcWarning, stacklevel=6)
    return CodeDecoder(code, method, learned)


class Predicted(NamedTuple):
    """The leaf (n,), -1 for none, in the order of the text, and its number `winner` (n,).

    columns, stops, queried, sets: as in `Answers`; queried is None where all classifiers were
    queried;  ranked (n, c): the most probable leaves, or None;  probable, cost: as in `Decisions`.
    """

    leaf: np.ndarray
    winner: np.ndarray
    columns: np.ndarray | None
    stops: list
    queried: np.ndarray | None = None
    sets: np.ndarray | None = None
    ranked: np.ndarray | None = None
    probable: np.ndarray | None = None
    cost: np.ndarray | None = None


class _Prediction:
    """A way from prepared points x (n, d) to `Predicted`.

    all_classes: its columns are those of all classes, labels ascending;
    points_part: different points go to different classifiers.
    """

    all_classes = routes_points = False

    def __init__(self, nodes, decoding, method, decision, counting):
        self.nodes, self.values = nodes, nodes.values
        self.decoding, self.method = decoding, method
        self.decision, self.counting = decision, counting

    def all_values(self, x):
        """f and r (n, m) of all binary classifiers; None where there are none."""
        everyone = range(self.values.count)
        return self.values(everyone, x) if everyone else (None, None)

    def of_all_classes(self, p, stops):
        """`Predicted` of probabilities p (n, k) of the leaves."""
        found = self.decision.of_all_classes(p)
        return Predicted(found.leaf, found.winner, found.columns, stops, None, *found[3:])


class _FlatPrediction(_Prediction):
    """All classifiers of one coding matrix, decoded; or one classifier of all classes."""

    all_classes = True

    def __call__(self, x):
        f, r = self.all_values(x)
        if self.method.takes == "g" and f is not None:
            r = self.values.turned(f, range(self.values.count))
        del f  # its memory is wanted
        stops = []
        return self.of_all_classes(self.nodes.decoded(0, x, r, stops), stops)


class _FullTreePrediction(_Prediction):
    """All classifiers of a tree: the probability of a class is the product along its branches."""

    all_classes = True

    def __call__(self, x):
        stops, nodes = [], self.nodes
        _, r = self.all_values(x)
        return self.of_all_classes(products(nodes.branches, [
            nodes.decoded(number, x, nodes.part(number, r), stops)
            for number in range(len(nodes.ranges))]), stops)


class _EnsemblePrediction(_Prediction):
    """All classifiers of an ensemble: the average of the probabilities that each member gives."""

    def __init__(self, nodes, decoding, method, decision, counting):
        super().__init__(nodes, decoding, method, decision, counting)
        self.all_classes = not decoding.prints_values
        tree = nodes.tree
        self._members = []  # nodes, branches as `products` takes them, columns of all leaves
        for root, part in zip(tree.roots, tree.parts):
            column = {label: i for i, (_, label) in enumerate(tree.leaves(root))}
            branches = [[(kind, target - root if kind == "node" else target)
                         for kind, target in children] for children in nodes.branches[part]]
            self._members.append((range(part.start, part.stop), branches,
                                  [column[label] for label in tree.labels]))

    def parts(self, x, r, stops):
        """Yield the probabilities (n, k) of the leaves by each member; r (n, m): all values."""
        nodes = self.nodes
        for numbers, branches, order in self._members:
            yield products(branches, [nodes.decoded(number, x, nodes.part(number, r), stops)
                                      for number in numbers])[:, order]

    def __call__(self, x):
        stops = []
        f, r = self.all_values(x)
        found = self.of_all_classes(average(
            self.parts(x, r, stops), self.nodes.tree.weights,
            self.decoding.tree == "geometric"), stops)
        return found if self.all_classes else \
            found._replace(columns=f if self.decoding.raw else r)


class _ValuesPrediction(_Prediction):
    """The decision values of all binary classifiers are the columns; the class is found too."""

    def __call__(self, x):
        stops, nodes = [], self.nodes
        f, r = self.all_values(x)
        leaf, winner, _ = descend(nodes.branches, len(x), lambda number, rows: nodes.decoded(
            number, x[rows], nodes.part(number, r)[rows], stops))
        return Predicted(leaf, winner, f if self.decoding.raw else r, stops)


class _PartingPrediction(_Prediction):
    """A way down a tree, on which classifiers are evaluated for the points that come to them."""

    routes_points = True

    def asking(self, x):
        """(ask, queried, stops): ask(number, rows) evaluates a node, as `decode.nested` calls it;
        what happened to queried (n, m) and stops is in them."""
        stops, nodes = [], self.nodes
        queried = np.zeros((len(x), self.values.count), dtype=bool) if self.counting else None

        def ask(number, rows):
            span = nodes.ranges[number]
            if queried is not None:
                queried[rows, span.start:span.stop] = True
            r = self.values(span, x[rows])[1] if span else None
            return nodes.decoded(number, x[rows], r, stops)

        return ask, queried, stops


class _DescentPrediction(_PartingPrediction):
    """Descent of a tree to one class, by the most probable branch of each node.

    Where `decoding.stop` says so, it ends at a node: the answer is the set of the classes below it.
    """

    def __call__(self, x):
        ask, queried, stops = self.asking(x)
        branches, stop = self.nodes.branches, self.decoding.stop
        if stop is not None:
            leaf, p, last = descend(branches, len(x), ask, stop)
            return Predicted(leaf, p, p[:, None], stops, queried, self.nodes.below(leaf, last))
        leaf, winner, _ = descend(branches, len(x), ask)
        winner = self.decision.of_one_class(winner)
        columns = winner[:, None] if self.decoding.tree == "path" else None
        return Predicted(leaf, winner, columns, stops, queried)


class _BestFirstPrediction(_PartingPrediction):
    """The most probable classes of a tree, without the classifiers that cannot change them."""

    def __call__(self, x):
        ask, queried, stops = self.asking(x)
        leaf, p = most_probable(self.nodes.branches, len(x), ask, self.decoding.top)
        return Predicted(leaf[:, 0], p[:, 0], p, stops, queried, ranked=leaf)


class _QueryPrediction(_Prediction):
    """Some of the pairs of a one-vs-one configuration, chosen by the answers of others."""

    routes_points = True

    def __init__(self, nodes, decoding, method, decision, counting):
        super().__init__(nodes, decoding, method, decision, counting)
        self._decide = pair_decoder(nodes.code(0), method,
                                   decoding.queries.options(nodes.tree.labels))

    def __call__(self, x):
        found = self._decide(len(x), lambda rows, numbers: self.values(
            tuple(numbers.tolist()), x if len(rows) == len(x) else x[rows])[1])
        return Predicted(found.winner, found.p, found.p[:, None], [],
                         found.queried if self.counting else None)


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
            raise UsageError("external programs run on this machine only: --executor cannot be "
                             "used with them")
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
            from ..learners.programs import killing_commands

            ask = stack.enter_context(killing_commands()).of(classifier)
        task = ask if then is None else lambda x: then(ask(x))
        for _, answers in run_tasks(task, chunks, workers):
            yield answers


def _answered(work, item):
    """The answers for a numbered chunk of points, on a worker."""
    classifier, then = work
    answers = classifier(item[1])
    return answers if then is None else then(answers)

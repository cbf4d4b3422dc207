"""Classification: from a configuration and points to classes and probabilities."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from ..calibration.types import IN_TRAINING
from ..control.matrix import columns_are_orthogonal
from ..control.tree import Leaf, TREE_DECODERS
from ..core.answers import Answers
from ..core.errors import AgfmcError, AgfmcWarning, DataError, ModelError, UsageError, warn_user
from ..core.models import LearnedDecoder
from ..core.points import as_numbers, is_sparse, SparsePoints
from ..core.probabilities import as_shares
from ..core.solver_status import SolverStatus
from ..data.confusions import read_pair_errors
from ..decode.ensemble import average
from ..decode.front import CodeDecoder, pair_decoder
from ..decode.methods import find_method
from ..decode.nested import descend, most_probable, products
from ..executors.remote import run_remote
from ..executors.threads import run_tasks
from ..learners.programs import ExternalClassifier, ExternalValues, killing_commands
from ..learners.protocol import learner_class
from ..models.configuration import Configuration, ModelFiles
from ..tables.points import table_points
from .decision import calibration_of, Decision
from .decision_values import MachineValues
from .decoding import AUTO, coding_matrix, decoders_of, Decoding, has_coding_matrices
from .monitor import load_state, Monitor, new_state


class Classifier:
    """A trained configuration with a decoder, ready to classify points.

    Parameters
    ----------
    configuration : Configuration
        The trained configuration.
    decoding : Decoding, str or callable, default=None
        How classes are found, or the name of a decoder; None: the decoder named in the control
        tree, or else the one that suits it, whose probabilities training calibrates. A function of
        decision values r (n, m) and the coding matrix (m, k) that returns probabilities (n, k) is a
        decoder too; where its attribute `gives` is "estimates" or "votes", it returns these.
    values : object, default=None
        What computes the decision values; None: the classifiers of the configuration.

    Attributes
    ----------
    classes : ndarray of shape (k,), int32
        Labels of the classes, ascending: the columns of probabilities.
    all_classes : bool
        True if the columns of the answers belong to all classes.
    threshold : float or None
        The smallest probability of an answer that is not rejected.
    evaluates_all : bool
        True if every binary classifier is evaluated for each point.

    Raises
    ------
    ModelError
        If the decoder needs probabilities that the models do not have.
    UsageError
        If the decoder does not suit the configuration.
    """

    def __init__(
        self,
        configuration: Configuration,
        decoding: Decoding | str | Callable | None = None,
        values: Any = None,
    ):
        if decoding is None or isinstance(decoding, str) and decoding in TREE_DECODERS:
            decoding = decoders_of(configuration.tree, decoding and (decoding,))[0]
        elif not isinstance(decoding, Decoding):
            decoding = Decoding(decoding)
        decoding = decoding.suited_to(configuration.tree)
        self._arguments = configuration, decoding, values
        if decoding.tree == "flat" and configuration.tree.hierarchical:
            configuration = configuration.as_code()
        self.tree = tree = configuration.tree
        self.decoding = decoding
        self.counting = decoding.counting
        self.classes = np.array(tree.classes, dtype=np.int32)
        self._labels = np.array(tree.labels, dtype=np.int32)
        if values is not None:
            self.values = values
        elif isinstance(configuration.machines, ModelFiles):
            self.values = ExternalValues(configuration, decoding)
        else:
            self.values = MachineValues(configuration, decoding.points == "svm", decoding.sigmoid)
        way = _way_of_prediction(tree, decoding)
        decision = Decision(calibration_of(self._arguments[0], decoding), configuration, decoding)
        self._prediction = _Prediction(configuration, decoding, self.values, decision, way)
        self._predict = getattr(self._prediction, way)
        self.threshold = decision.threshold
        self.evaluates_all = way in ("whole", "decision_values")
        self.all_classes = (
            way == "whole"
            and not decoding.prints_values
            and decoding.top is None
            and decoding.coverage is None
        )
        self.gives_estimates = (
            self.all_classes
            and not decision.makes_probabilities
            and self._prediction.gives_estimates
        )

    def __repr__(self):
        """The decoder, and the three lines of the configuration."""
        return f"<Classifier: decoder {self.decoding.name}\n {self.configuration!r}>"

    @property
    def configuration(self) -> Configuration:
        """The trained configuration."""
        return self._arguments[0]

    def __reduce__(self):
        """Pickled as its arguments: plans are made again on arrival."""
        return _made_again, self._arguments

    @property
    def features(self) -> int | None:
        """Number of features of the points to classify; None where any number will do."""
        return self.values.features

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the classes, in the order of `classes`; the label where a class has none."""
        recipe = self._arguments[0].recipe
        known = dict(enumerate(recipe.classes if recipe is not None else ())) | self.tree.names
        return tuple(known.get(label, str(label)) for label in self.classes.tolist())

    @property
    def gives_all_probabilities(self) -> bool:
        """True if the columns of the answers are the probabilities of all classes."""
        return (
            self.all_classes
            and self.decoding.decoder.gives != "votes"
            and not self.decoding.of_sets
        )

    @property
    def rows(self) -> int:
        """A good number of points for one call: bounded memory, whole blocks.

        Where points part, more, so that those who meet again still fill blocks.
        """
        rows = self.values.rows(len(self.classes))
        if self.evaluates_all:
            return rows
        return 4 * rows

    def __call__(self, x: np.ndarray) -> Answers:
        """`Answers` for points x (n, d).

        Raises `DataError` for another width, and for points that give a
        classifier no decision value: NaN, or too large for its kernel.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            stops: list[SolverStatus] = []
            answers = self._predict(self.values.prepared(x), stops)
        queried = answers.queried
        if self.counting and queried is None:
            queried = np.broadcast_to(np.True_, (len(answers.classes), self.values.count))
        return replace(answers, stops=tuple(stops), queried=queried)

    def monitor(
        self, path: str | os.PathLike | None = None, *, by_truth: bool = False, seed: int = 1
    ) -> Monitor:
        """Watch whether new rows are still as the calibration points were.

        After a calibration in training only, rows are compared with those that came before them.

        Parameters
        ----------
        path : str or path-like, default=None
            A file that `Monitor.save` wrote for the same model, whose state goes on; where it does
            not exist, or without one, the state is new.
        by_truth : bool, default=False
            The true classes of the rows will be given; else the answers alone are watched.
        seed : int, default=1
            Seed of the numbers that break ties of scores.

        Returns
        -------
        Monitor
            Takes answers by `add`; its `value` exceeds 100 in one stream of a hundred at most while
            rows are as the calibration points were.

        Raises
        ------
        ModelError
            If the decoder has no calibration points.
        UsageError
            If priors or costs change the probabilities of the answers.

        Examples
        --------
        >>> import numpy as np
        >>> import agfmc
        >>> x = np.random.default_rng(0).normal(size=(300, 2))
        >>> model = agfmc.train("one-vs-one", x, (x[:, 0] > 0) + (x[:, 1] > 0))
        >>> classifier = agfmc.Classifier(model)
        >>> monitor = classifier.monitor()
        >>> _ = monitor.add(classifier.classify(np.zeros((50, 2))))
        >>> monitor.value > 100
        True
        """
        configuration, decoding = self._arguments[:2]
        if decoding.priors is not None or decoding.costs is not None:
            raise UsageError(
                "a monitor compares probabilities with those of calibration points: it cannot be "
                "combined with `priors` or `costs`"
            )
        calibration = configuration.calibration
        stored = calibration_of(configuration, decoding)
        key = decoding.calibration_key(configuration.tree)
        if calibration is None or key is None or stored is None or stored.points is None:
            raise ModelError(
                "a monitor needs calibration points of the decoder, and there are none: "
                "calibrate_m makes them from holdout points"
            )
        digest = configuration.digest()
        if path is not None and os.path.exists(path):
            state = load_state(os.fspath(path), digest, key)
        else:
            apart = not calibration.source.startswith(IN_TRAINING)
            state = new_state(stored.points, self.classes, digest, key, by_truth, seed, apart)
        return Monitor(state, self.classes)

    def classify(self, x: np.ndarray, workers: int = 1) -> Answers:
        """Classify points; the answer to a point does not depend on the other points.

        Parameters
        ----------
        x : array of shape (n, d)
            The points, or a sparse matrix of SciPy.
        workers : int, default=1
            Number of threads.

        Returns
        -------
        Answers
            Classes, confidence and probabilities.

        Raises
        ------
        DataError
            If points have the wrong number of features, or give no decision value.
        """
        step = self.rows
        if hasattr(x, "toarray"):
            x = SparsePoints.of_matrix(x)
        elif not is_sparse(x):
            x = as_numbers(x, "x", 2)
        parts = list(
            classify(
                self, (x[start : start + step] for start in range(0, max(len(x), 1), step)), workers
            )
        )
        if len(parts) == 1 and len(parts[0].stops) == 1:
            return parts[0]
        stops = sum((stop for part in parts for stop in part.stops), SolverStatus())
        arrays = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name, value in vars(parts[0]).items()
            if isinstance(value, np.ndarray)
        }
        return replace(parts[0], stops=(stops,), **arrays)

    def by_member(self, x: np.ndarray) -> list[np.ndarray]:
        """Compute uncalibrated probabilities by each member of an ensemble.

        Parameters
        ----------
        x : array of shape (n, d)
            The points.

        Returns
        -------
        list of ndarray of shape (n, k)
            Probabilities by each member, columns in the order of `classes`.

        Raises
        ------
        UsageError
            If the configuration is not an ensemble that is averaged.
        """
        if not self.tree.is_ensemble:
            raise UsageError("this is no average of the members of an ensemble")
        x = self.values.prepared(x)
        order = np.argsort(self._labels)
        return [
            p[:, order]
            for p in self._prediction.by_members(x, self._prediction.all_values(x)[1], [])
        ]

    def probabilities(self, x: np.ndarray, workers: int = 1) -> np.ndarray:
        """Compute the probabilities of all classes.

        Parameters
        ----------
        x : array of shape (n, d)
            The points.
        workers : int, default=1
            Number of threads.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities, columns in the order of `classes`; of estimates the positive ones,
            divided by their sum.

        Raises
        ------
        UsageError
            If the decoder does not give probabilities of all classes.
        """
        return self._all_probabilities(self.classify(x, workers))

    def _all_probabilities(self, answers):
        if not self.gives_all_probabilities:
            if self.decoding.descends(self.tree):
                way = "full"
            else:
                way = "least-squares"
            raise UsageError(
                "this decoding does not give the probabilities of all classes: the "
                f"decoder '{way}' alone does"
            )
        columns = np.asarray(answers.columns)
        if self.gives_estimates:
            return np.where(np.isnan(columns), columns, as_shares(columns))
        return columns

    def predict(self, rows: Any, workers: int = 1, flags: bool = False) -> tuple:
        """Classify rows of a table, and name their classes.

        A warning tells of rows that cannot be answered, as a cell is not of the kind of its column,
        or no value is known.

        Parameters
        ----------
        rows : frame of named columns, list of dictionaries, open file of text, or name of a file
            Rows with the columns of training, of which the recipe of the configuration makes
            points; or points, an array of shape (n, d).
        workers : int, default=1
            Number of threads.
        flags : bool, default=False
            Return what in each row is unlike training, too.

        Returns
        -------
        names : list of str, int or bool
            The classes, as they stood in the table of training; None for rejected rows, and those
            that cannot be answered.
        probabilities : ndarray of shape (n, k)
            Probabilities, columns in the order of the attribute `names`; NaN in rows that cannot
            be answered.
        flags : list of list of str
            With `flags`: words for each row, as "mass: above" for a number far above those of
            training; others are below, unknown (a word), missing (where training had no blanks)
            and wrong. Points have none.

        Raises
        ------
        DataError
            If rows lack columns.
        UsageError
            If the decoder does not give probabilities of all classes.
        """
        recipe = self._arguments[0].recipe
        x = rows
        flags_of_rows = None
        if recipe is not None and (not isinstance(rows, np.ndarray) or rows.dtype.names):
            points = table_points(rows, recipe, "most", flags)
            x, flags_of_rows = points.x, points.flags
            if points.error is not None:
                warn_user(str(points.error))
        answered = np.ones(len(x), dtype=bool)
        if flags_of_rows is not None:
            answered = ~np.isnan(x).all(axis=1)
        answers = self.classify(x if answered.all() else x[answered], workers)
        if not answered.all():
            answers = answers.in_rows(answered)
        name_of: dict[int, Any] = dict(zip(self.classes.tolist(), self.names))
        if recipe is not None:
            name_of = {label: recipe.label_of(name) for label, name in name_of.items()}
        names = [*map(name_of.get, answers.classes.tolist())]
        if flags:
            return names, self._all_probabilities(answers), flags_of_rows or [[] for _ in names]
        return names, self._all_probabilities(answers)


def _made_again(*arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AgfmcWarning)  # the first one gave the warnings
        return Classifier(*arguments)


def classifier_for(configuration: Configuration, decoder: str | None = None) -> Classifier:
    """Make a `Classifier` that always gives probabilities of all classes where it can.

    Parameters
    ----------
    configuration : Configuration
        The trained configuration.
    decoder : str, default=None
        Name of a decoder; a decoder of coding matrices takes a tree as a coding matrix. None: the
        decoder that suits the control tree.

    Returns
    -------
    Classifier
        The classifier.
    """
    return Classifier(configuration, decoders_of(configuration.tree, decoder and (decoder,))[0])


def _decoder(tree, decoding, values):
    method = decoding.decoder
    flat = not tree.hierarchical
    if decoding.prints_values and not values.count:
        raise UsageError(
            f"{'`raw`' if decoding.raw else '`method=-1`'} prints a column for each binary "
            "classifier, and this configuration has none"
        )
    if method.takes == "g" and not values.has_decision_values:
        raise UsageError(
            f"the decoder {method.name} needs decision values, and other "
            "programs give probabilities"
        )
    if not values.has_probabilities:
        if flat and (decoding.raw or method.name == "vote"):
            return find_method("vote")
        if flat and (method.gives == "winner" or method.takes == "g"):
            return method
        raise ModelError(
            "the binary models hold no probabilities (probA, probB): train them "
            'again (multi_borders without --, or with -- "svm-train -b 1"); '
            'votes (`method="vote"`, max-win, ddag ...), losses and `raw` of a coding matrix '
            "work without, and so does `sigmoid`, which makes them from the decision values"
        )
    if decoding.prints_values:
        return find_method("least-squares")
    coded = has_coding_matrices(tree)
    where, done = (
        ("an ensemble", "averaged over") if tree.is_ensemble else ("a tree", "multiplied along")
    )
    if method.gives == "votes" and not flat and coded:
        raise UsageError(
            f"votes ({method.name}) cannot be {done} {where}: choose "
            "a decoder that gives probabilities"
        )
    if (method.gives == "winner" or method.takes == "learned") and not flat and coded:
        raise UsageError(
            f"the decoder {method.name} is for a coding matrix alone, not for one in {where}"
        )
    return method


def _way_of_prediction(tree, decoding):
    """The name of the method of `_Prediction` for a tree and a `Decoding`."""
    whole = not decoding.descends(tree)
    if decoding.priors is not None:
        needing = "priors"
    elif decoding.costs is not None:
        needing = "costs"
    elif decoding.stop is None:
        needing = decoding.of_sets
    else:
        needing = None
    if decoding.top is not None:
        needing = needing or decoding.guarantee
    if needing and not whole:
        raise UsageError(
            f"`{needing}` needs the probabilities of all classes: for a tree they "
            'come with `tree="full"`'
            + ', and nodes of the tree with `stop="auto"`'
            * (decoding.coverage is not None)
        )
    if decoding.stop is not None and whole:
        raise UsageError(
            "`stop` is for decision trees and nested configurations, and this is not "
            "one: `coverage` gives sets of its classes"
        )
    if decoding.prints_values and not tree.is_ensemble:
        return "decision_values"
    if not whole and decoding.top is not None:
        if decoding.top < len(tree.classes):
            return "best_first"
        return "whole"
    if not whole:
        return "descent"
    if decoding.decoder.gives == "winner" and not tree.hierarchical and tree.nodes[0].rows:
        return "pairs"
    return "whole"


class _Prediction:
    """The ways from prepared points x (n, d) to `Answers`, stops being added to a list.

    A descent and pairs put different points to different classifiers. `branches` are the children
    of each node as `decode.nested` takes them, leaves in the order of the text.
    """

    def __init__(self, configuration, decoding, values, decision, way):
        self.tree = configuration.tree
        self.values = values
        self.decision = decision
        self.decoding = decoding
        self._method = method = _decoder(self.tree, decoding, values)
        nodes = self.tree.nodes
        self._order = np.argsort(np.array(self.tree.labels, dtype=np.int32))
        ends = np.cumsum([0, *(len(node.rows) for node in nodes)]).tolist()
        self._ranges = [range(start, stop) for start, stop in zip(ends, ends[1:])]
        self._branches = [
            [
                ("leaf", span[0]) if isinstance(child, Leaf) else ("node", child)
                for child, span in zip(node.children, spans)
            ]
            for node, spans in zip(nodes, self.tree.spans())
        ]
        if self.tree.is_ensemble:
            self._members = self._member_trees()
        else:
            self._members = [(range(len(nodes)), self._branches, slice(None))]
        self._classifiers = getattr(values, "nodes", None) or {
            number: _ready(classifier, decoding)
            for number, classifier in configuration.node_classifiers.items()
        }
        if way == "pairs":
            if isinstance(decoding.pair_errors, str):
                errors = read_pair_errors(decoding.pair_errors).error_rates(self.tree.labels)
                decoding = replace(decoding, pair_errors=errors)
            self._decide = pair_decoder(coding_matrix(self.tree), method, decoding)
            return
        coded = [number for number, node in enumerate(nodes) if not node.bare and not node.direct]
        if coded and method.takes == "learned":
            learned = self._learned(configuration)
        else:
            learned = None
        self._plans = {
            number: CodeDecoder(coding_matrix(self.tree, number), method, learned)
            for number in coded
        }
        if method.name == "orthogonal" and not all(
            columns_are_orthogonal(coding_matrix(self.tree, number)) for number in coded
        ):
            warn_user(
                "the decoder orthogonal is for strict codes whose columns are "
                "orthogonal: its probabilities are wrong for this one (0, "
                "least-squares, suits any)"
            )

    @property
    def gives_estimates(self):
        """True for a coding matrix alone that is decoded to estimates."""
        return not self.tree.hierarchical and any(
            plan.gives == "estimates" for plan in self._plans.values()
        )

    def _learned(self, configuration):
        if self.decoding.sigmoid is not None:
            raise UsageError(
                "`sigmoid`: a learned decoder was fitted to the probabilities of the models' "
                "own sigmoids: choose another decoder"
            )
        learned = configuration.calibration and configuration.calibration.learned
        rank = np.argsort(self._order)
        return learned and LearnedDecoder(learned.weights[rank], learned.intercept[rank])

    def _member_trees(self):
        """[(its nodes, its branches, its columns in the order of all leaves)] of each member."""
        tree = self.tree
        members = []
        for root, part in zip(tree.roots, tree.parts):
            column = {label: i for i, (_, label) in enumerate(tree.leaves(root))}
            branches = [
                [(kind, target - root if kind == "node" else target) for kind, target in children]
                for children in self._branches[part]
            ]
            members.append(
                (range(part.start, part.stop), branches, [column[label] for label in tree.labels])
            )
        return members

    def all_values(self, x):
        """f and r (n, m) of all binary classifiers; None where there are none."""
        everyone = range(self.values.count)
        if everyone:
            return self.values(everyone, x)
        return (None, None)

    def _local(self, number, x, r, stops):
        """r (n,) of a bare node, else probabilities (n, c) of the children.

        `x` (n, d) are the points, `r` (n, m') the values of the classifiers of this node.
        """
        if number in self._classifiers:
            p = self._classifiers[number].probabilities(x)
            if np.isnan(p).any():
                raise DataError("points hold NaN, or numbers too large for a multi-class node")
            return p
        if number not in self._plans:
            return r[:, 0]
        p, stopped = self._plans[number](r)
        stops.append(stopped)
        if self.tree.hierarchical and self._plans[number].gives == "estimates":
            return as_shares(p)  # products and averages of others would have no meaning
        return p

    def _part(self, number, r):
        if r is None:
            return None
        return r[:, self._ranges[number].start : self._ranges[number].stop]

    def by_members(self, x, r, stops):
        """Yield the probabilities (n, k) of the leaves by each tree; r (n, m): all values."""
        for numbers, branches, order in self._members:
            local = [self._local(number, x, self._part(number, r), stops) for number in numbers]
            yield products(branches, local)[:, order] if self.tree.hierarchical else local[0]

    def whole(self, x, stops):
        """All classifiers: a code decoded, products along branches, their average over members."""
        f, r = self.all_values(x)
        if self._method.takes == "g" and f is not None and not self.tree.hierarchical:
            r = self.values.turned(f, range(self.values.count))
        if not self.decoding.prints_values:
            columns = None
        elif self.decoding.raw:
            columns = f
        else:
            columns = r
        del f  # its memory is needed
        parts = self.by_members(x, r, stops)
        if self.tree.is_ensemble:
            p = average(parts, self.tree.weights, self.decoding.tree == "geometric")
        else:
            p = next(parts)
        answers = self.decision.of_all_classes(p)
        if columns is None:
            return answers
        return replace(answers, columns=columns)

    def decision_values(self, x, stops):
        """The decision values of all binary classifiers as columns, and the class beside them."""
        f, r = self.all_values(x)
        leaf, winner, _ = descend(
            self._branches,
            len(x),
            lambda number, rows: self._local(number, x[rows], self._part(number, r)[rows], stops),
        )
        return self.decision.answers(leaf, winner, f if self.decoding.raw else r)

    def _evaluator(self, x, stops):
        """(evaluate(number, rows) of a node, as `decode.nested` calls it, queried (n, m))."""
        if self.decoding.counting:
            queried = np.zeros((len(x), self.values.count), dtype=bool)
        else:
            queried = None

        def evaluate(number, rows):
            span = self._ranges[number]
            if queried is not None:
                queried[rows, span.start : span.stop] = True
            if span:
                r = self.values(span, x[rows])[1]
            else:
                r = None
            return self._local(number, x[rows], r, stops)

        return evaluate, queried

    def descent(self, x, stops):
        """Descent of a tree to one class, by the most probable branch of each node.

        Where `decoding.stop` says so, it ends at a node: the answer is the set of the classes
        below it. For a coverage all go to the end, as limits may differ by class.
        """
        evaluate, queried = self._evaluator(x, stops)
        stop = self.decoding.stop
        if stop is None:
            leaf, winner, _ = descend(self._branches, len(x), evaluate)
            winner = self.decision.of_one_class(winner)
            if self.decoding.tree == "path":
                columns = winner[:, None]
            else:
                columns = None
            return self.decision.answers(leaf, winner, columns, queried=queried)
        every_span = self.tree.spans()
        if stop == AUTO:
            left = np.zeros((len(x), len(self._order)))

            def visit(index, child, rows, p):
                spans = every_span[index]
                for first, end in ((spans[0][0], spans[child][0]), (spans[child][1], spans[-1][1])):
                    left[rows, first:end] = p[:, None]

            leaf, p, _ = descend(self._branches, len(x), evaluate, visit=visit)
            return self.decision.of_nodes(leaf, p, left, queried)
        leaf, p, last = descend(self._branches, len(x), evaluate, stop)
        first, end = np.array([(spans[0][0], spans[-1][1]) for spans in every_span]).T
        first, end = np.where(leaf < 0, (first[last], end[last]), (leaf, leaf + 1))[..., None]
        below = (self._order >= first) & (self._order < end)
        return self.decision.answers(leaf, p, p[:, None], sets=below, queried=queried)

    def best_first(self, x, stops):
        """The most probable classes of a tree, without the classifiers that cannot change them."""
        evaluate, queried = self._evaluator(x, stops)
        leaf, p = most_probable(self._branches, len(x), evaluate, self.decoding.top)
        return self.decision.answers(leaf[:, 0], p[:, 0], p, ranked=leaf, queried=queried)

    def pairs(self, x, stops):
        """Some of the pairs of a one-vs-one configuration, chosen by the answers of others."""
        winner, p, queried = self._decide(
            len(x),
            lambda rows, numbers: self.values(
                tuple(numbers.tolist()), x if len(rows) == len(x) else x[rows]
            )[1],
        )
        if not self.decoding.counting:
            queried = None
        return self.decision.answers(winner, p, p[:, None], queried=queried)


def _ready(classifier, decoding):
    """The classifier of a multi-class node, ready to use: an object with probabilities(x)."""
    if isinstance(classifier, ExternalClassifier):
        return classifier.run_by(decoding)
    try:
        return learner_class(classifier.code).classifier(classifier)
    except MemoryError as error:
        raise ModelError(
            "there is not enough memory for its points", file=classifier.name
        ) from error


def classify(classifier, chunks, workers=1, then=None, explain=None, some=False):
    """Yield `Answers` for each chunk of points (n, d), in order.

    Parameters
    ----------
    workers : int or Executor, number of threads, or an executor of `concurrent.futures`
    then : function, optional
        Called with the answers where they were made; its result is yielded. For an executor it must
        be a function of a module, or a `functools.partial` of one.
    explain : Explainer, optional
        Its explanations stand in the answers.
    some : bool
        Points whose features are all NaN have no answer.

    Raises
    ------
    UsageError : for an executor and classifiers that run commands
    """
    commands = any(direct.learner.is_program for direct in classifier.tree.directs.values())
    if not isinstance(workers, int):
        if commands or not isinstance(classifier.values, MachineValues):
            raise UsageError(
                "external programs run on this machine only, by threads: expected a number of workers"
            )
        for _, answers in run_remote(
            workers,
            _answered,
            (classifier, then, explain, some),
            enumerate(chunks, 1),
            ordered=True,
            name=lambda item: f"block {item[0]} of the points",
        ):
            if isinstance(answers, AgfmcError):
                raise answers
            yield answers
        return
    with ExitStack() as stack:
        answer = classifier
        if commands:
            answer = stack.enter_context(killing_commands())(classifier)
        for _, answers in run_tasks(
            lambda item: _answered((answer, then, explain, some), item), enumerate(chunks), workers
        ):
            yield answers


def _answered(work, item):
    (classifier, then, explain, some), (_, x) = work, item
    known = None
    if some and not is_sparse(x):
        known = ~np.isnan(x[:, 0])
        known[~known] = ~np.isnan(x[~known]).all(axis=1)
        if known.all():
            known = None
        else:
            x = x[known]
    answers = classifier(x)
    if explain is not None:
        answers = replace(answers, explanation=explain(x, answers.classes))
    if known is not None:
        answers = answers.in_rows(known)
    if then is None:
        return answers
    return then(answers)

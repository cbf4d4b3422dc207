"""Choices of how classifiers are decoded to classes, and the decoders that suit a control tree."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from ..calibration.sets import SCORES
from ..control.build import to_code
from ..control.matrix import columns_are_orthogonal, rows_to_matrix
from ..control.tree import Tree, TREE_DECODERS
from ..core.costs import cost_matrix, CostMatrix
from ..core.errors import ControlError, UsageError
from ..data.cost_file import read_costs
from ..decode.code_kinds import KINDS
from ..decode.front import given_for_code
from ..decode.methods import DEFAULT, find_method, Method
from ..decode.pair_strategies import draw, opponents_of, PairQueries

# Averages of the members of an ensemble, each of which gives the probabilities of all classes.
ENSEMBLE_MODES = tuple(name for name, what in TREE_DECODERS.items() if what == "ensembles")

# Ways through a tree: down to one class, without and with the probability of that class as a
# column; all classes; or the tree is taken as the coding matrix that it stands for.
TREE_MODES = ("recursive", "path", "full", "flat", *ENSEMBLE_MODES)

# Points for each class, on the average, from which a learned decoder is fitted by default, and the
# largest number of its weights: its time grows with their product.
LEARNED_POINTS, _LEARNED_WEIGHTS = 50, 6_000

AUTO = "auto"  # of stop


@dataclass(frozen=True)
class Decoding(PairQueries):
    """The way from decision values to classes and probabilities.

    Parameters
    ----------
    method : str, int, Method or callable, default="least-squares"
        Name or number of the decoder of coding matrices, or a function that decodes.
    tree : str, default="recursive"
        How trees, nested configurations and ensembles are decoded, one of `TREE_MODES`.
    raw : bool, default=False
        Give the decision values themselves as columns of the answers.
    reject : float, default=None
        Answers of a smaller probability are rejected (-1).
    priors : mapping, sequence or str, default=None
        Proportions of the classes in the population that the points come from.
    trained_priors : mapping, sequence or str, default=None
        Proportions in training; None: those recorded in the models.
    calibrated : bool, default=True
        Apply the calibration map of the configuration, if it has one.
    max_error : float, default=None
        Points are rejected so that, with probability `confidence`, no larger share of the answers
        is wrong.
    confidence : float, default=None
        None: 0.95.
    coverage : float, default=None
        Probability with which the set of each point holds its class.
    allow_empty : bool, default=False
        A set may have no class, for exactly this coverage; else the most probable class is in it.
    by_class : bool, default=False
        Coverage or p values are right for each class alone.
    set_score : str, default=None
        The score of sets and p values, one of `SCORES`; None: the first.
    p_values : bool, default=False
        Columns are p values of all classes in place of probabilities.
    without_floor : bool, default=False
        Leave the floor of the calibration map out of `columns`, for means over ordered classes.
    stop : float or str, default=None
        Go down a tree as long as the probability of the branch is at least this; the answer is
        the set of classes below the last node. "auto": as long as the sets have the `coverage`.
    top : int, default=None
        Give the probabilities of this number of most probable classes alone.
    costs : CostMatrix, array of shape (k, k) or (k, k + 1), or str, default=None
        Costs of the answers, classes in ascending order of the labels, or the name of a file with
        them; the answer is that of the least expected cost.
    points : str, default="binary"
        Kind of the points to classify: "binary", "svm" or "lvq".
    sigmoid : int, default=None
        Key of `SIGMOIDS` in place of what was fitted.
    counting : bool, default=False
        Tell which binary classifiers were evaluated for each point.
    predictor : str, default=None
        Command that reads binary models and points, and classifies them.
    allow_commands : bool, default=False
        The commands in control files may be run.
    keep : bool, default=False
        Temporary files of programs stay.
    workers : int, default=1
        Number of programs that run at a time.
    opponents : str, default="3log"
        Opponents of each class in a poll, a number or a word such as "3log", 3 log2 k.
    seed : int, default=1
        Seed of their draw.
    finalists : int, default=None
        Number of best classes that are polled in full; None: no class.
    pair_errors : array of shape (k, k) or str, default=None
        Errors of the pairs for the decoder radag, or the name of a file with them.

    Raises
    ------
    UsageError
        If settings exclude each other.
    """

    method: str | int | Method | Callable = DEFAULT.name
    tree: str = "recursive"
    raw: bool = False
    reject: float | None = None
    priors: Mapping | Sequence | str | None = None
    trained_priors: Mapping | Sequence | str | None = None
    calibrated: bool = True
    max_error: float | None = None
    confidence: float | None = None
    coverage: float | None = None
    allow_empty: bool = False
    by_class: bool = False
    set_score: str | None = None
    p_values: bool = False
    without_floor: bool = False
    stop: float | str | None = None
    top: int | None = None
    costs: Any = None
    points: str = "binary"
    sigmoid: int | None = None
    counting: bool = False
    predictor: str | None = None
    allow_commands: bool = False
    keep: bool = False
    workers: int = 1

    def polls_all(self, k: int) -> bool:
        """Return True if the opponents that a poll of k classes draws make up all pairs."""
        counts = draw(k, opponents_of(self.opponents, k), self.seed)
        return bool(np.count_nonzero(counts + counts.T) == k * (k - 1))

    def __post_init__(self):
        if self.tree not in TREE_MODES:
            raise UsageError(
                f"there is no mode '{self.tree}' for trees: expected one of "
                + ", ".join(TREE_MODES)
            )
        if self.raw:
            shown = "`raw`"
        else:
            shown = self.decoder.name
        if self.reject is not None and (self.decoder.gives == "votes" or self.raw):
            raise UsageError(f"`reject` needs a decoder that gives probabilities, not {shown}")
        if self.trained_priors is not None and self.priors is None:
            raise UsageError("`trained_priors` needs `priors`")
        for name, decoder in (("finalists", "poll"), ("pair_errors", "radag")):
            if getattr(self, name) is not None and self.decoder.name != decoder:
                raise UsageError(f'`{name}` needs `method="{decoder}"`')
        self._check_guarantees()
        self._check_stop()
        if self.top is not None and self.decoder.name == "poll":
            raise UsageError(
                "`top` prints the K most probable classes, and poll knows one: the "
                "number of best classes that it compares is `finalists`"
            )
        for name in ("priors", "top", "costs"):
            if getattr(self, name) is not None and not self._gives_all_probabilities:
                raise UsageError(
                    f"`{name}` needs a decoder that gives the probabilities of all "
                    f"classes, not {shown}"
                )
        if self.top is not None and not (isinstance(self.top, Integral) and self.top >= 1):
            raise UsageError(f"`top`: expected a whole number from 1, found {self.top}")
        if self.top is not None and self.of_sets:
            raise UsageError(
                f"`top` and `{self.of_sets}` exclude each other: either is "
                "printed in place of the probabilities"
            )
        for given, name in ((self.reject, "reject"), (self.max_error, "max_error")):
            if given is not None and self.costs is not None:
                raise UsageError(
                    f"`{name}` refuses answers by their probability: with `costs` a "
                    "last column - of the costs says what no answer costs"
                )
        self._check_programs()

    def _check_guarantees(self):
        for name in ("max_error", "confidence", "coverage"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise UsageError(f"`{name}`: expected a number between 0 and 1, found {value:g}")
        if self.set_score is not None and self.set_score not in SCORES:
            raise UsageError(
                f"there is no score '{self.set_score}' of sets: expected one of "
                + ", ".join(SCORES)
            )
        if self.confidence is not None and self.max_error is None:
            raise UsageError("`confidence` needs `max_error`")
        if self.coverage is not None and self.p_values:
            raise UsageError("`coverage` and `p_values` exclude each other")
        if self.allow_empty and self.coverage is None:
            raise UsageError("`allow_empty` needs `coverage`")
        for name in ("by_class", "set_score"):
            if getattr(self, name) and not self.of_sets:
                raise UsageError(f"`{name}` needs `coverage` or `p_values`")
        if self.max_error is not None and self.reject is not None:
            raise UsageError("`max_error` and `reject` exclude each other")
        if self.max_error is not None and self.priors is not None:
            raise UsageError(
                "`max_error` is for classes in the proportions of the calibration "
                "points: it cannot be combined with `priors`"
            )
        if self.of_sets and self.priors is not None and not self.by_class:
            raise UsageError(
                f"`{self.of_sets}` with `priors` needs `by_class`: coverage over all "
                "points depends on the proportions of the classes"
            )
        if not self.calibrated and self.guarantee is not None:
            raise UsageError(
                f"`{self.guarantee}` rests on the calibration: it cannot be combined "
                "with `calibrated=False`"
            )

    def _check_programs(self):
        if self.predictor is not None and self.sigmoid is not None:
            raise UsageError(
                "`sigmoid` is for support vector machines: it cannot be combined with `predictor`"
            )
        if self.keep and self.predictor is None and not self.allow_commands:
            raise UsageError("`keep` needs `predictor` or `allow_commands`")

    def _check_stop(self):
        if self.stop is None:
            return
        auto = self.stop == AUTO
        if not auto and (isinstance(self.stop, str) or not 0 < self.stop <= 1):
            raise UsageError(
                f"`stop`: expected a number above 0, and 1 at most, or auto, found {self.stop}"
            )
        if auto and self.calibrated and self.coverage is None:
            raise UsageError('`stop="auto"` needs `coverage`')
        for given, parameter in (
            (self.top is not None, "top"),
            (self.reject is not None, "reject"),
            (self.priors is not None, "priors"),
            (self.raw, "raw"),
            (self.costs is not None, "costs"),
            (self.guarantee is not None and not (auto and self.coverage), self.guarantee),
            (self.set_score is not None, "set_score"),
            (self.tree in ("full", "flat"), f'tree="{self.tree}"'),
            (not self._gives_all_probabilities, f'method="{self.decoder.name}"'),
        ):
            if given:
                raise UsageError(
                    "`stop` goes down a tree by the probabilities of its branches: "
                    f"it cannot be combined with `{parameter}`"
                )

    @property
    def of_sets(self) -> str | None:
        """The parameter that needs the probabilities of all classes, or None."""
        if self.coverage is not None:
            return "coverage"
        if self.p_values:
            return "p_values"
        return None

    @property
    def guarantee(self) -> str | None:
        """A parameter that needs calibration points, or None."""
        return self.of_sets or (None if self.max_error is None else "max_error")

    @property
    def _gives_all_probabilities(self):
        """True if a coding matrix is decoded to probabilities, or estimates, of all classes."""
        return not self.raw and self.decoder.gives in ("probabilities", "estimates")

    def as_named(self, tree: Tree) -> Decoding:
        """The decoding with the decoder that a control tree names, if it names one."""
        named = named_decoding(tree)
        if named is None or named.tree == "recursive" and self.tree in ("recursive", "path"):
            return self
        return replace(self, method=named.method, tree=named.tree)

    def suited_to(self, tree: Tree) -> Decoding:
        """The decoding; for an ensemble by an average where it is neither that nor flat.

        Raises `UsageError` for an average of one configuration.
        """
        if tree.is_ensemble:
            if self.tree in (*ENSEMBLE_MODES, "flat"):
                return self
            return replace(self, tree=ENSEMBLE_MODES[0])
        if self.tree in ENSEMBLE_MODES:
            raise UsageError(
                f"the decoder {self.tree} is for ensembles, several configurations in one file"
            )
        return self

    @functools.cached_property
    def decoder(self) -> Method:
        """The decoder of coding matrices."""
        return find_method(self.method)

    @property
    def name(self) -> str:
        """The name of the decoder, or of the way through a tree where that says it all."""
        if self.tree in TREE_DECODERS:
            return self.tree
        return self.decoder.name

    def calibration_key(self, tree: Tree) -> str | None:
        """The key of its map in a `Calibration` of a tree; None where there cannot be one.

        A coding matrix, and a tree taken as one: the name of the decoder.  A multi-class node
        alone: "direct".  A tree: "recursive" or "full", an ensemble: "average" or "geometric",
        and the name of the decoder where nodes have coding matrices.  None too for sets of a
        descent, unless they have a coverage, and the most probable classes of one.
        """
        if self.stop not in (None, AUTO) or self.top is not None and self.descends(tree):
            return None  # a map is of classes, and not of nodes
        if self.prints_values or not self._gives_all_probabilities:
            return None
        if not tree.hierarchical:
            if tree.directs:
                return "direct"
            return self.decoder.name
        mode = self.suited_to(tree).tree
        if mode == "flat":
            return self.decoder.name
        if mode == "path":
            mode = "recursive"
        if has_coding_matrices(tree):
            return f"{mode} {self.decoder.name}"
        return mode

    def descends(self, tree: Tree) -> bool:
        """Return True if classifiers of a tree are queried on the way down alone."""
        return tree.hierarchical and not tree.is_ensemble and self.tree in ("recursive", "path")

    def takes_costs(self, tree: Tree) -> bool:
        """Return True if it gives the probabilities of all classes, by which costs decide."""
        return self._gives_all_probabilities and self.stop is None and not self.descends(tree)

    def costs_of(self, tree: Tree) -> CostMatrix | None:
        """The costs, if there are any, of the classes of a tree, labels ascending.

        Raises `UsageError` for numbers that do not fit the classes, `DataError` for a file.
        """
        if self.costs is None:
            return None
        if isinstance(self.costs, str):
            return read_costs(self.costs, tree.classes, tree.names)
        return cost_matrix(self.costs, tree.classes)

    @property
    def gives_scores(self) -> bool:
        """True if every class has a number, and the largest one wins."""
        return self.tree not in ("recursive", "path") and self.decoder.gives != "winner"

    @property
    def prints_values(self) -> bool:
        """True if the columns of the answers are decision values, raw or as probabilities."""
        return self.raw or self.decoder.name == "binary"


def decoders_of(
    tree: Tree, requested: Sequence[str] | None = None, points: int = 0
) -> tuple[Decoding, ...]:
    """The `Decoding`s for a control tree: the requested ones, else those that suit it.

    These are the one that the tree names, `named_decoding`, and then by its structure. An ensemble:
    average. One-vs-one: inverse. An orthogonal code: orthogonal. Other coding matrices:
    least-squares. Trees: recursive, and the tree as a code by least-squares. A multi-class node at
    the root, or in a tree: recursive. `points` is the number of calibration points, with enough of
    which learned comes next for a code without zeros.
    """
    if requested is not None:
        return tuple(_named(word, tree) for word in requested)
    if tree.is_ensemble:
        words = ENSEMBLE_MODES[:1]
    elif tree.hierarchical:
        if tree.directs:
            words = ("recursive",)
        else:
            words = ("recursive", "least-squares")
    elif tree.directs:
        words = ("least-squares",)
    else:
        code = coding_matrix(tree)
        k = code.shape[1]
        pairs = len(code) == k * (k - 1) // 2 and (np.count_nonzero(code, axis=1) == 2).all()
        words = (
            "inverse"
            if k > 2 and pairs
            else "orthogonal"
            if k > 2 and columns_are_orthogonal(code)
            else "least-squares",
            *(["learned"] if learning_pays(tree, points) else []),
        )
    named = named_decoding(tree)
    return tuple(
        dict.fromkeys([*([named] if named else []), *(_named(word, tree) for word in words)])
    )


def named_decoding(tree: Tree) -> Decoding | None:
    """The `Decoding` of the decoder that a control tree names in its head; None without one.

    Raises `ControlError`, with its place, where there is no such decoder, or it is for others.
    """
    heading = tree.headings.get("decoder")
    if heading is None:
        return None
    try:
        return _suited(heading.text, tree)
    except UsageError as error:
        raise tree.place(heading).error(
            ControlError, f"'# decoder: {heading.text}': {error.message}"
        ) from None


def requested_decodings(tree: Tree, names: Iterable[str | Callable]) -> list[Decoding]:
    """The `Decoding`s of these decoders, or keys of a calibration, which are to be calibrated.

    Raises `UsageError` for one that does not suit the tree, or gives no probabilities.
    """
    decodings = []
    for name in names:
        way = ""
        if isinstance(name, str):
            way, _, word = name.rpartition(" ")
        if way:
            decoding = Decoding(word, way)
        else:
            decoding = _suited(name, tree)
        key = decoding.calibration_key(tree)
        if key is None:
            raise UsageError(
                f"the decoder {name} does not give the probabilities of all classes: it has no "
                "calibration"
            )
        if way and key != name:
            raise UsageError(f"the decoder {name} is for nodes with coding matrices")
        decodings.append(decoding)
    return decodings


def _suited(word, tree):
    decoding = _named(word, tree)
    kind = decoding.decoder.codes
    if kind != "any" and (
        tree.directs
        or KINDS[kind](coding_matrix(to_code(tree) if tree.hierarchical else tree)) is None
    ):
        raise UsageError(f"the decoder {word} needs a {kind} configuration")
    return decoding


def _named(word, tree):
    if tree.is_ensemble:
        structure = "ensembles"
    elif tree.hierarchical:
        structure = "trees"
    else:
        structure = None
    if word in TREE_DECODERS:
        if structure != TREE_DECODERS[word]:
            raise UsageError(f"the decoder {word} is for {TREE_DECODERS[word]}")
        return Decoding(tree=word)
    method = find_method(word)
    if method.gives == "values":
        raise UsageError(f"{method.name} gives no classes: it cannot be compared")
    if structure and tree.directs:
        suited = [name for name, what in TREE_DECODERS.items() if what == structure]
        if tree.is_ensemble:
            what = "an ensemble"
        else:
            what = "a tree"
        raise UsageError(
            f"{what} with a multi-class node is no coding matrix: its decoders are "
            + " and ".join(suited)
        )
    return Decoding(word if callable(word) else method.name, tree="flat")


def learning_pays(tree: Tree, points: int) -> bool:
    """Return whether a learned decoder is fitted by default to that many calibration points.

    For a coding matrix without zeros, of three classes or more, that is not too large: a point
    is then held out by all classifiers.  With fewer points it was often worse than least squares.
    """
    if tree.hierarchical or tree.directs:
        return False
    code = coding_matrix(tree)
    k = code.shape[1]
    return (
        k > 2
        and bool(code.all())
        and code.size <= _LEARNED_WEIGHTS
        and points >= LEARNED_POINTS * k
    )


def has_coding_matrices(tree: Tree) -> bool:
    """Return whether a node is decoded from several classifiers."""
    return any(node.rows and not node.bare for node in tree.nodes)


def coding_matrix(tree: Tree, number: int = 0) -> np.ndarray:
    """The coding matrix (m, c) of a node of a tree, branches in the order of its text."""
    node = tree.nodes[number]
    return rows_to_matrix([(row.left, row.right) for row in node.rows], len(node.children))


def answering_decodings(tree: Tree) -> tuple[Decoding, ...]:
    """The `Decoding`s that answer where none is chosen: by commands, and in Python.

    A tree that is descended has the one that gives all probabilities too, which sets, costs and
    priors need.
    """
    decodings = [Decoding().as_named(tree), decoders_of(tree)[0]]
    if tree.hierarchical and not tree.is_ensemble:
        decodings += [Decoding(), Decoding(tree="full")]
    return tuple(decodings)


def suited_decodings(tree: Tree) -> dict[str, Decoding]:
    """{key: `Decoding`} of the decoders that suit a tree, and of least squares, in their order."""
    decodings: dict[str, Decoding] = {}
    for decoding in (*decoders_of(tree), Decoding(), Decoding(tree="full")):
        key = decoding.calibration_key(tree)
        if key is not None:
            decodings.setdefault(key, decoding)
    return decodings


def gives_probabilities(decoding: Decoding, tree: Tree) -> bool:
    """Return True if its scores are probabilities: none negative, and their sum 1.

    Estimates, whose signs and sums are free, become such at the nodes of a tree.
    """
    gives = decoding.decoder.gives
    if gives == "estimates":
        hierarchical = tree.hierarchical
        if tree.directs or hierarchical and decoding.tree != "flat":
            gives = "probabilities"
        else:
            code = coding_matrix(to_code(tree) if hierarchical else tree)
            gives = given_for_code(decoding.decoder, code)
    return decoding.gives_scores and gives == "probabilities"

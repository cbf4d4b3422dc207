"""The steps of a model as plain arrays, for writers of programs in other languages.

`steps_of` gives the `Steps` of a configuration and a decoder, from a point x (d,) to
probabilities p (k,), as frozen types of plain arrays; whatever cannot be computed in a bounded
number of simple steps is refused.  In their order:

1. x (d,) from the cells of a table: `recipe`
2. z: (x - mean) matrix for each of `normalisations`, side by side; x itself where there are none
3. decision values f (m,): the sums of `kernel_sums` and of the leaves of `forest`, less `rho`
4. r = tanh(a f + b), the difference of the probabilities of the right and the left side
5. of each node, probabilities of its branches by its rule, from the r of its own classifiers
6. of each member of an ensemble, products along the branches to the classes
7. the average of the members
8. the calibration `map`
9. the class: the largest p, on ties the first in `tie_order`; before a map that keeps the order
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from ..calibration.types import ProbabilityMap
from ..control.tree import Leaf, Tree
from ..core.errors import ModelError, one_line, UsageError
from ..core.forest import Forest
from ..core.models import Kernel, MergedModel
from ..core.rows import by_name
from ..data.normalisation import Normalisation
from ..decode.class_scores import LOSSES
from ..decode.closed_forms import recognised_form
from ..decode.code_kinds import adjacent_order, KINDS
from ..decode.methods import Method
from ..models.configuration import Configuration
from ..models.merge import with_scores
from ..models.privacy import count_rows
from ..prediction.classifier import Classifier
from ..prediction.decision import calibration_of
from ..prediction.decoding import coding_matrix, decoders_of, Decoding
from ..tables.types import ColumnRecipe, TableRecipe


@dataclass(frozen=True, eq=False)
class KernelSums:
    """The part that one kernel has in the decision values: f += K(z, sv) coef.

    Attributes
    ----------
    kernel : the kernel; it sees the features of z from `columns[0]` to `columns[1]`, None for all
    sv : support vectors (s, d'), these features alone; for a linear kernel a plane for each
        classifier
    coef : coefficients (s, m), sparse, by rows
    """

    kernel: Kernel
    sv: np.ndarray
    coef: csr_array


@dataclass(frozen=True, eq=False)
class LinearRule:
    """p = then(matrix v + offset), matrix (c, m'), offset (c,).

    Attributes
    ----------
    takes : what v is: "f" or "r" of the classifiers of the node; "signs", those of r; "log-odds",
        2 (a f + b) within [-30, 30], where 2 artanh(r), as the suite has it, loses digits beyond 20
    then : "nothing"; "project" for the nearest p with p >= 0 and sum p = 1; "shares" for
        max(p, 0) divided by their sum; "softmax";
        "differences" of the sums of the first i branches, made not to fall with i by isotonic
        regression, and clipped to [0, 1]: of a chain of branches with a classifier between each two
    """

    matrix: np.ndarray
    offset: np.ndarray
    takes: Literal["f", "r", "signs", "log-odds"] = "r"
    then: Literal["nothing", "project", "shares", "softmax", "differences"] = "nothing"


@dataclass(frozen=True, eq=False)
class CodeRule:
    """A decoder of a code a (m', c).

    Attributes
    ----------
    decoder : "least-squares": the p >= 0 with sum 1 and the least sum_i (sum_j m_ij p_j)^2,
        m_ij = a_ij - |a_ij| r_i, of several the one with the least |p|^2; "pairs", the same for
        one-vs-one: p = max(u, 0) / sum, K u = 1, K_jl = 1 + sum_i m_ij m_il; "products": p_j of
        (1 + a_ij r_i) / 2 over the rows with a_ij != 0; or a loss L of `decode.class_scores`: p_j =
        - sum_i L(a_ij f_i), f clipped to [-500, 500] if exponential, else to [-1e100, 1e100]
    """

    code: np.ndarray
    decoder: str


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a tree.

    Attributes
    ----------
    classifiers : its classifiers, or the scores of a multi-class node, which stand behind them
    rule : from their values to the probabilities (c,) of the branches
    branches : of each the position of its class, or k + the number of a later node
    """

    classifiers: range
    rule: LinearRule | CodeRule
    branches: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Steps:
    """All that a model computes; see the head of this module.

    Attributes
    ----------
    classifier : the suite's own, with which every other program has to agree
    labels, names : labels of the classes (k,), ascending, and their names
    recipe : the columns of a table, and the features that are made of them; without a table in
        training, or for encoded input, each feature is a column of numbers
    of_table : whether these are the columns of the training table
    takes_missing : NaN may stand in a point, as all classifiers are trees; else such a point has no
        answer
    normalisations : of which the rows of the matrices are the features; () for none
    kernel_sums, forest : of the decision values
    rho, a, b : (m,), f less rho, r = tanh(a f + b)
    nodes : all nodes, parents before children
    members : (slice of its nodes, weight) of each member of an ensemble
    geometric : the average of members is of logarithms of p, at least 1e-16, then a softmax
    map : the calibration map, columns in the order of the labels, or None
    tie_order : positions of the classes in the order in which the first of the largest p wins
    gives : "probabilities", "estimates" or "votes", what the p are
    """

    classifier: Classifier
    labels: tuple[int, ...]
    names: tuple[str, ...]
    recipe: TableRecipe
    of_table: bool
    takes_missing: bool
    normalisations: tuple[Normalisation, ...]
    kernel_sums: tuple[KernelSums, ...]
    forest: Forest
    rho: np.ndarray
    a: np.ndarray
    b: np.ndarray
    nodes: tuple[Node, ...]
    members: tuple[tuple[slice, float], ...]
    geometric: bool
    map: ProbabilityMap | None
    tie_order: np.ndarray
    gives: str

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features."""
        return self.recipe.features

    @property
    def rows(self) -> int:
        """The rows of the training data that it holds."""
        vectors = [one.sv for one in self.kernel_sums if one.kernel.kind != "linear"]
        return count_rows(vectors)


def steps_of(
    configuration: Configuration, decoder: str | None = None, features: bool = False
) -> Steps:
    """The steps of a trained configuration.

    Parameters
    ----------
    configuration : Configuration
        The trained configuration.
    decoder : str, default=None
        Name of a decoder, or "full", "average" or "geometric"; a decoder of coding matrices takes
        a tree as the coding matrix that it stands for.  None: that of `classify_m`, but for trees
        "full", as programs give the probabilities of all classes.
    features : bool, default=False
        The input are the features that `table2agf` makes of a table, not its columns.

    Returns
    -------
    Steps
        All numbers of the model, step by step.

    Raises
    ------
    ModelError
        If a part of the model has no such steps.
    UsageError
        If the decoder has none.
    """
    machines = configuration.machines
    if not isinstance(machines, MergedModel):
        raise ModelError(
            "the binary classifiers are programs or objects in memory, which cannot "
            "be exported: train with learner=svm, nystrom, linear, logistic or trees"
        )
    machines, scores = with_scores(machines, configuration.node_classifiers)
    for number, direct in configuration.tree.directs.items():
        if number not in scores:
            raise configuration.tree.place(direct).error(
                ModelError,
                f"a classifier of code {direct.learner_letter} cannot be exported, of "
                "multi-class classifiers only code L, logistic regression, and T, boosted trees",
            )
    decoding = _exported_decoding(configuration.tree, decoder)
    classifier = Classifier(configuration, decoding)
    calibration = calibration_of(configuration, decoding)
    if decoding.tree == "flat" and configuration.tree.hierarchical:
        configuration = configuration.as_code()
    tree = configuration.tree
    if calibration is None or calibration.map.kind == "none":
        calibrated = None
    else:
        calibrated = calibration.map
    if configuration.lacks_normalisation:
        raise ModelError(
            "was trained on normalised points, and holds no normalisation: mbh2mbm -a stores it",
            file=tree.source,
        )
    position = {label: at for at, label in enumerate(tree.classes)}
    if configuration.normalisation is None:
        parts = ()
    else:
        parts = configuration.normalisation.parts
    fitted = np.isfinite(machines.a)
    kernel_sums = tuple(_kernel_sums(machines))
    forest = machines.forest or Forest.none(machines.sv.shape[1], machines.count)
    gives = decoding.decoder.gives
    if gives == "estimates" and not classifier.gives_estimates:
        gives = "probabilities"
    takes_missing = (
        machines.forest is not None
        and not kernel_sums
        and all(one.keeps_features_apart for one in parts)
    )
    return Steps(
        classifier,
        tree.classes,
        tuple(classifier.names),
        _recipe(configuration, takes_missing, features),
        configuration.recipe is not None and not features,
        takes_missing,
        parts,
        kernel_sums,
        forest,
        machines.rho,
        np.where(fitted, machines.a, machines.orientation),
        np.where(fitted, machines.b, 0.0),
        tuple(_nodes(configuration, decoding, position, scores)),
        tuple(zip(tree.parts, tree.weights)),
        decoding.tree == "geometric",
        calibrated,
        np.array([position[label] for label in tree.labels]),
        gives,
    )


def _exported_decoding(tree: Tree, decoder: str | None) -> Decoding:
    decoding = (
        Decoding().as_named(tree) if decoder is None else decoders_of(tree, (decoder,))[0]
    ).suited_to(tree)
    if decoding.descends(tree):
        if decoder is not None:
            raise UsageError(
                "the decoder recursive gives the probability of one class, and an "
                'exported model those of all: choose `decoder="full"`'
            )
        decoding = replace(decoding, tree="full")
    elif not tree.hierarchical:
        decoding = replace(decoding, tree="flat")  # as it is, and its name is that of the decoder
    if decoding.decoder.iterates or decoding.decoder.gives == "winner":
        raise UsageError(
            f"the decoder {decoding.decoder.name} cannot be exported: "
            + (
                "it iterates without a bound"
                if decoding.decoder.iterates
                else "it knows one class alone"
            )
            + "; choose another one with `decoder`, such as least-squares"
        )
    return decoding


def _recipe(configuration, takes_missing, features):
    """The recipe of a program's input."""
    recipe = configuration.recipe
    if recipe is not None and not features:
        words = [one.name for one in recipe.columns if one.order or one.categories]
        if recipe.fold_case and words:
            raise UsageError(
                f"column '{one_line(words[0])}' has words in any case, which a program cannot "
                "compare: choose `features=True`"
            )
        return recipe
    if recipe is None:
        d = configuration.features or configuration.machines.sv.shape[1]
        names = tuple(f"f{number}" for number in range(1, d + 1))
        blanks = ("", "NaN", "nan")
    else:
        names = recipe.features
        blanks = recipe.blanks
        takes_missing = recipe.keeps_missing
    return TableRecipe(
        tuple(map(ColumnRecipe, names)),
        "",
        (),
        missing="keep" if takes_missing else "error",
        blanks=blanks,
    )


def features_if_missing(recipe: TableRecipe, column: ColumnRecipe) -> np.ndarray:
    """The features (f,) of a missing cell of a column, infinite where it is an error."""
    row = np.zeros(len(column.features))
    words = column.categories
    if recipe.keeps_missing:
        if words is None:
            row[:] = np.nan
        return row
    if column.indicator:
        row[-1] = 1
    if isinstance(column.fill, str):
        row[words.index(column.fill)] = 1
    elif column.fill is not None:
        row[0] = column.fill
    elif words is None and not column.indicator:
        row[0] = np.inf
    return row


def _kernel_sums(machines):
    """Yield `KernelSums` of each kernel; of linear ones the planes, a sum over support vectors."""
    s = machines.sv.shape[0]
    m = machines.count
    owner = np.repeat(np.arange(m), np.diff(machines.indptr))
    for number, kernel in enumerate(machines.kernels):
        some = machines.kernel_of[owner] == number
        coef = csr_array((machines.coef[some], (machines.index[some], owner[some])), shape=(s, m))
        sv = np.asarray(machines.sv)[:, slice(*kernel.columns or (None,))]
        if kernel.kind == "linear":
            used = np.unique(owner[some])
            sv = coef[:, used].T @ sv
            coef = csr_array((np.ones(len(used)), (np.arange(len(used)), used)), (len(used), m))
        else:
            used = np.flatnonzero(np.diff(coef.indptr))
            sv, coef = sv[used], coef[used]
        if len(sv):
            yield KernelSums(kernel, sv, coef)


def dense_blocks(coef: csr_array) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield (start, stop, columns) of rows of coefficients (s, m) in nearly the same columns.

    As dense matrices a fifth of them may be zeros.
    """
    start = 0
    columns = set()
    cells = 0
    for row, (first, end) in enumerate(zip(coef.indptr, coef.indptr[1:])):
        together = columns | set(coef.indices[first:end].tolist())
        if row > start and len(together) * (row + 1 - start) > 1.25 * (cells + end - first):
            yield start, row, np.array(sorted(columns), dtype=int)
            start = row
            together = set(coef.indices[first:end].tolist())
            cells = 0
        columns, cells = together, cells + end - first
    yield start, coef.shape[0], np.array(sorted(columns), dtype=int)


def _nodes(configuration, decoding, position, scores):
    """Yield the `Node`s of a configuration; `position` is that of each label, `scores` the numbers
    of those of multi-class nodes."""
    tree = configuration.tree
    first = 0
    k = len(position)
    for number, node in enumerate(tree.nodes):
        branches = tuple(
            position[child.label] if isinstance(child, Leaf) else k + child
            for child in node.children
        )
        some = range(first, first + len(node.rows))
        first = some.stop
        if node.direct:
            some = scores[number]
            rule = LinearRule(np.eye(len(some)), np.zeros(len(some)), "f", "softmax")
        elif node.bare:
            rule = LinearRule(np.array([[-0.5], [0.5]]), np.array([0.5, 0.5]))
        elif decoding.decoder.takes == "learned":
            learned = configuration.calibration.learned
            order = [position[label] for label in tree.labels]
            rule = LinearRule(
                learned.weights[order], learned.intercept[order], "log-odds", "softmax"
            )
        else:
            code = coding_matrix(tree, number)
            rule = _rule(code, configuration.machines.orientation[some], decoding.decoder)
            if isinstance(rule, LinearRule) and rule.then == "differences":
                branches = tuple(branches[at] for at in adjacent_order(code)[2])
        yield Node(some, rule, branches)


def _rule(code, orientation, method: Method) -> LinearRule | CodeRule:
    """The rule of a decoder for a code (m', c); f > 0 speaks for the right side where orientation
    is 1."""
    loss = method.name.removeprefix("loss:")
    if loss in LOSSES:
        return CodeRule(code * orientation[:, None], loss)
    if method.name == "orthogonal":
        return LinearRule(code.T / len(code), np.zeros(code.shape[1]), then="project")
    if method.name == "argmax":
        rows, signs = KINDS[method.codes](code)
        halves = np.diag(signs / 2) @ np.eye(len(code))[rows]
        return LinearRule(halves, np.full(len(halves), 0.5), then="shares")
    name, parts = recognised_form(code) or ("least-squares", ())
    if name == "pairs" and method.name == "inverse":
        return CodeRule(code, name)
    if (
        method.gives == "votes"
        or code.all()
        and (method.gives == "estimates" or method.name == "renormalised")
    ):
        return _affine_rule(code, orientation, method)
    if method.name != "least-squares":
        raise UsageError(
            f"the decoder {method.name} cannot be exported for a code with zeros that "
            'is not one-vs-one: choose `decoder="least-squares"`'
        )
    if name == "balanced":
        return LinearRule(code.T / parts, np.zeros(code.shape[1]), then="project")
    if name == "adjacent":
        rows, signs, _ = parts
        matrix = np.zeros(code.T.shape)
        matrix[np.arange(len(code)), rows] = -signs / 2
        return LinearRule(matrix, np.append(np.full(len(code), 0.5), 1.0), then="differences")
    return CodeRule(code, "products" if name == "tree" else name)


def _affine_rule(code, orientation, method):
    """The rule of a decoder that is affine, found from its answers to 0 and to unit vectors."""
    if method.name == "renormalised":
        solver = "unconstrained:prepare_unconstrained"
    else:
        solver = method.solver
    made, _ = by_name(f"decode.{solver}")(KINDS[method.codes](code))(
        np.eye(len(code) + 1, len(code), k=-1)
    )
    matrix = (made[1:] - made[0]).T
    offset = made[0]
    if method.takes == "g":
        return LinearRule(matrix * orientation, offset, "f")
    return LinearRule(
        matrix,
        offset,
        "signs" if method.name == "vote" else "r",
        "project" if method.name == "renormalised" else "nothing",
    )

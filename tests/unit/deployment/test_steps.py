"""The steps of a model, computed by numpy alone, beside the suite's own probabilities."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.special import softmax

from agfmc.calibration.maps import apply_map
from agfmc.control.parse import parse
from agfmc.core.errors import ModelError, UsageError
from agfmc.core.probabilities import as_shares
from agfmc.decode.class_scores import LOSSES
from agfmc.decode.closed_forms import project
from agfmc.decode.constrained import prepare_general
from agfmc.deployment.steps import LinearRule, steps_of
from agfmc.kernels.values import PreparedKernel
from agfmc.models.configuration import Configuration, ModelFiles
from agfmc.tables.types import ColumnRecipe, TableRecipe


def branches(rule, f, r):
    """Probabilities (n, c) by one rule."""
    if isinstance(rule, LinearRule):
        v = {
            "r": r,
            "signs": np.sign(r),
            "f": f,
            "log-odds": 2 * np.arctanh(np.clip(r, -np.tanh(15), np.tanh(15))),
        }[rule.takes]
        p = v @ rule.matrix.T + rule.offset
        return {
            "nothing": p.copy,
            "project": lambda: project(p),
            "shares": lambda: as_shares(p),
            "softmax": lambda: softmax(p, axis=1),
            "differences": lambda: np.diff(
                np.clip([isotonic_regression(one).x for one in p[:, :-1]], 0, 1),
                prepend=0,
                append=1,
            ),
        }[rule.then]()
    code = rule.code
    if rule.decoder == "products":
        return np.where(code, (1 + code * r[:, :, None]) / 2, 1).prod(axis=1)
    if rule.decoder == "pairs":
        m = code - np.abs(code) * r[:, :, None]
        u = np.linalg.solve(m.transpose(0, 2, 1) @ m + 1, np.ones((len(r), code.shape[1], 1)))
        return u[..., 0] / u.sum(axis=1)
    if rule.decoder == "least-squares":
        return prepare_general(code)(r)[0]
    limit = 500 if rule.decoder == "exponential" else 1e100
    return -LOSSES[rule.decoder](code * np.clip(f, -limit, limit)[:, :, None]).sum(axis=1)


def evaluate(steps, x):
    """Labels (n,) and p (n, k) of points x (n, d)."""
    z = (
        np.concatenate([one.apply(x) for one in steps.normalisations], axis=1)
        if steps.normalisations
        else x
    )
    f = np.zeros((len(x), len(steps.rho)))
    for part in steps.kernel_sums:
        f += (
            PreparedKernel(
                part.kernel, np.pad(part.sv, ((0, 0), ((part.kernel.columns or (0,))[0], 0)))
            )
            .values(z)
            .T
            @ part.coef
        )
    f -= steps.rho
    if len(steps.forest.roots):
        f += steps.forest.values(z, range(f.shape[1])).T
    r = np.tanh(steps.a * f + steps.b)
    parts, k = [], len(steps.labels)
    for some, _ in steps.members:
        reached = {k + some.start: np.ones(len(x))}
        for number, node in enumerate(steps.nodes[some], k + some.start):
            of = node.classifiers
            p = branches(node.rule, f[:, of], r[:, of])
            reached.update(zip(node.branches, (p * reached[number][:, None]).T))
        parts.append(np.stack([reached[j] for j in range(k)], axis=1))
    weights = np.array([weight for _, weight in steps.members])
    if steps.geometric:
        p = softmax(np.tensordot(weights, np.log(np.maximum(parts, 1e-16)), 1), axis=1)
    else:
        p = np.tensordot(weights, parts, 1)
    mapped = p if steps.map is None else apply_map(steps.map, p)
    order = steps.tie_order
    if steps.map is None or steps.map.kind != "temperature":  # which keeps the order
        p = mapped
    best = order[np.argmax(p[:, order], axis=1)]
    return np.array(steps.labels)[best], mapped


@pytest.mark.few(24)
@pytest.mark.parametrize("seed", range(120))
def test_steps_are_what_the_classifier_does(seed, random_steps):
    steps = random_steps(seed)
    x = random_steps.points(steps, 40)
    answers, (classes, p) = steps.classifier.classify(x), evaluate(steps, x)
    scale = max(1.0, np.abs(answers.columns).max())
    np.testing.assert_allclose(p / scale, answers.columns / scale, rtol=0, atol=1e-12)
    close = np.sort(p, axis=1)[:, -2:]
    assert ((classes == answers.classes) | (np.diff(close)[:, 0] < 1e-12 * scale)).all()


@pytest.mark.parametrize("name", ["alone", "normalised", "beside forests", "beside planes"])
def test_nodes_of_boosted_trees(name, boosted_steps, random_steps):
    steps = boosted_steps[name]
    assert steps.takes_missing == (name != "beside planes")
    x = random_steps.points(steps, 40)
    assert np.isnan(x).any() == steps.takes_missing
    expected = steps.classifier.classify(x).columns
    np.testing.assert_allclose(evaluate(steps, x)[1], expected, rtol=0, atol=1e-12)


def test_parts_without_steps_are_refused(random_steps):
    pairs, tree = (
        next(
            one
            for one in map(random_steps, range(60))
            if one.classifier.tree.kind == kind and len(one.labels) > 2
        ).classifier._arguments[0]
        for kind in ("coding matrix", "decision tree")
    )
    for decoder in ("zadrozny", "max-win"):
        with pytest.raises(UsageError, match="`decoder`"):
            steps_of(pairs, decoder)
    with pytest.raises(UsageError, match='`decoder="full"`'):
        steps_of(tree, "recursive")
    with pytest.raises(ModelError, match="programs or objects in memory"):
        steps_of(Configuration(tree.tree, ModelFiles(("a",) * len(tree.tree.rows))))
    neighbours = parse("n K {0 1 2}")
    with pytest.raises(ModelError, match="code K cannot be exported"):
        steps_of(
            Configuration(
                neighbours,
                next(
                    one
                    for one in map(random_steps, range(60))
                    if one.classifier.tree.kind == "direct classifier"
                )
                .classifier._arguments[0]
                .machines,
            )
        )


def test_trees_beside_planes_of_nodes_are_those_of_their_classifiers(forest_above_planes):
    steps = forest_above_planes
    assert len(steps.rho) == 3 and np.diff(steps.forest.starts).tolist() == [1, 0, 0]
    x = np.random.default_rng(4).normal(size=(50, 3))
    labels, p = evaluate(steps, x)
    np.testing.assert_allclose(p, steps.classifier.classify(x).columns, rtol=0, atol=1e-12)


def test_words_in_any_case_are_refused_by_column_but_not_their_features(random_steps):
    recipe = TableRecipe(
        (ColumnRecipe("n"), ColumnRecipe("farm", ("a", "b"))),
        "class",
        tuple(f"c{label}" for label in range(20)),
    )
    configuration = random_steps(1, recipe).classifier._arguments[0]
    folded = replace(configuration, recipe=replace(recipe, fold_case=True))
    with pytest.raises(UsageError, match="column 'farm' has words in any case.*`features=True`"):
        steps_of(folded)
    assert steps_of(folded, features=True).features == ("n", "farm=a", "farm=b")

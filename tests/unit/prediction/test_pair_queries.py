"""Decoders that ask on their way, through a whole configuration; what they cost."""

from itertools import combinations

import numpy as np
import pytest

from agfmc.core.models import BinaryModel, Kernel
from agfmc.models.configuration import Configuration
from agfmc.prediction.decoding import Decoding
from agfmc.models.merge import collate
from agfmc.control.parse import parse
from agfmc.decode.class_scores import LOSSES
from agfmc.core.errors import ModelError, UsageError
from agfmc.prediction.classifier import Classifier
from agfmc.kernels.machine import KernelCounter, squared_norms
from agfmc.core.provenance import Provenance

# the worked example: winner > loser
WINS = "01>0 02>2 03>0 04>0 05>5 12>1 13>1 14>4 15>1 23>3 24>2 25>2 34>3 35>5 45>4".split()
PAIRS = list(combinations(range(6), 2))


def one_vs_one(order):
    """Control text of 6 classes, braces in that order; rows tell the same labels apart."""
    place = {label: i for i, label in enumerate(order)}
    rows = " ".join(f"m{i}{j} {place[i]} / {place[j]};" for i, j in PAIRS)
    return f"{rows} {{{' '.join(map(str, order))}}}"


def configuration(text, d, probabilities=True, swapped=False):
    """Classifier i has f = +-x_i, r = tanh(x_i): a linear kernel, one support vector each."""
    tree = parse(text)
    sign = -1.0 if swapped else 1.0
    models = [
        BinaryModel(
            row.text,
            "c_svc",
            Kernel("linear"),
            sign * np.eye(d)[i : i + 1],
            np.ones(1),
            0.0,
            (0, 1) if swapped else (1, 0),
            (1, 0),
            (-2.0, 0.0) if probabilities else None,
            Provenance(),
            d,
        )
        for i, row in enumerate(tree.rows)
    ]
    return Configuration(tree, collate(models, tree.sides(), tree.classes))


def queried(given, x, method, **queries):
    """Answers that tell which classifiers were queried."""
    return Classifier(given, Decoding(method, **queries, counting=True))(x)


def example():
    """x of one point with the winners of the example: r >= 0 is the later class."""
    return np.array([[1.0 if word[3] == word[1] else -1.0 for word in WINS]])


@pytest.mark.parametrize("probabilities", [True, False])
@pytest.mark.parametrize("swapped", [True, False])
@pytest.mark.parametrize(
    "order, method, winner, asked",
    [
        (range(6), "max-win", 0, PAIRS),
        (range(6), "ddag", 3, [(0, 5), (1, 5), (1, 4), (2, 4), (2, 3)]),
        (range(6), "dagsvm", 3, [(0, 5), (1, 5), (1, 4), (2, 4), (2, 3)]),
        (range(6), "adag", 4, [(0, 5), (1, 4), (2, 3), (3, 5), (4, 5)]),
        ([2, 0, 5, 1, 4, 3], "ddag", 5, None),
        ([2, 0, 5, 1, 4, 3], "adag", 0, None),
        ([2, 0, 5, 1, 4, 3], "max-win", 0, PAIRS),
        (range(6), "and", -1, None),
    ],
)
def test_worked_example(order, method, winner, asked, probabilities, swapped):
    given = configuration(one_vs_one(list(order)), 15, probabilities, swapped)
    answers = Classifier(given, Decoding(method, counting=True))(example())
    if method == "max-win":
        assert answers.classes[0] in (0, 1, 2)  # three votes each, and r is 0.76 everywhere
    else:
        assert answers.classes.tolist() == [winner]
    assert answers.columns.shape == (1, 1) and 0 < answers.columns[0, 0] <= 1
    if asked is not None:
        assert [PAIRS[i] for i in np.flatnonzero(answers.queried[0])] == sorted(asked)
    elif method != "and":
        assert np.count_nonzero(answers.queried) == 5


def test_poll_is_seeded_and_never_asks_twice_what_it_knows():
    rng = np.random.default_rng(3)
    given = configuration(one_vs_one(list(range(6))), 15)
    x = rng.normal(size=(300, 15))
    one, again, other = (queried(given, x, "poll", opponents="2", seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.classes, again.classes)
    np.testing.assert_array_equal(one.queried, again.queried)
    assert (one.queried == one.queried[0]).all() and (other.queried[0] != one.queried[0]).any()
    full = Classifier(given, "max-win")(x).classes
    topped = queried(given, x, "poll", opponents="2", finalists=6)
    np.testing.assert_array_equal(topped.classes, full)
    assert topped.queried.all()


def test_radag_needs_weights():
    given = configuration(one_vs_one(list(range(6))), 15)
    with pytest.raises(UsageError, match="`pair_errors`"):
        Classifier(given, "radag")
    weights = np.ones((6, 6))
    for i, j in ((0, 1), (2, 3), (4, 5)):
        weights[i, j] = weights[j, i] = 0.0
    answers = queried(given, example(), "radag", pair_errors=weights)
    first = {PAIRS[i] for i in np.flatnonzero(answers.queried[0])} & {(0, 1), (2, 3), (4, 5)}
    assert first == {(0, 1), (2, 3), (4, 5)} and np.count_nonzero(answers.queried) == 5


@pytest.mark.parametrize(
    "text, d, method, words",
    [
        ("a 0 / 1 2; b 1 / 0 2; c 2 / 0 1; {0 1 2}", 3, "ddag", "one-vs-one"),
        ("a 0 / 1; b 0 / 2; c 1 / 2; {0 1 2}", 3, "argmax", "one-vs-rest"),
        ("a 0 / 1; b 0 / 2; c 1 / 2; {0 1 2}", 3, "argmax-raw", "one-vs-rest"),
        ("t { a 0 / 1; b 0 / 2; c 1 / 2; {0 1 2} 3 }", 4, "adag", "in a tree"),
        ("t { a 0 / 1; b 0 / 2; c 1 / 2; {0 1 2} 3 }", 4, "loss:hinge", "along a tree"),
    ],
)
def test_what_a_decoder_is_not_for(text, d, method, words):
    with pytest.raises(UsageError, match=words):
        Classifier(configuration(text, d), method)


def test_what_needs_probabilities():
    given = configuration("a 1 2 / 0; b 0 2 / 1; c 0 1 / 2; {0 1 2}", 3, probabilities=False)
    with pytest.raises(ModelError, match="probabilities"):
        Classifier(given, "argmax")
    answers = Classifier(given, "argmax-raw")(np.array([[0.5, -3, 2.0]]))
    np.testing.assert_allclose(answers.columns, [[0.5, -3, 2.0]])
    assert answers.classes.tolist() == [2]


@pytest.mark.parametrize("swapped", [True, False])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_losses_take_decision_values_as_they_are(loss, swapped):
    given = configuration("a 1 2 / 0; b 0 / 1; c 0 1 / 2; {7 3 5}", 3, swapped=swapped)
    x = np.random.default_rng(0).normal(size=(20, 3)) * 3
    answers = Classifier(given, f"loss:{loss}")(x)
    code = np.array([[1, -1, -1], [-1, 1, 0], [-1, -1, 1]])
    scores = np.array(
        [
            [
                -sum(LOSSES[loss](np.array([code[i, j] * g[i]]))[0] for i in range(3))
                for j in range(3)
            ]
            for g in x
        ]
    )
    np.testing.assert_allclose(answers.columns, scores[:, [1, 2, 0]], atol=1e-12)
    np.testing.assert_array_equal(answers.classes, np.array([7, 3, 5])[scores.argmax(axis=1)])


def shared_vectors():
    """A collated model of 4 classes one-vs-one over 12 support vectors, two kernels."""
    rng = np.random.default_rng(5)
    pool = rng.normal(size=(12, 3))
    text = " ".join(f"m{i}{j} {i} / {j};" for i, j in combinations(range(4), 2)) + " {0 1 2 3}"
    tree = parse(text)
    models = []
    for number, row in enumerate(tree.rows):
        some = rng.choice(12, size=5, replace=False)
        kernel = Kernel("rbf", 0.5) if number % 2 else Kernel("polynomial", 1.0, 1.0, 2)
        models.append(
            BinaryModel(
                row.text,
                "c_svc",
                kernel,
                pool[some],
                rng.normal(size=5),
                0.1,
                (1, 0),
                (2, 3),
                (-1.0, 0.1),
                Provenance(),
                3,
            )
        )
    return Configuration(tree, collate(models, tree.sides(), tree.classes)), models


def test_kernel_evaluations_are_those_of_the_union():
    given, models = shared_vectors()
    x = np.random.default_rng(1).normal(size=(50, 3))
    counter = KernelCounter(given.machines)
    everything = {(m.kernel, tuple(v)) for m in models for v in m.sv}
    assert counter.total == len(everything)
    for method in ("ddag", "adag", "max-win", "and", "0"):
        asked = Classifier(given, Decoding(method, counting=True))(x).queried
        naive = [
            len({(m.kernel, tuple(v)) for m, yes in zip(models, row) if yes for v in m.sv})
            for row in asked
        ]
        np.testing.assert_array_equal(counter(asked), naive)
    assert counter(np.zeros((2, 6), dtype=bool)).tolist() == [0, 0]


def test_trees_count_the_way_down():
    given = configuration("a { b {0 1} c { d {2 3} 4 } }", 4)
    x = np.array([[-1, -1, 1, 1.0], [1, 1, -1, -1.0], [1, 1, 1, 1.0]])
    asked = Classifier(given, Decoding(counting=True))(x).queried
    assert asked.astype(int).tolist() == [[1, 1, 0, 0], [1, 0, 1, 1], [1, 0, 1, 0]]
    assert Classifier(given, Decoding(tree="full", counting=True))(x).queried.all()
    assert Classifier(given)(x).queried is None


def test_squared_norms():
    given, models = shared_vectors()
    naive = []
    for m in models:
        gram = m.sv @ m.sv.T
        if m.kernel.kind == "rbf":
            gram = np.exp(-0.5 * (np.diag(gram)[:, None] + np.diag(gram) - 2 * gram))
        else:
            gram = (gram + 1) ** 2
        naive.append(m.coef @ gram @ m.coef)
    np.testing.assert_allclose(squared_norms(given.machines), naive, rtol=1e-12)

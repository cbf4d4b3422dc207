"""Answers that are some of the classes: descents that stop, and the most probable classes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from agfmc.models.merge import collate
from agfmc.control.parse import parse
from agfmc.core.errors import AgfmcError, UsageError
from agfmc.core.models import BinaryModel, Kernel
from agfmc.models.configuration import Configuration
from agfmc.calibration.types import DecoderCalibration, ProbabilityMap
from agfmc.data.types import Dataset
from agfmc.prediction.known_points import answers_of_data
from agfmc.prediction.recalibrate import recalibrate, with_decoders
from agfmc.prediction.classifier import Classifier
from agfmc.prediction.decoding import Decoding
from agfmc.prediction.decision import Decision
from agfmc.core.provenance import Provenance

CODE = "a 0/1; b 0/2; c 0/3; d 1/2; e 1/3; f 2/3; {0 1 2 3}"
TREE8 = "a { b { c {0 1} d {2 3} } e { f {4 5} g {6 7} } }"
R8 = [0.3, -0.4, 0.2, 0.1, -0.6, 0.5, -0.2]
NESTED = (
    "a 0/1; b 0/2; c 1/2; { "
    + " ".join(
        f"a{i} 0/1; b{i} 0/2; c{i} 1/2; {{{3 * i} {3 * i + 1} {3 * i + 2}}}" for i in range(3)
    )
    + " }"
)
# A matrix of three branches: a bare tree with labels out of order, a class, and a matrix.
MIXED = "a 0/1; b 0/2; c 1/2; {d {9 e {2 7}} 5 f 0/1; g 0/2; h 1/2; {3 8 1}}"


def configuration_of(text):
    """A configuration in which classifier i has r = tanh(x_i)."""
    tree = parse(text)
    m = len(tree.rows)
    models = [
        BinaryModel(
            f"m{i}",
            "c_svc",
            Kernel("linear"),
            one[None],
            np.ones(1),
            0.0,
            (1, 0),
            (1, 0),
            (-2.0, 0.0),
            Provenance(),
            m,
        )
        for i, one in enumerate(np.eye(m))
    ]
    return Configuration(tree, collate(models, tree.sides(), tree.classes))


def points(*rows):
    return np.arctanh(np.array(rows, dtype=float))


@pytest.mark.parametrize(
    "stop, p, classes, answer, rating",
    [
        (0.5, 0.39, [5], 5, (8 * 0.39 - 1) / 7),
        (0.65, 0.39, [5], 5, (8 * 0.39 - 1) / 7),
        (0.66, 1, range(8), -1, 0),
        (1, 1, range(8), -1, 0),
    ],
)
def test_a_set_with_its_probability(stop, p, classes, answer, rating):
    """Branches on the way to class 5: .65, .8, .75."""
    answers = Classifier(configuration_of(TREE8), Decoding(stop=stop))(points(R8))
    np.testing.assert_allclose(answers.columns, [[p]], atol=1e-12)
    np.testing.assert_allclose(answers.confidence, [rating], atol=1e-12)
    assert np.flatnonzero(answers.sets[0]).tolist() == list(classes)
    assert answers.classes.tolist() == [answer]


def test_the_rating_of_a_set():
    """.75 for the half of the classes, below which no branch has .6."""
    answers = Classifier(configuration_of(TREE8), Decoding(stop=0.6))(
        points([0.5, 0, 0, 0, 0.04, 0, 0])
    )
    assert np.flatnonzero(answers.sets[0]).tolist() == [4, 5, 6, 7]
    np.testing.assert_allclose(
        [answers.columns[0, 0], answers.confidence[0]], [0.75, (8 * 0.75 - 4) / 4]
    )


def test_sets_of_labels_out_of_order():
    configuration = configuration_of("a { b { 9 c { 2 7 } } 5 }")
    answers = Classifier(configuration, Decoding(stop=0.8, counting=True))(
        points([-0.8, 0.8, 0.1], [-0.8, 0.1, 0.9], [0.9, 0, 0], [-0.8, 0.8, -0.9])
    )
    assert answers.classes.tolist() == [-1, -1, 5, 2]
    assert [np.array([2, 5, 7, 9])[one].tolist() for one in answers.sets] == [
        [2, 7],
        [2, 7, 9],
        [5],
        [2],
    ]
    np.testing.assert_allclose(answers.columns[:, 0], [0.81, 0.9, 0.95, 0.9 * 0.9 * 0.95])
    assert answers.queried.tolist() == [[1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 1, 1]]


def test_a_coded_node_stops_by_what_its_decoder_gives():
    x = points([0.2, -0.5, 0.1, *[0] * 9])  # of the branches .37782738, .37723409, .24493853
    for stop, p, classes in ((0.33, 0.37782738 / 3, 1), (0.377, 0.37782738, 3), (0.378, 1, 9)):
        answers = Classifier(configuration_of(NESTED), Decoding(stop=stop))(x)
        assert answers.sets[0, :classes].all() and answers.sets.sum() == classes
        np.testing.assert_allclose(answers.columns, [[p]], atol=1e-8)


CHAIN = "a { b { c { d { 6 2 } 5 } 3 } 4 }"


def way_down(tree, p):
    """[(labels, probability)] of the nodes on the way to the answer; p: {label: probability}."""
    spans, labels, index, way = tree.spans(), tree.labels, 0, []
    while index is not None:
        parts = [labels[slice(*span)] for span in spans[index]]
        sums = [sum(p[label] for label in part) for part in parts]
        child = int(np.argmax(sums))
        way.append((set(parts[child]), sums[child]))
        below = tree.nodes[index].children[child]
        index = below if isinstance(below, int) else None
    return way


@pytest.mark.few(4)
@pytest.mark.parametrize("text", [TREE8, NESTED, MIXED, CHAIN])
@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("coverage", [0.8, 0.92])
def test_sets_below_nodes_with_a_coverage_by_definition(text, by_class, coverage):
    configuration = configuration_of(text)
    tree, labels = configuration.tree, np.array(configuration.tree.classes)
    x = random_points(configuration, 80 * len(labels)) / 2
    p = Classifier(configuration, Decoding(tree="full", calibrated=False))(x).columns
    ways = [way_down(tree, dict(zip(labels.tolist(), row))) for row in p.tolist()]
    y = np.array(
        [generator.choice(labels, p=row) for generator in [np.random.default_rng(1)] for row in p],
        dtype=np.int32,
    )
    half = len(y) // 2
    answered = answers_of_data(configuration, Decoding(), Dataset(x[:half], y[:half]), "binary", "")
    configuration = with_decoders(
        configuration,
        {
            "recursive" + " least-squares" * ("/" in text): recalibrate(
                answered, "recursive", "temperature"
            )[0]
        },
        answered,
    )
    t = np.array(
        [next((q for below, q in way if label not in below), 0.0) for way, label in zip(ways, y)]
    )
    limits = {label: np.sort(t[:half][(y[:half] == label) | (not by_class)]) for label in labels}
    limits = {
        label: some[int(np.ceil((len(some) + 1) * coverage - 1e-9)) - 1]
        for label, some in limits.items()
    }
    found = Classifier(
        configuration,
        Decoding(stop="auto", coverage=coverage, by_class=by_class),
    )(x)
    for row, way in enumerate(ways):
        below, q = set(tree.classes), 1.0
        for labels_there, there in way:
            if there <= max(limits[label] for label in below - labels_there) + 1e-12:
                break
            below, q = labels_there, there
        assert set(labels[found.sets[row]].tolist()) == below
        assert found.columns[row, 0] == pytest.approx(q, rel=1e-9)
        assert found.classes[row] == (min(below) if len(below) == 1 else -1)
    assert found.sets[half:][labels == y[half:, None]].mean() > coverage - 0.1
    assert 1.2 < found.sets.sum(axis=1).mean() < len(labels)


def random_points(configuration, n=60, seed=2):
    return np.random.default_rng(seed).normal(size=(n, len(configuration.tree.rows))) * 2


@pytest.mark.parametrize(
    "text, method",
    [*((text, 0) for text in (TREE8, NESTED, MIXED, CHAIN)), (NESTED, "inverse"), (MIXED, 5)],
)
def test_the_most_probable_classes_are_those_of_all(text, method):
    configuration = configuration_of(text)
    x = random_points(configuration)
    whole = Classifier(configuration, Decoding(method, "full", calibrated=False))(x)
    labels = np.array(configuration.tree.classes)
    for top in (1, 2, 3, len(labels), 40):
        found = Classifier(configuration, Decoding(method, top=top, counting=True))(x)
        p = -np.sort(-whole.columns, axis=1)[:, :top]
        np.testing.assert_allclose(found.columns, p, rtol=1e-12)
        assert found.ranked.shape == p.shape
        np.testing.assert_allclose(
            np.take_along_axis(whole.columns, np.searchsorted(labels, found.ranked), axis=1),
            p,
            rtol=1e-12,
        )
        np.testing.assert_array_equal(found.classes, whole.classes)
        np.testing.assert_array_equal(found.classes, found.ranked[:, 0])
        np.testing.assert_allclose(found.confidence, whole.confidence, rtol=1e-12)
        assert found.sets is None and found.queried.all() == (top >= len(labels))
    with_all = Classifier(configuration, Decoding(method, "full", calibrated=False, top=3))(x)
    np.testing.assert_array_equal(with_all.columns, -np.sort(-whole.columns, axis=1)[:, :3])


@pytest.mark.parametrize("decoding", [Decoding(top=2), Decoding(stop=0.9)])
def test_answers_do_not_depend_on_neighbours_or_threads(decoding):
    configuration = configuration_of(MIXED)
    x = random_points(configuration, 300)
    classifier = Classifier(configuration, decoding)
    whole = classifier(x)
    parts = [classifier(x[at : at + 70]) for at in range(0, 300, 70)]
    names = ("classes", "confidence", "columns", "ranked" if decoding.top else "sets")
    for name in names:
        np.testing.assert_array_equal(
            getattr(whole, name), np.concatenate([getattr(part, name) for part in parts])
        )
        np.testing.assert_array_equal(
            getattr(whole, name), getattr(classifier.classify(x, 2), name)
        )
    with ThreadPoolExecutor(2) as pool:
        assert all(
            np.array_equal(one.columns, whole.columns) for one in pool.map(classifier, [x, x])
        )


def test_the_most_probable_classes_of_a_code():
    """With priors too; ties in the order of the control file, where the answer is."""
    x = points([-0.2, -0.4, -0.1, -0.3, 0.6, -0.8])
    p = [0.4106462307, 0.2001816914, 0.2135961584, 0.1755759194]
    found = Classifier(configuration_of(CODE), Decoding(top=3))(x)
    assert found.ranked.tolist() == [[0, 2, 1]]
    np.testing.assert_allclose(found.columns, [[p[0], p[2], p[1]]], atol=1e-9)
    given = Decoding(top=2, priors=[0.1, 0.1, 0.7, 0.1], trained_priors=[0.25] * 4)
    moved = np.array(p) * [1, 1, 7, 1]
    np.testing.assert_allclose(
        Classifier(configuration_of(CODE), given)(x).columns,
        [[moved[2], moved[0]] / moved.sum()],
        atol=1e-9,
    )
    tied = Classifier(configuration_of("a 0/1; b 0/2; c 1/2; {9 4 6}"), Decoding(top=2))(
        points([0, 0, 0])
    )
    assert tied.ranked.tolist() == [[9, 4]] and tied.classes.tolist() == [9]
    refused = Classifier(configuration_of(CODE), Decoding(top=3, reject=0.5))(x)
    assert refused.classes.tolist() == [-1] and refused.ranked.tolist() == [[0, 2, 1]]


def test_the_most_probable_classes_of_an_ensemble():
    configuration = configuration_of(f"{CODE} a {{b {{0 1}} c {{2 3}}}}")
    x = random_points(configuration)
    p = Classifier(configuration, Decoding())(x).columns
    found = Classifier(configuration, Decoding(top=2))(x)
    np.testing.assert_array_equal(found.columns, -np.sort(-p, axis=1)[:, :2])
    np.testing.assert_array_equal(found.ranked, np.argsort(-p, axis=1)[:, :2])


def test_a_map_comes_before_the_most_probable_classes_and_the_answer_is_the_first():
    tree = configuration_of(CODE)
    fitted = DecoderCalibration(
        ProbabilityMap("temperature", np.array(1e-3), np.zeros(4), 0.5), None
    )
    p = np.array([[0.3, 0.3 + 1e-15, 0.3, 0.1]])
    found = Decision(fitted, tree, Decoding(top=4)).of_all_classes(p)
    assert found.classes.tolist() == [1] and found.ranked.tolist() == [[1, 0, 2, 3]]
    np.testing.assert_allclose(found.columns, 0.25, atol=1e-3)


@pytest.mark.parametrize(
    "given, says",
    [
        ({"stop": 0}, "above 0"),
        ({"stop": "auto"}, "needs `coverage`"),
        ({"stop": "x"}, "or auto"),
        ({"stop": "auto", "coverage": 0.9, "set_score": "aps"}, "`set_score`"),
        ({"stop": "auto", "p_values": True}, "`coverage`"),
        ({"stop": 1.5}, "found 1.5"),
        ({"stop": 0.9, "top": 2}, "`top`"),
        ({"stop": 0.9, "reject": 0.5}, "`reject`"),
        ({"stop": 0.9, "raw": True}, "`raw`"),
        ({"stop": 0.9, "tree": "full"}, '`tree="full"`'),
        ({"stop": 0.9, "priors": [0.5, 0.5]}, "`priors`"),
        ({"stop": 0.9, "method": "max-win"}, '`method="max-win"`'),
        ({"stop": 0.9, "coverage": 0.9}, "`coverage`"),
        ({"stop": 0.9, "p_values": True}, "`p_values`"),
        ({"stop": 0.9, "max_error": 0.1}, "`max_error`"),
        ({"top": 0}, "from 1"),
        ({"top": 1.5}, "found 1.5"),
        ({"top": 2, "method": "poll"}, "is `finalists`"),
        ({"top": 2, "method": "vote"}, "not vote"),
        ({"top": 2, "raw": True}, "not `raw`"),
        ({"top": 2, "coverage": 0.9}, "exclude each other"),
        ({"finalists": 2}, '`finalists` needs `method="poll"`'),
    ],
)
def test_choices_that_do_not_go_together(given, says):
    with pytest.raises(UsageError, match=says):
        Decoding(**given)


@pytest.mark.parametrize(
    "text, given, says",
    [
        (
            TREE8,
            {"stop": "auto", "coverage": 0.9},
            "needs calibration points",
        ),
        (CODE, {"stop": 0.9}, "`stop` is for decision trees"),
        (f"{CODE} a {{b {{0 1}} c {{2 3}}}}", {"stop": 0.9}, "`stop` is for decision trees"),
        (TREE8, {"top": 2, "priors": [0.125] * 8}, '`tree="full"`'),
        (TREE8, {"top": 2, "max_error": 0.1}, '`tree="full"`'),
        (TREE8, {"stop": 0.9, "method": "learned"}, None),
    ],
)
def test_configurations_that_have_none(text, given, says):
    if says is None:  # a binary tree has no use for a decoder
        assert Classifier(configuration_of(text), Decoding(**given))
        return
    with pytest.raises(AgfmcError, match=says):
        Classifier(configuration_of(text), Decoding(**given))


def test_what_is_not_printed_for_all_classes():
    assert not Classifier(configuration_of(CODE), Decoding(top=2)).all_classes
    with pytest.raises(UsageError, match="all classes"):
        Classifier(configuration_of(CODE), Decoding(top=2)).probabilities(np.zeros((1, 6)))

"""Ensembles: the average of members, whatever they are, calibrated and weighed."""

from dataclasses import replace

from hypothesis import given, settings as drawn, strategies as st
import numpy as np
import pytest

import agfmc
from agfmc.calibration.maps import apply_map, fit_temperature
from agfmc.control.build import with_heading
from agfmc.control.parse import parse
from agfmc.control.write import format_tree
from agfmc.decode.ensemble import fit_weights
from agfmc.core.probabilities import losses
from agfmc.core.errors import ControlError, ModelError, UsageError
from agfmc.experiments.candidates import decoders_for
from agfmc.learners.protocol import distinct, plan_jobs
from agfmc.prediction.calibrate import fit_calibration
from agfmc.prediction.known_points import held_out_answers
from agfmc.prediction.member_weights import _in_words, with_learned_weights
from agfmc.prediction.classifier import Classifier
from agfmc.models.files import export, save
from agfmc.prediction.decoding import (
    decoders_of,
    Decoding,
    gives_probabilities,
)
from agfmc.models.description import describe
from agfmc.report.model import model_blocks
from agfmc.report.text import blocks_text
from agfmc.training.fit import TrainingSettings
from agfmc.training.in_memory import train_configuration

GENERATOR = np.random.default_rng(5)
Y = np.repeat([0, 2, 5, 6], 25)
X = GENERATOR.normal(size=(100, 3)) + np.array([[0, 0], [2, 0], [0, 2], [1, 1]])[
    np.repeat(range(4), 25)
] @ np.eye(2, 3)
TREE = '"" {"" {0 2} "" {5 6}}\n'
OTHER_TREE = '"" {6 "" {0 "" {2 5}}}\n'
CODE = '"" 0 / 1 2 3; "" 1 / 0 2 3; "" 2 / 0 1 3; "" 3 / 0 1 2; {5 0 6 2}\n'
PAIRS = '"" 0 / 1; "" 0 / 2; "" 0 / 3; "" 1 / 2; "" 1 / 3; "" 2 / 3; {6 2 0 5}\n'
NESTED = '"" 0 / 1; "" 1 / 2; "" 0 / 2; {2 "" {0 5} 6}\n'
NODE = '"-k 7" K {5 6 0 2}\n'
ALL = [TREE, OTHER_TREE, CODE, PAIRS, NESTED, NODE]
FAST = TrainingSettings("-c 2 -g .3", platt="cv")
MADE: dict = {}


def made(text):
    """The configuration of a control text and its held-out values; each is trained once."""
    if text not in MADE:
        MADE[text] = train_configuration(parse(text), X, Y, FAST)
    return MADE[text]


def own_answers(text):
    """Probabilities of the points by one configuration alone."""
    configuration, _ = made(text)
    return Classifier(configuration, Decoding(tree="full")).probabilities(X)


@drawn(max_examples=12)
@given(
    st.lists(st.sampled_from(ALL), min_size=2, max_size=4),
    st.lists(st.floats(0.05, 5), min_size=4, max_size=4),
)
def test_the_average_is_that_of_the_members_own_answers(texts, weights):
    weights = weights[: len(texts)]
    head = f"# weights: {' '.join(map(repr, weights))}\n"
    configuration, _ = made(head + "".join(texts))
    own, shares = np.array([own_answers(text) for text in texts]), np.array(weights) / sum(weights)
    p = Classifier(configuration).probabilities(X)
    assert np.allclose(p, np.tensordot(shares, own, 1), rtol=0, atol=1e-12)
    raw = np.exp(np.tensordot(shares, np.log(np.maximum(own, 1e-16)), 1))
    p = Classifier(configuration, Decoding(tree="geometric")).probabilities(X)
    assert np.allclose(p, raw / raw.sum(axis=1)[:, None], rtol=0, atol=1e-12)
    by_member = Classifier(configuration).by_member(X)
    assert np.allclose(by_member, own, rtol=0, atol=1e-12)


def test_ways_that_stand_for_the_average():
    configuration, _ = made(TREE + CODE)
    wanted = Classifier(configuration, Decoding(tree="average"))(X)
    for mode in ("recursive", "path", "full"):
        found = Classifier(configuration, Decoding(tree=mode))(X)
        assert np.array_equal(found.columns, wanted.columns)
        assert np.array_equal(found.classes, wanted.classes)
    assert np.array_equal(wanted.classes, np.array([0, 2, 5, 6])[wanted.columns.argmax(axis=1)])
    assert np.allclose(wanted.confidence, (4 * wanted.columns.max(axis=1) - 1) / 3, atol=1e-6)
    flat = Classifier(configuration, Decoding(tree="flat"))
    assert flat.tree.nodes[0].rows == configuration.as_code().tree.nodes[0].rows
    assert flat.probabilities(X).shape == (100, 4)


def test_a_point_does_not_depend_on_its_neighbours():
    configuration, _ = made(TREE + CODE + NODE)
    classifier = Classifier(configuration)
    whole = classifier(X).columns
    assert all(np.array_equal(classifier(X[i : i + 1]).columns[0], whole[i]) for i in (0, 41, 99))
    assert np.array_equal(classifier.classify(X, workers=3).columns, whole)


def test_decision_values():
    configuration, _ = made(TREE + CODE)
    answers = Classifier(configuration, Decoding(raw=True))(X)
    assert (
        answers.columns.shape == (100, 7)
        and not Classifier(configuration, Decoding(raw=True)).all_classes
    )
    assert np.array_equal(answers.classes, Classifier(configuration)(X).classes)


def test_priors_rejection_and_sets():
    configuration, held_out = made(TREE + CODE)
    equal = Classifier(configuration)(X)
    priors = Classifier(configuration, Decoding(priors=[0.7, 0.1, 0.1, 0.1]))(X)
    assert priors.columns[:, 0].mean() > equal.columns[:, 0].mean()
    rejected = Classifier(configuration, Decoding(reject=0.9))(X).classes
    assert np.array_equal(rejected < 0, equal.columns.max(axis=1) < 0.9)
    calibrated = replace(configuration, calibration=fit_calibration(configuration, held_out))
    sets = Classifier(calibrated, Decoding(coverage=0.9))(X).sets
    assert (
        sets.shape == (100, 4)
        and sets[np.arange(100), np.searchsorted([0, 2, 5, 6], Y)].mean() > 0.8
    )


def test_calibration_has_its_own_keys():
    configuration, held_out = made(OTHER_TREE + TREE)
    tree = configuration.tree
    assert Decoding().calibration_key(tree) == "average"
    assert Decoding(tree="geometric").calibration_key(tree) == "geometric"
    assert Decoding(tree="flat").calibration_key(tree) == "least-squares"
    assert Decoding().calibration_key(made(TREE + CODE)[0].tree) == "average least-squares"
    told: dict = {}
    calibration = fit_calibration(configuration, held_out, losses=told)
    assert list(told) == list(calibration.decoders) == ["average"]
    assert calibration.decoders["average"].points is not None
    p = held_out_answers(configuration, held_out, {"average": Decoding()})[0]["average"].p
    assert p.shape == (100, 4) and np.allclose(p.sum(axis=1), 1)
    assert configuration.fits(calibration)
    weighed = replace(configuration, tree=with_heading(tree, "weights", "1 2"))
    assert not weighed.fits(calibration)


def test_decoders():
    tree = parse(TREE + CODE)
    assert decoders_of(tree) == decoders_for(tree) == (Decoding(tree="average"),)
    assert [one.name for one in decoders_of(tree, ("geometric", "least-squares"))] == [
        "geometric",
        "least-squares",
    ]
    assert gives_probabilities(Decoding(tree="average"), tree)
    named = with_heading(tree, "decoder", "geometric")
    assert decoders_of(named) == (Decoding(tree="geometric"), Decoding(tree="average"))
    assert Decoding().as_named(named) == Decoding(tree="geometric")
    flat = with_heading(tree, "decoder", "least-squares")
    assert decoders_of(flat)[0] == Decoding(tree="flat")


@pytest.mark.parametrize(
    "text, decoder, message",
    [
        (TREE + CODE, "recursive", "the decoder recursive is for trees"),
        (TREE + CODE, "full", "the decoder full is for trees"),
        (TREE, "average", "the decoder average is for ensembles"),
        (CODE, "geometric", "the decoder geometric is for ensembles"),
        (
            TREE + NODE,
            "least-squares",
            "an ensemble with a multi-class node is no coding matrix: its "
            "decoders are average and geometric",
        ),
    ],
)
def test_decoders_that_are_for_others(text, decoder, message):
    with pytest.raises(UsageError) as caught:
        decoders_of(parse(text), (decoder,))
    assert str(caught.value) == message
    with pytest.raises(ControlError, match=rf"^f:1:3: '# decoder: {decoder}': "):
        decoders_of(parse(f"# decoder: {decoder}\n{text}", "f"))


def test_decodings_that_are_refused():
    configuration, _ = made(TREE + CODE)
    for method, message in (
        ("vote", "cannot be averaged over an ensemble"),
        ("learned", "not for one in an ensemble"),
    ):
        with pytest.raises(UsageError, match=message):
            Classifier(configuration, Decoding(method))
    with pytest.raises(UsageError, match="is for ensembles"):
        Classifier(made(TREE)[0], Decoding(tree="average"))
    with pytest.raises(UsageError, match="no average"):
        Classifier(made(TREE)[0]).by_member(X)


# Classifiers that members have in common


def test_equal_partitions_of_members_are_one_job():
    tree = parse(
        '"" {0 "" {2 5}} "" {0 "-c 9" {2 5}} "" {0 "" {5 2}} "" 0 / 1 2; "" 0 / 1 2; '
        '"" 1 / 2; {0 5 2} "" 0 / 1 2; "" 0 / 2 1; "" 1 / 2; {0 5 2}'
    )
    jobs = plan_jobs(tree, "m", "", 1)
    assert [job.name for job in jobs] == [
        "m.e00",
        "m.e00.01",
        "m.e00",
        "m.e01.01",
        "m.e00",
        "m.e02.01",
        "m.e00",
        "m.e03-01",
        "m.e02.01",
        "m.e00",
        "m.e03-01",
        "m.e02.01",
    ]
    assert [job.name for job in distinct(jobs)] == [
        "m.e00",
        "m.e00.01",
        "m.e01.01",
        "m.e02.01",
        "m.e03-01",
    ]


def test_shared_classifiers_share_landmarks_too():
    tree = parse('"" {0 "" {2 5}} "" {"" {0 2} 5} "" {0 "" {2 5}}')
    jobs = plan_jobs(tree, "m", "learner=nystrom -m 20", 1)
    assert len(jobs) == 6 and len(distinct(jobs)) == 4
    assert len(jobs[0].together.sides) == 4 and {job.together for job in jobs} == {jobs[0].together}


def test_support_vectors_are_held_once():
    configuration, _ = made(TREE + TREE)
    alone, _ = made(TREE)
    one, other = configuration.machines, alone.machines
    assert np.array_equal(one.sv, other.sv) and len(one.rho) == 2 * len(other.rho)
    assert [row.text for row in configuration.tree.rows] == ["m.e00", "m.e00.00", "m.e00.01"] * 2
    assert np.allclose(Classifier(configuration)(X).columns, own_answers(TREE), rtol=1e-14)


# Weights


def test_learned_weights_are_of_members_whose_certainty_is_corrected():
    configuration, held_out = made(TREE + CODE)
    machines, shares = configuration.machines, []
    for certainty in (1.0, 0.3):  # of the tree, whose log-odds are multiplied
        slopes = np.where(np.arange(machines.count) < 3, certainty, 1.0)
        weighed, _ = with_learned_weights(
            replace(
                configuration,
                machines=replace(machines, a=machines.a * slopes, b=machines.b * slopes),
            ),
            held_out,
        )
        shares.append(weighed.tree.weights)
    assert np.allclose(*shares, atol=0.1)


def test_learned_weights():
    configuration, held_out = made(TREE + NODE + CODE)
    weighed, of_these = with_learned_weights(configuration, held_out)
    answers = []
    for text in (TREE, NODE, CODE):
        single, values = made(text)
        answers.append(held_out_answers(single, values, {"": Decoding(tree="full")})[0][""].p)
    true = np.searchsorted([0, 2, 5, 6], Y)

    def tempered(w=None):
        return np.array(
            [np.exp(-losses(apply_map(fit_temperature(p, true, w), p), true)) for p in answers]
        )

    given = tempered()
    kept = np.flatnonzero(fit_weights(given) >= 0.02)
    assert kept.tolist() == [0, 2]  # the multi-class node is left out
    assert np.allclose(weighed.tree.weights, (fit_weights(given[kept]) + 0.5) / 2, atol=2e-3)
    members = Classifier(configuration).by_member(X)
    p = Classifier(weighed).probabilities(X)
    assert np.allclose(p, np.tensordot(weighed.tree.weights, [members[i] for i in kept], 1))
    assert not weighed.node_classifiers and not of_these.nodes
    alone, values = made(TREE + CODE)  # what is left is as if it had been trained so
    assert [row.text for row in weighed.tree.rows] == [
        row.text.replace("e01", "e02") for row in alone.tree.rows
    ]
    for name in ("point", "classifier", "value"):
        assert np.array_equal(getattr(of_these, name), getattr(values, name))
    again, same = with_learned_weights(alone, values)
    assert same is values and again.tree.weights == weighed.tree.weights
    with pytest.raises(ModelError, match="cannot be learned"):
        with_learned_weights(configuration, None)
    heavy = np.where(np.array([0, 2, 5, 6])[1] == Y, 20.0, 1.0)  # weights of points
    other, _ = with_learned_weights(configuration, replace(held_out, weights=heavy))
    given = tempered(heavy)
    kept = fit_weights(given, heavy) >= 0.02
    assert np.allclose(
        other.tree.weights, (fit_weights(given[kept], heavy) + 1 / kept.sum()) / 2, atol=2e-3
    )
    assert len(other.tree.weights) != 2 or not np.allclose(
        other.tree.weights, weighed.tree.weights, atol=1e-2
    )


def test_members_that_are_alike_keep_their_proportions():
    configuration, held_out = made(TREE + CODE + OTHER_TREE)
    weighed, _ = with_learned_weights(configuration, held_out)
    one, code, other = weighed.tree.weights
    assert abs(one - other) < 1e-4 and 1 / 6 <= code <= 2 / 3 and abs(code - 1 / 3) > 1e-3
    tree = with_heading(configuration.tree, "weights", "1 1 3")
    weighed, _ = with_learned_weights(replace(configuration, tree=tree), held_out)
    one, _, other = weighed.tree.weights
    assert abs(3 * one - other) < 1e-3
    alike, held_out = made(TREE + OTHER_TREE)  # nothing else: each has its weight
    one, other = with_learned_weights(alike, held_out)[0].tree.weights
    assert abs(one - other) > 1e-3


def test_a_tree_that_is_left_alone_gives_all_probabilities_as_the_average_did():
    weighed, _ = with_learned_weights(*made(TREE + TREE.replace('""', '"-g 1000"')))
    assert not weighed.tree.is_ensemble and weighed.tree.decoder == "full"
    np.testing.assert_allclose(Classifier(weighed).probabilities(X), own_answers(TREE), rtol=1e-12)


@pytest.mark.parametrize(
    "weights, text",
    [
        ([1e-5, 1e-5, 0.99997, 1e-5], "0 0 1 0"),
        ([1 / 3] * 3, "0.3334 0.3333 0.3333"),
        ([0.25, 0.75], "0.25 0.75"),
        ([0.004, 0.5962, 0.3998], "0.004 0.5962 0.3998"),
    ],
)
def test_weights_in_few_digits_have_the_sum_one(weights, text):
    assert _in_words(np.array(weights)) == text


def test_training_with_learned_weights():
    tree = parse(TREE + NODE + CODE)
    model = agfmc.train(tree, X, Y, options="-c 2 -g .3", member_weights="held-out")
    assert model.tree.is_ensemble and model.fits(model.calibration)
    assert sum(map(float, model.tree.headings["weights"].text.split())) == 1
    assert min(model.tree.weights) >= 0.02
    for wrong, arguments, message in (
        (parse(TREE), {}, "ensemble"),
        (tree, {"calibration": 0}, "held out"),
        (tree, {"member_weights": "equal"}, "'held-out' points, not 'equal'"),
    ):
        with pytest.raises(UsageError, match=message):
            agfmc.train(wrong, X, Y, **{"member_weights": "held-out", **arguments})


# Files


@drawn(max_examples=6)
@given(st.lists(st.sampled_from(ALL), min_size=2, max_size=4), st.booleans())
def test_stored_and_read(tmp_path_factory, texts, weighed):
    configuration, held_out = made("".join(texts))
    if weighed:
        configuration, held_out = with_learned_weights(configuration, held_out)
    configuration = replace(
        configuration, calibration=fit_calibration(configuration, held_out, [Decoding()])
    )
    path = str(tmp_path_factory.getbasetemp() / "ensemble.mbm")
    save(path, configuration)
    again = agfmc.load(path)
    assert format_tree(again.tree) == format_tree(configuration.tree)
    assert again.tree.roots == configuration.tree.roots and again.digest() == configuration.digest()
    assert np.array_equal(Classifier(again)(X).columns, Classifier(configuration)(X).columns)


def test_formats_of_one_configuration_refuse_them(tmp_path):
    configuration, _ = made(PAIRS + PAIRS)
    for form, message in (
        ("svm", "a LIBSVM model holds one configuration"),
        ("ascii", "libAGF's ASCII model holds one configuration"),
    ):
        with pytest.raises(ModelError, match=f"{message}, and this is an ensemble of 2"):
            export(str(tmp_path / "x"), configuration, form)
    assert not list(tmp_path.iterdir())


def test_description():
    info = describe(made("# weights: 1 2 1\n" + TREE + CODE + TREE)[0])
    assert [
        (one["configuration"], one["binary_models"], one["weight"]) for one in info["members"]
    ] == [("decision tree", 3, 0.25), ("coding matrix", 4, 0.5), ("decision tree", 3, 0.25)]
    text = blocks_text(model_blocks(info))
    assert "configuration     ensemble, 10 binary models, 2 levels" in text
    assert "members           3: 2 x decision tree of 3, coding matrix of 4 binary models" in text
    assert "weights           0.25 0.5 0.25" in text
    assert "shared            3 partitions have the binary model of another member: 7 diff" in text
    assert describe(made(TREE)[0])["members"] is None


def test_estimator():
    estimators = pytest.importorskip("agfmc.estimators")
    words = np.array(["a", "b", "c", "d"])[np.searchsorted([0, 2, 5, 6], Y)]
    text = (TREE + OTHER_TREE + NODE).replace("2", "1").replace("5", "2").replace("6", "3")
    model = estimators.MultiClassFromBinary(text, C=2, gamma=0.3, member_weights="held-out")
    model.fit(X, words)
    assert model.decoder_ == "average" and model.score(X, words) > 0.6
    assert model.predict_proba(X).shape == (100, 4)
    flat = estimators.MultiClassFromBinary(
        parse(TREE + OTHER_TREE), C=2, gamma=0.3, decoder="least-squares"
    ).fit(X, Y)
    assert flat.decoder_ == "least-squares" and flat.score(X, Y) > 0.6
    with pytest.raises(ValueError, match="ensemble"):
        estimators.MultiClassFromBinary(member_weights="held-out").fit(X, Y)

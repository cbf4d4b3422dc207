"""Calibrated configurations: maps and learned decoders of held-out decision values."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import agfmc
from agfmc.control.build import to_code
from agfmc.control.parse import parse
from agfmc.decode.front import CodeDecoder
from agfmc.decode.learned import log_odds
from agfmc.calibration.maps import apply_map, fit_temperature
from agfmc.calibration.priors import Adjustment
from agfmc.core.errors import AgfmcWarning, ModelError, UsageError
from agfmc.core.models import HeldOut
from agfmc.prediction import known_points as module
from agfmc.prediction.calibrate import calibrated, fit_calibration
from agfmc.prediction.known_points import (
    fit_learned_decoder,
    held_out_answers,
    share_of_classes,
    thinned,
)
from agfmc.prediction.classifier import Classifier, classifier_for
from agfmc.prediction.decision_values import MachineValues
from agfmc.prediction.decoding import (
    decoders_of,
    Decoding,
    learning_pays,
    requested_decodings,
)
from agfmc.core.probabilities import confidence, log_loss
from agfmc.core.weights import Weights
from agfmc.learners.platt import fit_sigmoid
from agfmc.data.types import Dataset
from agfmc.designs.design import design
from agfmc.training.fit import TrainingSettings
from agfmc.training.in_memory import train_configuration

LABELS = [1, 4, 6, 9]


def points(seed, n=400):
    """Four classes that overlap, in the corners of a square."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 4, n)
    x = generator.normal(size=(n, 5)) * 1.1
    x[:, 0] += 2 * (y & 1)
    x[:, 1] += 2 * (y >> 1)
    return x, np.array(LABELS, dtype=np.int32)[y]


X, Y = points(1)
TEST_X, TEST_Y = points(2, 2000)
COLUMN = np.searchsorted(LABELS, TEST_Y)
# the classes stand in another order than their labels
MIXED = '"" 0 1 / 2 3; "" 0 2 / 1 3; "" 0 3 / 1 2; "" 0 / 1 2 3; {9 1 6 4}'
TREE = '"" {"" {1 4} "" {6 9}}'
REST = '"" 1 2 3 / 0; "" 0 2 3 / 1; "" 0 1 3 / 2; "" 0 1 2 / 3; {1 4 6 9}'
NESTED = '"" 0 / 1; "" 0 / 2; "" 1 / 2; {1 4 "" {6 9}}'


@cache
def trained(layout, n=400, **settings):
    x, y = X[:n], Y[:n]
    tree = parse(layout) if "{" in layout else design(layout, LABELS, x=x, y=y)
    return train_configuration(tree, x, y, TrainingSettings("-c 4 -g 0.2", **settings))


@cache
def finished(layout, *decoders):
    configuration, held_out = trained(layout)
    return calibrated(configuration, held_out, decoders_of(configuration.tree, decoders))


def answers(configuration, held_out):
    return held_out_answers(configuration, held_out, {"": Decoding()})[0][""]


@pytest.mark.few(2)
@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest", "orthogonal", "adjacent"])
def test_calibrated_answers_have_less_log_loss(scheme):
    """A map with one temperature changes no class; a matrix changes some, to the better."""
    configuration = finished(scheme, "renormalised")
    calibration = configuration.calibration
    assert configuration.fits(calibration) and calibration.classes == tuple(LABELS)
    assert sum(calibration.counts) == len(Y)
    for decoder in ("least-squares", "renormalised"):
        own, mapped = (
            Classifier(configuration, Decoding(decoder, calibrated=on))(TEST_X)
            for on in (False, True)
        )
        if calibration.decoders[decoder].map.kind == "temperature":
            np.testing.assert_array_equal(own.classes, mapped.classes)
        else:
            assert np.mean(mapped.classes == TEST_Y) > np.mean(own.classes == TEST_Y) - 0.005
        np.testing.assert_allclose(mapped.columns.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_array_equal(
            mapped.columns, apply_map(calibration.decoders[decoder].map, own.columns)
        )
        assert log_loss(mapped.columns, COLUMN) < log_loss(own.columns, COLUMN) + 0.002
        np.testing.assert_array_equal(mapped.confidence, confidence(mapped.columns.max(axis=1), 4))
        assert mapped.columns.min() > 0


def test_values_of_calibration_points_by_definition():
    """One-vs-one: f of the folds where the point was seen, f of the classifier elsewhere."""
    configuration, held_out = trained("one-vs-one")
    f = MachineValues(configuration)(range(6), held_out.x)[0].copy()
    for point, classifier, value in zip(held_out.point, held_out.classifier, held_out.value):
        assert held_out.y[point] in sum(configuration.tree.sides()[classifier], ())
        f[point, classifier] = value
    machines = configuration.machines
    code = np.zeros((6, 4))
    for row, (left, right) in zip(code, configuration.tree.sides()):
        row[np.searchsorted(LABELS, left)], row[np.searchsorted(LABELS, right)] = -1, 1
    p = CodeDecoder(code, "least-squares")(np.tanh(machines.a * f + machines.b))[0]
    answered = answers(configuration, held_out)
    found = answered.p
    np.testing.assert_allclose(found, p, atol=1e-12)
    np.testing.assert_array_equal(answered.answer, found.argmax(axis=1))
    y = np.searchsorted(LABELS, Y)
    wanted = fit_temperature(found, y)
    got = fit_calibration(configuration, held_out).decoders["least-squares"]
    assert (got.map.weights, got.map.floor) == (wanted.weights, wanted.floor)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "w, groups",
    [(np.tile([1.0, 2.0, 0.5, 1.5], 20), None), (None, None), (None, np.arange(80) // 2)],
)
def test_points_are_stored_as_sigmoids_without_them_answer(w, groups):
    x, y = points(1, 80)
    configuration, held_out = train_configuration(
        design("one-vs-one", LABELS),
        Dataset(x, y, weights=None if w is None else Weights(w), groups=groups),
        settings=TrainingSettings("-c 4 -g 0.2"),
    )
    groups = np.arange(80) if groups is None else groups
    f = MachineValues(configuration)(range(6), held_out.x)[0].copy()
    f[held_out.point, held_out.classifier] = held_out.value
    column, machines = np.searchsorted(LABELS, y), configuration.machines
    r = np.tanh(machines.a * f + machines.b)
    code, own = np.zeros((6, 4)), r.copy()
    for j, sides in enumerate(configuration.tree.sides()):
        code[j, np.searchsorted(LABELS, sides[0])], code[j, np.searchsorted(LABELS, sides[1])] = (
            -1,
            1,
        )
        seen = code[j, column] != 0
        for point in np.flatnonzero(seen):
            others = seen & (groups != groups[point])
            a, b, _ = fit_sigmoid(
                f[others, j], code[j, column[others]] > 0, w=None if w is None else w[others]
            )
            r[point, j] = np.tanh(-(a * f[point, j] + b) / 2)
    found = fit_calibration(configuration, held_out, [Decoding()]).decoders["least-squares"]
    p, in_sample = (
        apply_map(found.map, CodeDecoder(code, "least-squares")(one)[0])[np.arange(80), column]
        for one in (r, own)
    )
    assert np.abs(found.points.p_true - p).max() < 0.02 < np.abs(in_sample - p).max() / 3
    assert found.points.p_true.mean() < in_sample.mean() - 0.01


def copied(held_out, w):
    """A `HeldOut` with so many copies of each point, without weights."""
    first = np.cumsum(w) - w
    of_entry = w[held_out.point]
    point = np.concatenate([first[i] + np.arange(w[i]) for i in held_out.point])
    order = np.argsort(point, kind="stable")
    return HeldOut(
        np.arange(w.sum()),
        held_out.y.repeat(w),
        held_out.x.repeat(w, 0),
        point[order].astype(np.int32),
        held_out.classifier.repeat(of_entry)[order],
        held_out.value.repeat(of_entry)[order],
    )


@pytest.mark.parametrize("layout", ["one-vs-rest", "tree"])
def test_weights_of_held_out_points_are_copies(layout):
    configuration, held_out = trained(layout, calibration=200)
    w = np.random.default_rng(4).integers(1, 5, len(held_out.rows))
    losses, same, alike = {}, {}, {}
    one, other, plain = (
        fit_calibration(
            configuration, points, [Decoding(tree="recursive"), Decoding(tree="full")], True, into
        )
        for points, into in (
            (replace(held_out, weights=w.astype(float)), losses),
            (copied(held_out, w), same),
            (held_out, alike),
        )
    )
    assert one.decoders.keys() == other.decoders.keys() and len(one.decoders) == (
        2 if layout == "tree" else 1
    )
    for key, entry in one.decoders.items():
        found, wanted, away = (part.decoders[key].map for part in (one, other, plain))
        assert found.weights == pytest.approx(wanted.weights, rel=1e-9)
        assert found.floor == pytest.approx(wanted.floor, rel=1e-8)
        assert abs(found.weights - away.weights) > 1e-3
    assert one.counts == plain.counts and sum(other.counts) == w.sum()  # of points
    assert one.source == "training points, held out, weighted" == plain.source + ", weighted"


def test_losses_and_thinned_points_keep_their_weights():
    configuration, held_out = trained("one-vs-rest")
    w = np.random.default_rng(4).random(len(Y)) + 0.1
    weighted, losses = replace(held_out, weights=w), {}
    fit_calibration(configuration, weighted, [Decoding()], losses=losses)
    p = answers(configuration, held_out).p
    true = np.searchsorted(LABELS, held_out.y)
    assert losses["least-squares"][:2] == (len(Y), log_loss(p, true, w))
    assert losses["least-squares"][1] != log_loss(p, true)
    learned = fit_calibration(configuration, weighted, [Decoding("learned")], losses=losses)
    found = learned.decoders["learned"].points
    assert losses["learned"][::2] == pytest.approx((len(Y), w @ -np.log(found.p_true) / w.sum()))
    few = thinned(weighted, 50)
    np.testing.assert_array_equal(few.weights, w[share_of_classes(Y, 8)])


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "layout, keys",
    [
        ("tree", {"recursive", "full"}),
        (NESTED, {"recursive least-squares", "full least-squares"}),
        ('"" L {1 4 6 9}', {"direct"}),
        ('"" {"" L {1 4 6} 9}', {"recursive", "full"}),
        ("one-vs-one", {"least-squares", "inverse"}),
        ("one-vs-rest", {"least-squares", "orthogonal"}),
        ("# decoder: argmax\n" + REST, {"argmax"}),
        ("# decoder: least-squares\n" + TREE, {"least-squares", "recursive", "full"}),
    ],
)
def test_the_decoders_that_answer_have_maps(layout, keys):
    """Without a choice: of commands, in Python, and all probabilities of a tree."""
    configuration = finished(layout)
    decoders = configuration.calibration.decoders
    assert set(decoders) == keys
    assert all(len(decoder.points.label) == len(Y) for decoder in decoders.values())
    for mode, method in [
        ("recursive", "least-squares"),
        ("full", "least-squares"),
        ("full", "vote"),
        ("flat", "least-squares"),
    ]:
        decoding = Decoding(method, mode)
        key = decoding.calibration_key(configuration.tree)
        assert (key is None) == (method == "vote")
        if method != "vote" and mode != "flat" and "#" not in layout:
            assert key in keys


def test_other_decoders_have_maps_where_they_are_wanted():
    decoders = finished("one-vs-one", "wu-lin-weng", "zadrozny-kl").calibration.decoders
    assert set(decoders) == {"inverse", "least-squares", "wu-lin-weng", "zadrozny-kl"}
    assert all(len(decoder.points.label) == len(Y) for decoder in decoders.values())
    tree = finished("tree", "least-squares").calibration.decoders
    assert set(tree) == {"recursive", "full", "least-squares"}


def test_other_decoders_are_not_calibrated_and_say_so():
    configuration = finished("one-vs-one")
    says = "the decoder zadrozny is not calibrated: `decoders=zadrozny` .*, calibrate_m with"
    with pytest.warns(AgfmcWarning, match=says):
        found = Classifier(configuration, "zadrozny")(TEST_X).columns
    own = Classifier(configuration, Decoding("zadrozny", calibrated=False))(TEST_X).columns
    np.testing.assert_array_equal(found, own)
    for limits in (dict(coverage=0.9), dict(max_error=0.1)):
        with pytest.raises(ModelError, match="points of the decoder zadrozny, .*=zadrozny`"):
            Classifier(configuration, Decoding("zadrozny", **limits))


def test_no_word_of_what_has_no_calibration(no_warnings):
    for layout, decoding in [
        ("one-vs-one", Decoding("vote")),
        ("one-vs-one", Decoding("max-win")),
        ("tree", Decoding(top=2)),
        ("tree", Decoding(stop=0.9)),
        ("tree", Decoding(stop="auto", coverage=0.9)),
        ("tree", Decoding(tree="full", coverage=0.9, by_class=True)),
        ("tree", Decoding(max_error=0.5)),
        ("one-vs-one", Decoding(max_error=0.5)),
    ]:
        Classifier(finished(layout), decoding)
    Classifier(trained("one-vs-one")[0], "zadrozny")  # there is no calibration at all


def test_maps_without_points_of_earlier_versions(no_warnings):
    """Version 0.3.0 stored a map of every decoder, and points of those that suit."""
    configuration = finished("one-vs-one", "zadrozny")
    calibration = configuration.calibration
    decoders = dict(calibration.decoders)
    decoders["zadrozny"] = replace(decoders["zadrozny"], points=None)
    earlier = replace(configuration, calibration=replace(calibration, decoders=decoders))
    np.testing.assert_array_equal(
        Classifier(earlier, "zadrozny")(TEST_X).columns,
        Classifier(configuration, "zadrozny")(TEST_X).columns,
    )
    with pytest.raises(ModelError, match="`decoders=zadrozny`"):
        Classifier(earlier, Decoding("zadrozny", max_error=0.1))


@pytest.mark.parametrize(
    "layout, name, says",
    [
        ("one-vs-one", "vote", "the decoder vote does not give the probabilities of all classes"),
        ("one-vs-one", "argmax", "the decoder argmax needs a one-vs-rest configuration"),
        ("one-vs-one", "full", "the decoder full is for trees"),
        ("one-vs-one", "full inverse", "the decoder full inverse is for nodes with coding mat"),
        ("tree", "geometric", "the decoder geometric is for ensembles"),
    ],
)
def test_decoders_that_cannot_be_calibrated(layout, name, says):
    with pytest.raises(UsageError, match=says):
        requested_decodings(trained(layout)[0].tree, [name])
    (nested,) = requested_decodings(trained(NESTED)[0].tree, ["full inverse"])
    assert nested == Decoding("inverse", "full")


def test_python_trains_with_decoders():
    model = agfmc.train("one-vs-one", X, Y, options="-c 4 -g 0.2", decoders=["zadrozny"])
    assert set(model.calibration.decoders) == {"inverse", "least-squares", "zadrozny"}
    with pytest.raises(UsageError, match="the decoder vote does not give"):
        agfmc.train("one-vs-one", X, Y, decoders=["vote"])


def test_a_tree_that_is_descended_has_a_calibrated_probability_of_its_answer():
    configuration = finished("tree")
    own, mapped = (
        Classifier(configuration, Decoding(tree="path", calibrated=on))(TEST_X)
        for on in (False, True)
    )
    np.testing.assert_array_equal(own.classes, mapped.classes)
    p = own.columns[:, 0]
    map_ = configuration.calibration.decoders["recursive"].map
    np.testing.assert_array_equal(
        mapped.columns[:, 0], apply_map(map_, np.column_stack([p, 1 - p]))[:, 0]
    )
    right = mapped.classes == TEST_Y

    def loss(p):
        return -np.mean(np.log(np.where(right, p, 1 - p)))

    assert loss(mapped.columns[:, 0]) < loss(p) + 0.002


def test_priors_come_after_the_map():
    configuration = finished("one-vs-rest")
    priors = [0.7, 0.1, 0.1, 0.1]
    counts = np.bincount(np.searchsorted(LABELS, Y))
    mapped = Classifier(configuration, Decoding())(TEST_X).columns
    both = Classifier(configuration, Decoding(priors=priors))(TEST_X)
    np.testing.assert_allclose(
        both.columns, Adjustment(np.array(priors), counts / len(Y))(mapped), atol=1e-12
    )
    np.testing.assert_array_equal(both.classes, np.array(LABELS)[both.columns.argmax(axis=1)])


def test_what_is_not_calibrated():
    configuration, held_out = trained("one-vs-one")
    own = Classifier(configuration, "least-squares")(TEST_X).columns
    assert calibrated(configuration, None) is configuration
    with_map = calibrated(configuration, held_out)
    for decoding in (Decoding(calibrated=False), Decoding("vote"), Decoding("max-win")):
        one, other = (Classifier(each, decoding)(TEST_X) for each in (configuration, with_map))
        np.testing.assert_array_equal(one.columns, other.columns)
    sigmoid = Classifier(with_map, Decoding(sigmoid=0))(TEST_X).columns
    np.testing.assert_array_equal(sigmoid, own)
    assert not np.array_equal(Classifier(with_map, Decoding())(TEST_X).columns, own)


def test_a_point_does_not_depend_on_its_neighbours():
    configuration = finished("one-vs-rest")
    classifier = Classifier(configuration, Decoding())
    whole = classifier(TEST_X[:700]).columns
    np.testing.assert_array_equal(classifier(TEST_X[333:334]).columns, whole[333:334])


def test_the_points_of_a_calibration():
    kept = finished("one-vs-one").calibration.decoders["inverse"].points
    assert len(kept.label) == len(Y) and set(kept.label) == set(LABELS)
    assert 0.5 < kept.right.mean() < 0.9


def test_a_decoder_that_fails_has_no_map():
    """A calibration point too far away for the kernel makes decision values that are no numbers."""
    configuration, held_out = trained("one-vs-rest")
    broken = replace(held_out, value=np.full(len(held_out.value), np.nan))
    assert isinstance(broken, HeldOut)
    assert not fit_calibration(configuration, broken).decoders


def test_fewer_points_are_of_every_class_whatever_their_order():
    """Labels in turn, 1 4 6 9 1 4 ...: every fourth point would be of one class."""
    configuration, held_out = trained("one-vs-one")
    order = np.argsort(np.argsort(held_out.y, kind="stable") % 100, kind="stable")
    at = np.argsort(order)
    entries = np.argsort(at[held_out.point], kind="stable")
    turned = replace(
        held_out,
        y=held_out.y[order],
        x=held_out.x[order],
        point=at[held_out.point][entries].astype(np.int32),
        classifier=held_out.classifier[entries],
        value=held_out.value[entries],
    )
    thin = thinned(turned, 100)
    assert np.unique(thin.y, return_counts=True)[1].max() <= 1 + -(-np.bincount(Y).max() // 4)
    assert set(thin.y) == set(LABELS) and 100 <= len(thin.y) <= 104
    np.testing.assert_array_equal(np.bincount(thin.point, minlength=len(thin.y)), 3)
    one, other = (answers(configuration, held).p for held in (turned, thin))
    taken = share_of_classes(turned.y, 4)
    np.testing.assert_array_equal(other, one[taken])


def test_a_calibration_is_of_one_number_of_neighbours():
    one, other = (trained(f'"-k {k}" K {{1 4 6 9}}')[0] for k in (5, 11))
    assert one.digest() != other.digest()


# -- learned decoders


def test_answers_of_a_learned_decoder_by_definition():
    configuration = finished(MIXED, "learned")
    learned = configuration.calibration.learned
    own = Classifier(configuration, Decoding("learned", calibrated=False))(TEST_X)
    r = MachineValues(configuration)(range(4), TEST_X)[1]
    p = np.exp(log_odds(r) @ learned.weights.T + learned.intercept)
    np.testing.assert_allclose(own.columns, p / p.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_array_equal(own.classes, np.array(LABELS)[p.argmax(axis=1)])
    assert np.mean(own.classes == TEST_Y) > 0.55
    mapped = Classifier(configuration, "learned")(TEST_X)
    np.testing.assert_allclose(
        mapped.columns,
        apply_map(configuration.calibration.decoders["learned"].map, own.columns),
        rtol=1e-12,
    )
    np.testing.assert_array_equal(mapped.classes, own.classes)
    np.testing.assert_array_equal(
        Classifier(configuration, "learned")(TEST_X[333:334]).columns, mapped.columns[333:334]
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("scheme", ["one-vs-rest", "orthogonal", "adjacent", MIXED])
def test_not_worse_than_least_squares(scheme):
    configuration = finished(scheme, "learned")
    learned, other = (
        log_loss(Classifier(configuration, name)(TEST_X).columns, COLUMN)
        for name in ("learned", "least-squares")
    )
    assert learned < other + 0.02  # least squares have a map with a matrix, where that is better


def test_map_and_points_are_of_probabilities_by_other_points():
    configuration, held_out = trained("one-vs-rest")
    machines = configuration.machines
    r = np.tanh(machines.a * held_out.value.reshape(len(Y), 4) + machines.b)
    true = np.searchsorted(LABELS, held_out.y)
    fitted = fit_learned_decoder(configuration.tree, r, true)
    calibration = fit_calibration(configuration, held_out, [Decoding("learned")])
    np.testing.assert_allclose(calibration.learned.weights, fitted.decoder.weights, rtol=1e-6)
    map_, found = fit_temperature(fitted.p, true), calibration.decoders["learned"]
    np.testing.assert_allclose(found.map.weights, map_.weights, rtol=1e-6)
    np.testing.assert_allclose(
        found.points.p_true, apply_map(map_, fitted.p)[np.arange(len(Y)), true], rtol=1e-5
    )
    assert (
        np.abs(
            apply_map(map_, fitted.p)
            - Classifier(replace(configuration, calibration=calibration), "learned")(X).columns
        ).max()
        > 0.01
    )


def test_only_some_of_many_points(monkeypatch):
    """Of every class its share, and one point at least."""
    keep = (Y != 9) | (np.arange(len(Y)) == np.flatnonzero(Y == 9)[0])
    keep[np.flatnonzero(Y == 9)[:3]] = True
    taken = share_of_classes(Y[keep], 4)
    for label in LABELS:
        assert np.count_nonzero(taken & (Y[keep] == label)) == -(
            -np.count_nonzero(Y[keep] == label) // 4
        )
    monkeypatch.setattr(module, "LEARNED_POINTS", 20)
    monkeypatch.setattr(module, "_LEARNED_VALUES", 0)
    found = calibrated(*trained("one-vs-rest"), [Decoding("learned")]).calibration
    assert 80 <= len(found.decoders["learned"].points.label) <= 83
    assert len(found.decoders["least-squares"].points.label) == 400


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "layout, n", [("one-vs-one", 400), ("tree", 400), ('"" L {1 4 6 9}', 400), ("one-vs-rest", 199)]
)
def test_where_no_learned_decoder_is_fitted(layout, n):
    configuration = calibrated(*trained(layout, n))
    assert configuration.calibration.learned is None
    assert "learned" not in configuration.calibration.decoders
    assert not learning_pays(configuration.tree, n)
    assert all(one.name != "learned" for one in decoders_of(configuration.tree, points=n))
    if "{" not in layout:
        with pytest.raises(ModelError, match="has no learned decoder: `decoders=learned`"):
            classifier_for(configuration, "learned")


@pytest.mark.parametrize(
    "layout, decoding", [("one-vs-one", Decoding("learned")), ("tree", Decoding("learned", "flat"))]
)
def test_one_that_is_wanted_is_fitted_to_any_code(layout, decoding):
    configuration = calibrated(*trained(layout), requested=[decoding])
    assert "learned" in configuration.calibration.decoders
    found = Classifier(configuration, decoding)(TEST_X)
    assert np.mean(found.classes == TEST_Y) > 0.55
    assert log_loss(found.columns, COLUMN) < 1.1


def test_where_one_is_tried():
    tree = design("one-vs-rest", LABELS, x=X, y=Y)
    assert [one.name for one in decoders_of(tree)] == ["orthogonal"]
    assert [one.name for one in decoders_of(tree, points=200)] == ["orthogonal", "learned"]
    assert [one.name for one in decoders_of(tree, ["inverse"], 200)] == ["inverse"]
    assert not learning_pays(parse('"" 0 / 1; {0 1}'), 400)  # its sigmoid is all there is to learn


def test_a_tree_taken_as_a_code():
    configuration, held_out = trained("tree")
    calibration = fit_calibration(configuration, held_out)
    r = MachineValues(configuration)(range(3), X)[1]
    fitted = fit_learned_decoder(configuration.tree, r, np.searchsorted(LABELS, Y))
    configuration = replace(configuration, calibration=replace(calibration, learned=fitted.decoder))
    found = Classifier(configuration, Decoding("learned", "flat"))(TEST_X)
    assert np.mean(found.classes == TEST_Y) > 0.55
    assert to_code(configuration.tree).labels == configuration.tree.labels
    # the tree itself has no coding matrix to decode
    np.testing.assert_array_equal(
        Classifier(configuration, Decoding("learned", "full"))(TEST_X).columns,
        Classifier(configuration, Decoding(tree="full"))(TEST_X).columns,
    )


def test_learned_decoders_that_are_refused():
    configuration = finished("one-vs-rest")
    with pytest.raises(
        UsageError, match="`sigmoid`: a learned decoder was fitted to the probabilities"
    ):
        Classifier(configuration, Decoding("learned", sigmoid=0))
    nested = trained('"" 0 / 1; "" 0 / 2; "" 1 / 2; {1 4 "" {6 9}}')[0]
    with pytest.raises(UsageError, match="learned is for a coding matrix alone"):
        Classifier(nested, "learned")
    with pytest.raises(ModelError, match="has no learned decoder"):
        Classifier(replace(configuration, calibration=None), "learned")
    with pytest.raises(ModelError, match="a multi-class node has no decision values"):
        fit_learned_decoder(parse('"" L {0 1 2}'), np.zeros((3, 0)), np.arange(3))

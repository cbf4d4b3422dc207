"""Configurations made smaller: how many landmarks, what points say of them, calibrations."""

from dataclasses import replace

import numpy as np
import pytest
from hostile_store import calibration

from agfmc.models.merge import collate
from agfmc.control.parse import parse
from agfmc.core.errors import DataError, UsageError
from agfmc.core.models import BinaryModel, Kernel
from agfmc.calibration.types import CalibrationPoints
from agfmc.models.configuration import Configuration
from agfmc.prediction.classifier import Classifier
from agfmc.prediction.smaller import smaller
from agfmc.core.provenance import Provenance


@pytest.fixture(scope="module")
def given():
    """A one-vs-rest configuration of three classes, and points, in chunks."""
    generator = np.random.default_rng(3)
    centres = np.array([[0, 0, 0], [2, 0, 1], [0, 2, -1]])
    sv = generator.normal(size=(90, 3)) + np.repeat(centres, 30, axis=0)
    models = []
    for own in range(3):
        t = np.where(np.arange(90) // 30 == own, 1.0, -1.0)
        gram = np.exp(-.3 * ((sv[:, None] - sv) ** 2).sum(axis=2))
        models.append(BinaryModel(
            f"m{own}", "c_svc", Kernel("rbf", .3), sv, np.linalg.solve(gram + .1 * np.eye(90), t),
            0., (1, 0), (90, 0), (-3., 0.), Provenance(("0.2.0",)), 3))
    tree = parse("m0 1 2/0; m1 0 2/1; m2 0 1/2; {0 1 2}", "x")
    points = np.concatenate([generator.normal(size=(200, 3)) + centre for centre in centres])
    return Configuration(tree, collate(models, tree.sides(), tree.classes)), [points[:7],
                                                                              points[7:]]


def same(one, other, points):
    classes = [Classifier(each).classify(np.concatenate(points)).classes for each in (one, other)]
    return int((classes[0] == classes[1]).sum())


@pytest.mark.parametrize("keep", [.5, .9, .99, 1.])
def test_as_few_as_keep_the_classes(given, keep):
    configuration, points = given
    found = smaller(configuration, keep=keep, points=points)
    p = len(found.configuration.machines.sv)
    assert found.agreement == (same(configuration, found.configuration, points), 600)
    assert found.agreement[0] >= keep * 600 and p <= 90
    fewer = smaller(configuration, p - max(1, p // 25), points=points) if p > 1 else None
    assert fewer is None or fewer.agreement[0] < keep * 600
    assert found.times[1] < found.times[0] or p == 90


def test_a_number_of_landmarks(given):
    configuration, points = given
    found = smaller(configuration, 20)
    assert len(found.configuration.machines.sv) == 20 and found.agreement is None
    assert found.support_vectors == 90 and (found.bounds > 0).all() and not found.alike
    again = smaller(found.configuration, 10, points=points)
    whole = [one.provenances[0].bound for one in (again.configuration.machines,
                                                  found.configuration.machines)]
    assert whole[0] == pytest.approx(whole[1] + again.bounds[0], rel=1e-2)
    assert again.configuration.machines.provenances[0].to_line().startswith(
        "0.2.0; projected 10 of 90 within ")
    for count in (90, 1000):
        assert smaller(configuration, count).configuration is configuration


def test_maps_of_a_calibration_are_kept_where_classes_are(given):
    configuration, points = given
    found = calibration(configuration.digest(), configuration.tree.classes, 3)
    assert any(isinstance(one.points, CalibrationPoints) for one in found.decoders.values())
    configuration = replace(configuration, calibration=found)
    for small in (smaller(configuration, 70), smaller(configuration, 4, points=points)):
        assert small.configuration.calibration is None and not small.alike
    small = smaller(configuration, keep=.9995, points=points)
    kept = small.configuration.calibration
    assert small.alike and small.configuration.fits(kept)
    assert not configuration.fits(kept)
    assert {key: one.map for key, one in kept.decoders.items()} == \
        {key: one.map for key, one in found.decoders.items()}
    assert all(one.points is None for one in kept.decoders.values())
    whole = smaller(configuration, 90)
    assert whole.alike and whole.configuration.calibration is found


def test_without_probabilities(given):
    configuration, points = given
    machines = configuration.machines
    bare = replace(configuration, machines=replace(machines, a=np.full(3, np.nan),
                                                   b=np.full(3, np.nan)))
    found = smaller(bare, keep=.99, points=points)
    assert found.agreement[0] >= 594 and np.isnan(found.configuration.machines.a).all()


def test_what_does_not_go_together(given):
    configuration, points = given
    for options in ({}, {"landmarks": 3, "keep": .9, "points": points}, {"keep": .9}):
        with pytest.raises(UsageError):
            smaller(configuration, **options)
    with pytest.raises(DataError, match="^there are no points$"):
        smaller(configuration, keep=.9, points=[])

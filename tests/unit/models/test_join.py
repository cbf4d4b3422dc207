"""Finished models with other learners and normalisations, as the members of one ensemble."""

import struct
from dataclasses import replace
from functools import partial
from hashlib import sha256

import numpy as np
import pytest

import agfmc
from agfmc.control.parse import parse
from agfmc.core.errors import ControlError, ModelError
from agfmc.core.models import Kernel
from agfmc.data.normalisation import JoinedNormalisation, Normalisation
from agfmc.data.types import Dataset
from agfmc.models.checks import check_configuration
from agfmc.models.description import describe
from agfmc.report.model import model_blocks
from agfmc.report.text import blocks_text
from agfmc.models.files import export
from agfmc.models.join import join, join_members, members_of
from agfmc.prediction.member_weights import weighed_by_data
from agfmc.prediction.classifier import Classifier
from agfmc.prediction.decoding import Decoding

RNG = np.random.default_rng(5)
X = RNG.normal(size=(150, 4)).astype(np.float32) * np.float32([1, 1, 100, 1])
Y = 1 * (X[:, 0] + RNG.normal(size=150) * 0.3 > 0) + (X[:, 1] > 0.3)
NODE = '"-k 3" K {0 1 2}'
PAIRS, REST = "one-vs-one", "one-vs-rest"


@pytest.fixture(scope="module")
def models():
    """{name: configuration} of different learners, kernels and normalisations."""
    pytest.importorskip("lightgbm")
    train = partial(agfmc.train, calibration=0)
    return {
        "svm": train(PAIRS, X, Y, options="-g .5 -c 4", normalise=True),
        "trees": train(REST, X, Y, options="learner=trees -n 8"),
        "nystrom": train(
            REST,
            X,
            Y,
            options="learner=nystrom -m 20",
            normalise=True,
            nsv=2,
        ),
        "linear": train(parse('"" {"" {0 2} 1}'), X, Y, options="learner=linear", normalise=False),
        "laplacian": train(REST, X, Y, options="-t laplacian -g .5", normalise=True),
        "ensemble": train(
            parse('# weights: 2 1 0.5\n"" {"" {0 2} 1} "" {"" {0 1} 2} "" {0 "" {1 2}}'),
            X,
            Y,
            options="-g .01",
        ),
    }


def uncalibrated(configuration):
    return Classifier(
        configuration,
        Decoding(tree="average" if configuration.tree.is_ensemble else "full", calibrated=False),
    ).probabilities(X)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "names",
    [
        ["svm", "trees", "nystrom", "linear"],
        ["trees", "svm"],
        ["svm", "laplacian"],
        ["trees", "linear"],
        ["ensemble", "svm", "trees"],
    ],
    ids="-".join,
)
def test_the_average_of_the_members(models, names, tmp_path):
    parts = [models[name] for name in names]
    whole = join(parts)
    expected = np.mean([uncalibrated(one) for one in parts], axis=0)
    assert np.abs(uncalibrated(whole) - expected).max() < 1e-9
    for member, one in zip(members_of(whole), members_of(parts[0])):
        assert np.abs(uncalibrated(member) - uncalibrated(one)).max() < 1e-9
    agfmc.save(str(tmp_path / "a.mbm"), whole)
    again = agfmc.load(str(tmp_path / "a.mbm"))
    assert np.array_equal(uncalibrated(again), uncalibrated(whole))
    agfmc.save(str(tmp_path / "b.mbm"), again)
    assert (tmp_path / "a.mbm").read_bytes() == (tmp_path / "b.mbm").read_bytes()
    with pytest.raises(ModelError, match="^[^\n]*ensemble of|^[^\n]*laplacian"):
        export(str(tmp_path / "c"), whole, "svm")


def test_what_is_shared(models):
    svm, trees = models["svm"], models["trees"]
    whole = join([svm, models["laplacian"]])  # equal normalisations
    assert isinstance(whole.normalisation, Normalisation)
    assert {one.columns for one in whole.machines.kernels} == {None}
    assert len(whole.machines.sv) < sum(
        len(one.machines.sv) for one in (svm, models["laplacian"])
    ) and len(whole.machines.sv) <= len(X)
    assert join([trees, models["linear"]]).normalisation is None
    whole = join([svm, trees, models["laplacian"]])
    assert len(whole.normalisation.parts) == 2 and whole.features == 4
    assert {one.columns for one in whole.machines.kernels} == {(0, 4), (4, 8)}
    assert len({row.text for row in whole.tree.rows}) == 3 + 3 + 3
    twice = join([whole, trees])
    assert len(twice.normalisation.parts) == 2 and len(twice.tree.roots) == 4
    assert join_members(members_of(whole)[1:2], None).normalisation is None
    one = join_members(members_of(whole)[:1], None)
    assert np.array_equal(one.machines.sv, svm.machines.sv) and not one.tree.is_ensemble
    assert one.normalisation.digest() == svm.normalisation.digest()
    members = describe(whole)["members"]
    assert [(one["kernel_values"] > 0, one["trees"]) for one in members] == [
        (True, 0),
        (False, int(trees.machines.forest.starts[-1])),
        (True, 0),
    ]
    assert (
        f"weight 0.333, for each point {members[0]['kernel_values']} kernel values\n"
        in blocks_text(model_blocks(describe(whole)))
    )


def test_missing_values_reach_trees_alone(models):
    x = X[:5].copy()
    x[:, 2] = np.nan
    whole = join([models["trees"], models["trees"]])
    assert np.isfinite(Classifier(whole).probabilities(x)).all()
    assert len(set(row.text for row in whole.tree.rows)) == 6


def test_weights_from_data(models):
    wrong = agfmc.train(PAIRS, X, RNG.permutation(Y), options="-g 1 -c 8")
    names = ["svm", "trees", "nystrom"]
    whole = join([wrong, *(models[name] for name in names)])
    weighed, kept = weighed_by_data(whole, Dataset(X, Y), "binary", "data")
    assert 0 not in kept and kept and len(weighed.tree.roots) == len(kept)
    members = Classifier(whole, Decoding(calibrated=False)).by_member(X)
    expected = np.tensordot(weighed.tree.weights, [members[number] for number in kept], 1)
    assert np.abs(uncalibrated(weighed) - expected).max() < 1e-9

    def loss(weights):
        p = np.tensordot(weights, members, 1)[np.arange(len(Y)), Y]
        return -np.log(p).mean()

    equal = np.full(4, 1 / 4)
    full = np.zeros(4)
    full[kept] = weighed.tree.weights
    assert loss(full) < loss(equal)


def test_what_does_not_go_together(models):
    svm = models["svm"]
    for other, error, message in (
        (agfmc.train(PAIRS, X, Y + 1, options="-g 1"), ControlError, "class"),
        (agfmc.train(PAIRS, X[:, :3], Y, options="-g 1"), ModelError, "3 features"),
        (replace(svm, normalisation=None), ModelError, "holds no normalisation"),
        (
            agfmc.train(parse(NODE), X, Y, normalise=False),
            ModelError,
            "code K can be a member only",
        ),
    ):
        if message is not None:
            with pytest.raises(error, match=message) as raised:
                join([svm, other])
            assert "\n" not in str(raised.value)
    node = agfmc.train(parse(NODE), X, Y, normalise=True)  # equal normalisations
    whole = join([svm, node])
    expected = np.mean([uncalibrated(one) for one in (svm, node)], axis=0)
    assert np.abs(uncalibrated(whole) - expected).max() < 1e-9


def test_hostile_columns_are_refused(models, tmp_path):
    whole = join([models["svm"], models["trees"]])
    machines, norm = whole.machines, whole.normalisation

    def fails(**changes):
        with pytest.raises(ModelError):
            check_configuration(replace(whole, **changes), ModelError)

    for columns in ((0, 5), (4, 9), (2, 6), (0, 8), (4, 4), (8, 4), None):
        fails(
            machines=replace(
                machines,
                kernels=(replace(machines.kernels[0], columns=columns), *machines.kernels[1:]),
            )
        )
    fails(normalisation=norm.parts[0])
    fails(normalisation=JoinedNormalisation(norm.parts * 2))
    fails(normalisation=JoinedNormalisation((norm.parts[0], Normalisation.identity(3))))
    short = Normalisation(norm.parts[1].matrix, np.zeros(3, np.float32))
    fails(normalisation=JoinedNormalisation((norm.parts[0], short)))
    check_configuration(whole, ModelError)
    single = models["svm"]
    with pytest.raises(ModelError):
        check_configuration(
            replace(
                single,
                machines=replace(
                    single.machines,
                    kernels=tuple(replace(one, columns=(0, 4)) for one in single.machines.kernels),
                ),
            ),
            ModelError,
        )
    path = tmp_path / "a.mbm"
    agfmc.save(str(path), whole)
    raw = path.read_bytes()
    for old, new in (
        (b"[0,4]", b"[0,9]"),
        (b"[4,8]", b'"4 8"'),
        (b"[0,4]", b"[-12]"),
        (b"[0,4]", b"1e999"),
    ):
        old, new = b'"columns":' + old, b'"columns":' + new
        bad = raw.replace(old, new)
        assert len(bad) == len(raw) and bad != raw
        bad = bad[:32] + sha256(bad[:32] + bad[64:]).digest() + bad[64:]
        path.write_bytes(bad)
        with pytest.raises(ModelError) as raised:
            agfmc.load(str(path))
        assert "\n" not in str(raised.value)


def test_headers_of_other_models_stay(models, tmp_path):
    path = tmp_path / "a.mbm"
    agfmc.save(str(path), models["svm"])
    raw = path.read_bytes()
    header = raw[64 : 64 + struct.unpack_from("<Q", raw, 16)[0]]
    assert not any(word in header for word in (b"columns", b"normalisations", b"forest"))
    assert Kernel("linear") == Kernel("linear", columns=None)

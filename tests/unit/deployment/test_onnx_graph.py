"""ONNX models in ONNX Runtime, beside the suite's own answers."""

import json
import sys

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.core.errors import ModelError, UsageError
from agfmc.core.forest import Forest
from agfmc.core.models import BinaryModel, Kernel
from agfmc.core.provenance import Provenance
from agfmc.deployment import onnx_graph
from agfmc.deployment.onnx_graph import onnx_model
from agfmc.deployment.steps import steps_of
from agfmc.models.configuration import Configuration
from agfmc.models.merge import collate
from agfmc.tables.places import pair_numbers
from agfmc.tables.words import stripped
from agfmc.tables.types import ColumnRecipe, TableRecipe

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def model_of(steps):
    return onnx_model(steps, steps.classifier._arguments[0])


def run(model, **inputs):
    """Labels (n,) and p (n, k)."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def two_classes(features, names=(), recipe=None, forest=None, kernel=Kernel("rbf", 0.5)):
    """Steps of one classifier of the classes 0 and 1."""
    rng = np.random.default_rng(1)
    s = 0 if forest else 5
    model = BinaryModel(
        "m",
        "c_svc",
        kernel,
        rng.normal(size=(s, features)),
        rng.normal(size=s),
        0.0,
        (0, 1),
        (s, 0),
        (-1.0, 0.1),
        Provenance("9", seed=7),
        features,
        forest,
    )
    tree = parse("m {0 1}")
    return steps_of(
        Configuration(tree, collate([model], tree.sides(), tree.classes), recipe=recipe).renamed(
            dict(enumerate(names))
        )
    )


@pytest.mark.few(24)
@pytest.mark.parametrize("seed", range(120))
def test_runtime_agrees_with_the_classifier(seed, random_steps):
    steps = random_steps(seed)
    if any(getattr(node.rule, "decoder", "") == "least-squares" for node in steps.nodes):
        with pytest.raises(UsageError, match="no closed form.*`decoder="):
            model_of(steps)
        return
    x = random_steps.points(steps, 1000)
    ours, model = steps.classifier.classify(x), model_of(steps)
    assert model == model_of(steps)
    labels, p = run(model, x=x)
    scale = max(1.0, np.abs(ours.columns).max())
    np.testing.assert_allclose(p / scale, ours.columns / scale, rtol=0, atol=1e-6)
    close = np.diff(np.sort(ours.columns, axis=1)[:, -2:])[:, 0] < 1e-9 * scale
    assert ((labels == ours.classes) | close).all()
    for n in (0, 1):
        np.testing.assert_allclose(run(model, x=x[:n])[1] / scale, p[:n] / scale, atol=1e-9)


@pytest.mark.parametrize("name", ["alone", "normalised", "beside forests", "beside planes"])
def test_nodes_of_boosted_trees(name, boosted_steps, random_steps):
    steps = boosted_steps[name]
    x = random_steps.points(steps, 200)
    labels, p = run(model_of(steps), x=x)
    ours = steps.classifier.classify(x)
    np.testing.assert_allclose(p, ours.columns, rtol=0, atol=1e-9)
    assert (labels == ours.classes).all()
    if not steps.takes_missing:
        x[0, 0] = np.nan
        labels, p = run(model_of(steps), x=x)
        assert labels[0] == -1 and np.isnan(p[0]).all() and labels[1] >= 0


def test_points_on_thresholds_and_missing_values():
    t, up = 0.1, np.nextafter(0.1, 1)
    # two branches lead to node 4; the second tree is a leaf, and both sums need many digits
    forest = Forest(
        2,
        np.array([0, 2]),
        np.array([0, 8], "<i4"),
        np.array([0, 1, -1, 1, 0, -1, -1, -1, -1], "<i4"),
        np.array([t, 0, 1e6, t, -0.5, 2 / 3 + 1e6, 1e6 - 1, 1e6 + 0.25, -1e6]),
        np.array([1, 2, 2, 4, 6, 5, 6, 7, 8], "<i4"),
        np.array([3, 4, 2, 5, 7, 5, 6, 7, 8], "<i4"),
        np.array([True, False, False, True, False, False, False, False, False]),
    )
    forest.check(ValueError)
    steps = two_classes(2, forest=forest)
    values = [-1, 0, np.nextafter(0, 1), t, up, 2, np.nan]
    x = np.array([[a, b] for a in values for b in values])
    ours = steps.classifier.classify(x)
    labels, p = run(model_of(steps), x=x)
    # 45 bits of 2e6; single precision alone would be .06 off
    np.testing.assert_allclose(p, ours.columns, rtol=0, atol=1e-8)
    assert (labels == ours.classes).all()


def test_far_points_and_points_without_an_answer():
    for kernel in (Kernel("rbf", 1e7), Kernel("rbf", 0.5)):
        steps = two_classes(2, kernel=kernel)
        sv = steps.kernel_sums[0].sv
        x = np.vstack([sv, sv + 1e-4, [[1e200, 0]]])
        np.testing.assert_allclose(
            run(model_of(steps), x=x)[1], steps.classifier.classify(x).columns, rtol=0, atol=1e-9
        )
    labels, p = run(model_of(steps), x=np.array([[np.nan, 0], [0, 0]]))
    assert labels[0] == -1 and np.isnan(p[0]).all() and labels[1] in (0, 1)
    labels, p = run(model_of(two_classes(2, ("no", "yes"))), x=np.array([[np.nan, 0]]))
    assert labels.tolist() == [""] and np.isnan(p).all()


UNITS = {"time of day": "minutes since midnight", "duration": "seconds"}


@pytest.mark.few(12)
@pytest.mark.parametrize("seed", range(100))
def test_tables_of_all_kinds_of_columns(seed, random_table):
    steps, x, rows = random_table(seed, 300)
    if any(getattr(node.rule, "decoder", "") == "least-squares" for node in steps.nodes):
        return
    model = model_of(steps)
    inputs = iter(onnx.load_model_from_string(model).graph.input)
    feeds = {}
    blanks = stripped(steps.recipe.blanks)
    columns = dict(zip(rows[0], zip(*rows[1:])))
    for column in steps.recipe.columns:
        cells = columns[column.source]
        cells = ["" if cell.strip() in blanks else cell.strip() for cell in cells]
        cells = ["2.0" if cell == "2.000" else cell for cell in cells]
        info = next(inputs)
        if column.date is not None:
            unit = UNITS.get(column.date.order, "days since 1970-01-01")
            assert info.name == f"{column.name} ({unit})"
            if column.numbers is not None:
                cells = column.numbers.dates(cells)
            feeds[info.name] = column.date.values(cells)[:, :1] + column.date.first
        elif column.numbers is not None:
            values = column.numbers.values(cells)
            values[np.array(cells) == "", 0] = np.nan
            for name, feature in zip(column.numbers.features(column.name), values.T):
                info = info if name == column.name else next(inputs)
                assert info.name == name
                feeds[name] = feature[:, None]
        elif column.pair is not None:
            values = pair_numbers(cells)[:, column.pair.number]
            feeds[info.name] = np.where(np.array(cells) == "", np.nan, values)[:, None]
        elif column.is_number:
            feeds[info.name] = np.array([[float(cell or "nan")] for cell in cells])
        else:
            feeds[info.name] = np.array(cells, object)[:, None]
    labels, p = run(model, **feeds)
    ours = steps.classifier.classify(x)
    scale = max(1.0, np.abs(ours.columns).max())
    np.testing.assert_allclose(p / scale, ours.columns / scale, rtol=0, atol=1e-6)
    close = np.diff(np.sort(ours.columns, axis=1)[:, -2:])[:, 0] < 1e-9 * scale
    assert ((labels == [f"c{label}" for label in ours.classes]) | close).all()


NAMES = ("größe", "a b", "", "label", "x\u200b", "x\u202e", "t11", "n" * 3000, "label_2")


def test_columns_of_a_table_are_inputs_whatever_their_names():
    recipe = TableRecipe(
        tuple(
            ColumnRecipe(name, fill=1.5 if at == 1 else None, indicator=at < 3)
            for at, name in enumerate(NAMES)
        ),
        "y",
        ("ja", "nein\u200b"),
    )
    steps = two_classes(len(recipe.features), ("ja", "nein\u200b"), recipe)
    model = onnx.load_model_from_string(model_of(steps))
    names = [one.name for one in model.graph.input]
    assert names[:2] == ["größe", "a b"] and names[7] == NAMES[7]
    assert "" not in names and "label" not in names and len(set(names)) == len(NAMES)
    cells = np.random.default_rng(2).normal(size=(50, len(NAMES)))
    cells[:5, 0], cells[3:9, 1], cells[9, 4] = np.nan, np.nan, np.nan
    features = []
    for at, column in enumerate(cells.T):
        missing = np.isnan(column) & (at < 3)
        features.append(np.where(missing, 1.5 if at == 1 else 0, column))
        features += [missing] * (at < 3)
    x = np.array(features).T.astype(np.float32)
    labels, p = run(
        model.SerializeToString(), **{name: column[:, None] for name, column in zip(names, cells.T)}
    )
    ours = steps.classifier.classify(np.delete(x, 9, axis=0))
    np.testing.assert_allclose(np.delete(p, 9, axis=0), ours.columns, rtol=0, atol=1e-12)
    assert labels[9] == "" and set(labels) <= {"ja", "nein\ufffd", ""}


def test_metadata():
    model = onnx.load_model_from_string(model_of(two_classes(2)))
    known = {one.key: json.loads(one.value) for one in model.metadata_props}
    assert model.producer_name == "agfmc" and model.producer_version
    assert known == {
        "features": ["f1", "f2"],
        "classes": ["0", "1"],
        "labels": [0, 1],
        "decoder": "full",
        "gives": "probabilities",
        "provenance": ["9; seed 7"],
    }


def test_what_cannot_be_written_is_refused(monkeypatch):
    i = np.arange(20_003)
    inner = (i % 2 == 0) & (i < i[-1])
    deep = Forest(
        1,
        np.array([0, 1]),
        np.zeros(1, "<i4"),
        np.where(inner, 0, -1),
        i / 2,
        np.where(inner, i + 1, i),
        np.where(inner, i + 2, i),
        inner,
    )
    with pytest.raises(ModelError, match="10000 comparisons"):
        model_of(two_classes(1, forest=deep))
    steps = two_classes(2)
    monkeypatch.setattr(onnx_graph, "LARGEST", 100)
    with pytest.raises(ModelError, match="more than 2 GB"):
        model_of(steps)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(UsageError, match=r"pip install 'agfmc\[onnx\]'"):
        model_of(steps)

"""Rows of the training data in a model, and words that it never uses."""

from dataclasses import replace

import numpy as np
import pytest

import agfmc
from agfmc.control.parse import parse
from agfmc.core.errors import ModelError
from agfmc.models.description import describe
from agfmc.models.privacy import training_rows, without_rows
from agfmc.report.model import model_facts
from agfmc.tables.types import ColumnRecipe, TableRecipe

pytestmark = pytest.mark.filterwarnings("ignore::agfmc.core.errors.AgfmcWarning")


def data(copies=1):
    rng = np.random.default_rng(1)
    x = np.repeat(rng.normal(size=(30, 3)).astype(np.float32), copies, axis=0)
    y = np.repeat([0, 1, 2], 10 * copies)
    x[:, 0] += y
    return x, y


def known(x, rows):
    """How many of the rows are among those of x, in single precision."""
    return len({row.tobytes() for row in rows.astype("f4")} & {row.tobytes() for row in x})


@pytest.mark.parametrize(
    "control, options",
    [("one-vs-one", "-c 10"), ("one-vs-rest", "learner=nystrom -l 12"), ('"-k 5" K {0 1 2}', "")],
)
def test_support_vectors_landmarks_and_neighbours_are_rows_once(control, options):
    x, y = data(copies=3)
    model = agfmc.train(parse(control) if "{" in control else control, x, y, options=options)
    nodes = model.node_classifiers.values()
    held = np.concatenate([model.machines.sv, *(one.points for one in nodes)])
    rows = training_rows(model)
    assert rows == known(x, held) and 0 < rows <= 30
    info = describe(model)
    assert info["training_rows"] == rows
    assert ("privacy", f"holds {rows} rows of the training data") in model_facts(info)
    with pytest.raises(ModelError, match=f"holds {rows} rows.*learner=trees, linear or logistic"):
        without_rows(model)


@pytest.mark.parametrize(
    "control, options",
    [
        ("one-vs-one", "learner=linear"),
        ("one-vs-one", "learner=logistic"),
        ("one-vs-one", "learner=trees"),
        ('"" L {0 1 2}', ""),
        ('"" T {0 1 2}', ""),
    ],
)
def test_planes_and_trees_hold_no_row(control, options):
    x, y = data()
    model = agfmc.train(parse(control) if "{" in control else control, x, y, options=options)
    assert training_rows(model) == 0
    facts = dict(model_facts(describe(model)))
    assert facts["privacy"] == "holds 0 rows of the training data"
    assert without_rows(model) == model


def words_model(other, normalised=False):
    """Trees of x0 and the first word alone, of a table with names."""
    rng = np.random.default_rng(2)
    word = rng.integers(0, 4, 200)
    x = np.column_stack([rng.normal(size=200), np.eye(4)[word]]).astype("f4")
    y = (x[:, 1] > 0).astype(int) + (x[:, 0] > 0)
    recipe = TableRecipe(
        (ColumnRecipe("size"), ColumnRecipe("name", ("red", "Ann", "Bob", "Cid"), other=other)),
        "class",
        ("a", "b", "c"),
        source="patients.csv",
    )
    options = "learner=trees -n 1 -e 0 -b 2 -l 2"
    model = agfmc.train("one-vs-rest", x, y, options=options, normalise=normalised)
    return x, replace(model, recipe=recipe)


def test_words_that_are_never_used_are_left_out():
    x, model = words_model(None)
    used = set(model.machines.forest.feature.tolist()) - {-1}
    assert used < {0, 1, 2, 3, 4}
    reduced = without_rows(model)
    names = reduced.recipe.columns[1].categories
    words = ("red", "Ann", "Bob", "Cid")
    assert [name in words for name in names] == [place in used for place in range(1, 5)]
    assert len(set(names)) == 4 and reduced.recipe.source == ""
    assert reduced.machines is model.machines
    table = [{"size": float(row[0]), "name": words[row[1:].argmax()]} for row in x]
    np.testing.assert_array_equal(
        agfmc.Classifier(model).probabilities(model.recipe.apply(table)),
        agfmc.Classifier(reduced).probabilities(reduced.recipe.apply(table)),
    )
    assert agfmc.Classifier(reduced).probabilities(x).shape == (200, 3)


def test_words_stay_where_others_would_become_another_feature():
    _, model = words_model("red")
    assert without_rows(model).recipe.columns[1].categories == ("red", "Ann", "Bob", "Cid")

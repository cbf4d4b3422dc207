"""Weights as they are trained with: no zeros, classes in them, None where all are 1."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from agfmc.core.points import SparsePoints
from agfmc.data.training import load_training
from agfmc.data.weights import sample_weights, with_final_weights
from agfmc.core.errors import AgfmcWarning, DataError
from agfmc.core.lazy_points import is_lazy
from agfmc.data.libagf import open_vec
from agfmc.data.types import Dataset, InputFormat
from agfmc.tables.types import ColumnRoles
from agfmc.core.weights import Weights, WeightSource
from data_files import write_vec

X = np.arange(12, dtype=np.float32).reshape(6, 2)
Y = np.array([0, 1, 1, 4, 0, 4], np.int32)
W = np.array([2, 0, 1, 0.5, 0, 3])


def lazy(folder):
    write_vec(folder / "x.vec", X)
    return open_vec(folder / "x.vec")


@pytest.mark.parametrize("kind", ["array", "sparse", "lazy"])
def test_points_without_weight_are_left_out(tmp_path, kind):
    x = {
        "array": lambda: X,
        "sparse": lambda: SparsePoints(sparse.csr_matrix(X)),
        "lazy": lambda: lazy(tmp_path),
    }[kind]()
    with pytest.warns(AgfmcWarning, match="d: 2 of 6 samples have weight 0 and are left out"):
        data = with_final_weights(Dataset(x, Y, weights=Weights(W)), "d")
    assert is_lazy(data.x) == (kind == "lazy") and type(data.x) is type(x)
    assert (np.asarray(data.x) == X[W > 0]).all()
    assert data.y.tolist() == [0, 1, 4, 4] and data.weights.w.tolist() == [2, 1, 0.5, 3]
    assert not data.weights.factors


def test_class_weights_multiply_those_of_samples():
    names = ("oak", "elm", "x", "y", "1")  # a name that is another class's label
    data = Dataset(X, Y, names, weights=Weights(W + 1))
    data = with_final_weights(data, None, {"1": 10, "oak": 0.5})
    assert data.weights.factors == {0: 0.5, 1: 1, 4: 10}
    assert data.weights.w.tolist() == [1.5, 1, 2, 15, 0.5, 40]
    assert data.weights.seen(Y).tolist() == (W + 1).tolist()
    balanced = with_final_weights(Dataset(X, Y, weights=Weights(W + 1)), None, "balanced").weights
    assert np.allclose([balanced.w[label == Y].sum() for label in (0, 1, 4)], (W + 1).sum() / 3)


def test_weights_that_are_all_1_are_none():
    for weights, classes in (
        (Weights(np.ones(6)), None),
        (None, None),
        (None, {1: 1}),
        (None, "balanced"),
        (Weights(np.where(Y == 1, 0.5, 1)), {1: 2}),
    ):
        assert with_final_weights(Dataset(X, Y, weights=weights), None, classes).weights is None


def test_what_cannot_be_trained_with():
    for w, classes, words in (
        ([0] * 6, None, "all 6 samples have weight 0"),
        ([0, 1, 1, 1, 0, 1], None, "class 0: all samples have weight 0"),
        ([1] * 6, {3: 1}, "there is no class '3'"),
        ([1e-60] * 6, {1: 1e-60}, "not all from 1e-100 to 1e"),
        ([1e60] * 6, {1: 1e60}, "to 1e.100: multiply them"),
    ):
        with pytest.raises(DataError, match=words):
            with_final_weights(Dataset(X, Y, weights=Weights(np.array(w, float))), None, classes)
    for w, words in (
        ([1, 2], r"expected 6 numbers, .*shape \(2,\)"),
        ([1] * 5 + [-1], "sample 5"),
        ([1] * 5 + [np.nan], "is nan"),
        ("no", "expected"),
        ([[1] * 6], r"\(1, 6\)"),
    ):
        with pytest.raises(DataError, match=words):
            sample_weights(w, 6)
    assert sample_weights([1, 2, 3, 4, 5, 0], 6).w.tolist() == [1, 2, 3, 4, 5, 0]


def test_lazy_tables_have_their_weights(tmp_path, monkeypatch):
    import agfmc.data.from_table as table_data

    rows = [f"{i},{i % 7 * 1.5},{i * 7 % 5},{'ab'[i % 2]}" for i in range(50)]
    path = tmp_path / "t.csv"
    path.write_text("x,z,w,class\n" + "\n".join(rows) + "\n")
    form = InputFormat("table", roles=ColumnRoles(weight="w", ignored=("x",)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = load_training(path, form)[0]
        monkeypatch.setattr(table_data, "_LAZY", 1)
        kept = load_training(path, form, keep="lazy")[0]
        other = load_training(
            path, InputFormat("table", roles=form.roles, weights=WeightSource("none")), keep="lazy"
        )[0]
    assert is_lazy(kept.x) and len(other.x) == 50 and other.weights is None
    assert (kept.weights.w == plain.weights.w).all() and (np.asarray(kept.x) == plain.x).all()
    assert kept.weights.w.tolist() == [i * 7 % 5 for i in range(50) if i % 5]

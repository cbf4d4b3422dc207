"""Errors of pairs of classes that are counted in training: by samples, or by their weights."""

from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.data.confusions import read_pair_errors
from agfmc.training import pair_errors
from agfmc.training.pair_errors import PairTally
from agfmc.core.weights import Weights

Y = np.array([0, 4, 2, 0, 2, 0, 4, 2], dtype=np.int32)
X = np.array([1.0, -1, 1, -1, -1, -1, 1, 1])[:, None]


def fitted(left, right, ascending):
    """A job whose classifier sends positive points to the right, and its samples in some order."""
    rows = np.flatnonzero((Y == left) | (Y == right))
    if not ascending:
        rows = rows[np.argsort(Y[rows], kind="stable")]
    job = SimpleNamespace(sides=((left,), (right,)), labels=(left, right))
    model = SimpleNamespace(scale=(1.0, 0.0), kernel=None, sv=None, coef=None, rho=None)
    return SimpleNamespace(
        job=job, model=model, side=(Y[rows] == right).astype(np.int8), held_out=X[rows, 0] > 0
    )


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("w", [None, np.array([1.0, 2, 3, 1, 2, 1, 1, 3]), np.arange(1, 9) / 4])
def test_whole_weights_are_copies(ascending, w, tmp_path, monkeypatch):
    monkeypatch.setattr(pair_errors, "decision_values", lambda *model: model[-1][:, 0])
    jobs = [fitted(*pair, ascending) for pair in ((0, 2), (0, 4), (2, 4))]
    tally = PairTally([one.job for one in jobs], X, Y, True, None if w is None else Weights(w))
    for one in jobs:
        tally.add(one)
    tally.write(tmp_path / "errors")
    found = read_pair_errors(tmp_path / "errors")
    w = np.ones(8) if w is None else w
    right = X[:, 0] > 0

    def total(label, which=True):
        return w[(Y == label) & which].sum()

    assert found.n[0].tolist() == [0, total(0), total(0)]
    assert found.errors[0, 1] == total(0, right) and found.errors[1, 0] == total(2, ~right)
    assert found.errors[2, 1] == total(4, ~right)
    assert found.irrelevant[2, 0, 1] == total(4) and found.wins[2, 0, 1] == total(4, ~right)
    assert found.wins[0, 2, 1] == total(0, right)

"""Counts of labels."""

import numpy as np
import pytest

from agfmc.core.points import label_counts


@pytest.mark.parametrize(
    "y",
    [
        [3, 0, 3, 3],
        [],
        [-1, 2, 2],
        [2**31 - 1, 5],
        [65535, 65535, 0],
        [65536, 1],
        np.random.default_rng(1).integers(0, 50, (1 << 20) + 5),
    ],
    ids=lambda y: str(len(y)),
)
@pytest.mark.parametrize("kind", ["i4", "i8", "f8"])
def test_counts_are_those_of_unique(y, kind):
    y = np.array(y, dtype=kind)
    expected = dict(zip(*map(np.ndarray.tolist, np.unique(y, return_counts=True))))
    assert label_counts(y) == expected and list(label_counts(y)) == list(expected)

"""Classes of a continuous quantity."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.core.errors import DataError, UsageError
from agfmc.data.binning import bin_edges, check_edges, classes_of, present_values
from agfmc.data.convert import relabelled
from agfmc.data.libagf import con_bytes
from agfmc.data.types import Dataset


def test_old_labels_become_0_to_k_in_their_order():
    data, old = relabelled(Dataset(None, np.array([7, -1, 7, 3])))
    assert data.y.tolist() == [2, 0, 2, 1] and data.y.dtype == np.int32
    assert old.tolist() == [-1, 3, 7] and data.names is None
    assert relabelled(Dataset(None, np.array([2, 0]), ("a", "b", "c")))[0].names == ("a", "c")


def test_bins_of_equal_width_and_of_equal_ratio():
    assert bin_edges([0, 10, 3], 5).tolist() == [2, 4, 6, 8]
    assert bin_edges([5], 2, low=0, high=1).tolist() == [0.5]
    assert bin_edges([5], 4, low=-1, high=7).tolist() == [1, 3, 5]
    assert np.allclose(bin_edges([1, 1000], 3, geometric=True), [10, 100])


def test_classes_begin_on_their_threshold():
    edges = [0.0, 1.0, 5.0]
    values = [-9, 0, 0.5, 1, 4.9, 5, 99]
    got = classes_of(np.float32(values), edges)
    assert got.tolist() == [0, 1, 1, 2, 2, 3, 3] and got.dtype == np.int32


@given(st.lists(st.floats(0.125, 2**20, width=32), min_size=2), st.integers(2, 30), st.booleans())
def test_every_value_lies_in_its_bin(values, q, geometric):
    values = np.float32(values)
    if values.min() == values.max():
        with pytest.raises(DataError, match="least"):
            bin_edges(values, q, geometric=geometric)
        return
    edges = bin_edges(values, q, geometric=geometric)
    assert len(edges) == q - 1
    classes = classes_of(values, edges)
    assert classes[values.argmin()] == 0 and classes[values.argmax()] == q - 1
    full = np.concatenate([[-np.inf], edges, [np.inf]])
    assert np.all((full[classes] <= values) & (values < full[classes + 1]))
    ends = bin_edges(values, q, geometric=geometric, ends=True)
    assert ends.tolist() == [values.min(), *edges, values.max()]
    assert np.array_equal(classes_of(values, ends, ends=True), classes)


@pytest.mark.parametrize(
    "args, error, message",
    [
        (([1, 2], 1), UsageError, "2 or more, not 1"),
        (([], 3), DataError, "no values"),
        (([2, 2], 3), DataError, "the least value, 2, must be below"),
        (([2, 3], 3, 5, 1), UsageError, "the least value, 5, must be below the greatest, 1"),
        (([2, 3], 3, 5), DataError, "the least value, 5, must"),
        (([2, 3], 3, 1, float("inf")), UsageError, "must be below"),
        (([2, 3], 3, float("nan"), 1), UsageError, "must be below"),
        (([0, 3], 3, None, None, True), DataError, "positive"),
        (([2, 3], 3, -1, 4, True), UsageError, "positive"),
        (([2, 3], 3, 1, 1 + 2**-52), UsageError, "thresholds must ascend"),
    ],
)
def test_bins_that_cannot_be(args, error, message):
    with pytest.raises(error, match=message):
        bin_edges(*args)


@pytest.mark.parametrize("edges", [[], [1, 1], [2, 1], [float("nan")], [float("inf")]])
def test_thresholds_that_cannot_be(edges):
    with pytest.raises(UsageError, match="thresholds must"):
        check_edges(edges)
    with pytest.raises(UsageError, match="thresholds must"):
        classes_of([1.0], edges)


def test_values_that_cannot_be():
    with pytest.raises(DataError, match=r"row 2 is not finite"):
        classes_of([1.0, np.nan], [0.5])


def test_outside_of_the_ends_there_is_no_class():
    got = classes_of([0, 1, 1.5, 2, 3, 3.5, 4, 4.5], [1, 2, 4], ends=True)
    assert got.tolist() == [-1, 0, 0, 1, 1, 1, 1, -1] and got.dtype == np.int32
    with pytest.raises(UsageError, match="two thresholds"):
        classes_of([0], [1], ends=True)


def test_values_above_the_limit_are_missing(tmp_path):
    path = str(tmp_path / "v.dat")
    (tmp_path / "v.dat").write_bytes(con_bytes([3, 9, 5, -1]))
    assert present_values(path, 5).tolist() == [3, 5, -1]
    with pytest.raises(DataError, match="every value is above -2, and so missing"):
        present_values(path, -2)


@pytest.mark.parametrize("q", [3, 5, 7, 10, 20, 49, 100])
@pytest.mark.parametrize("low, high", [(0, 1), (-1, 1), (0, 10), (-5, 0)])
def test_thresholds_are_the_numbers_that_people_write(q, low, high):
    wanted = [(low * (q - i) + high * i) / q for i in range(1, q)]  # whole numbers, one rounding
    edges = bin_edges([], q, low, high)
    assert edges.tolist() == wanted
    # a value on a threshold belongs to the class above it
    assert classes_of(wanted, edges).tolist() == list(range(1, q))


def test_thresholds_of_huge_numbers():
    edges = bin_edges([], 4, -1e308, 1e308)
    assert edges.tolist() == pytest.approx([-5e307, 0, 5e307])
    edges = bin_edges([], 4, 1e307, 1.6e308)
    assert edges.tolist() == pytest.approx([4.75e307, 8.5e307, 1.225e308])

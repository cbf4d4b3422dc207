"""Names of classes that are intervals: readable, and read back as what they were."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.control.parse import parse
from agfmc.core.errors import ControlError
from agfmc.data.class_names import names_bytes, read_names
from agfmc.control.build import named_as
from agfmc.control.intervals import differing, Limits, limits_in, names_of_limits

NAN = np.nan
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def test_names():
    assert names_of_limits([0.5, 1.2, 20], [1.2, 20, 2e5], [0.83, NAN, 123456.789]) == (
        "0.5..1.2~0.83",
        "1.2..20",
        "20..200000~123460",
    )
    assert names_of_limits([NAN, -2], [-2, NAN], [NAN, NAN]) == ("..-2", "-2..")
    low = float(np.float32(0.1))
    assert names_of_limits([low], [1000000.0], [333333.3]) == ("0.1..1000000~333300",)


def test_thresholds_closer_than_values():
    close = [0.3, 0.3 + 1e-12, 0.3 + 2e-12, 0.3 + 3e-12]
    names = names_of_limits(close[:-1], close[1:], [NAN] * 3)
    assert len(set(names)) == 3
    assert [limits_in(name).low for name in names] == close[:-1]


@pytest.mark.parametrize(
    "name, limits",
    [
        ("0.5..1.2~0.83", (0.5, 1.2, 0.83)),
        ("-1e-05..2", (-1e-5, 2, NAN)),
        ("..3", (NAN, 3, NAN)),
        ("3..", (3, NAN, NAN)),
        ("3..~7", (3, NAN, 7)),
        ("0..0", (0, 0, NAN)),
    ],
)
def test_names_tell_limits(name, limits):
    np.testing.assert_array_equal(limits_in(name), limits)
    assert isinstance(limits_in(name), Limits)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "..",
        "~1",
        "..~1",
        "a",
        "1",
        "1.5",
        "1...2",
        "1. .2",
        "2..1",
        "1..x",
        "1..2~",
        "1..2~x",
        " 1..2",
        "1..2 ",
        "1..2..3",
        "nan..1",
        "1..inf",
        "1..1e999",
        "1e999..",
        "1..2~1e999",
        "1..2\n",
    ],
)
def test_other_names_tell_none(name):
    assert limits_in(name) is None


@given(st.lists(FLOATS, min_size=2, max_size=8, unique=True), st.data())
def test_limits_part_float32_values_as_thresholds_do(values, data):
    values = np.sort(np.array(values))
    share = np.array(
        data.draw(st.lists(st.floats(0, 1), min_size=len(values) - 1, max_size=len(values) - 1))
    )
    edges = values[:-1] * (1 - share) + values[1:] * share
    if np.any(np.diff(edges) <= 0):
        return
    low, high = [values[0], *edges], [*edges, values[-1]]
    names = names_of_limits(low, high, [NAN] * len(low))
    found = [limits_in(name) for name in names]
    near = np.float32(edges)
    with np.errstate(over="ignore"):
        points = np.concatenate(
            [near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))]
        ).astype(float)
    np.testing.assert_array_equal(
        np.searchsorted([one.low for one in found[1:]], points, side="right"),
        np.searchsorted(edges, points, side="right"),
    )
    assert [one.high for one in found[:-1]] == [one.low for one in found[1:]]


@given(FLOATS, st.floats(0, 1e6, width=32), st.floats(0, 1))
def test_means_are_between_the_limits(low, width, share):
    high = low + width
    mean = min(low + share * width, high)
    (name,) = names_of_limits([low], [high], [mean])
    if limits_in(name) is not None:  # float32 below the least value may be beyond the mean
        assert abs(limits_in(name).mean - mean) <= max(1e-4 * width, 1e-6 * abs(mean))


def test_names_go_through_a_file(tmp_path):
    names = names_of_limits([0.5, 1.2], [1.2, 20], [0.83, NAN])
    (tmp_path / "n").write_bytes(names_bytes(names))
    assert read_names(str(tmp_path / "n")) == names


ONE = {0: "0.1..0.5~0.2", 1: "0.5..1.2~0.8", 2: "1.2..9~2"}


@pytest.mark.parametrize(
    "others, labels",
    [
        (ONE, []),
        ({0: "..0.5", 1: "0.5..1.2", 2: "1.2.."}, []),
        ({}, []),
        ({0: "0.3..0.5", 1: "0.5..1.2~0.9", 2: "1.2..7~2.5"}, []),
        ({1: "0.6..1.2~0.9"}, []),
        ({1: "0.2..1.2~0.9"}, [1]),
        ({0: "0.1..0.4~0.2", 1: "0.4..1.2~0.8", 2: "1.2..9~2"}, [0, 1]),
        ({0: "0.1..0.5~0.2", 1: "0.5..1.3~0.8", 2: "1.3..9~2"}, [1, 2]),
        ({0: "1.2..9~2", 1: "0.5..1.2~0.8", 2: "0.1..0.5~0.2"}, [0, 2]),
        ({0: "dry", 1: "0.5..1.2~0.7"}, [0, 1]),
        ({2: "wet"}, [2]),
    ],
)
def test_limits_are_the_same_where_the_thresholds_are(others, labels):
    assert differing(ONE, others) == labels
    assert differing(others, ONE) == labels


def test_other_names_differ_as_they_stand():
    assert differing({0: "a", 1: "b", 3: "c"}, {0: "a", 1: "c", 3: "d"}) == [1, 3]


def test_limits_of_other_data_fit_a_control_file():
    tree = parse("# class 0: 0..0.5~0.2\n# class 1: 0.5..9~2\na 0 / 1;\n{ 0 1}\n")
    assert named_as(tree, {0: "0.1..0.5~0.3", 1: "0.5..7"}).names == tree.names
    with pytest.raises(ControlError, match="two names, '0..0.5~0.2' and '0.1..0.6'"):
        named_as(tree, {0: "0.1..0.6", 1: "0.6..7"})

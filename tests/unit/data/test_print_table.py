"""Numbers as the cells of a table."""

import numpy as np
from hypothesis import given, strategies as st

from agfmc.data.as_text import _numbers
from agfmc.tables.words import number_of


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_a_cell_is_the_number_again(values):
    values = np.array(values, np.float32)
    again = np.array([number_of(cell) for cell in _numbers(values)], np.float32)
    assert again.tobytes() == values.tobytes()


def test_cells_are_short():
    values = np.array([0.1, -2, 0, -0.0, 1e-30, 123456789, 2.5e20, 1 / 3], np.float32)
    assert _numbers(values) == [
        "0.1",
        "-2",
        "0",
        "-0",
        "1e-30",
        "123456792",
        "2.5e+20",
        "0.33333334",
    ]

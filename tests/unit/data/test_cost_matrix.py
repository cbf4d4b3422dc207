"""Files of costs."""

import numpy as np
import pytest

from agfmc.core.errors import DataError
from agfmc.data.cost_file import read_costs

COSTS = np.array([[0, 1, 5], [1, 0, 5], [10, 10, 0.5]])
NAMES = {2: "ant", 5: "b bee", 7: "7"}
LABELS = (2, 5, 7)


@pytest.fixture
def read(tmp_path):
    def inner(text, labels=LABELS, names=None):
        path = tmp_path / "costs.txt"
        path.write_bytes(text.encode())
        return read_costs(str(path), labels, names)

    return inner


@pytest.mark.parametrize(
    "text",
    [
        "2 5 7\n0 1 5\n1 0 5\n10 10 0.5\n",
        "# costs\n\n2 5 7 # classes\r\n2 0 1 5\r\n7 10 1e1 .5\r\n5 1 0 5",
        "7 2 5\n.5 10 10\n5 0 1\n5 1 0\n",
        "ant\tb bee\t7\n0\t1\t5\n1\t 0\t5\n10\t10\t0.5\n",
        "\tant\tb bee\t7\nant\t0\t1\t5\n7\t10\t10\t0.5\nb bee\t1\t0\t5\n",
        "ant,b bee,7\n0,1,5\n1, 0,5\n10,10,0.5\n",
        "2, 5, 7\n0, 1, 5\n1, 0, 5\n10, 10, 0.5\n",
        ',"ant",b bee,7\nant,0,1,5\n7,10,10,0.5\n"b bee",1,0,5\n',
        "2 9 5 7\n2 0 3 1 5\n9 0 0 0 0\n5 1 3 0 5\n7 10 3 10 0.5\n",
    ],
)
def test_costs_in_the_order_of_the_labels(read, text):
    found = read(text, names=NAMES)
    assert found.costs.tolist() == COSTS.tolist() and found.refusal is None
    backwards = read(text, LABELS[::-1], NAMES)
    assert backwards.costs.tolist() == COSTS[::-1, ::-1].tolist()


def test_no_answer(read):
    found = read("5 7 2 -\n2 1 5 0 .1\n5 0 5 1 .2\n7 10 .5 10 .3\n")
    assert found.costs.tolist() == COSTS.tolist() and found.refusal.tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "expected a line of two classes or more"),
        ("2\n0\n", ":1: expected a line of two classes"),
        ("2 5\n0 1\n1 0\n", ":1: class 7, '7', has no column"),
        ("2 5 5 7\n", ":1: the columns '5' and '5' are one class"),
        ("2 ant 5 7\n", ":1: the columns '2' and 'ant' are one class"),
        ("2 - 5 7\n", ":1: expected the label or name of a class in each column, and"),
        ("2\t\t5\t7\n", ":1: expected the label or name"),
        ("2 5 7\n0 1\n", ":2: expected 3 numbers, one for each column, found 2 fields"),
        ("2 5 7\n2 0 1 5\n1 0 5\n", ":3: expected a class and 3 numbers, one for each column"),
        ("2 5 7\n0 1 5\n\n1 x 5\n", ":4: expected a cost, a finite number of 0 or more, found 'x'"),
        ("2 5 7\n0 1 -5\n", ":2: expected a cost"),
        ("2 5 7\n0 1 nan\n", ":2: expected a cost"),
        ("2 5 7\n0 1 inf\n", ":2: expected a cost"),
        ("2 5 7\n0 1_0 3\n", ":2: expected a cost"),
        ("2 5 7\n2 0 1 5\n2 0 1 5\n", ":3: expected one of the columns .* found '2' again"),
        ("2 5 7\n2 0 1 5\n6 0 1 5\n", ":3: expected one of the columns .* found '6'$"),
        ("2 5 7\n0 1 5\n1 0 5\n", "expected 3 rows, one for each class, found 2"),
        (
            "2 5 7\n0 1 5\n1 0 5\n1 1 0\n1 1 0\n",
            ":5: expected 3 rows, one for each class, found more",
        ),
        ("2 5 7\n7 1 1 0\n5 1 0 5\n", ":3: expected 3 rows, .* found 2, none for '2'$"),
        (
            "2 5 7 none\n0 1 5 1\n1 0 5 1\n1 1 0 1\n",
            "expected 4 rows, one for each class, found 3: "
            "'none' is none of the classes here .a last column of the costs of no answer is headed by -",
        ),
        (
            "ant b bee 7\n",
            ":1: class 5, 'b bee', has no column: names with blanks need tabs or commas",
        ),
        ("2,5,7\n0 1 5\n", ":2: expected 3 numbers, one for each column, found 1 fields"),
        ("2,5,7\n0,1,5\n1,\r0,5\n1,1,0\n", ":3: expected (fields with commas|a cost)"),
        ("2 5 7\n0 1 5\n1 2 5\n1 1 0\n", ":3: a wrong answer, 2, costs 1, the right one, 5, 2"),
        ("2 5 7\n0 0 0\n1 1 1\n2 2 2\n", "wrong answers cost no more than right ones"),
        (" ".join(map(str, range(1025))) + "\n", ":1: 1025 columns are more than the 1024"),
        ("2 5 7\n" + "1 " * 2**20 + "\n", ":2: expected lines of at most 1048576 bytes"),
    ],
)
def test_refused(read, text, message):
    with pytest.raises(DataError, match=message) as found:
        read(text, names=NAMES)
    assert "\n" not in str(found.value) and "costs.txt" in str(found.value)


def test_commas_in_names(read):
    text = "a,b c d\n0 1 5\n1 0 5\n10 10 0.5\n"
    for given in (text, text.replace(" ", ",").replace("a,b", '"a,b"')):
        found = read(given, names={2: "a,b", 5: "c", 7: "d"})
        assert found.costs.tolist() == COSTS.tolist()
    with pytest.raises(
        DataError,
        match="class 2 has no column: .* found 'a,b', and the names of "
        "the classes are not known here",
    ):
        read(text.replace(" ", "\t"))

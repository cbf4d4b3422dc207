"""The classes that a model was taught, as text: ranges and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agfmc.flow.taught import classes_text, other_classes, without_classes

SIDES = st.lists(st.sets(st.integers(0, 30), min_size=1), min_size=2, max_size=4).map(
    lambda sides: [sorted(side - set().union(*sides[:i])) for i, side in enumerate(sides)]).filter(
    all)


@pytest.mark.parametrize("sides, text", [
    (((0,), (1,)), "0/1"), (((2, 0, 1), (9, 5, 6)), "0-2/5-6,9"), (((3,), (1,), (2,)), "3/1/2"),
    ((range(1000), (2147483647,)), "0-999/2147483647")])
def test_text(sides, text):
    assert classes_text(sides) == text


@given(SIDES, st.data())
def test_what_is_left_out_changes_nothing(sides, data):
    settings = f"0.1; samples 1 2; classes {classes_text(sides)}; normalised 0"
    assert other_classes(settings, sides) is None
    fewer = [data.draw(st.sets(st.sampled_from(side), min_size=1)) for side in sides]
    assert other_classes(settings, fewer) is None
    assert other_classes(settings, sides[::-1]) == classes_text(sides)
    assert other_classes(settings, sides + [[99]]) == classes_text(sides)
    strange = [[*sides[0], 99], *sides[1:]]
    assert other_classes(settings, strange) == classes_text(sides)
    assert without_classes(settings) == "0.1; samples 1 2; normalised 0"


@pytest.mark.parametrize("text", ["-", "/", "1", "1-/2", "2-1/2", "1,,2/3", "9" * 5000 + "/1",
                                  "0-9999999999/1-9999999999", "-/-"])
def test_forged_texts_end_soon(text):
    found = other_classes(f"x; classes {text}", ((1,), (2,)))
    assert found == (None if text.startswith("0-9999") else text)


def test_what_says_nothing_fits():
    for settings in ("", "x; samples 1 2", "classes 1/2", "x; classes a/b", "x; classes "):
        assert other_classes(settings, ((1,), (0,))) is None

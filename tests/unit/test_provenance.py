"""What a model was made from: its line, part by part, and back."""

import pytest
from hypothesis import given, strategies as st

from agfmc.core.provenance import classes_text, Provenance, shared

SIDES = (
    st.lists(st.sets(st.integers(0, 30), min_size=1), min_size=2, max_size=4)
    .map(lambda sides: [sorted(side - set().union(*sides[:i])) for i, side in enumerate(sides)])
    .filter(all)
)


@pytest.mark.parametrize(
    "sides, text",
    [
        (((0,), (1,)), "0/1"),
        (((2, 0, 1), (9, 5, 6)), "0-2/5-6,9"),
        (((3,), (1,), (2,)), "3/1/2"),
        ((range(1000), (2147483647,)), "0-999/2147483647"),
    ],
)
def test_text(sides, text):
    assert classes_text(sides) == text


@given(SIDES, st.data())
def test_what_is_left_out_changes_nothing(sides, data):
    made = Provenance.from_line(f"0.1; samples 1 2; classes {classes_text(sides)}; normalised 0")
    assert made.other_classes(sides) is None
    fewer = [data.draw(st.sets(st.sampled_from(side), min_size=1)) for side in sides]
    assert made.other_classes(fewer) is None
    assert made.other_classes(sides[::-1]) == classes_text(sides)
    assert made.other_classes(sides + [[99]]) == classes_text(sides)
    strange = [[*sides[0], 99], *sides[1:]]
    assert made.other_classes(strange) == classes_text(sides)
    assert made.without_identity().to_line() == "0.1; normalised 0"


@pytest.mark.parametrize(
    "text",
    [
        "-",
        "/",
        "1",
        "1-/2",
        "2-1/2",
        "1,,2/3",
        "9" * 5000 + "/1",
        "0-9999999999/1-9999999999",
        "-/-",
    ],
)
def test_forged_texts_end_soon(text):
    found = Provenance.from_line(f"x; classes {text}").other_classes(((1,), (2,)))
    assert found == (None if text.startswith("0-9999") else text)


def test_what_says_nothing_fits():
    for line in ("", "x; samples 1 2", "x;classes 1/2", "x; classes a/b", "x; classes "):
        assert Provenance.from_line(line).other_classes(((1,), (0,))) is None


LINE = "0.1.0; libsvm 337; options -c 1.0; features 61; folds 5; seed 1"


@pytest.mark.parametrize(
    "line, samples",
    [
        ("", None),
        (LINE, None),
        (f"{LINE}; samples 3 40", (3, 40)),
        (f"{LINE}; samples 3 40; normalised 0123456789abcdef; vectors raw", (3, 40)),
        (f"{LINE}; samples 1 2 3", (1, 2, 3)),
        (f"{LINE}; samples x", None),
        (f"{LINE}; samples 3 4x", None),
        (f"{LINE}; samples -3 4", None),
        (f"{LINE}; samples {'1' * 20} 4", None),
        (f"{LINE}; samples {'1 ' * 50_000}x", None),
    ],
)
def test_samples(line, samples):
    made = Provenance.from_line(line)
    assert made.samples == samples and made.to_line() == line
    same = made.without_identity().to_line()
    assert same == line if samples is None else "samples" not in same and same.startswith(LINE)


def test_what_differs_from_model_to_model_is_all_that_goes():
    more = "; normalised 0123456789abcdef"
    made = Provenance.from_line(f"{LINE}; samples 3 40; classes 0/1{more}")
    assert made.without_identity().to_line() == LINE + more
    assert (made.options, made.features, made.normalisation) == ("-c 1.0", 61, "0123456789abcdef")
    assert made.classes == "0/1" and not made.raw_vectors and not Provenance()
    raw = made.with_raw_vectors(64)
    assert raw.to_line() == made.to_line().replace("61", "64") + "; vectors raw"
    assert raw.raw_vectors and raw.features == 64


@given(st.text(st.characters(codec="ascii", exclude_characters="\n"), max_size=60))
def test_any_line_comes_back(line):
    assert Provenance.from_line(line).to_line() == line


def test_of_training():
    made = Provenance.of_training(
        "0.1", "-c 1", library="libsvm 337", features=4, probabilities="folds 5", seed=2
    ).with_samples((3, 5), ((0, 1), (7,)), ("normalised 0123456789abcdef",))
    assert made.to_line() == (
        "0.1; libsvm 337; options -c 1; features 4; folds 5; seed 2; "
        "samples 3 5; classes 0-1/7; normalised 0123456789abcdef"
    )
    assert (
        Provenance.of_training("0.1", "-k 1").with_samples((1,), [[3]]).to_line()
        == "0.1; options -k 1; samples 1; classes 3"
    )


def test_one_line_for_all_pairs_and_back():
    sides = [(3, 5), (3, 9), (5, 9)]
    count = {3: 7, 5: 8, 9: 6}
    each = [
        Provenance.of_training("0.1", "-c 1", features=4, seed=1).with_samples(
            [count[label] for label in pair], [[label] for label in pair]
        )
        for pair in sides
    ]
    one = shared(each, sides)
    assert one.to_line() == "0.1; options -c 1; features 4; seed 1; samples 7 8 6"
    of_pair = one.for_pairs([9, 3, 5])
    assert [of_pair(*pair) for pair in sides] == each
    assert shared([each[0], each[1], each[0]], sides).samples is None
    assert shared([Provenance()] * 3, sides, 12).to_line() == "features 12"


def test_the_metric_of_an_old_model_stays_where_it_stands():
    line = "0.3.0; normalised 7cddf4118ce3f61c; metric 1 rounds of 43 points, 3 classes, data c8db"
    model = Provenance.from_line(line)
    assert model.normalisation == "7cddf4118ce3f61c" and model.to_line() == line

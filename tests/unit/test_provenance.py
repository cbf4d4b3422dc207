"""What a model was made from: its record, and lines of version 0.3.0."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.core.provenance import classes_text, Provenance, settings_text, shared

SIDES = (
    st.lists(st.sets(st.integers(0, 30), min_size=1), min_size=2, max_size=4)
    .map(lambda sides: [sorted(side - set().union(*sides[:i])) for i, side in enumerate(sides)])
    .filter(all)
)
MADE = Provenance("0.4.0", "libsvm 337", "-c 1.0", 61, "folds 5", 1)


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
    made = Provenance("0.4").with_samples([1] * len(sides), sides)
    assert made.other_classes(sides) is None
    fewer = [data.draw(st.sets(st.sampled_from(side), min_size=1)) for side in sides]
    assert made.other_classes(fewer) is None
    assert made.other_classes(sides[::-1]) == classes_text(sides)
    assert made.other_classes(sides + [[99]]) == classes_text(sides)
    strange = [[*sides[0], 99], *sides[1:]]
    assert made.other_classes(strange) == classes_text(sides)


@pytest.mark.parametrize(
    "text",
    [
        "-",
        "/",
        "1",
        "1-/2,",
        "2-1/2",
        "1,,2/3",
        "a/b",
        "9" * 5000 + "/1",
        "0-9999999999/1-9999999999",
        "-/-",
    ],
)
def test_forged_texts_end_soon(text):
    found = Provenance(classes=text).other_classes(((1,), (2,)))
    assert found == (None if text.startswith("0-9999") else text)


def test_what_says_nothing_fits():
    assert Provenance("x", samples=(1, 2)).other_classes(((1,), (0,))) is None


def test_a_record_comes_back():
    made = Provenance(
        "0.4.0", "libsvm 337", "-c 1", 4, "folds 5", 2, normalised="01ab", vectors="raw"
    )
    made = made.with_samples(
        np.array([3, 5]), ((0, 1), (7,)), ((7.25, 12.0), (7.25, 1 / 3)), np.array([4, 4, 9])
    )
    assert json.loads(made.to_line()) == {
        "version": "0.4.0",
        "library": "libsvm 337",
        "options": "-c 1",
        "features": 4,
        "probabilities": "folds 5",
        "seed": 2,
        "samples": [3, 5],
        "classes": "0-1/7",
        "weights": [7.25, 12],
        "seen": [7.25, 0.333333333333],
        "groups": 2,
        "normalised": "01ab",
        "vectors": "raw",
    }
    assert Provenance.from_line(made.to_line()) == made
    assert Provenance.from_line("") == Provenance() and not Provenance()
    assert Provenance().to_line() == ""
    assert MADE.with_samples((1, 2), ((0,), (1,)), ((2.0, 3.0), None)).seen == (2.0, 3.0)
    assert MADE.with_samples((1, 2), ((0,), (1,))).weights is None


OLD = "0.3.0; libsvm 337; options -s 0 -c 1.0; features 61; folds 5; seed 1"
SEAL = "; made from 5143f8db255dda5f; sum 2e14d53d1a13d339"


@pytest.mark.parametrize(
    "line, made",
    [
        (OLD, Provenance("0.3.0", "libsvm 337", "-s 0 -c 1.0", 61, "folds 5", 1)),
        (
            f"{OLD}; samples 3 40; classes 0-4/5; weights 7.25 12; seen 7.25 3; groups 9; "
            f"normalised 0123456789abcdef; vectors raw{SEAL}",
            Provenance(
                "0.3.0",
                "libsvm 337",
                "-s 0 -c 1.0",
                61,
                "folds 5",
                1,
                (3, 40),
                "0-4/5",
                (7.25, 12),
                (7.25, 3),
                9,
                None,
                "0123456789abcdef",
                "raw",
            ),
        ),
        (
            "0.3.0; options learner=nystrom; features 4; leave-one-out 216; seed 1; weights 1 2",
            Provenance(
                "0.3.0",
                None,
                "learner=nystrom",
                4,
                "leave-one-out",
                1,
                weights=(1, 2),
                seen=(1, 2),
                left_out=216,
            ),
        ),
        (
            "0.3.0; own probabilities, folds 5; metric 2 rounds of 9 points, 3 classes, data 0f",
            Provenance("0.3.0", probabilities="own probabilities, folds 5"),
        ),
        (f"0.3.0; options -r 1.0{SEAL}", Provenance("0.3.0", options="-r 1.0")),
        ("features 5", Provenance(features=5)),
    ],
)
def test_lines_of_version_0_3_0(line, made):
    assert Provenance.from_line(line) == made


@pytest.mark.parametrize(
    "line",
    [
        '{"version": 4}',
        '{"features": -1}',
        '{"features": 1e3}',
        '{"features": true}',
        '{"features": 9' + "9" * 5000 + "}",
        '{"samples": 3}',
        '{"samples": ["3"]}',
        '{"weights": [NaN]}',
        '{"weights": [-1]}',
        '{"options": null}',
        '{"options"',
        "{" * 100_000,
        '{"a":' * 100_000,
        "0.3.0; features x",
        "0.3.0; samples 3 4x",
        f"0.3.0; samples {'1 ' * 50_000}x",
    ],
)
def test_records_of_others_tell_nothing(line):
    assert Provenance.from_line(line) == Provenance()


def test_text_of_a_record_obeys_no_terminal():
    assert (
        Provenance.from_line('{"options": "-c 1\\u001b[2J", "other": 1}').options == "-c 1\\x1b[2J"
    )


@given(st.text(st.characters(codec="ascii", exclude_characters="\n"), max_size=60))
def test_any_line_is_read(line):
    made = Provenance.from_line(line)
    assert Provenance.from_line(made.to_line()) == made


def test_what_differs_from_model_to_model_is_left_out_of_the_settings():
    made = MADE.with_samples((3, 40), ((0,), (1,)))
    assert settings_text(made.to_record()) == (
        "0.4.0; libsvm 337; options -c 1.0; features 61; folds 5; seed 1"
    )
    assert settings_text({"version": "1", "left_out": 3, "vectors": "raw"}) == "1; vectors raw"


def test_one_record_for_all_pairs_and_back():
    sides = [(3, 5), (3, 9), (5, 9)]
    count = {3: 7, 5: 8, 9: 6}
    sums = {3: 1.5, 5: 2.0, 9: 1 / 3}
    each = [
        MADE.with_samples(
            [count[label] for label in pair],
            [[label] for label in pair],
            ([sums[label] for label in pair], None),
        )
        for pair in sides
    ]
    one = shared(each, sides)
    assert one.samples == (7, 8, 6) and one.weights == one.seen == (1.5, 2.0, 0.333333333333)
    assert one.classes is None and one.options == "-c 1.0"
    of_pair = one.for_pairs([9, 3, 5])
    assert [of_pair(*pair) for pair in sides] == each
    assert shared([each[0], each[1], each[0]], sides).samples is None
    assert shared([Provenance()] * 3, sides, 12) == Provenance(features=12)


def test_a_file_for_all_pairs_is_normalised_if_one_of_them_is():
    made = [MADE, Provenance("0.4.0", normalised="01ab"), MADE]
    assert shared(made, [(0, 1), (0, 2), (1, 2)]) == Provenance("0.4.0", normalised="01ab")

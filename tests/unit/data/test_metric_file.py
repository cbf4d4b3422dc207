"""The file beside a normalisation that was learned: without loss, and believed of its own map."""

import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.core.errors import AgfmcWarning, DataError, ModelError
from agfmc.files.atomic import replacing
from agfmc.data.metric_file import (
    check_metric_output,
    format_metric,
    metric_path,
    read_feature_names,
    read_metric,
)
from agfmc.data.libagf import read_std, write_std
from agfmc.data.normalisation import LearnedMetric, Normalisation
from own_warnings import no_own_warnings

METRIC = LearnedMetric(
    2,
    2310,
    7,
    "9d0e6a51c3b7f284",
    "-m 30 -g auto -l auto seed 1",
    np.array([1.75, 0.25, 0.0]),
    ((0.31, 0.0041), (0.27, 0.0), (0.28, 0.0012)),
)
LEARNED = Normalisation(
    np.array([[2, 1], [1, 3], [0, 0]], np.float32), np.ones(3, np.float32), (2,), METRIC
)
TEXT = format_metric(LEARNED)


def same(one, other):
    np.testing.assert_array_equal(one.weights, other.weights, strict=True)
    assert {**vars(one), "weights": 0} == {**vars(other), "weights": 0}


def read(tmp_path, text):
    path = tmp_path / "a.metric"
    path.write_text(text, encoding="utf-8")
    return read_metric(str(path))


def test_text_is_without_loss(tmp_path):
    for text in (TEXT, TEXT.replace("\n", "\r\n")):
        digest, metric = read(tmp_path, text)
        assert digest == LEARNED.digest()
        same(metric, METRIC)


NAMES = ("gr\u00f6\u00dfe", 'colour="a\nb"', "\u2028")
NAMED = format_metric(replace(LEARNED, metric=replace(METRIC, names=NAMES)))


def test_names_are_kept(tmp_path):
    assert '  "names": ["gr\u00f6\u00dfe", "colour=\\"a\\nb\\"", "\u2028"]' in NAMED.split("\n")
    digest, metric = read(tmp_path, NAMED)
    assert digest == LEARNED.digest()
    same(metric, replace(METRIC, names=NAMES))
    write_std(tmp_path / "n.std", replace(LEARNED, metric=metric))
    assert read_std(tmp_path / "n.std").metric.names == NAMES
    with pytest.raises(ModelError, match="checksum"):
        read(tmp_path, NAMED.replace("gr", "kl"))


@given(
    st.lists(st.floats(0, allow_infinity=False), min_size=1, max_size=9),
    st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9)), max_size=4),
    st.integers(0, 20),
)
def test_any_numbers_are_without_loss(tmp_path_factory, weights, losses, rounds):
    made = replace(METRIC, weights=np.array(weights), losses=tuple(losses), rounds=rounds)
    path = tmp_path_factory.getbasetemp() / "any.metric"
    path.write_text(format_metric(replace(LEARNED, metric=made)))
    same(read_metric(path)[1], made)


@pytest.mark.parametrize(
    "old, new, words",
    [
        ('"rounds": 2', '"rounds": "two"', 'learned.rounds: expected a whole number, found "two"'),
        ('"rounds": 2', '"rounds": 100', "learned.rounds: expected a whole number from 0 to 99"),
        ("[0.27, 0.0]", "[0.27]", r"learned.losses\[1\]: expected a list of 2, found a list"),
        ("[0.27, 0.0]", "[0.27, null]", r"learned.losses\[1\]\[1\]: expected a number, found null"),
        ("1.75, 0.25", "1.75, -0.25", "the weights of the features are invalid"),
        ("[1.75, 0.25, 0.0]", "[]", "the weights of the features are invalid"),
        ('"names": []', '"names": ["a", "b"]', "expected the names of 3 features, found 2"),
        ('"names": []', '"names": ["a", "b", 3]', r"learned.names\[2\]: expected text, found 3"),
        ('"names": []', '"names": []], "x": [', "found no JSON"),
    ],
)
def test_what_is_wrong_has_its_key(tmp_path, old, new, words):
    assert old in TEXT
    text = re.sub('"sum": "[^"]*",', "", TEXT).replace(old, new)
    with pytest.raises(ModelError, match=words) as caught:
        read(tmp_path, text)
    assert caught.value.file == str(tmp_path / "a.metric")


def test_names_of_the_file():
    assert metric_path("a.b/x.std") == "a.b/x.metric" and metric_path("x") == "x.metric"
    assert metric_path("x.std.old") == "x.std.old.metric"
    assert [metric_path(path) for path in ("-", "/dev/stdout", "/dev/null", "/proc/self/fd/1")] == [
        None
    ] * 4


def test_a_map_is_known_again(folder):
    write_std("a.std", LEARNED)
    same(read_std("a.std").metric, METRIC)
    assert read_std("a.std").provenance == LEARNED.provenance
    os.rename("a.metric", "b.metric")
    assert read_std("a.std").metric is None


def test_the_file_of_another_map_is_not_believed(folder):
    write_std("a.std", LEARNED)
    kept = Path("a.metric").read_bytes()
    other = Normalisation(2 * LEARNED.matrix, LEARNED.mean)
    write_std("a.std", other)
    assert not Path("a.metric").exists()
    Path("a.metric").write_bytes(kept)  # as another program would leave it
    with pytest.warns(
        AgfmcWarning,
        match="^a.std is not the map that a.metric describes: one of "
        "them was changed or replaced; the normalisation is ",
    ):
        assert read_std("a.std").metric is None
    # the same map, which nothing was learned for
    write_std("a.std", LEARNED)
    write_std("a.std", replace(LEARNED, metric=None))
    with no_own_warnings():
        assert read_std("a.std").metric is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"format": "agfmc',
        b"\0\xff\xfe\n",
        TEXT[:100].encode(),
        None,
        TEXT[: TEXT.index("losses")].encode(),
    ],
)
def test_what_cannot_be_believed_is_told_of_once(folder, content):
    write_std("a.std", LEARNED)
    os.unlink("a.metric")
    Path("a.metric").mkdir() if content is None else Path("a.metric").write_bytes(content)
    with pytest.warns(
        AgfmcWarning, match="a.metric.* what it was learned from is not known$"
    ) as told:
        assert read_std("a.std").metric is None
    assert len(told) == 1


def test_the_record_of_another_map_stays(folder):
    write_std("q", LEARNED)
    plain = Normalisation(2 * LEARNED.matrix, LEARNED.mean)
    for _ in range(2):
        write_std("q.std", plain)
        same(read_std("q").metric, METRIC)
    with pytest.warns(AgfmcWarning, match="^q.std is not the map that q.metric describes"):
        assert read_std("q.std").metric is None
    # that of the map which is replaced goes, damaged or not
    Path("q.metric").write_text(TEXT.replace("0.25", "0.26"))
    write_std("q", plain)
    assert not Path("q.metric").exists()


def test_a_damaged_file_is_told_of(folder):
    write_std("a.std", LEARNED)
    Path("a.metric").write_text(TEXT.replace("0.25", "0.26"))
    with pytest.warns(AgfmcWarning, match=r"^a.metric: changed or damaged .* is not known$"):
        assert read_std("a.std").metric is None


def test_the_file_of_another_program_stays(folder):
    Path("a.metric").write_text("metres\n")
    write_std("a.std", replace(LEARNED, metric=None))
    with pytest.warns(AgfmcWarning, match="^a.metric: is no record of a learned metric; the "):
        assert read_std("a.std").metric is None
    before = Path("a.std").read_bytes()
    Path("b.metric").mkdir()
    for refused, name in (
        (lambda: write_std("a.std", LEARNED), "a"),
        (lambda: check_metric_output("a.std"), "a"),
        (lambda: check_metric_output("b.std"), "b"),
    ):
        with pytest.raises(DataError, match=f"{name}.metric: is no record of a learned metric"):
            refused()
    assert Path("a.metric").read_text() == "metres\n" and Path("a.std").read_bytes() == before


def test_both_files_or_none(folder):
    Path("a.metric").mkdir()
    with pytest.raises(DataError, match="a.metric"):
        write_std("a.std", LEARNED)
    assert os.listdir() == ["a.metric"]
    os.rmdir("a.metric")

    def full():
        raise OSError(28, "full")

    with pytest.raises(OSError, match="full"):
        write_std("a.std", LEARNED, full)
    assert os.listdir() == []
    with replacing("a.std") as file:
        file.write("old")
    with pytest.raises(OSError, match="full"):
        write_std("a.std", replace(LEARNED, metric=None), full)
    assert Path("a.std").read_text() == "old"


def test_names_of_features(folder):
    Path("f").write_bytes("\ufefflength\r\nwidth\r\n\n".encode())
    assert read_feature_names("f", 2) == ["length", "width"]
    with pytest.raises(DataError, match="^f: holds 2 lines: expected the names of 3 features"):
        read_feature_names("f", 3)

"""Scores of results, proportions of the classes, and samples that models were trained on."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.core.answers import Results
from agfmc.core.errors import AgfmcWarning, DataError, ModelError, UsageError
from agfmc.answers.libagf_text import format_points
from agfmc.core.models import NodeModel
from agfmc.models.description import class_samples
from agfmc.data.weights import proportions
from agfmc.score.evaluation import evaluate, weighted
from agfmc.learners.programs import ExternalClassifier
from agfmc.answers.results import load_results
from agfmc.report.answers import score_blocks
from agfmc.report.text import blocks_text
from agfmc.core.provenance import Provenance

P = np.array(
    [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.05, 0.15, 0.8]]
)
Y = [0, 1, 2, 0, 2]


@pytest.fixture
def files(tmp_path):
    """Function that writes truth, result, ratings and probabilities; -> their names."""

    def write(truth=Y, result=None, p=P, labels=(0, 1, 2), header=False, con=True):
        labels = np.array(labels)
        result = labels[p.argmax(axis=1)] if result is None else np.array(result)
        np.array(truth, "<i4").tofile(tmp_path / "truth.cls")
        result.astype("<i4").tofile(tmp_path / "out.cls")
        if con:
            k = p.shape[1]
            ((k * p.max(axis=1) - 1) / (k - 1)).astype("<f4").tofile(tmp_path / "out.con")
        head = f"labels {' '.join(map(str, labels))}\n".encode() if header else b""
        (tmp_path / "p.txt").write_bytes(head + format_points(p, result.astype(np.int32)))
        return str(tmp_path / "truth.cls"), str(tmp_path / "out"), str(tmp_path / "p.txt")

    return write


def test_check_values(files):
    truth, base, p = files()
    scores = evaluate(load_results(truth, base, p))
    assert scores["brier_all"] == pytest.approx(0.3449637662, abs=1e-9)
    assert scores["brier_winning"] == pytest.approx(0.3949683632, abs=2e-8)
    assert scores["accuracy"] == pytest.approx(0.8)
    assert scores["uncertainty_coefficient"] == pytest.approx(0.7371754938, abs=1e-9)
    assert scores["classes"] == 3 and scores["points"] == 5 and scores["rejected"] == 0
    assert scores["contingency"] == [[1, 1, 0], [0, 1, 0], [0, 0, 2]]
    assert json.loads(json.dumps(scores)) == scores
    text = blocks_text(score_blocks(scores))
    assert "\nuncertainty coefficient     0.7372  " in text
    assert "\nRMS error, all classes      0.3450  " in text
    assert "nan" not in text and "None" not in text


def test_table_check_values(tmp_path):
    table = np.array([[50, 3, 2], [4, 30, 6], [1, 5, 49]])
    rows, columns = np.indices((3, 3))
    np.repeat(rows.ravel(), table.ravel()).astype("<i4").tofile(tmp_path / "t.cls")
    np.repeat(columns.ravel(), table.ravel()).astype("<i4").tofile(tmp_path / "r.cls")
    scores = evaluate(load_results(str(tmp_path / "t.cls"), str(tmp_path / "r")))
    assert scores["uncertainty_coefficient"] == pytest.approx(0.5606035815, abs=1e-9)
    assert scores["uncertainty_coefficient_reverse"] == pytest.approx(0.5631000768, abs=1e-9)
    assert scores["uncertainty_coefficient_symmetric"] == pytest.approx(0.5618490560, abs=1e-9)
    assert scores["accuracy"] == pytest.approx(0.86) and scores["contingency"] == table.tolist()


def test_what_needs_k_is_left_out_without_it(files):
    truth, base, _ = files()
    scores = evaluate(load_results(truth, base))
    assert scores["classes"] is None
    assert scores["brier_winning"] is scores["brier_all"] is scores["calibration"] is None
    assert "unknown (-k)" in blocks_text(score_blocks(scores))
    for told in ({"k": 3}, {"labels": [0, 1, 2]}):
        scores = evaluate(load_results(truth, base, **told))
        assert scores["classes"] == 3
        assert scores["brier_winning"] == pytest.approx(0.3949683632, abs=1e-6)
    scores = evaluate(load_results(truth, base, k=30))
    assert scores["classes"] == 30 and len(scores["labels"]) == 30


def test_gaps_in_labels(files):
    truth, base, p = files(truth=[5, 7, 90, 5, 90], labels=(5, 7, 90))
    scores = evaluate(load_results(truth, base, p))
    assert scores["labels"] == [5, 7, 90]
    assert scores["brier_all"] == pytest.approx(0.3449637662, abs=1e-9)
    truth, base, p = files(truth=[5, 5, 90, 5, 90], labels=(5, 7, 90), result=[5, 5, 90, 5, 90])
    with pytest.raises(UsageError, match="the files hold 2 of the 3 classes"):
        load_results(truth, base, p)
    assert load_results(truth, base, p, labels=[5, 7, 90]).labels.tolist() == [5, 7, 90]
    truth, base, p = files(
        truth=[5, 5, 90, 5, 90], labels=(5, 7, 90), result=[5, 5, 90, 5, 90], header=True
    )
    assert load_results(truth, base, p).labels.tolist() == [5, 7, 90]


def test_rejected_points(files):
    truth, base, p = files(result=[0, -1, 2, -1, 2])
    scores = evaluate(load_results(truth, base, p))
    assert scores["rejected"] == 2 and sum(row["count"] for row in scores["calibration"]) == 3
    assert "\nrejected          2\n" in blocks_text(score_blocks(scores))
    truth, base, p = files(result=[-1] * 5)
    blocks_text(score_blocks(evaluate(load_results(truth, base, p))))


@pytest.mark.parametrize(
    "change, told, error, words",
    [
        ({"truth": Y[:4]}, {}, DataError, "4"),
        ({"truth": [0, 1, 2, 0, -2]}, {}, DataError, "truth.cls"),
        (
            {"truth": [0, 1, 2, 0, 3]},
            {},
            UsageError,
            "there are 3 classes, but 4 different "
            "labels in the files (0 1 2 3): without the probabilities, points of a class that",
        ),
        ({}, {"k": 4}, UsageError, "`class_count` says 4 classes"),
        ({}, {"labels": [0, 1]}, UsageError, "2 labels were given for 3 classes"),
        ({}, {"labels": [0, 2, 1]}, UsageError, "the labels must ascend"),
        (
            {"truth": [0, 1, 4, 0, 2], "header": True},
            {},
            DataError,
            "holds class 4, for which there are no probabilities",
        ),
    ],
)
def test_files_that_do_not_fit(files, change, told, error, words):
    truth, base, p = files(**change)
    with pytest.raises(error) as caught:
        load_results(truth, base, p, **told)
    assert words in str(caught.value)


def test_probabilities_of_another_run(files, tmp_path):
    truth, base, p = files()
    np.array([0, 1, 2, 0, 2], "<i4").tofile(tmp_path / "out.cls")
    with pytest.raises(DataError, match="the class of row 4 is 1, but 0 in"):
        load_results(truth, base, p)
    (tmp_path / "p.txt").write_bytes(format_points(P[:3], np.array([0, 1, 2])))
    with pytest.raises(DataError, match="has 3 rows of probabilities, but there are 5 points"):
        load_results(truth, base, p)


SETTINGS = "0.1.0; libsvm 337; options -c 1.0; features 61; folds 5; seed 1"


def configuration(text, *told, classifiers=()):
    """What is read of a configuration; told: samples of the sides of its binary classifiers."""
    tree = parse(text)
    machines = SimpleNamespace(
        provenances=tuple(
            Provenance.from_line(f"{SETTINGS}; samples {left} {right}") for left, right in told
        )
    )
    return SimpleNamespace(
        tree=tree, machines=machines, node_classifiers=dict(zip(tree.directs, classifiers))
    )


def neighbours(*counts):
    return NodeModel("K", "n", len(counts), y=np.repeat(np.arange(len(counts)), counts))


def test_nested_trees():
    # (0 | 1 2 | 3 4 5): 1 2 and 3 4 5 by direct classifiers below a coding matrix
    one = [neighbours(3, 2)]
    assert class_samples(
        configuration(
            'a 0/1; b 0/2; {0 n K "-k 1" {2 1} c {4 3}}', (7, 5), (7, 9), (4, 5), classifiers=one
        )
    ) == {0: 7, 1: 2, 2: 3, 3: 5, 4: 4}
    with pytest.raises(ModelError, match="do not record"):  # 3, 4 and 5 apart: the command knows
        class_samples(
            configuration(
                'a 0/1; b 0/2; {0 n K "-k 1" {1 2} g G "x" {3 4 5}}',
                (7, 5),
                (7, 9),
                classifiers=[*one, ExternalClassifier("g", 3, "x", None)],
            )
        )
    with pytest.raises(ModelError, match="different samples"):
        class_samples(configuration('a {0 n K "-k 1" {1 2}}', (7, 6), classifiers=one))


def test_direct_classifiers_that_tell_their_branches():
    told = NodeModel(
        "L",
        "n",
        3,
        Provenance.from_line("0.1.0; options -r 1.0; samples 5 6 7"),
        weights=np.zeros((3, 2)),
    )
    assert class_samples(configuration('n L "" {4 2 9}', classifiers=[told])) == {2: 6, 4: 5, 9: 7}


def test_proportions():
    np.testing.assert_array_equal(proportions([0.25, 0.75], [2, 9]), [0.25, 0.75])
    np.testing.assert_array_equal(proportions({9: 0.75, 2: 0.25}, np.array([2, 9])), [0.25, 0.75])
    with pytest.warns(AgfmcWarning, match="sum to 8"):
        np.testing.assert_array_equal(proportions([2, 6], [2, 9]), [0.25, 0.75])
    with pytest.raises(UsageError, match="`x`: expected 2 numbers"):
        proportions([1], [2, 9], "x")


def test_results_of_arrays():
    truth, result = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    scores = evaluate(Results(truth, result, [0, 1]))
    assert scores["accuracy"] == 0.75 and scores["brier_all"] is None and "priors" not in scores
    rare = weighted(Results(truth, result, [0, 1]), np.array([0.9, 0.1]))
    np.testing.assert_allclose(rare.weights, [1.8, 1.8, 0.2, 0.2])
    assert evaluate(rare)["accuracy"] == pytest.approx(0.55)

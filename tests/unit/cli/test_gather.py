"""Parts of a page: hardest points, ids of rows, labels by name, what files and options tell."""

import gzip
import hashlib

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.answers.columns import answer_ids
from agfmc.core.answers import Results
from agfmc.tables.ids import ids_beside, table_facts
from agfmc.data.from_table import read_table
from agfmc.data.training import load_training
from agfmc.core.errors import DataError
from agfmc.data.types import InputFormat
from agfmc.score.evaluation import with_weights
from agfmc.cli.work.gather import (
    answers_part,
    report_score_request,
    file_digests,
    hardest_points,
    relabelled,
)
from agfmc.cli.work.pages import data_part, TrainingRows
from agfmc.files.kinds import name_of_file
from agfmc.tables.types import ColumnRoles, TableFormat

LABELS = np.array([2, 5, 9])


def results(n=30, seed=4, rows=None):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3), size=n)
    return Results(
        LABELS[rng.integers(0, 3, n)], LABELS[p.argmax(1)], LABELS, 3, p.max(1), p, rows=rows
    )


def test_hardest_points_ascend_and_have_their_probabilities():
    found = results()
    y = np.searchsorted(LABELS, found.truth)
    of_truth = found.p[np.arange(30), y]
    points = hardest_points(found, number=5)
    order = np.argsort(of_truth)[:5]
    assert [point.id for point in points] == [str(row + 1) for row in order]
    for point, row in zip(points, order):
        assert (point.truth, point.answer) == (found.truth[row], found.result[row])
        assert point.p_truth == of_truth[row]
        assert [p for _, p in point.likely] == sorted(found.p[row], reverse=True)
        assert point.likely[0][0] == found.result[row]


def test_points_that_are_held_out_twice_and_those_of_weight_0_are_told_once_or_not():
    found = results(rows=np.repeat(np.arange(15), 2))
    assert len({point.id for point in hardest_points(found)}) == 15
    first = int(hardest_points(results(), number=1)[0].id) - 1
    weights = np.ones(30)
    weights[[0, first]] = 0
    with pytest.warns(match="2 of 30 points have weight 0"):
        left = with_weights(results(), weights)
    points = hardest_points(left, lambda rows: {row: f"<{row}>" for row in rows}, 28)
    assert {point.id for point in points} == {f"<{row}>" for row in range(30)} - {
        "<0>",
        f"<{first}>",
    }


def test_parts_without_probabilities_have_neither_hardest_points_nor_costs():
    found = results()
    plain = Results(found.truth, found.result, LABELS)
    part = answers_part(
        plain, "x", scores=report_score_request(plain, resamples=10), tree=parse('"" {2 "" {5 9}}')
    )
    assert part.hardest == part.nodes == () and part.scores["log_loss"] is None


def test_costs_of_nodes_are_those_of_a_tree_of_the_same_classes():
    found = results()
    part = answers_part(
        found, "x", scores=report_score_request(found, resamples=10), tree=parse('"" {9 "" {5 2}}')
    )
    assert sum(node.log_loss for node in part.nodes) == pytest.approx(part.scores["log_loss"])
    assert "log_loss" in part.scores["intervals"] and part.scores["calibration_by_class"]
    for other in ('"" {9 "" {5 3}}', '"" 0 / 1 2; "" 1 / 2; {2 5 9}'):
        assert answers_part(found, "x", tree=parse(other)).nodes == ()


def test_labels_become_those_of_a_tree_by_the_names():
    found = results()
    numbered = Results(
        np.searchsorted(LABELS, found.truth),
        np.where(np.arange(30) == 3, -1, np.searchsorted(LABELS, found.result)),
        np.arange(3),
        3,
        found.winner,
        found.p,
        before=found.p,
    )
    tree = parse('"" {7 "" {4 1}} # 7 a\n')
    tree = tree._replace(names={7: "a", 4: "b", 1: "c"})
    again, names = relabelled(numbered, ["a", "b", "c"], tree)
    assert again.labels.tolist() == [1, 4, 7] and names == {7: "a", 4: "b", 1: "c"}
    assert np.array_equal(again.p, found.p[:, ::-1]) and np.array_equal(again.before, again.p)
    assert np.array_equal(again.truth, np.array([7, 4, 1])[numbered.truth])
    assert again.result[3] == -1
    # a class that the tree has not comes behind
    assert relabelled(numbered, ["a", "x", "c"], tree)[0].labels.tolist() == [1, 7, 8]
    with pytest.raises(DataError, match="has none of the classes of the answers"):
        relabelled(numbered, ["x", "y", "z"], tree)


TABLE = "n,size,kind,w,class\n" + "".join(
    f"r{i},{'NA' if i % 5 == 0 else i},{'NA' if i == 3 else 'uv'[i % 2]},{int(i != 1)},"
    f"{'abb'[i % 3]}\n"
    for i in range(12)
)
ROLES = ColumnRoles(ids=("n",), weight="w", missing="mean")


def test_rows_and_missing_cells_of_a_table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    form = InputFormat("table", roles=ROLES)
    facts = table_facts(str(path), form, read_table(str(path), form).recipe, [11, 0, 3])
    assert facts.missing == {"size": 3, "kind": 1}
    assert facts.ids == {0: "r0", 3: "r3", 11: "r11"}
    with pytest.warns(match="weight 0"):
        data, _, _ = load_training(str(path), form)
    rows = TrainingRows(str(path), form, data)
    assert rows.ids([0, 1, 10]) == {0: "r0", 1: "r2", 10: "r11"}  # r1 is left out
    part = data_part("t.csv", data, missing=rows.missing)
    assert dict(part.facts)["missing cells"] == "4 in 2 columns"
    assert part.missing == {"size": 3, "kind": 1}
    assert part.points == 11 and part.counts == (4.0, 7.0)


def test_ids_beside_binary_data_and_in_answers(tmp_path):
    (tmp_path / "b.ids").write_text('n,m\n1,"x,y"\n2,z\n')
    assert ids_beside(str(tmp_path / "b"), [1, 0]) == {0: "1 / x,y", 1: "2 / z"}
    assert ids_beside(str(tmp_path / "c"), [1]) == {}
    path = str(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("u,row,v,class,p\na,1,b,x,1\nc,2,d,y,1\n")
    assert answer_ids(path, TableFormat(), "class", [1]) == {1: "2"}
    assert answer_ids(path, TableFormat(), "class", [1], ("v", "u")) == {1: "d / c"}
    (tmp_path / "a.csv").write_text("a,b,c,d,e,class\n1,2,3,4,5,x\n")
    assert answer_ids(path, TableFormat(), "class", [0]) == {}  # a whole table


def test_digests_are_those_of_the_files(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    assert file_digests([str(tmp_path / "a"), None, "-", str(tmp_path), str(tmp_path / "a")]) == [
        ("sha256 of a", hashlib.sha256(b"x" * 3_000_000).hexdigest())
    ]


def test_digests_are_those_of_the_bytes_of_the_file(tmp_path):
    compressed, label = gzip.compress(b"1 1:2\n", mtime=0), np.int32(35615).tobytes()
    for name, data in (("t.svm.gz", compressed), ("t.cls", label)):  # both begin like gzip
        (tmp_path / name).write_bytes(data)
        [(_, digits)] = file_digests([str(tmp_path / name)])
        assert digits == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    "path, name",
    [
        ("d/s.rep1.csv", "s.rep1"),
        ("d/s.rep2.csv.gz", "s.rep2"),
        ("held", "held"),
        ("a.b", "a.b"),
        ("m.mbm", "m"),
        ("x/.csv", ".csv"),
    ],
)
def test_names_of_files_lose_the_ending_of_their_format_alone(path, name):
    assert name_of_file(path) == name

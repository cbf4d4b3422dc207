"""classify_m --explain: the columns that spoke for an answer, in every format of answers."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.feather
import pyarrow.parquet
import pytest

import agfmc
from agfmc.data.libagf import read_cls
from agfmc.prediction import contributions
from data_files import write_cls, write_vec

COLUMNS = ["length", "width", "colour"]  # of which the last has three features


@pytest.fixture(scope="module")
def models(run, tmp_path_factory):
    """A folder with the table t.csv, a model of it, and points with models of them."""
    folder, draw = tmp_path_factory.mktemp("models"), np.random.default_rng(3)
    y = draw.integers(0, 3, 90)
    x = np.array([[0, 0], [1.5, 0], [0, 2]])[y] + draw.normal(size=(90, 2)) * 0.8
    colours = np.array(["red", "dark", "green"])[(y + draw.integers(0, 2, 90)) % 3]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with open("t.csv", "w", encoding="utf-8") as file:
            file.write("id,length,width,colour,species\n")
            for row, (point, colour, label) in enumerate(zip(x.round(3).tolist(), colours, y)):
                file.write(f"r{row},{point[0]},{point[1]},{colour},{'abc'[label]}\n")
        write_vec("p.vec", x.astype(np.float32))
        write_cls("p.cls", y)
        Path("plan").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
        Path("near").write_text('"-k 3" K {0 1 2}')
        for plan, data, name, more in (
            ("plan", "t.csv", "t", ("--label", "species", "--id", "id", "-n")),
            ("plan", "p", "p", ()),
            ("near", "p", "near", ()),
        ):
            run(
                "multi_borders",
                "--quiet",
                "--platt",
                "loo",
                *more,
                plan,
                data,
                f"{name}.m",
                f"{name}.mbc",
            )
            run("mbh2mbm", "--quiet", f"{name}.mbc", f"{name}.mbm")
    return folder


@pytest.fixture(autouse=True)
def here(models, folder):
    for path in models.iterdir():
        (folder / path.name).symlink_to(path)


def explained(run, out, *words):
    """The rows of the answers in a file of any format, as {column: value}."""
    run("classify_m", "--quiet", "--explain", 9, *words, "t.mbm", "t.csv", out)
    if out.endswith((".parquet", ".feather")):
        read = pyarrow.parquet.read_table if out.endswith("t") else pyarrow.feather.read_table
        return read(out).to_pylist()
    with open(out, encoding="utf-8", newline="") as file:
        if out.endswith(".csv"):
            return list(csv.DictReader(file))
        rows = [json.loads(line) for line in file]
    for row in rows:
        for rank, reason in enumerate(row.pop("reasons"), 1):
            row |= {f"{name}{rank}": value for name, value in reason.items()}
    return rows


@pytest.mark.few(2)
@pytest.mark.parametrize("out", ["a.csv", "a.jsonl", "a.parquet", "a.feather"])
def test_contributions_of_all_columns_sum_to_the_margin(run, out):
    rows = explained(run, out)
    precision = 1e-9 if out.endswith(("parquet", "feather")) else 1e-7
    model = agfmc.load("t.mbm")
    expected = agfmc.explain(model, agfmc.read_table("t.csv", model.recipe).x)
    assert expected.exact and list(expected.columns) == COLUMNS
    for row, contributions_, other in zip(rows, expected.contributions, expected.other):
        ranking = sorted(range(3), key=lambda at: -contributions_[at])
        assert [row[f"reason{rank}"] for rank in (1, 2, 3)] == [COLUMNS[at] for at in ranking]
        written = [float(row[f"contribution{rank}"]) for rank in (1, 2, 3)]
        assert written == pytest.approx(contributions_[ranking], abs=precision)
        assert sum(written) == pytest.approx(float(row["margin"]), abs=precision)
        assert row["against"] == "abc"[other] != row["class"]
    assert "reason4" not in rows[0]


def test_the_next_class_is_that_of_the_probabilities(run):
    rows = explained(run, "a.csv", "--priors", ".01,.01,.98")
    for row in rows:
        others = {name: float(row[f"p:{name}"]) for name in "abc" if name != row["class"]}
        assert row["against"] == max(others, key=others.get)
    rejected = explained(run, "r.csv", "--reject", "1")
    usual = explained(run, "u.csv")
    assert {row["class"] for row in rejected} == {""}
    assert [row["contribution1"] for row in rejected] == [row["contribution1"] for row in usual]


def test_blocks_and_threads_change_no_byte(run, monkeypatch):
    explained(run, "a.csv")
    monkeypatch.setattr(contributions, "_CELLS", 21)  # seven rows in a block
    explained(run, "b.csv", "-j", 2)
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()


def test_features_of_points_have_numbers_and_their_weight(run):
    done = run("classify_m", "--explain", 1, "p.mbm", "p.vec", "-")
    first = next(csv.DictReader(done.out.splitlines()))
    assert list(first) == [
        "row",
        "class",
        "p",
        "p:0",
        "p:1",
        "p:2",
        "against",
        "margin",
        "reason1",
        "contribution1",
    ]
    assert first["reason1"] in ("feature 0", "feature 1")
    assert len(read_cls("p.cls")) == len(done.out.splitlines()) - 1


@pytest.mark.parametrize("out", ["a.csv", "a.jsonl"])
def test_answers_with_reasons_are_scored_as_others(run, out):
    run("classify_m", "--quiet", "--all-columns", "t.mbm", "t.csv", f"plain{out}")
    explained(run, out, "--all-columns")
    assert run("eval_uc", out).out == run("eval_uc", f"plain{out}").out


def test_what_cannot_be_explained(run):
    run("classify_m", "--explain", 0, "t.mbm", "t.csv", "a.csv", status=2).line("0 is out of range")
    run("classify_m", "--explain", 1, "p.mbm", "p.vec", "a", status=2).line("a table of answers")
    run("classify_m", "--explain", 1, "near.mbm", "p.vec", "a.csv", status=2).line(
        "code K has no decision values"
    )
    assert not Path("a.csv").exists()
    done = run("classify_m", "-Q", "vote", "--explain", 1, "p.mbm", "p.vec", "a.csv")
    assert "occlusion" not in done.err

"""simulate_decoders in-process: layouts, models, mistakes, pictures."""

import json
import sys

import pytest

from agfmc.decode.pair_strategies import opponents_of
from agfmc.experiments.simulation_tables import read_similarity, similarity_family
from agfmc.score.simulation import adag_success, simulate

SMALL = ["--classes", "4,8", "--error", ".2,.1", "--rounds", "400"]


def printed(run, *words, **more):
    done = run("simulate_decoders", *words, **more)
    assert done.err == ""
    return done.out


def refused(run, *words, status=2):
    return run("simulate_decoders", *words, status=status).refused()


def test_table(run):
    above, heads, *lines = printed(run, *SMALL, "--opponents", "3,1log", "--top", "2").splitlines()
    assert heads.split() == ["classes", "error", "MAX-WIN", "3", "1log", "3", "1log", "ADAG",
                             "exact", "DDAG", "exact", "std.err", "s1/s2", "limit"]
    assert above.split() == ["POLL", "POLL+TOP-2"]
    assert {len(heads), *map(len, lines)} == {len(heads)}
    cells = [line.split() for line in lines]
    assert [row[:2] for row in cells] == [["4", "0.2"], ["8", "0.2"], ["4", "0.1"], ["8", "0.1"]]
    found = simulate(8, rounds=400, seed=1, error=0.2, opponents=[3], top=2)
    three, *_ = found.polls
    assert cells[1][2] == f"{found.max_win:.4f}"
    assert cells[1][3] == cells[1][4] == f"{three.success:.4f}"  # 1log2 8 = 3
    assert cells[1][5] == f"{three.top:.4f}"
    assert cells[1][7:9] == [f"{found.adag:.4f}", f"{adag_success(8, 0.2):.4f}"]
    assert cells[1][9] == f"{found.ddag:.4f}"
    assert cells[1][12:] == [f"{found.separation:.3f}", "1.600"]
    # the headings above begin where their columns do
    assert above.index("POLL") + 4 < heads.index("1log") < above.index("POLL+TOP")


def test_csv_and_json_agree(run):
    names, *lines = printed(run, *SMALL, "--csv").splitlines()
    result = json.loads(printed(run, *SMALL, "--json"))
    assert (result["rounds"], result["seed"], result["top"]) == (400, 1, 5)
    assert len(lines) == len(result["results"]) == 4
    for line, row in zip(lines, result["results"]):
        cell = dict(zip(names.split(","), map(float, line.split(",")), strict=True))
        assert cell["classes"] == row["classes"] and cell["error"] == row["error"]
        assert cell["adag"] == row["adag"]["success"]
        assert cell["adag_exact"] == row["adag"]["exact"]
        assert cell["poll_3log"] == row["polls"][1]["success"]
        assert cell["poll_5log_top_5"] == row["polls"][2]["top"]["success"]
        p = row["max_win"]["success"]
        assert row["max_win"]["standard_error"] == pytest.approx((p * (1 - p) / 400)**0.5)
        assert cell["standard_error"] >= row["max_win"]["standard_error"]


def test_a_line_does_not_depend_on_the_others(run):
    lines = printed(run, *SMALL, "--csv").splitlines()
    alone = printed(run, "--classes", "8", "--error", ".1", "--rounds", "400", "--csv")
    assert alone.splitlines()[1] == lines[4]
    assert printed(run, *SMALL, "--csv", "--seed", "2").splitlines()[1:] != lines[1:]


def test_defaults_are_the_published_experiment(run):
    lines = printed(run, "--rounds", "8", "--csv").splitlines()
    assert [line.split(",")[:2] for line in lines[1:]] == \
        [[str(2**c), error] for error in ("0.1", "0.3") for c in range(4, 10)]
    assert "poll_1log,poll_3log,poll_5log," in lines[0]


def test_two_classes_have_no_separation(run):
    words = ["--classes", "2", "--error", "0.1", "--rounds", "100"]
    assert printed(run, *words).splitlines()[2].split()[-2:] == ["-", "1.800"]
    assert json.loads(printed(run, *words, "--json"))["results"][0]["separation"] is None
    assert printed(run, *words, "--csv").splitlines()[1].split(",")[-2] == ""


@pytest.mark.parametrize("word, k, draws", [
    ("7", 512, 7), ("1log", 16, 4), ("3log", 512, 27), ("3log", 10, 10), ("0.1log", 8, 1),
    ("2.5log", 4, 5)])
def test_opponents(word, k, draws):
    assert opponents_of(word, k) == draws


def test_similarity(run, tmp_path):
    from_values = printed(run, "--similarity", "5,3,2", "--rounds", "300")
    file = tmp_path / "r"
    file.write_text("0.5\n0.3 0.2\n")
    assert printed(run, "--similarity", str(file), "--rounds", "300") == from_values
    assert printed(run, "--similarity", "-", "--rounds", "300", stdin="50 30 20") == from_values
    assert from_values.splitlines()[1].split()[:2] == ["classes", "MAX-WIN"]
    assert "exact" not in from_values
    assert read_similarity("5,3,2") == pytest.approx([0.5, 0.3, 0.2])


def test_families_of_similarity(run):
    words = ["--classes", "3,5", "--rounds", "300", "--json"]
    family = json.loads(printed(run, "--similarity", "geometric:0.5", *words))["results"]
    values = json.loads(printed(run, "--similarity", "4,2,1", "--rounds", "300", "--json"))
    assert [row["classes"] for row in family] == [3, 5]
    assert family[0] == values["results"][0]
    assert family[0]["error"] is family[0]["adag"]["exact"] is None
    assert similarity_family("power:2")(3) == pytest.approx([1, 1 / 4, 1 / 9])


@pytest.mark.parametrize("words, told", [
    (["--classes", "1"], "2 to 4096"), (["--classes", "8,8"], "each value once"),
    (["--classes", "8,x"], "whole number"), (["--error", "1.5"], "expected a number from 0 to 1"),
    (["--error", "nan"], "expected a number"), (["--opponents", "0"], "such as 3log"),
    (["--opponents", "log"], "such as 3log"), (["--opponents", "0log"], "such as 3log"),
    (["--top", "0"], "1 or more"), (["--rounds", "0"], "out of range"),
    (["--csv", "--json"], "exclude each other"), (["file"], "unrecognized"),
    (["--error", "0.1", "--similarity", "2,1"], "exclude each other"),
    (["--classes", "4", "--similarity", "2,1"], "similarities of 2 classes"),
    (["--similarity", "geometric:2"], "0 < Q < 1"), (["--similarity", "power:x"], "Q > 0"),
    (["--similarity", "cubic:2"], "geometric:Q"),
    (["--similarity", "geometric:0.01", "--classes", "512"], "span more"),
    (["--plot", "picture.gif"], ".png or .svg or .pdf")])
def test_usage(run, words, told):
    assert told in refused(run, *words)


@pytest.mark.parametrize("value, told", [
    ("1,2", "must be the largest"), ("2,2", "must be the largest"), ("2,-1", "not negative"),
    ("2,inf", "finite"), ("2,x", "'x'"), ("nowhere", "nowhere: cannot read")])
def test_bad_similarities(run, tmp_path, monkeypatch, value, told):
    monkeypatch.chdir(tmp_path)
    assert told in refused(run, "--similarity", value, status=1)


def test_a_bad_file_is_named(run, tmp_path):
    file = tmp_path / "r"
    file.write_text("0.5\n")
    assert f"{file}: expected similarities of two or more classes, found 1" in refused(
        run, "--similarity", str(file), status=1)


def test_without_matplotlib_nothing_is_simulated(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr("agfmc.experiments.simulation_tables.simulations", None)
    told = refused(run, *SMALL, "--plot", str(tmp_path / "a.png"))
    assert "--plot needs matplotlib: pip install 'agfmc[plot]'" in told
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name, magic", [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml"),
                                         ("a.pdf", b"%PDF")])
def test_pictures(run, tmp_path, name, magic):
    pytest.importorskip("matplotlib")
    file = tmp_path / name
    out = printed(run, *SMALL, "--plot", str(file))
    assert out == printed(run, *SMALL)
    first = file.read_bytes()
    assert first.startswith(magic)
    printed(run, *SMALL, "--plot", str(file))
    assert file.read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_picture_that_cannot_be_written(run, tmp_path):
    pytest.importorskip("matplotlib")
    refused(run, *SMALL, "--plot", str(tmp_path / "nowhere" / "a.png"), status=1)


def test_panels_and_axes_of_the_figure():
    pytest.importorskip("matplotlib")
    from agfmc.experiments.simulation_tables import SimulationPlan, simulations
    from agfmc.picture.simulation import _figure

    def panels(classes, errors):
        rows = simulations(SimulationPlan(classes, errors, ["2", "1log"], 3, 50, 1))
        return rows, _figure(rows, 3, None).axes

    rows, (left, right) = panels([16, 4, 8], [0.1, 0.4])
    assert left.get_xscale() == right.get_xscale() == "log"
    assert [left.get_title(loc="left"), right.get_title(loc="left")] == \
        ["error probability 0.1", "error probability 0.4"]
    lines = {line.get_label(): line for line in right.get_lines()}
    assert len(lines) == 7
    assert lines["DDAG"].get_xdata().tolist() == [4, 8, 16]
    by_k = {row["classes"]: row for row in rows if row["error"] == 0.4}
    for label, value in (("MAX-WIN", by_k[8]["max_win"]), ("POLL $l=2$", by_k[8]["polls"][0]),
                         (r"POLL $l=\log_2 k$ + TOP-3", by_k[8]["polls"][1]["top"])):
        assert lines[label].get_ydata()[1] == value["success"]
    assert panels([4, 6, 8], [0.1])[1][0].get_xscale() == "linear"
    assert len(panels([4], [0.1, 0.2, 0.3, 0.4, 0.5])[1]) == 5

"""Pages: what stands on them, that they are whole or not there, and errors before the work."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jinja2")

TABLE = ("--label", "species", "--id", "id", "--ignore", "comments,year")
DIALECT = ("--missing", "median")


@pytest.fixture(scope="module")
def made(tmp_path_factory, root, run):
    """A folder with a model of penguins, answers of nfold and classify_m, and both JSON files."""
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in ("penguins.csv", "penguins-2009.csv"):
            Path(name).write_bytes((root / "sample_data" / name).read_bytes())
        run("table2agf", *TABLE, *DIALECT, "penguins.csv")
        done = run(
            "nfold",
            "-n",
            "-d2",
            "--report",
            "nfold.html",
            "--seed=2",
            *TABLE,
            "balanced",
            "penguins.csv",
            "held",
        )
        Path("nfold.txt").write_text(done.out)
        Path("p.mbt").write_text(run("print_control", "-Q", "balanced", *TABLE, "penguins.csv").out)
        run(
            "multi_borders",
            "--quiet",
            "-n",
            "--platt=loo",
            *TABLE,
            "p.mbt",
            "penguins.csv",
            "m",
            "m.mbc",
        )
        run("mbh2mbm", "--quiet", "-a", "m.std", "m.mbc", "p.mbm")
        run("classify_m", "--quiet", "--tree", "full", "p.mbm", "penguins-2009.csv", "answer.csv")
        done = run(
            "compare_control",
            "-n",
            "-d2",
            "--json",
            "--report",
            "compare.html",
            *TABLE,
            "penguins.csv",
            "one-vs-one",
            "balanced",
        )
        Path("compare.json").write_text(done.out)
        run(
            "tune_m",
            "--quiet",
            "-n",
            "-d2",
            "--space",
            "C=0:4:4 gamma=-6:-4:2",
            "--refine=0",
            "--space",
            "kernel=rbf",
            "--report",
            "tune.json",
            "--report",
            "tune.html",
            *TABLE,
            "balanced",
            "penguins.csv",
        )
        yield folder


@pytest.fixture
def here(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


def page(path):
    text = Path(path).read_text(encoding="utf-8")
    assert text.lstrip().startswith("<!DOCTYPE html>") and text.rstrip().endswith("</html>")
    assert len(text) < 500_000
    return text


def pairs(path):
    """{name: value} of the provenance of a page, as text."""
    found = page(path).split(">Provenance</h2>")[1].split("<h2")[0]
    rows = re.findall(r"<dt[^>]*>(.*?)</dt>\s*<dd[^>]*>(.*?)</dd>", found, re.DOTALL)
    assert len(rows) > 8
    return {
        re.sub(r"<[^>]*>", "", name).strip(): re.sub(r"<[^>]*>", "", value).strip()
        for name, value in rows
    }


@pytest.mark.long
def test_page_of_a_cross_validation(here):
    text = page("nfold.html")
    accuracy = re.search(r"accuracy\s+(0\.\d+)", Path("nfold.txt").read_text())[1]
    assert f"{100 * float(accuracy):.1f}" in text
    for part in ("224", "Adelie", "12 in 5 columns", "Hardest points", "Nodes of the tree", "seed"):
        assert part in text, part
    found = pairs("nfold.html")
    assert "sha256 of penguins.recipe" in found and found["seed of the splits"] == "2"
    assert len(found["sha256 of penguins.csv"]) == 64
    assert "nfold -n -d2 --report nfold.html" in text


def hardest(path):
    text = page(path).split("Hardest points</h2>")[1].split("<h2")[0]
    return re.findall(r"PAL\d+-[A-Z]\d+", re.sub(r"<[^>]*>", "", text))


def test_hardest_points_are_those_of_the_table(here):
    p = np.loadtxt("held.txt", skiprows=1)[:, :3]
    truth = np.fromfile("held.truth", "<i4")
    rows = np.argsort(p[np.arange(len(p)), truth], kind="stable")[:20]
    ids = [line.split(",")[0] for line in Path("penguins.csv").read_text().splitlines()[1:]]
    assert hardest("nfold.html")[:20] == [ids[row] for row in rows]


def test_columns_that_matter(here, run):
    run("mbm_info", "p.mbm", "--importance", "penguins-2009.csv", "--report", "i.html")
    text = page("i.html")
    assert "What matters" in text and "Importance of the columns" in text
    assert "Effect of bill_length_mm" in text and "Adelie" in text
    run("mbm_info", "p.mbm", "--importance", "nothing", "--report", "no.html", status=1).refused(
        "mbm_info: nothing.vec: cannot read: "
    )
    assert not Path("no.html").exists()


def test_page_of_files_is_that_of_the_run(here, run):
    words = ("held.truth", "held", "held.txt", "--before", "held.raw.txt")
    run("eval_uc", *words, "--report", "files.html")
    scores = [
        re.sub(
            r"<[^>]*>|\s+", " ", page(name).split(">Confusions</h2>")[1].split(">Hardest points")[0]
        )
        for name in ("nfold.html", "files.html")
    ]
    assert scores[0] == scores[1]


def test_bins_of_nfold_are_those_of_its_page(here, run):
    run(
        "nfold", "-n", "-d2", "-q", "1", "--report", "bins.html", *TABLE, "balanced", "penguins.csv"
    )
    table = page("bins.html").split(">Right answers by the probability of the answer<")[1]
    assert table.split("<tbody>")[1].split("</tbody>")[0].count("<tr") == 1


def test_same_bytes_again_and_on_standard_output(here, run):
    words = (
        "answer.csv",
        "--truth",
        "species",
        "--data",
        "penguins-2009.csv",
        "--intervals",
        "10",
        "--model",
        "p.mbm",
    )
    out = run("eval_uc", *words, "--report=-.html").out
    assert run("eval_uc", *words, "--report=-.html").out == out and out.count("</html>") == 1
    for part in ("Configuration", "Nodes of the tree"):
        assert f">{part}</h2>" in out, part
    assert re.search(r"PAL0910-[A-Z]\d", out)  # ids of the answers
    assert re.search("<bdi>Adelie.* / .*</bdi>", out) and "<bdi>m.0" not in out  # classifiers


def test_answers_have_the_classes_of_the_model_by_name(here, run):
    lines = [line.split(",") for line in Path("answer.csv").read_text().splitlines()]
    order = [0, 1, 2, 5, 3, 4]  # the columns of probabilities in another order
    Path("turned.csv").write_text(
        "".join(",".join(line[at] for at in order) + "\n" for line in lines)
    )
    words = ("--truth", "species", "--data", "penguins-2009.csv", "--intervals", "10")
    texts = []
    for name in ("answer.csv", "turned.csv"):
        run("eval_uc", name, *words, "--model", "p.mbm", "--report", "by-name.html")
        texts.append(page("by-name.html").split(">Confusions</h2>")[1].split(">Provenance<")[0])
    assert texts[0] == texts[1]


def test_pages_take_the_place_of_no_file_that_is_read(here, run):
    Path("names.html").unlink(missing_ok=True)
    Path("names.html").symlink_to("held.names")
    Path("state.html").write_text("kept")
    before = Path("held.names").read_bytes()
    run("eval_uc", "held.truth", "held", "--report", "names.html", status=2).refused(
        "--report would overwrite result: both are the file names.html;"
    )
    assert run(
        "nfold",
        "-n",
        *TABLE,
        "--state",
        "state.html",
        "--report",
        "state.html",
        "balanced",
        "penguins.csv",
        status=2,
    ).refused("--state would overwrite --report: ")
    assert Path("held.names").read_bytes() == before and Path("state.html").read_text() == "kept"


def test_answers_of_another_model_are_refused(here, run):
    truth = np.array([0, 1, 2, 3, 4] * 8, "<i4")
    for name in ("other.truth", "other.cls"):
        Path(name).write_bytes(truth.tobytes())
    Path("other.con").write_bytes(np.full(40, 0.5, "<f4").tobytes())
    Path("other.html").unlink(missing_ok=True)
    words = ("other.truth", "other", "--model", "p.mbm", "--report", "other.html")
    run("eval_uc", *words, status=1).refused(
        "p.mbm: does not have the class 3, which is among the answers"
    )
    assert not Path("other.html").exists()


def test_nothing_is_left_of_a_page_that_fails(here, run):
    before = set(os.listdir())
    run(
        "nfold",
        "-n",
        *TABLE,
        "--report",
        "none.html",
        "balanced",
        "none.csv",
        "none",
        status=1,
    ).refused("none.csv: cannot read")
    assert set(os.listdir()) == before


@pytest.mark.long
def test_newcomer_trains_and_opens_the_page(here, run):
    values = np.random.default_rng(2).normal(np.arange(40) % 2, 0.5)
    Path("small.csv").write_text(
        "id,a,class\n"
        + "".join(f"s{i},{value:.3f},{'xy'[i % 2]}\n" for i, value in enumerate(values))
    )
    done = run(
        "agf_train",
        "--quiet",
        "--time-limit",
        "6",
        "--kernels",
        "rbf",
        "--id",
        "id",
        "--report",
        "train.html",
        "small.csv",
        "all.mbm",
    )
    text = page("train.html")
    for part in ("Data", "Configuration", "Comparison", "Provenance", "Commands that repeat it"):
        assert f">{part}</h2>" in text, part
    assert "multi_borders -n" in text and str(Path("/tmp")) not in done.out
    assert ("Hardest points" in text) == ("\nnfold -d5 " in done.out)

"""tune_m in-process and killed: control files that train, the same bytes in every way."""

import csv
import functools
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.experiments import binary_problems
from agfmc.formats.vectors import write_cls, write_vec

ROOT = Path(__file__).resolve().parents[2]
QUICK = ("-d", "3", "--log2c", "-1:1", "--log2g", "-3:-1", "--refine", "1")


@pytest.fixture(autouse=True)
def folder(folder, monkeypatch):
    """Data of classes 2, 5, 9 with names, and a cache folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    rng = np.random.default_rng(5)
    y = np.repeat([2, 5, 9], [40, 50, 30]).astype(np.int32)[rng.permutation(120)]
    write_vec("train.vec", (rng.normal(size=(120, 4)) + y[:, None] * [.3, -.2, 0, 0])
              .astype(np.float32))
    write_cls("train.cls", y)
    (folder / "train.names").write_text("a\nb\npine\nd\ne\nbirch\ng\nh\ni\nmoss\n")
    return folder


@pytest.fixture
def run(run):
    return functools.partial(run, status=None)


def left_behind():
    folder = Path("cache", "agfmc")
    return sorted(folder.iterdir()) if folder.exists() else []


def results_on_disk():
    """The bytes of the results that the unfinished run has kept."""
    return sum(path.stat().st_size for path in Path("cache", "agfmc").glob("*.results"))


@pytest.mark.parametrize("words", [(), ("--per-partition",)])
def test_what_is_written_trains_and_keeps_the_score(run, words):
    _, text, err = run("tune_m", *QUICK, *words, "--json", "all.json", "-+", "-h 0",
                            "one-vs-one", "train")
    assert left_behind() == []
    assert text.startswith("# class 2: pine\n# class 5: birch\n# class 9: moss\n\"-g ")
    assert text.count(" -h 0\" ") == 3
    Path("tuned.mbc").write_text(text)
    run("multi_borders", "tuned.mbc", "train", "m", "m.mbc")
    found = json.loads(Path("all.json").read_text())
    [told] = json.loads(run("compare_control", "-d", "3", "--platt", "loo", "--json", "train",
                            "tuned.mbc")[1])["rows"]
    if words:
        assert told["accuracy"] == found["whole"]["tuned"]["accuracy"]
        assert "whole configuration" in err and "partition" in err
    else:
        best = found["points"][found["best"]]
        assert told["accuracy"]["mean"] == best["score"] and best["options"] in err
        assert "one-vs-one, inverse" in err


def test_control_from_a_pipe_and_rows_of_their_own(run):
    control = run("print_control", "train")[1].replace('""', '"-c 3"', 1)
    _, text, _ = run("tune_m", *QUICK, "-Q", "vote", "-", "train", stdin=control)
    rows = [line for line in text.splitlines() if line.startswith('"')]
    assert rows[0] == '"-c 3" 0 / 1;' and len(set(row.split('"')[1] for row in rows[1:])) == 1


def test_same_bytes_for_all_threads_and_after_a_resume(run):
    words = [*QUICK, "one-vs-rest", "train", "--csv"]
    one = run("tune_m", *words, "one.csv", "--no-state")
    two = run("tune_m", *words, "two.csv", "-j", "2", "--state", "state")
    again = run("tune_m", *words, "again.csv", "--state", "state")
    assert one == two and again[:2] == one[:2]
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes() == \
        Path("again.csv").read_bytes()
    assert "of an earlier run" in again[2]
    rows = list(csv.DictReader(Path("one.csv").open()))
    chosen = [row for row in rows if row["chosen"] == "1"]
    assert len(chosen) == 1 and f'"{chosen[0]["options"]}" ' in one[1]


def test_killed_and_started_again(run, monkeypatch):
    words = [*QUICK, "--refine", "2", "one-vs-one", "train", "--json"]
    whole = run("tune_m", *words, "whole.json", "--no-state")
    code = "import sys; from agfmc.cli import main_of; sys.exit(main_of('tune_m')())"
    process = subprocess.Popen([sys.executable, "-c", code, *words, "killed.json"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env={**os.environ, "PYTHONPATH": str(ROOT)})
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline and not results_on_disk():
        time.sleep(0.005)
    process.kill()
    assert process.communicate()[0] == b"" and process.returncode == -signal.SIGKILL
    assert not Path("killed.json").exists() and left_behind()
    trained = []
    fit = binary_problems.fit
    monkeypatch.setattr(binary_problems, "fit", lambda jobs, *args, **more: trained.extend(jobs)
                        or fit(jobs, *args, **more))
    again = run("tune_m", *words, "killed.json")
    assert again[:2] == whole[:2] and left_behind() == []
    assert Path("killed.json").read_bytes() == Path("whole.json").read_bytes()
    points = json.loads(Path("whole.json").read_text())["tried"]
    assert 0 < len(trained) < 3 * 3 * points
    assert "of an earlier run" in again[2]


def test_time_limit(run, monkeypatch):
    words = [*QUICK, "one-vs-one", "train"]
    status, text, err = run("tune_m", *words, "--time-limit", "0")
    assert (status, text) == (3, "")
    assert "time limit reached before anything was finished" in err
    clock = SimpleNamespace(monotonic=itertools.count().__next__)  # a second at each look
    with monkeypatch.context() as patch:
        patch.setattr("agfmc.cli.tune_m.time", clock)
        patch.setattr("agfmc.experiments.tuning.time", clock)
        status, text, err = run("tune_m", *words, "--time-limit", "60")
    assert status == 3 and text.count('"-g ') + text.count('"-c ') == 3
    assert "the best of which is written; the same command continues from there" in err
    assert len(left_behind()) == 1
    _, text, err = run("tune_m", *words, "--time-limit", "1000")
    assert "reused" in err and left_behind() == []
    assert text == run("tune_m", *words)[1]


def test_quiet_and_pictures(run):
    pytest.importorskip("matplotlib")
    _, text, err = run("tune_m", *QUICK, "--quiet", "--kernels", "linear,rbf,polynomial",
                            "--degrees", "2", "--plot", "all.png", "one-vs-one", "train")
    assert err == ""
    assert Path("all.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("failing", ["all.csv", "all.svg"])
def test_outputs_appear_together(run, monkeypatch, failing):
    pytest.importorskip("matplotlib")
    outputs = {"--json": "all.json", "--csv": "all.csv", "--plot": "all.svg"}
    words = [*QUICK, *itertools.chain(*outputs.items()), "one-vs-one", "train"]
    for name in outputs.values():
        Path(name).write_text("old")
    replace = os.replace

    def refusing(source, target):
        if os.path.basename(target) == failing and Path(source).read_bytes() != b"old":
            raise OSError(28, "No space left on device")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refusing)
        status, text, err = run("tune_m", *words)
    assert (status, text) == (1, "") and f"{failing}: cannot write: No space left" in err
    assert {Path(name).read_text() for name in ("all.json", "all.csv")} == {"old"}
    status, _, err = run("tune_m", *words)  # what was found is not lost
    assert status == 0 and "of an earlier run" in err
    assert "old" not in {Path(name).read_text() for name in outputs.values()}


@pytest.mark.parametrize("words, status, message", [
    (("-+", "-s 1", "one-vs-one", "train"), 2, "a nu-SVC has no C to search"),
    (("-+", "-x", "one-vs-one", "train"), 2, "unknown training option '-x'"),
    (("--log2c", "3:1", "one-vs-one", "train"), 2, "exponents of 2 from low to high"),
    (("--log2c", "1:2:3:4", "one-vs-one", "train"), 2, "expected LO:HI[:STEP]"),
    (("--log2g", "0:5:0", "one-vs-one", "train"), 2, "expected a step"),
    (("--degrees", "3:2", "one-vs-one", "train"), 2, "expected LO:HI"),
    (("--kernels", "rbf,cubic", "one-vs-one", "train"), 2, "expected rbf, linear, polynomial"),
    (("--by", "brier", "tree", "train"), 2, "the decoder gives no brier all"),
    (("-Q", "inverse,vote", "one-vs-one", "train"), 2, "no decoder"),
    (("--per-partition", "--plot", "x.png", "one-vs-one", "train"), 2, "one search"),
    (("-", "-"), 2, "cannot both be standard input"),
    (("one-vs-two", "train"), 2, "there is no file 'one-vs-two'"),
    (("own.mbc", "train"), 2, "there is nothing to tune"),
    (("nu.mbc", "train", "--platt", "loo"), 2, "nu.mbc:2:1: --platt loo is for C-SVC only"),
    (("one-vs-one", "nowhere"), 1, "nowhere"),
    (("one-vs-one", "nowhere", "--json", "no/where.json"), 1, "no/where.json: cannot write"),
    (("own.mbc", "train", "--json", "train.vec"), 2, "train.vec would overwrite an input"),
    (("own.mbc", "train", "--csv", "./own.mbc"), 2, "own.mbc would overwrite an input"),
    (("own.mbc", "train", "--csv", "a", "--json", "./a"), 2, "two outputs would go to a"),
    (("one-vs-one", "nowhere", "--csv", "-"), 2, "standard output has the control file")])
def test_errors_are_one_line(run, words, status, message):
    Path("own.mbc").write_text('"-c 1" 0 / 1; "-c 1" 1 / 2; {2 5 9}')
    Path("nu.mbc").write_text('"" 0 / 1;\n"-s 1" 1 / 2; {2 5 9}')
    code, text, err = run("tune_m", *QUICK, "--quiet", *words)
    assert (code, text) == (status, "") and message in err and err.count("\n") == 1, err
    assert err.startswith("tune_m: ")

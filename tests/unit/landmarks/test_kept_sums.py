"""Sums of ranges that are kept in files: what goes on from them, and what does not."""

import math
import os
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.control.build import from_rows
from agfmc.core.errors import AgfmcWarning, CommandFailed, DataError, UsageError
from agfmc.data import reading
from agfmc.landmarks.sums_file import SumsReader
from agfmc.landmarks import sums, sums_file
from agfmc.training import run
from agfmc.training.fit import TrainingSettings
from agfmc.training.plan import Output, plan, Source
from agfmc.training.run import PreviousRun, finished, make_range_sums, ranges_of, train
from data_files import write_cls, write_vec
from own_warnings import own_warnings, texts_of

ROWS = {
    "pairs": [((a,), (b,)) for a in range(4) for b in range(a + 1, 4)],
    "rest": [((0,), (1, 2, 3)), ((0, 1), (2, 3))],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sums, "_RANGE", (32, 32))
    write(1)


def write(seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(200) % 4)
    write_vec("trn.vec", rng.normal(size=(200, 3)) + 2.0 * np.eye(4, 3)[y])
    write_cls("trn.cls", y)


def planned(rows="pairs", base="m", only=None, **settings):
    return plan(
        Source(from_rows(ROWS[rows], range(4), {}), "trn"),
        Output(base, only=only),
        TrainingSettings(**{"options": "learner=nystrom -m 12 -g .3", **settings}),
    )


def models(base="m"):
    return {
        path.name[len(base) :]: path.read_bytes()
        for path in Path().glob(f"{base}[-.]*")
        if ".sums" not in path.name
    }


def sums_files():
    return sorted(path.name for path in Path().glob("*.sums*"))


def counted(monkeypatch):
    """The ranges that are made from now on."""
    made, make = [], sums.range_sums

    def range_sums(problem, item):
        made.append(item[0])
        return make(problem, item)

    monkeypatch.setattr(sums, "range_sums", range_sums)
    return made


def stopped_after(monkeypatch, count):
    """Training ends, as by a signal, when so many sums are there."""
    add = sums_file.GroupSums.add

    def adds(self, number, *rest):
        nonlocal count
        count -= 1
        if count < 0:
            raise KeyboardInterrupt
        add(self, number, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(sums_file.GroupSums, "add", adds)
        with pytest.raises(KeyboardInterrupt):
            train(planned())


@pytest.fixture
def whole():
    train(planned(base="w"))
    assert sums_files() == []
    return {name: content for name, content in models("w").items()}


@pytest.mark.few(2)
@pytest.mark.parametrize("count", [1, 4, 13, 27])
def test_goes_on_from_finished_ranges(whole, monkeypatch, count):
    stopped_after(monkeypatch, count)
    assert sums_files() == ["m.sums-0"] and not models()
    made = counted(monkeypatch)
    assert train(planned()).done == 6
    assert len(made) == 4 * 7 - count and models() == whole and sums_files() == []


def test_written_now_and_then(whole, monkeypatch):
    monkeypatch.setattr(sums_file, "_PAUSE", 1e-9)
    monkeypatch.setattr(sums_file, "_TIMES", 0)
    monkeypatch.setattr(run, "_SAVE_BUDGET_S", -1.0)  # as if killed
    stopped_after(monkeypatch, 9)
    assert SumsReader("m.sums-0").spans == {(0,): (0, 3), (1,): (0, 2), (2,): (0, 2), (3,): (0, 2)}
    made = counted(monkeypatch)
    train(planned())
    assert len(made) == 4 * 7 - 9 and models() == whole


@pytest.mark.parametrize("rows", ROWS)
def test_ranges_made_by_other_runs_in_any_order(monkeypatch, rows):
    train(planned(rows, "w"))
    (count,) = ranges_of(planned(rows))
    for number in reversed(range(count)):
        if number != 2:
            assert make_range_sums(planned(rows), 0, number)
    assert not make_range_sums(planned(rows), 0, 1)
    made = counted(monkeypatch)
    train(planned(rows))
    assert set(made) == {2} and models() == models("w") and sums_files() == []
    assert not make_range_sums(planned(rows), 0, 1) and sums_files() == []


def test_only_what_belongs_to_these_points(monkeypatch):
    stopped_after(monkeypatch, 9)
    make_range_sums(planned(), 0, 5)
    write(2)
    made = counted(monkeypatch)
    train(planned())
    assert len(made) == 4 * 7 and sums_files() == []
    train(planned(base="w"))
    assert models() == models("w")


@pytest.mark.parametrize(
    "settings", [{"seed": 2}, {"options": "learner=nystrom -m 11 -g .3"}, {"scale": True}]
)
def test_only_what_belongs_to_these_options(monkeypatch, settings):
    stopped_after(monkeypatch, 9)
    make_range_sums(planned(), 0, 5)
    made = counted(monkeypatch)
    train(planned(**settings))
    assert len(made) == 4 * 7


@pytest.mark.parametrize("words", ["-l 2", "--loo 100", "-l auto --loo all"])
def test_sums_serve_any_lambda(monkeypatch, words):
    stopped_after(monkeypatch, 9)
    make_range_sums(planned(), 0, 5)
    made, options = counted(monkeypatch), f"learner=nystrom -m 12 -g .3 {words}"
    train(planned(options=options))
    assert len(made) == 4 * 7 - 9 - 4
    train(planned(base="w", options=options))
    assert models() == models("w")


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["m.sums-0", "m.sums-0-3"])
@pytest.mark.parametrize("place", [240, 1000])
def test_damaged_sums_are_made_again(whole, monkeypatch, name, place):
    if name == "m.sums-0":
        stopped_after(monkeypatch, 9)
    else:
        make_range_sums(planned(), 0, 3)
    raw = bytearray(Path(name).read_bytes())
    raw[place] ^= 1
    Path(name).write_bytes(raw)
    with pytest.warns(AgfmcWarning, match=f"^{name}: .*; its sums are made again$"):
        train(planned())
    assert models() == whole and sums_files() == []


def test_retrained_without_them(whole, monkeypatch):
    stopped_after(monkeypatch, 9)
    made = counted(monkeypatch)
    train(planned(), earlier=PreviousRun(sums=False))
    assert len(made) == 4 * 7 and models() == whole and sums_files() == []


def test_one_model_alone_leaves_them(monkeypatch):
    stopped_after(monkeypatch, 9)
    train(planned(only="m-01"))
    assert sums_files() == ["m.sums-0"] and finished(planned()) == {"m-01"}


def test_folder_that_cannot_be_written_to(whole, monkeypatch):
    def fails(*_):
        raise sums_file.DataError("cannot write: full", file="m.sums-0")

    monkeypatch.setattr(sums_file, "_PAUSE", 1e-9)
    monkeypatch.setattr(sums_file, "_TIMES", 0)
    monkeypatch.setattr(sums_file, "write_sums", fails)
    with own_warnings() as told:
        train(planned())
    (text,) = texts_of(told)
    assert "full: sums of finished ranges are not kept" in text and models() == whole


def test_groups_and_ranges_that_are_not_there():
    with pytest.raises(UsageError, match="no group 1 .* from 0 to 0$"):
        make_range_sums(planned(), 1, 0)
    with pytest.raises(UsageError, match="no range 7: expected a number from 0 to 6$"):
        make_range_sums(planned(), 0, 7)
    with pytest.raises(UsageError, match="no classifiers of this configuration share landmarks"):
        make_range_sums(planned(options="-c 1"), 0, 0)


def test_files_of_others_stay():
    for name in ("m.sums-0", "m.sums-0-1", "m.sums-0-x"):
        Path(name).write_text("mine")
    os.mkdir("m.sums-0-2")
    with pytest.warns(AgfmcWarning, match="is damaged, or not a file of sums"):
        train(planned())
    assert sums_files() == ["m.sums-0", "m.sums-0-1", "m.sums-0-2", "m.sums-0-x"]


def test_progress_tells_what_is_done(monkeypatch):
    def told():
        calls = []
        train(planned(), lambda *call: calls.append(call))
        assert [call[0] for call in calls] == sorted(call[0] for call in calls)
        assert all(call[1] == 100_000 for call in calls) and calls[-1][0] == 100_000
        return calls

    words = [call[2] for call in told()]
    assert words == [
        *(f"sums of range {i} of 7" for i in range(1, 8) for _ in range(4)),
        *(f"{i} of 6 classifiers" for i in range(1, 7)),
    ]
    for path in Path().glob("m-0*"):
        path.unlink()
    stopped_after(monkeypatch, 25)
    assert [call[2] for call in told()][:4] == 3 * ["sums of range 7 of 7"] + ["1 of 6 classifiers"]


def test_time_limit_between_classifiers(whole, monkeypatch):
    done = []
    with monkeypatch.context() as patch:
        patch.setattr(
            run, "time", SimpleNamespace(monotonic=lambda: math.inf if len(done) >= 2 else 0.0)
        )
        made = train(planned(), deadline=time.monotonic() + 1000, held_out=done.append)
    assert made.stopped and 2 <= made.done < 6 and len(finished(planned())) == made.done
    assert train(planned(), earlier=PreviousRun(frozenset(finished(planned())))).done == 6
    assert models() == whole and sums_files() == []


def test_lost_task_ends_training_in_one_line(monkeypatch):
    monkeypatch.setattr(
        sums,
        "run_remote",
        lambda *_, **more: iter([((0, 0, 32, (0,)), CommandFailed("sums of rows 0 to 31: gone"))]),
    )
    with pytest.raises(CommandFailed, match="sums of rows 0 to 31: gone"):
        train(planned(), workers=object())


def test_files_of_groups_that_are_no_more_go():
    make_range_sums(planned(), 0, 0)
    Path("m.sums-0-0").rename("m.sums-3-0")
    Path("m.sums-4").write_text("a file of the user's")
    make_range_sums(planned(base="m2"), 0, 0)
    train(planned())
    assert sums_files() == ["m.sums-4", "m2.sums-0-0"]


@pytest.mark.parametrize("after", [0, 3])
def test_file_that_changes_while_sums_go_on(monkeypatch, after):
    """Also where the digests of the points are known before the training."""
    monkeypatch.setattr(reading, "_LAZY", 0)
    work, made = planned(), []
    assert finished(work) == set()
    work.origins(work.jobs[0])
    make = sums.range_sums

    def range_sums(problem, item):
        made.append(item)
        if len(made) == after + 1:
            os.utime("trn.vec", (1, 1))
        return make(problem, item)

    monkeypatch.setattr(sums, "range_sums", range_sums)
    with pytest.raises(DataError, match="trn.vec: .*changed"):
        train(work)
    assert models() == {}

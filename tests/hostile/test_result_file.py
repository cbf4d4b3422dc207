"""The file of unfinished work, from a stranger or a bad disk: one line, or a right result."""

import json
import os
import random
import subprocess
import sys
import tempfile
import warnings
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agfmc.errors import AgfmcWarning, DataError
from agfmc.experiments import result_cache as room
from agfmc.experiments.result_cache import are_numbers, ResultCache, ResultFolder
from agfmc.experiments.binary_problems import Trained
from agfmc.experiments.trial import Outcome
from agfmc.score.scores import SCORES

VALUES = {f"key {i}": bytes([i]) * (40 * i) for i in range(1, 12)}


@pytest.fixture
def state(tmp_path):
    path = tmp_path / "state"
    with ResultCache(str(path), keep=True) as ledger:
        for key, value in VALUES.items():
            ledger.put(key, value)
    return path


def use(path, keep=True):
    """Everything a run does with the file; -> values that are not what was put, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AgfmcWarning)
        try:
            with ResultCache(str(path), keep=keep) as ledger:
                found = {key: ledger.get(key) for key in VALUES}
                ledger.put("new", b"value")
                ledger.flush()
        except DataError as error:
            assert "\n" not in str(error)
            return "refused"
    wrong = {key for key, value in found.items() if value not in (None, VALUES[key])}
    assert not wrong
    return "used" if all(value is None for value in found.values()) else "believed"


def damaged(raw, rng, count):
    """Files with bytes flipped, set, left out, or cut off."""
    for at in rng.sample(range(len(raw)), min(count, len(raw))):
        for bits in (0x01, 0x80, 0xFF):
            yield raw[:at] + bytes([raw[at] ^ bits]) + raw[at + 1:]
        yield raw[:at]
        yield raw[:at] + raw[at + 1:]
        yield raw[:at] + bytes(min(64, len(raw) - at)) + raw[at + 64:]


def attack(state, count):
    raw = state.read_bytes()
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # no waiting for a disk
    ends = {"refused": 0, "used": 0, "believed": 0}
    with tempfile.TemporaryDirectory(dir=folder) as folder:
        for data in damaged(raw, random.Random(1), count):
            path = Path(folder) / "state"
            path.write_bytes(data)
            ends[use(path)] += 1
    assert ends["used"] and ends["believed"]
    return ends


def test_damaged_files(state):
    attack(state, 60)


@pytest.mark.long
def test_damage_at_every_byte(state, capsys):
    ends = attack(state, 10**9)
    with capsys.disabled():
        print(f"\n{sum(ends.values())} damaged files of unfinished work: {ends}")


@pytest.mark.parametrize("lengths", [(1, 2**32 - 1), (2**32 - 1, 1), (2**31, 2**31)])
def test_lengths_that_lie(state, lengths):
    """Nothing is read, or taken from memory, that is not there."""
    with open(state, "r+b") as file:
        file.seek(16)
        file.write(bytes(4) + b"".join(length.to_bytes(4, "little") for length in lengths))
        file.truncate(2**33)  # no blocks: a claim
    assert use(state) == "used"


def test_values_too_large_are_not_read(state, monkeypatch):
    monkeypatch.setattr(room, "_LARGEST", 3)
    with ResultCache(str(state), keep=True) as ledger:
        ledger.put("long", b"long")
        ledger.put("all", b"all")
        ledger.flush()
        assert ledger.get("long") is None and ledger.get("all") == b"all"
        assert ledger.get("key 1") is None  # it was there, and longer


@pytest.fixture
def folder(tmp_path):
    with ResultFolder(str(tmp_path / "folder"), "d") as cache:
        for key, value in VALUES.items():
            cache.put(key, value)
    return tmp_path / "folder"


def test_damaged_files_of_a_folder(folder):
    """A right result, or none: also a file under the name of another one, and one that is none."""
    path = folder / "11" / "key 11"
    raw = path.read_bytes()
    others = [(folder / key[-2:] / key).read_bytes() for key in VALUES if key != "key 11"]
    with ResultFolder(str(folder), "d") as cache:
        for data in [*damaged(raw, random.Random(1), 60), *others]:
            path.write_bytes(data)
            assert cache.get("key 11") in ([None] if data != raw else [VALUES["key 11"]])
        path.write_bytes(raw)
        assert cache.get("key 11") == VALUES["key 11"]


@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "link", "huge"])
def test_what_is_no_file_in_a_folder(folder, kind):
    path = folder / "11" / "key 11"
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "huge":
        with open(path, "wb") as file:
            file.truncate(2**40)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else "../10/key 10")
    with ResultFolder(str(folder), "d") as cache:
        assert cache.get("key 11") is None
        assert cache.get("key 10") == VALUES["key 10"]
        if kind != "folder":
            cache.put("key 11", b"value")
            assert cache.get("key 11") == b"value"


@pytest.mark.parametrize("kind", ["fifo", "device", "null", "folder", "loop", "nowhere"])
def test_what_is_no_file(tmp_path, kind):
    path = tmp_path / "state"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind in ("device", "null"):
        path.symlink_to("/dev/zero" if kind == "device" else "/dev/null")
    elif kind == "loop":
        path.symlink_to("state")
    else:
        path = tmp_path / "none" / "state"
    with pytest.raises(DataError, match="cannot keep finished work here") as caught:
        ResultCache(str(path), keep=True)
    assert "Errno" not in str(caught.value)


def test_odd_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "file:x?mode=memory", "-x", " ", "a?b#c%41", "na\udcffme"):
        for _ in range(2):
            with ResultCache(name, keep=True) as ledger:
                found = ledger.get("k")
                ledger.put("k", b"value")
        assert found == b"value" and os.path.isfile(name), name


def test_a_file_that_may_not_be_written(state):
    os.chmod(state, 0o400)
    if os.access(state, os.W_OK):
        pytest.skip("the super-user writes everywhere")
    assert use(state) == "refused"


FULL = """
import resource, signal, sys, warnings
from agfmc.errors import AgfmcWarning, DataError
from agfmc.experiments.result_cache import ResultCache
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
warnings.simplefilter("always")
with warnings.catch_warnings(record=True) as told:
    try:
        with ResultCache(sys.argv[1], keep=True) as ledger:
            for i in range(30):
                ledger.put(f"more {i}", bytes(1000))
                ledger.flush()
    except DataError as error:
        print(str(error).count(chr(10)), "error", error)
    for warning in told:
        assert warning.category is AgfmcWarning, warning
        print(str(warning.message).count(chr(10)), "warning", warning.message)
"""


@pytest.mark.parametrize("size", [0, 100, 4096, 8192, 12288, 20000])
def test_a_full_disk(state, root, size):
    done = subprocess.run([sys.executable, "-c", FULL, str(state), str(size)], cwd=root,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1 and done.stdout.startswith("0 "), done.stdout
    assert "the limit of the shell for the size of a file (ulimit -f)" in done.stdout
    assert use(state) == "believed"


GOOD = {name: 0.5 for name in SCORES}


COUNTS = [3.0, 7.5]  # classifiers and kernel values asked per point


@pytest.mark.parametrize("head", [
    [], [1, 2, 3], 5, None, "text", {}, ["3", 0.1, 0.1, GOOD, True, *COUNTS],
    [3, None, 0.1, GOOD, True, *COUNTS],
    [3, 0.1, True, GOOD, True, *COUNTS], [3, 0.1, 0.1, [], True, *COUNTS],
    [3, 0.1, 0.1, None, True, *COUNTS], [3, 0.1, 0.1, 7, True, *COUNTS],
    [3, 0.1, 0.1, list(SCORES), True, *COUNTS], [3, 0.1, 0.1, GOOD, 1, *COUNTS],
    [3, 0.1, 0.1, {**GOOD, "accuracy": "0.5"}, True, *COUNTS], [3, 0.1, 0.1, GOOD],
    [3, 0.1, 0.1, {**GOOD, "accuracy": [1]}, True, *COUNTS],
    [3, 0.1, 0.1, {**GOOD, "accuracy": 10**400}, True, *COUNTS],
    [3, 1e308 * 10, 0.1, GOOD, True, *COUNTS], [3, 0.1, 0.1, {**GOOD, "more": 1}, True, *COUNTS],
    [3, 0.1, 0.1, GOOD, True], [3, 0.1, 0.1, GOOD, True, 3.0], [3, 0.1, 0.1, GOOD, True, None, 7.5],
    [3, 0.1, 0.1, GOOD, True, 3.0, "7"], [3, 0.1, 0.1, GOOD, True, 3.0, 7.5, 1]], ids=range(25))
def test_outcomes_of_wrong_types(head):
    packed = zlib.compress(bytes(16 * 4))
    truth, labels = np.array([0, 1, 1, 0]), np.array([0, 1])
    whole = json.dumps([3, 0.1, 0.1, GOOD, True, *COUNTS]).encode() + b"\n"
    good = whole + packed
    assert Outcome.from_bytes(0, "d", good, truth, labels).kernel_values == 7.5
    assert Outcome.from_bytes(0, "d", json.dumps(head).encode() + b"\n" + packed, truth,
                              labels) is None
    assert Outcome.from_bytes(0, "d", good[:-1], truth, labels) is None
    assert Outcome.from_bytes(0, "d", good, truth[:3], labels) is None
    for wrong in (np.full(4, 7, "<i4").tobytes() + bytes(48),  # a class that there is not
                  bytes(16) + np.full(12, np.inf, "<f4").tobytes()):
        assert Outcome.from_bytes(0, "d", whole + zlib.compress(wrong), truth, labels) is None
    assert Outcome.from_bytes(0, "d", b"[" * 10**6, truth, labels) is None


@pytest.mark.parametrize("at, value", [
    (0, -1), (0, 2**62), (0, True), (0, None), (0, 1.0), (1, None), (1, "0"), (1, float("nan")),
    (2, [0, 2]), (2, "01"), (2, None), (3, [2, 2]), (3, [-1, 4]), (3, None), (3, [3]),
    (4, [1.0]), (4, ["a", "b"]), (4, None), (4, [float("inf"), 0.0]), (5, "1"), (5, [1]),
    (6, [1]), (6, [-1, 2]), (6, [2**40, 2**40]), (6, "ab"), (6, [1, 2]), (7, None), (7, 4),
    (7, -5), (7, 5.0), (7, "5")])
def test_classifiers_of_wrong_types(at, value):
    trained = Trained(np.arange(3), np.ones(3), 0.5, (0, 1), (1, 2), (-1.0, 0.0), 0.1,
                      values=np.zeros(5, dtype=np.float32))
    raw = trained.to_bytes()
    assert Trained.from_bytes(raw, 3).n_sv == (1, 2)
    assert Trained.from_bytes(raw, 2) is None
    size = int.from_bytes(raw[:4], "little")
    head = json.loads(raw[4:4 + size])
    head[at] = value
    text = json.dumps(head).encode()
    assert Trained.from_bytes(len(text).to_bytes(4, "little") + text + raw[4 + size:], 3) is None
    for bad in (np.nan, np.inf):
        forged = Trained(np.arange(3), np.array([1, bad, 1]), 0.5, (0, 1), (1, 2), (0.0, 0.0), 0.1)
        assert Trained.from_bytes(forged.to_bytes(), 3) is None
        forged = replace(trained, values=np.array([0, bad], dtype=np.float32))
        assert Trained.from_bytes(forged.to_bytes(), 3) is None


def test_numbers_of_wrong_types():
    assert are_numbers(1, 2.0) and not are_numbers(True) and not are_numbers("1")


@pytest.fixture
def points(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    y = np.arange(60) % 3
    x = rng.normal(size=(60, 2)) + 2 * np.eye(3)[y][:, :2]
    (tmp_path / "d.vec").write_bytes(np.int32(2).tobytes() + x.astype("<f4").tobytes())
    (tmp_path / "d.cls").write_bytes(y.astype("<i4").tobytes())


def test_forged_costs_of_splits_are_computed_again(run, points):
    words = ["-Q", "best-tree", "--state", "st", "d"]
    expected = run("print_control", *words).out
    for forge in (lambda value: value[:8], lambda value: value[:len(value) // 2],
                  lambda value: 2 * value, lambda value: np.full(len(value) // 8, 1e308).tobytes(),
                  lambda value: np.full(len(value) // 8, np.nan).tobytes()):
        with ResultCache("st", keep=True) as cache:
            for key in list(cache._places):
                cache.put(key.decode(), forge(cache.get(key.decode())))
        done = run("print_control", *words)
        assert done.out == expected and "encountered" not in done.err


def test_forged_values_through_a_command(run, points):
    """A state file of right keys whose values are someone else's: the same table as without."""
    words = ["-d", "2", "--state", "st", "--csv", "d", "one-vs-one"]

    def table():
        lines = run("compare_control", *words).out.splitlines()
        return [[cell for cell, name in zip(line.split(","), lines[0].split(","))
                 if not name.startswith(("train", "test", "classify"))] for line in lines]

    want = table()
    forged = [b"", b"{}", b"null", b"[" * 100_000, b"[3, 0, 0, {}]\n", bytes(1000),
              json.dumps([3, "a", 0, {name: "x" for name in SCORES}]).encode() + b"\n"
              + zlib.compress(bytes(120)), zlib.compress(bytes(10**7))]
    for value in forged:
        with ResultCache("st", keep=True) as cache:
            for key in list(cache._places):
                cache.put(key.decode(), value)
        assert table() == want

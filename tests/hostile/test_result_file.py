"""Files of finished work, from a stranger or a bad disk: one line, or a right result."""

import json
import os
import random
import subprocess
import sys
import warnings
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from agfmc.core.answers import Results
from agfmc.core.errors import DataError
from agfmc.files import result_store as room
from agfmc.experiments.binary_problems import Trained
from agfmc.files.result_store import to_record
from agfmc.files.result_store import Record, ResultCache
from agfmc.experiments.trial import Outcome
from agfmc.score.rows import SCORES

VALUES = {
    f"key {i}": Record(i, {"x": np.arange(40.0 * i), "y": np.ones((2, i), "<f4")})
    for i in range(10, 13)
}


@pytest.fixture
def path(tmp_path):
    with ResultCache(str(tmp_path / "folder"), keep=True) as cache:
        for key, value in VALUES.items():
            cache.put(key, value)
    return Path(cache.path)


def damaged(raw, rng, count):
    """Files with bytes flipped, set, left out, or cut off."""
    for place in rng.sample(range(len(raw)), min(count, len(raw))):
        for bits in (0x01, 0x80, 0xFF):
            yield raw[:place] + bytes([raw[place] ^ bits]) + raw[place + 1 :]
        yield raw[:place]
        yield raw[:place] + raw[place + 1 :]
        yield raw[:place] + bytes(min(64, len(raw) - place)) + raw[place + 64 :]


def is_right(key, record):
    expected = VALUES[key]
    return (
        record is None
        or record.head == expected.head
        and all(
            np.array_equal(record.arrays[name], array) for name, array in expected.arrays.items()
        )
    )


def attack(path, count):
    """Right results, or none; and others go on with the file."""
    raw = path.read_bytes()
    lost = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in [*damaged(raw, random.Random(1), count), b"", b"agfmc-1\n", bytes(10**6)]:
            path.write_bytes(data)
            with ResultCache(str(path.parent), keep=True) as cache:
                records = [cache.get(key) for key in VALUES]
                assert all(map(is_right, VALUES, records))
                lost += records.count(None)
                cache.put("more", Record("more"))
                assert cache.get("more").head == "more"
    assert lost


def test_damaged_files(path):
    attack(path, 60)


@pytest.mark.long
def test_damage_at_every_byte(path):
    attack(path, 10**9)


def body(text, arrays=b""):
    return len(text).to_bytes(8, "little") + text + arrays


@pytest.mark.parametrize(
    "content",
    [
        body(b'[null, [["x", "<f8", [1099511627776]]]]'),
        body(b'[null, [["x", "<f8", [-1, -1]]]]', bytes(8)),
        body(b'[null, [["x", "<f8", [-1]]]]', bytes(8)),
        body(b'[null, [["x", "|O", [1]]]]', bytes(8)),
        body(b'[null, [["x", "(9,)<f8", [1]]]]', bytes(72)),
        body(b'[null, [["x", "<f8", [1]]]]', bytes(9)),
        body(b'[null, [["x", "<f8", [1.0]]]]', bytes(8)),
        body(b'[null, [["x", "<f8", [0, -1]]]]'),
        body(b'[null, [["x", "<f8", 1]]]', bytes(8)),
        body(b'[null, [[[], "<f8", [1]]]]', bytes(8)),
        body(b'[null, [["x", "f9", [1]]]]', bytes(8)),
        body(b"[null]"),
        body(b"[" * 100_000),
        body(b"text"),
        b"\xff" * 100,
        b"",
    ],
    ids=range(16),
)
def test_bodies_that_lie(content):
    """Nothing is run, and no memory is taken for what is not there."""
    with pytest.raises(ValueError):
        Record.from_bytes(content)


def test_heads_that_lie(path):
    """A body beyond the end of the file, or larger than any: the next record takes its place."""
    size = path.stat().st_size
    for key, length in (("forged", 2**63), ("large", 2**29)):
        with path.open("r+b") as file:
            file.seek(0, 2)
            head = room._HEAD.pack(
                room._MAGIC, sha256(key.encode()).digest(), False, length, bytes(16)
            )
            file.write(head + room._digest(head, room._CHECK))
            if length < 2**32:
                file.truncate(size + 100 + length)
        with ResultCache(str(path.parent), keep=True) as cache:
            assert cache.get(key) is None and is_right("key 12", cache.get("key 12"))
            cache.put(key, Record("value"))
            assert cache.get(key).head == "value"


@pytest.mark.parametrize("kind", ["fifo", "device", "null", "file", "loop", "nowhere"])
def test_what_is_no_folder(tmp_path, kind):
    path = tmp_path / "state"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind in ("device", "null"):
        path.symlink_to("/dev/zero" if kind == "device" else "/dev/null")
    elif kind == "loop":
        path.symlink_to("state")
    elif kind == "file":
        path.write_text("")
    else:
        path = tmp_path / "na\0me"
    with pytest.raises(DataError, match="cannot keep finished work here") as caught:
        ResultCache(str(path), keep=True)
    assert "Errno" not in str(caught.value) and "\n" not in str(caught.value)


def test_odd_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "-x", " ", "a?b#c%41", "na\udcffme", "new/inside/"):
        for _ in range(2):
            with ResultCache(name, keep=True) as cache:
                record = cache.get("k")
                cache.put("k", Record("value"))
        assert record.head == "value" and os.path.isdir(name), name


FULL = """
import resource, signal, sys
from agfmc.files.result_store import Record, ResultCache
import numpy as np
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
sys.path.append("tests/support")
from own_warnings import own_warnings
with own_warnings() as told:
    with ResultCache(sys.argv[1], keep=True) as cache:
        for i in range(30):
            cache.put(f"more {i}", Record(i, {"x": np.zeros(100 * i)}))
    for warning in told:
        print(str(warning.message).count(chr(10)), "warning", warning.message)
"""


@pytest.mark.parametrize("size", [0, 100, 4096, 8192])
def test_a_full_disk(path, root, size):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path.parent), str(size)],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1 and done.stdout.startswith("0 "), done.stdout
    assert "the limit of the shell for the size of a file (ulimit -f)" in done.stdout
    with ResultCache(str(path.parent), keep=True) as cache:
        assert cache.get("key 11").head == 11


GOOD = {name: 0.5 for name in SCORES}


OUTCOME = Outcome(
    0,
    "d",
    3,
    0.1,
    0.1,
    GOOD,
    classes=np.zeros(4, int),
    forecasts=np.zeros((3, 4)),
    calibrated=True,
    queried=3.0,
    kernel_values=7.5,
)


def stored(value):
    """A dataclass as a record that was in a file."""
    head, arrays = to_record(value)
    return Record(json.loads(json.dumps(head)), arrays)


def outcome(head, arrays, truth=np.array([0, 1, 1, 0])):
    return Outcome.from_record(
        0, "d", Record(head, arrays), Results(truth, truth[:0], np.array([0, 1]))
    )


@pytest.mark.parametrize(
    "head",
    [
        [],
        [1, 2, 3],
        5,
        None,
        "text",
        {},
        {"more": 1},
        *(
            {name: value}
            for name, values in {
                "classifiers": ("3", 0.5),
                "train_s": (None, float("inf")),
                "classify_s": (True,),
                "scores": (
                    [],
                    None,
                    7,
                    list(SCORES),
                    {**GOOD, "accuracy": "0.5"},
                    {**GOOD, "more": 1},
                    {**GOOD, "accuracy": [1]},
                    {**GOOD, "accuracy": 10**400},
                ),
                "calibrated": (1,),
                "queried": (None,),
                "kernel_values": ("7",),
                "classes": (None, 0, [], "9"),
                "forecasts": (None, "9", {}),
            }.items()
            for value in values
        ),
    ],
    ids=str,
)
def test_outcomes_of_wrong_types(head):
    good, arrays = stored(OUTCOME)
    assert outcome(good, arrays).kernel_values == 7.5
    assert outcome({**good, **head} if head and isinstance(head, dict) else head, arrays) is None


def test_outcomes_of_wrong_arrays():
    head, arrays = stored(OUTCOME)
    assert outcome(head, arrays, np.array([0, 1, 1])) is None
    for name, wrong in (
        ("classes", np.full(4, 7, "<i4")),  # a class that there is not
        ("forecasts", np.full((3, 4), np.inf, "<f4")),
        ("classes", np.zeros(4)),
        ("forecasts", np.zeros((4, 3), "<f4")),
    ):
        assert outcome(head, {**arrays, head[name]: wrong}) is None
    assert outcome(head, {}) is None


TRAINED = Trained(
    np.arange(3),
    np.ones(3),
    0.5,
    (0, 1),
    (1, 2),
    (-1.0, 0.0),
    0.1,
    values=np.zeros(5, dtype=np.float32),
)


@pytest.mark.parametrize(
    "name, value",
    [
        (name, value)
        for name, values in {
            "rho": (None, "0", float("nan")),
            "labels": ([0, 2], "01", None),
            "n_sv": ([2, 2], [-1, 4], None, [3]),
            "platt": ([1.0], ["a", "b"], None, [float("inf"), 0.0]),
            "seconds": ("1", [1]),
            "unbounded": (None, 1),
        }.items()
        for value in values
    ],
)
def test_classifiers_of_wrong_types(name, value):
    head, arrays = stored(TRAINED)
    assert Trained.from_record(Record(head, arrays), 3).n_sv == (1, 2)
    assert Trained.from_record(Record(head, arrays), 2) is None
    assert Trained.from_record(Record({**head, name: value}, arrays), 3) is None
    for wrong in ([], None, "text", {**head, "more": 1}, {name: value}):
        assert Trained.from_record(Record(wrong, arrays), 3) is None


@pytest.mark.parametrize(
    "name, array",
    [
        ("rows", np.array([0, 1, -1])),
        ("rows", np.zeros(2, int)),
        ("rows", np.zeros(3)),
        ("coef", np.ones(2)),
        ("coef", np.ones((3, 1))),
        ("vectors", np.ones((3, 2))),
        ("vectors", np.ones(3)),
        ("values", np.zeros(5)),
        *(("coef", np.array([1, bad, 1])) for bad in (np.nan, np.inf)),
        ("values", np.array([0, np.nan], dtype=np.float32)),
    ],
    ids=range(11),
)
def test_classifiers_of_wrong_arrays(name, array):
    head, arrays = stored(TRAINED)
    assert Trained.from_record(Record({**head, name: "new"}, {**arrays, "new": array}), 3) is None
    makes_vectors = replace(TRAINED, rows=np.empty(0, int), vectors=np.ones((3, 2)))
    assert Trained.from_record(stored(makes_vectors), 3).vectors.shape == (3, 2)


@pytest.fixture
def points(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    y = np.arange(60) % 3
    x = rng.normal(size=(60, 2)) + 2 * np.eye(3)[y][:, :2]
    (tmp_path / "d.vec").write_bytes(np.int32(2).tobytes() + x.astype("<f4").tobytes())
    (tmp_path / "d.cls").write_bytes(y.astype("<i4").tobytes())
    return tmp_path


def test_forged_values_through_a_command(run, points, monkeypatch):
    """Results of right keys whose values are someone else's: the same table as without."""
    words = ["-d", "2", "--state", "st", "--report=-.csv", "d", "one-vs-one"]

    def table():
        lines = run("compare_control", *words).out.splitlines()
        return [
            [
                cell
                for cell, name in zip(line.split(","), lines[0].split(","))
                if not name.startswith(("train", "test", "classify"))
            ]
            for line in lines
        ]

    keys = []
    put = ResultCache.put
    monkeypatch.setattr(ResultCache, "put", lambda *args: keys.append(args[1]) or put(*args))
    want = table()
    monkeypatch.undo()
    monkeypatch.chdir(points)
    for record in (
        Record(None),
        Record({}),
        Record([3, 0, 0, {}]),
        Record("x" * 1000),
        Record([3, "a", 0, {name: "x" for name in SCORES}], {"classes": np.zeros(30, "<i4")}),
    ):
        (path,) = os.listdir("st")  # data-DIGEST-VERSION.results
        with ResultCache("st", keep=True, data=path.split("-")[1]) as cache:
            for key in keys:
                cache.put(key, record)
        assert table() == want

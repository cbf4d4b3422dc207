"""Plain messages: what can be sent arrives as it was, and nothing else can be sent or called."""

import functools
import json
import os
import socket
import struct
import subprocess
import sys
import threading
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from agfmc.arrays import SparsePoints
from agfmc.control.parse import parse
from agfmc.decode.priors import Adjustment
from agfmc.learners.neighbours import Neighbours
from agfmc.errors import DataError, JobsFailed
from agfmc.prediction.answers import write_answers
from agfmc.models import Kernel, Normalisation
from agfmc.learners.jobs import plan_jobs
from agfmc.executors.wire_format import Channel, ready


@pytest.fixture
def channels():
    ours, theirs = map(Channel, socket.socketpair())
    yield ours, theirs
    ours.close()
    theirs.close()


def sent(value):
    """What a value is at the other end."""
    ours, theirs = map(Channel, socket.socketpair())
    thread = threading.Thread(target=ours.send, args=(value,))
    thread.start()
    try:
        return theirs.receive()
    finally:
        thread.join()
        ours.close()
        theirs.close()


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | \
    st.text(st.characters()) | st.binary() | st.text("a\n\"\\\udcff", max_size=5)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.tuples(inner, inner)
                      | st.dictionaries(st.integers() | st.text() | st.tuples(st.integers()),
                                        inner), max_leaves=12)


def exactly(one, other):
    if type(one) in (list, tuple):
        return type(one) is type(other) and len(one) == len(other) and all(
            map(exactly, one, other))
    if type(one) is dict:
        return type(other) is dict and exactly(list(one.items()), list(other.items()))
    return type(one) is type(other) and one == other and repr(one) == repr(other)


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_values_arrive(value):
    assert exactly(value, sent(value))


@settings(max_examples=100, deadline=None)
@given(arrays.arrays(st.sampled_from(["<f8", "<f4", "<i4", "<i8", "|i1", "|u1", "|b1", "<U3"]),
                     arrays.array_shapes(min_dims=0, max_dims=3, min_side=0)), st.booleans())
def test_arrays_arrive_as_they_lie_in_memory(array, turned):
    array = array.T if turned else array
    other = sent([array, array])
    assert other[0] is other[1]
    assert (other[0].dtype, other[0].shape) == (array.dtype, array.shape)
    assert other[0].tobytes() == array.tobytes()
    assert other[0].flags.f_contiguous == array.flags.f_contiguous


def test_parts_of_arrays_and_numbers_of_numpy():
    whole = np.arange(40.0).reshape(5, 8)
    np.testing.assert_array_equal(sent(whole[::2, 1::3]), whole[::2, 1::3])
    number = sent(np.float32(0.1))
    assert type(number) is np.float32 and number == np.float32(0.1)
    assert np.isnan(sent([float("nan"), float("inf")])[0])


def test_objects_of_the_package():
    x = np.eye(3)
    assert sent(Kernel("rbf", 0.5, 0.0, 3)) == Kernel("rbf", 0.5, 0.0, 3)
    norm = sent(Normalisation(x.astype(np.float32), np.ones(3, dtype=np.float32)))
    assert norm.digest() == Normalisation(x.astype(np.float32),
                                          np.ones(3, dtype=np.float32)).digest()
    tree = parse('# class 4: "odd\\ \udcff\n"-c 1" {4 {"-k 2" K {0 9}}}'.replace("{4 {", "{4 ")
                 .replace("}}}", "}}"))
    assert sent(tree) == tree and type(sent(tree).nodes[0].children[0]) is type(
        tree.nodes[0].children[0])
    jobs = plan_jobs(parse('"-c 3" 0/1; "" 0/2; "" 1/2; {4 0 9}'), "m", "-t 0", 1)
    assert sent(jobs) == jobs
    assert sent(MappingProxyType({1: "a"})) == {1: "a"}
    points = np.random.default_rng(1).normal(size=(30, 2))
    near = Neighbours(points, np.arange(30) % 3, 3, 4)
    np.testing.assert_array_equal(sent(near).probabilities(points), near.probabilities(points))
    adjusted = Adjustment([0.2, 0.5, 0.3], [1, 2, 4])
    p = np.full((1, 3), 1 / 3)
    assert sent(adjusted)(p).tobytes() == adjusted(p).tobytes()
    partial = sent(functools.partial(write_answers, 1, header=True))
    assert (partial.func, partial.args, partial.keywords) == (write_answers, (1,), {"header": True})


def test_sparse_points_arrive():
    from scipy.sparse import csr_array

    table = np.array([[0, 1.5, 0], [0, 0, 0], [2, 0, -1]])
    other = sent(SparsePoints(csr_array(table)))
    np.testing.assert_array_equal(np.asarray(other), table)
    np.testing.assert_array_equal(other @ np.ones(3), table @ np.ones(3))


@pytest.mark.parametrize("error", [
    DataError("a\nb", file="f\udcff", line=3, column=4), JobsFailed("x"), MemoryError("no"),
    RuntimeError("r")], ids=lambda error: type(error).__name__)
def test_errors_arrive(error):
    other = sent((error, ["warned"]))[0]
    assert type(other) is type(error) and str(other) == str(error)


class Foreign:
    def __reduce__(self):
        return os.system, ("touch pwned",)


@pytest.mark.parametrize("value", [
    Foreign(), object(), os.system, print, eval, lambda: None, {1, 2}, KeyError("x"),
    np.array([None]), socket, subprocess.Popen, [1, (2, {3: os.remove})]],
    ids=lambda value: str(value)[:30])
def test_nothing_else_is_sent(channels, value):
    ours, theirs = channels
    with pytest.raises(TypeError, match="cannot be sent|no class or function"):
        ours.send(value)
    ours.send("next")  # nothing of it went out
    assert theirs.receive() == "next"


@pytest.mark.parametrize("tree", [
    ["new", ["made", "os", "system", "touch pwned"]],
    ["new", ["made", "subprocess", "Popen", ["list", "touch", "pwned"]]],
    ["new", ["made", "builtins", "eval", "1"]],
    ["new", ["made", "agfmc.cli.run", "os", "x"]],
    ["new", ["made", "agfmc.external.command", "shlex", "x"]],
    ["new", ["made", "agfmc.executors.wire_format", "importlib", "antigravity"]],
    ["new", ["fields", "collections", "namedtuple", "x"]],
    ["name", "agfmcx", "y"], ["name", "posix", "remove"],
    ["name", "agfmc.executors.processes", "deque"]], ids=str)
def test_no_message_calls_what_is_not_of_the_package(channels, tree, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = json.dumps([[], tree]).encode()
    raw, theirs = channels
    raw._socket.sendall(struct.pack("<Q", len(text)) + text)
    with pytest.raises(TypeError, match="no class or function of this package"):
        theirs.receive()
    assert os.listdir(tmp_path) == []


def test_the_end_of_the_other_side(channels):
    ours, theirs = channels
    ours._socket.sendall(struct.pack("<Q", 10) + b"12")
    assert ready([theirs]) == [theirs]
    ours.close()
    with pytest.raises(EOFError):
        theirs.receive()
    assert ready([ours]) == []  # closed here


def test_a_worker_loads_no_pickle_of_ours_and_nothing_from_the_current_folder(tmp_path):
    for name in ("numpy", "agfmc", "socket", "json", "sitecustomize", "usercustomize", "selectors",
                 "libsvm", "scipy", "importlib"):
        (tmp_path / f"{name}.py").write_text("open('pwned', 'w')\nraise SystemExit('pwned')\n")
    root = os.path.dirname(os.path.dirname(sys.modules["agfmc"].__file__))
    code = f"import sys; sys.path[0] = {root!r}\n" \
        "from agfmc.executors.processes import ProcessPool\n" \
        "print(list(ProcessPool(1).run(max, 3, [1, 5], name=str, ordered=True)))\n" \
        "print('multiprocessing' in sys.modules)\n"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True,
                          text=True)
    assert done.stdout == "[(1, 3), (5, 5)]\nFalse\n", done.stderr
    assert not (tmp_path / "pwned").exists()

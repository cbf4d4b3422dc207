"""Points that stay in a file: the same bits as the table in memory, whatever rows are taken."""

import os
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.core.errors import AgfmcWarning, DataError
from agfmc.data.training import load_training
from agfmc.data import reading
from agfmc.core import lazy_points
from agfmc.data.reading import read_training
from agfmc.core.lazy_points import is_lazy, open_points
from agfmc.data.libagf import open_vec
from agfmc.data.types import InputFormat
from agfmc.data.normalisation import covariance, fit_normalisation
from data_files import write_cls, write_svm, write_vec

N, D = 300, 5
ROWS = st.one_of(
    st.slices(N),
    st.integers(-N, N - 1),
    st.lists(st.integers(-N, N - 1), max_size=40),
    st.lists(st.booleans(), min_size=N, max_size=N).map(np.array),
    st.builds(
        lambda start, step: slice(start, None, step),
        st.integers(-N, N),
        st.sampled_from([1, 2, -1, -7]),
    ),
)


def normalisation_of(data, nsv=None):
    return fit_normalisation(data.x, nsv=nsv)


def points():
    rng = np.random.default_rng(3)
    return (rng.normal(size=(N, D)) * [1, 10, 0.1, 3, 1] + 2).astype(np.float32)


@pytest.fixture(scope="module", autouse=True)
def small_is_large():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_LAZY", 0)
        patch.setattr(lazy_points, "_PIECE", 90)  # four rows and a half
        yield


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    base = tmp_path_factory.mktemp("lazy") / "a"
    write_vec(f"{base}.vec", points())
    write_svm(f"{base}.svm", points(), np.arange(N) % 3)
    write_cls(f"{base}.cls", np.arange(N) % 3)
    return str(base)


WAYS = {
    "as they are": {},
    "-n": {"fit": normalisation_of},
    "-S": {"fit": partial(normalisation_of, nsv=2)},
}


@pytest.fixture(scope="module", params=[*WAYS, "--min-class"])
def both(request, base):
    """(`LazyPoints`, the table) of one file and normalisation."""
    lazy, eager = (
        load_training(base, InputFormat(), keep=keep, **WAYS.get(request.param, {}))[0].x
        for keep in ("lazy", "")
    )
    if request.param == "--min-class":
        rows = np.flatnonzero(np.arange(N) % 3)
        rows = np.r_[rows, rows[-1:].repeat(N - len(rows))]  # as many as the choices are made for
        lazy, eager = lazy.selected(rows), eager[rows]
    return lazy, np.asarray(eager, dtype=np.float64)


@given(rows=ROWS)
def test_any_rows_are_those_of_the_table(both, rows):
    lazy, eager = both
    got = lazy[rows]
    assert got.dtype == np.float64 and got.shape == eager[rows].shape
    assert got.tobytes() == eager[rows].tobytes()
    got[...] = 0  # it is the caller's


def test_they_look_like_an_array(both):
    lazy, eager = both
    assert is_lazy(lazy) and not is_lazy(eager)
    assert (lazy.shape, lazy.ndim, lazy.dtype, len(lazy)) == (eager.shape, 2, eager.dtype, N)
    assert np.asarray(lazy).tobytes() == eager.tobytes()
    for rows in (N, [0, -N - 1]):
        with pytest.raises(IndexError):
            lazy[rows]


def test_statistics_are_those_of_the_table(base):
    lazy = open_vec(base + ".vec")
    for words in ({}, {"nsv": 3}, {"nsv": 2, "scale": False}):
        one, other = (fit_normalisation(x, **words) for x in (lazy, points()))
        assert one.digest() == other.digest() and one.dropped == other.dropped
    with pytest.raises(DataError, match="data have 5 features, the normalisation needs 6"):
        lazy.normalised(one).normalised(fit_normalisation(np.eye(6)))


@pytest.mark.parametrize("words", WAYS.values(), ids=WAYS)
def test_training_data_are_the_same(base, words):
    for source, form in ((base, InputFormat()), (base + ".svm", InputFormat("svm"))):
        (lazy, one, raw), (eager, other, table) = (
            load_training(source, form, keep=keep, min_class=2, **words) for keep in ("lazy", "")
        )
        assert is_lazy(lazy.x) and is_lazy(raw) and not is_lazy(eager.x)
        assert np.asarray(lazy.x).tobytes() == np.asarray(eager.x, dtype=float).tobytes()
        assert np.asarray(raw).tobytes() == np.asarray(table, dtype=float).tobytes()
        assert lazy.y.tobytes() == eager.y.tobytes() and lazy.names == eager.names
        assert (one is None) == (not words) and (one is None or one.digest() == other.digest())


def test_small_classes_are_left_out(base, tmp_path):
    y = np.r_[np.zeros(N - 101), 1, np.full(100, 2)].astype(int)
    write_vec(tmp_path / "a.vec", points())
    write_cls(tmp_path / "a.cls", y)
    with pytest.warns(AgfmcWarning, match="1 of 3 classes has fewer than 2 samples"):
        lazy, eager = (
            load_training(
                tmp_path / "a", InputFormat(), fit=normalisation_of, keep=keep, min_class=2
            )[0]
            for keep in ("lazy", "")
        )
    assert np.asarray(lazy.x).tobytes() == eager.x.tobytes() and len(lazy.y) == N - 1
    assert lazy.x.source is None


def test_faint_values_are_told(tmp_path):
    write_vec(tmp_path / "a.vec", np.full((4, 2), 1e-39))
    write_cls(tmp_path / "a.cls", [0, 0, 1, 1])
    with pytest.warns(AgfmcWarning, match="no value is larger than 1.2e-38"):
        load_training(tmp_path / "a", InputFormat(), keep="lazy")


def test_small_data_and_lvq_text_are_tables(base, monkeypatch):
    monkeypatch.setattr(reading, "_LAZY", 1 << 20)
    for source, form in ((base, InputFormat()), (base + ".svm", InputFormat("svm"))):
        assert isinstance(read_training(source, form, keep="lazy").x, np.ndarray)


def test_another_process_opens_the_file(base):
    data, normalisation, raw = load_training(base, InputFormat(), fit=normalisation_of, keep="lazy")
    path, dtype, offset, shape, *_ = data.x.source
    assert (path, dtype, offset, shape) == (base + ".vec", "<f4", 4, (N, D))
    assert raw.source == data.x.source
    for again in (open_points(data.x.source, normalisation), pickle.loads(pickle.dumps(data.x))):
        assert np.asarray(again).tobytes() == np.asarray(data.x).tobytes()
    assert len(pickle.dumps(data.x)) < 1000


@pytest.mark.parametrize(
    "keep",
    [lambda x: x.selected([0, 2]), lambda x: x.normalised(None)],
    ids=["a choice", "a temporary file"],
)
def test_what_has_no_file_of_its_own_is_not_sent(base, keep):
    source = (
        (base + ".svm", InputFormat("svm"))
        if "normalised" in keep.__code__.co_names
        else (base, InputFormat())
    )
    lazy = keep(read_training(*source, keep="lazy").x)
    assert lazy.source is None
    with pytest.raises(TypeError, match="cannot be sent to another process"):
        pickle.dumps(lazy)


def test_a_file_that_changed_is_refused(tmp_path):
    path = str(tmp_path / "a.vec")
    write_vec(path, points())
    lazy = open_vec(path)
    source, sent = lazy.source, pickle.dumps(lazy)
    lazy.check()
    os.utime(path, ns=(0, 0))
    for refused in (lambda: open_points(source), lambda: pickle.loads(sent)):
        with pytest.raises(DataError, match="a.vec: is not the file that it was when the work"):
            refused()
    with pytest.raises(DataError, match="a.vec: changed while it was read"):
        lazy.check()
    os.truncate(path, 4 + 4 * D * 10)
    assert lazy[:10].tobytes() == points()[:10].astype(float).tobytes()
    for rows in (slice(9, 11), [200, 3]):
        with pytest.raises(DataError, match="a.vec: changed while it was read"):
            lazy[rows]
    os.unlink(path)
    with pytest.raises(DataError, match="a.vec: cannot read: No such file"):
        open_points(source)
    os.mkfifo(path)
    with pytest.raises(DataError, match="a.vec: is not the file"):
        open_points(source)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda x: x.__setitem__((7, 2), np.nan), r"feature 2 \(from 0\) of row 8 is NaN"),
        (
            lambda x: x.__setitem__((299, 0), np.inf),
            r"feature 0 \(from 0\) of row 300 is an infinite",
        ),
        (lambda x: x.resize(299 * D + 1, refcheck=False), "damaged or not a .vec file"),
        (lambda x: x.resize((299, D), refcheck=False), "has 300 labels, but there are 299 points"),
    ],
)
def test_bad_data_are_refused_as_those_in_memory_are(tmp_path, change, message):
    x = points()
    change(x)
    (tmp_path / "a.vec").write_bytes(D.to_bytes(4, "little") + x.tobytes())
    write_cls(tmp_path / "a.cls", np.arange(N) % 3)
    told = []
    for how in ("lazy", ""):
        with pytest.raises(DataError, match=message) as caught:
            read_training(tmp_path / "a", keep=how)
        told.append(str(caught.value))
    assert told[0] == told[1]


def test_a_covariance_needs_an_array(base):
    assert np.array_equal(covariance(open_vec(base + ".vec")), covariance(points()))

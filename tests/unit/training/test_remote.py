"""Work on workers elsewhere: what travels, what comes back, and what happens when they die."""

import copy
import os
import signal
import warnings
from dataclasses import fields

import numpy as np
import pytest

from agfmc.prediction.decoding import Decoding
from agfmc.arrays import SparsePoints
from agfmc.control.parse import parse
from agfmc.errors import AgfmcError, AgfmcWarning, CommandFailed, DataError, UsageError
from agfmc.executors import worker_call
from agfmc.prediction.answers import write_answers
from agfmc.training.fit import fit
from agfmc.prediction.classifier import Classifier, classify
from agfmc.executors.processes import ProcessPool
from agfmc.executors.dask_cluster import address_of
from agfmc.training.remote import executor_words, open_executor, remote_fit
from agfmc.models import Normalisation
from agfmc.learners.jobs import plan_jobs

CODE = '"" 0/1; "-t 0" 0/2; "-s 1 -n 1" 1/2; "" 0/1 2; {4 0 9}'


class Here:
    """A pool that works in this thread, backwards."""

    workers = together = 1

    def __init__(self):
        self.shared = []

    def run(self, function, shared, items, *, name, ordered=False, window=None, hear=worker_call.warn):
        self.shared.append(shared)
        items = list(items)
        for item in items if ordered else items[::-1]:
            result, texts = worker_call.call(function, shared, item)
            for text in texts:
                hear(text)
            yield item, worker_call.raised(result)


def data(n=120, seed=0):
    generator = np.random.default_rng(seed)
    y = generator.choice([0, 4, 9], n, p=[.5, .3, .2]).astype(np.int32)
    centre = {0: (0, 0), 4: (2, 0), 9: (0, 2)}
    return generator.normal(size=(n, 2)) * .8 + [centre[label] for label in y.tolist()], y


def jobs_of(text=CODE):
    return plan_jobs(parse(text), "m", "-c 5 -g 0.5", 1)


def same(one, other):
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        assert a.tobytes() == b.tobytes() if isinstance(a, np.ndarray) else a == b, field.name


@pytest.mark.parametrize("loo", [False, True])
def test_models_are_those_of_fit(loo):
    x, y = data()
    jobs = jobs_of(CODE.replace('"-s 1 -n 1"', '"-c 2"'))
    normalisation = Normalisation(np.eye(2, dtype=np.float32), np.zeros(2, dtype=np.float32))
    held, there, spent, told = [], [], {}, []
    expected = {job.name: (model, rows) for job, model, rows in fit(
        jobs, x, y, 1, None, normalisation, lambda *all: held.append(all), loo=loo)}
    pool = Here()
    found = {job.name: (model, rows) for job, model, rows in remote_fit(
        pool, jobs, x, y, 1, lambda *done: told.append(done), normalisation,
        lambda *all: there.append(all), loo=loo,
        spent=lambda job, seconds: spent.update({job.name: seconds}))}
    assert len(pool.shared) == 1 and found.keys() == expected.keys() == spent.keys()
    for name, (model, rows) in found.items():
        same(model, expected[name][0])
        np.testing.assert_array_equal(rows, expected[name][1])
    assert all(seconds > 0 for seconds in spent.values())
    assert told == [(done, 4) for done in (1, 2, 3, 4)]
    held, there = ({all[0].name: all[1:] for all in calls} for calls in (held, there))
    for name, (side, right, model) in held.items():
        np.testing.assert_array_equal(there[name][0], side)
        np.testing.assert_array_equal(there[name][1], right)
        same(there[name][2], model)


@pytest.mark.parametrize("code", [CODE, '"-t 0" 0/1; "-t 0" 0/2; "-t 0" 1/2; {4 0 9}'])
def test_sparse_points(code):
    from scipy.sparse import csr_array

    x, y = data()
    x[np.abs(x) < 0.4] = 0.0
    sparse = SparsePoints(csr_array(x))
    expected = {job.name: result for job, *result in fit(jobs_of(code), sparse, y)}
    found = {job.name: result for job, *result in remote_fit(Here(), jobs_of(code), sparse, y)}
    for name, (model, rows) in expected.items():
        if not isinstance(model, AgfmcError):
            same(found[name][0], model)
        np.testing.assert_array_equal(found[name][1], rows)


def test_an_error_keeps_its_kind_and_place():
    x, y = data()
    jobs = jobs_of()
    expected, = [model for _, model, rows in fit(jobs, x, y) if rows is None]
    found, = [model for _, model, rows in remote_fit(Here(), jobs, x, y) if rows is None]
    assert isinstance(found, AgfmcError)
    assert (type(found), str(found)) == (type(expected), str(expected))


def test_too_few_samples_are_refused_before_anything_travels():
    x, y = data()
    y[y == 9] = 0
    y[0] = 9
    pool = Here()
    with pytest.raises(DataError, match="has 1 sample"):
        list(remote_fit(pool, jobs_of(), x, y))
    assert not pool.shared


def test_few_samples_are_told_once():
    x, y = data()
    y[y == 9] = 0
    y[:3] = 9
    with warnings.catch_warnings(record=True) as here:
        warnings.simplefilter("always")
        list(fit(jobs_of(), x, y))
    with warnings.catch_warnings(record=True) as there:
        warnings.simplefilter("always")
        list(remote_fit(Here(), jobs_of(), x, y))
    assert [str(one.message) for one in here] == [str(one.message) for one in there]


def warned(shared, item):
    warnings.warn(f"{shared} {item}", AgfmcWarning, stacklevel=1)
    warnings.warn("not ours", UserWarning, stacklevel=1)
    return item


def test_warnings_come_back():
    with warnings.catch_warnings(record=True) as others:
        warnings.simplefilter("always")
        assert worker_call.call(warned, "a", 1) == (1, ["a 1"])
        assert worker_call.call(warned, "a", 2) == (2, ["a 2"])
        warnings.warn("not in a call", AgfmcWarning, stacklevel=1)
    assert [str(one.message) for one in others] == ["not ours", "not ours", "not in a call"]


@pytest.mark.parametrize("error, kind", [(DataError("x"), None), (KeyError("k"), RuntimeError),
                                         (MemoryError(), MemoryError)])
def test_errors_come_back(error, kind):
    def fail(shared, item):
        raise error

    result, _ = worker_call.call(fail, None, None)
    if kind is None:
        assert worker_call.raised(result) is error
    else:
        with pytest.raises(kind):
            worker_call.raised(result)


def test_versions():
    here = worker_call.versions()
    worker_call.check_versions("w", here, here)
    for what in here:
        with pytest.raises(CommandFailed, match=f"w has {what} 0, and here it is"):
            worker_call.check_versions("w", {**here, what: "0"}, here)


@pytest.mark.parametrize("text, words", [
    ("processes", ("processes", "")), ("processes:3", ("processes", "3")),
    ("dask:host:8786", ("dask", "host:8786")), ("dask:tls://h:1", ("dask", "tls://h:1")),
    ("dask:a folder/s.json", ("dask", "a folder/s.json"))])
def test_words(text, words):
    assert executor_words(text) == words


@pytest.mark.parametrize("text", ["", "dask", "dask:", "processes:", "processes:0", "processes:x",
                                  "processes:-1", "processes:1025", "mpi", "threads:2"])
def test_wrong_words(text):
    if text == "processes:":
        assert executor_words(text) == ("processes", "")
        return
    with pytest.raises(UsageError, match="expected dask:HOST:PORT"):
        executor_words(text)


def test_addresses(tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text('{"address": "tcp://h:1"}')
    bad.write_text("[1]")
    assert address_of(str(good)) == "tcp://h:1"
    assert address_of("h:1") == "h:1"
    with pytest.raises(DataError, match="scheduler file"):
        address_of(str(bad))
    with pytest.raises(UsageError, match="expected HOST:PORT"):
        address_of(str(tmp_path / "none"))


@pytest.mark.parametrize("text", ["localhost:8786", ":8786", "[::1]:8786", "tls://h:1"])
def test_what_is_like_an_address_is_no_file(tmp_path, monkeypatch, text):
    """A stranger's folder may hold a file of that name, with another address."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / text
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"address": "tcp://elsewhere:1"}')
    assert address_of(text) == text
    assert address_of(f"./{text}") == "tcp://elsewhere:1"
    with pytest.raises(UsageError, match="expected HOST:PORT"):
        address_of("./none:1")


def test_without_distributed(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'agfmc\[dask\]'"), \
            open_executor("dask:h:1"):
        pass


# os.kill(0, number) ends the session of whoever calls it, and each worker has its own


def test_task_that_ends_its_workers():
    told = []
    with open_executor("processes:2") as pool:
        done = list(pool.run(os.kill, 0, [0, signal.SIGKILL, 0, 0], name=lambda item: f"<{item}>",
                             ordered=True, hear=told.append))
    assert [item for item, _ in done] == [0, 9, 0, 0]
    assert [result for _, result in done[:1] + done[2:]] == [None] * 3
    assert isinstance(done[1][1], CommandFailed)
    assert "ended by signal 9 while it worked on <9>; it is not begun again" in str(done[1][1])
    assert len(told) == 1 and "<9>, which is begun once more" in told[0]


def test_fault_of_a_task_is_raised_and_nobody_stays():
    pool = ProcessPool(2)
    with pytest.raises(RuntimeError, match="ProcessLookupError|OverflowError"):
        list(pool.run(os.kill, 2 ** 40, [0, 0], name=str))
    assert not pool._crews


def test_window_bounds_what_is_taken():
    taken = []

    def items():
        for number in range(12):
            taken.append(number)
            yield number

    with open_executor("processes:1") as pool:
        run = pool.run(max, 3, items(), name=str, ordered=True, window=2)
        assert next(run) == (0, 3) and len(taken) <= 3
        assert [result for _, result in run] == [max(3, number) for number in range(1, 12)]


def test_closed_while_running():
    with open_executor("processes:1") as pool:
        run = pool.run(max, 3, range(100), name=str, ordered=True)
        next(run)
        crew, = pool._crews
        process = crew._workers[0].process
    assert process.poll() is not None
    with pytest.raises((CommandFailed, OSError, ValueError)):
        list(run)


@pytest.fixture(scope="module")
def configuration(tmp_path_factory):
    from agfmc.control.build import rename
    from agfmc.control.tree import model_names
    from agfmc.formats.controlfile import write_control
    from agfmc.prediction.configuration import load
    from agfmc.formats.libsvm_model import format_svm_model

    folder = tmp_path_factory.mktemp("models")
    x, y = data()
    tree = parse('"" 0/1; "" 0/2; "" 1/2; {4 0 9}')
    for job, model, rows in fit(plan_jobs(tree, str(folder / "m"), "-c 5", 1), x, y):
        lines = [" ".join(f"{i}:{v!r}" for i, v in enumerate(row, 1)) for row in x[rows].tolist()]
        with open(job.name, "w", encoding="utf-8") as file:
            file.write(format_svm_model(model, lines))
    write_control(str(folder / "c"), rename(tree, model_names(tree, str(folder / "m"))))
    return load(str(folder / "c"))


@pytest.mark.parametrize("more", [
    {}, {"method": "vote"}, {"raw": True}, {"method": "ddag", "counting": True}, {"reject": 0.6}])
def test_same_answers(configuration, tmp_path, more):
    x, _ = data(1000, 3)
    chunks = [x[start:start + 90] for start in range(0, 1000, 90)]
    counting = more.pop("counting", False)
    classifier = Classifier(configuration, Decoding(**more), counting=counting)
    texts = {}
    for name, pool in (("here", None), ("there", Here())):
        text = bytearray()
        done = write_answers(classifier, iter(chunks), 1, str(tmp_path / name), text.extend,
                             pool=pool)
        texts[name] = bytes(text), done, *((tmp_path / f"{name}.{end}").read_bytes()
                                           for end in ("cls", "con"))
    assert texts["here"] == texts["there"] and len(texts["here"][0]) > 1000


def test_a_classifier_travels(configuration):
    x, _ = data(50, 3)
    classifier = Classifier(configuration, Decoding("least-squares", reject=0.5))
    before = classifier(x)
    other = copy.deepcopy(classifier)  # by what it was made of, as pickling does
    assert other is not classifier and not other.values._machines
    np.testing.assert_array_equal(other(x).columns, before.columns)
    np.testing.assert_array_equal(other(x).classes, before.classes)


def test_answers_by_processes(configuration):
    x, _ = data(1000, 3)
    chunks = [x[start:start + 64] for start in range(0, 1000, 64)]
    classifier = Classifier(configuration)
    expected = np.concatenate([answers.columns for answers in classify(classifier, chunks)])
    with open_executor("processes:2") as pool:
        found = np.concatenate([answers.columns for answers in classify(
            classifier, iter(chunks), pool=pool)])
    np.testing.assert_array_equal(found, expected)


def test_bad_points_are_the_same_error(configuration):
    bad = np.full((3, 2), np.nan)
    with pytest.raises(DataError, match="3 of 3 points give no decision value"):
        list(classify(Classifier(configuration), [bad], pool=Here()))


def test_commands_stay_here(configuration):
    classifier = Classifier(configuration)
    classifier.values = object()
    with pytest.raises(UsageError, match="--executor does not go with them"):
        list(classify(classifier, [], pool=Here()))


def nowhere_else(shared, item):
    """A function that a worker cannot find by its name."""
    return item


def test_a_worker_that_cannot_begin_is_an_error_and_no_wait():
    nowhere_else.__module__ = "no_such_module_anywhere"
    with pytest.raises(Exception) as caught:
        pool = ProcessPool(1)
        try:
            list(pool.run(nowhere_else, None, [1, 2], name=str))
        finally:
            pool.close()
    assert caught.type.__name__ in ("CommandFailed", "PicklingError")

"""Work on the workers of an executor: what travels and comes back, and what happens if they die.

Models and answers are those of threads, byte for byte.
"""

import contextlib
import multiprocessing
import multiprocessing.util
import os
import pickle
import subprocess
import sys
import threading
import warnings
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import fields, replace

import numpy as np
import pytest

from agfmc.core.points import SparsePoints
from agfmc.control.parse import parse
from agfmc.core.errors import AgfmcError, AgfmcWarning, CommandFailed, DataError, UsageError
from agfmc.answers.writing import Layout, write_answers
from agfmc.data.types import Dataset
from agfmc.training.fit import fit, TrainingSettings, HeldOutRequest
from agfmc.prediction.classifier import Classifier, classify
from agfmc.prediction.decoding import Decoding
from agfmc.executors import remote
from agfmc.executors.dask_cluster import address_of
from agfmc.executors.processes import ProcessPool, refuse_modules
from agfmc.executors.remote import executor_kind, open_executor, run_remote
from agfmc.data.normalisation import Normalisation
from agfmc.learners.protocol import plan_jobs
from own_warnings import own_warnings, texts_of

CODE = '"" 0/1; "-t 0" 0/2; "-s 1 -n 1" 1/2; "" 0/1 2; {4 0 9}'


class Here(Executor):
    """An executor that works in this thread, with copies of what it is sent."""

    def __init__(self):
        self.submitted = 0

    def submit(self, function, /, *args):
        self.submitted += 1
        future = Future()
        try:
            function, args = pickle.loads(pickle.dumps((function, args)))
            future.set_result(pickle.loads(pickle.dumps(function(*args))))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture(scope="module", params=["here", "own processes"])
def executor(request):
    with {"here": Here, "own processes": lambda: ProcessPool(2)}[request.param]() as pool:
        yield pool


def data(n=120, seed=0):
    generator = np.random.default_rng(seed)
    y = generator.choice([0, 4, 9], n, p=[0.5, 0.3, 0.2]).astype(np.int32)
    centre = {0: (0, 0), 4: (2, 0), 9: (0, 2)}
    return generator.normal(size=(n, 2)) * 0.8 + [centre[label] for label in y.tolist()], y


def jobs_of(text=CODE):
    return plan_jobs(parse(text), "m", "-c 5 -g 0.5", 1)


def same(one, other):
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, (np.ndarray, SparsePoints)):
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes(), field.name
        else:
            assert a == b, field.name


@pytest.mark.few()
@pytest.mark.parametrize("platt", ["cv", "loo"])
def test_models_are_those_of_threads(executor, platt):
    x, y = data()
    jobs = jobs_of(CODE.replace('"-s 1 -n 1"', '"-c 2"'))
    normalisation = Normalisation(np.eye(2, dtype=np.float32), np.zeros(2, dtype=np.float32))
    settings, done = TrainingSettings(normalisation=normalisation, platt=platt), []
    expected = {
        one.job: one for one in fit(jobs, Dataset(x, y), settings, requested=HeldOutRequest(True))
    }
    found = {
        one.job: one
        for one in fit(
            jobs,
            Dataset(x, y),
            replace(settings, workers=executor),
            lambda *words: done.append(words),
            HeldOutRequest(True),
        )
    }
    assert found.keys() == expected.keys() == set(jobs)
    for job, one in found.items():
        same(one.model, expected[job].model)
        for part in ("rows", "side", "held_out"):
            np.testing.assert_array_equal(getattr(one, part), getattr(expected[job], part))
        assert one.seconds > 0
    assert done == [(number, 4) for number in (1, 2, 3, 4)]


@pytest.mark.few(1)
@pytest.mark.parametrize("code", [CODE, '"-t 0" 0/1; "-t 0" 0/2; "-t 0" 1/2; {4 0 9}'])
def test_sparse_points(executor, code):
    from scipy.sparse import csr_array

    x, y = data()
    x[np.abs(x) < 0.4] = 0.0
    sparse = SparsePoints(csr_array(x))
    expected = {one.job: one for one in fit(jobs_of(code), Dataset(sparse, y))}
    found = {
        one.job: one
        for one in fit(jobs_of(code), Dataset(sparse, y), TrainingSettings(workers=executor))
    }
    for job, one in expected.items():
        if not isinstance(one.model, AgfmcError):
            same(found[job].model, one.model)
        np.testing.assert_array_equal(found[job].rows, one.rows)


def test_an_error_keeps_its_kind_and_place(executor):
    x, y = data()
    jobs = jobs_of()
    (expected,) = [one.model for one in fit(jobs, Dataset(x, y)) if one.rows is None]
    (found,) = [
        one.model
        for one in fit(jobs, Dataset(x, y), TrainingSettings(workers=executor))
        if one.rows is None
    ]
    assert isinstance(found, AgfmcError)
    assert (type(found), str(found)) == (type(expected), str(expected))


def test_too_few_samples_are_refused_before_anything_travels():
    x, y = data()
    y[y == 9] = 0
    y[0] = 9
    pool = Here()
    with pytest.raises(DataError, match="has 1 sample"):
        list(fit(jobs_of(), Dataset(x, y), TrainingSettings(workers=pool)))
    assert not pool.submitted


def test_few_samples_are_warned_of_once():
    x, y = data()
    y[y == 9] = 0
    y[:3] = 9
    with own_warnings() as here:
        list(fit(jobs_of(), Dataset(x, y)))
    with own_warnings() as there:
        list(fit(jobs_of(), Dataset(x, y), TrainingSettings(workers=Here())))
    assert texts_of(here) == texts_of(there)


def call_in_a_child(function, item):
    """What the function that workers run gives for `function`, with this process as a child."""
    home = ("a parent elsewhere", 1, remote._versions())
    return remote._call("shared", function, home, item)


def warned(shared, item):
    warnings.warn(f"{shared} {item}", AgfmcWarning, stacklevel=1)
    warnings.warn("not ours", UserWarning, stacklevel=1)
    return item


def test_warnings_come_back():
    with warnings.catch_warnings(record=True) as others:
        warnings.simplefilter("always")
        assert call_in_a_child(warned, 1) == (1, [("shared 1", AgfmcWarning)])
        assert call_in_a_child(warned, 2) == (2, [("shared 2", AgfmcWarning)])
        warnings.warn("not in a call", AgfmcWarning, stacklevel=1)
    texts = [
        text for text in texts_of(others) if text.startswith("not ")
    ]  # a ResourceWarning is none
    assert texts == ["not ours", "not ours", "not in a call"]


@pytest.mark.parametrize(
    "error, kind",
    [
        (DataError("x"), None),
        (KeyError("k"), RuntimeError),
        (MemoryError(), MemoryError),
        (ImportError("libx.so: failed to map segment from shared object"), MemoryError),
    ],
)
def test_errors_come_back(error, kind):
    def fail(shared, item):
        raise error

    if kind is None:
        assert call_in_a_child(fail, None) == (error, [])
    else:
        with pytest.raises(kind, match="on a worker"):
            call_in_a_child(fail, None)


def test_versions():
    here = remote._versions()
    for what in here:
        with pytest.raises(CommandFailed, match=f"has {what} .*, and here it is 0: both must be"):
            remote._call("shared", max, ("a parent elsewhere", 1, {**here, what: "0"}), 1)


@pytest.mark.parametrize(
    "text, words",
    [
        ("processes", ("processes", "")),
        ("processes:", ("processes", "")),
        ("processes:3", ("processes", "3")),
        ("threads", ("threads", "")),
        ("threads:2", ("threads", "2")),
        ("dask:host:8786", ("dask", "host:8786")),
        ("dask:tls://h:1", ("dask", "tls://h:1")),
        ("dask:a folder/s.json", ("dask", "a folder/s.json")),
    ],
)
def test_kinds(text, words):
    assert executor_kind(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "",
        "dask",
        "dask:",
        "processes:0",
        "processes:x",
        "processes:-1",
        "processes:1025",
        "mpi",
        "threads:0",
    ],
)
def test_wrong_kinds(text):
    with pytest.raises(UsageError, match="expected dask:HOST:PORT|from 1 to 1024"):
        executor_kind(text)


def test_threads_are_a_number():
    with open_executor("threads:3") as workers:
        assert workers == 3


def test_addresses(tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text('{"address": "tcp://h:1"}')
    bad.write_text("[1]")
    assert address_of(str(good)) == "tcp://h:1" and address_of("h:1") == "h:1"
    with pytest.raises(DataError, match="scheduler file"):
        address_of(str(bad))
    with pytest.raises(DataError, match="^cannot read .*: No such file .*HOST:PORT"):
        address_of(str(tmp_path / "none"))


@pytest.mark.parametrize("text", ["localhost:8786", ":8786", "[::1]:8786", "tls://h:1"])
def test_what_is_like_an_address_is_no_file(tmp_path, monkeypatch, text):
    """A stranger's folder may hold a file of that name, with another address."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / text
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"address": "tcp://elsewhere:1"}')
    assert address_of(text) == text and address_of(f"./{text}") == "tcp://elsewhere:1"
    with pytest.raises(DataError, match="^cannot read .*: No such file .*HOST:PORT"):
        address_of("./none:1")


def test_without_distributed(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'agfmc\[dask\]'"), open_executor("dask:h:1"):
        pass


def ends(shared, item):
    """Ends its process for 9."""
    return os._exit(3) if item == 9 else item


@pytest.mark.long
def test_task_that_ends_its_workers():
    items = [*range(9), 9, *range(10, 40)]
    with open_executor("processes:2") as pool, own_warnings() as warned:
        results = dict(run_remote(pool, ends, 0, items, name=lambda item: f"<{item}>"))
    error = results.pop(9)
    assert results == {item: item for item in items if item != 9}
    assert isinstance(error, CommandFailed)
    assert str(error) == "<9>: a worker process has ended; giving up"
    messages = texts_of(warned)
    assert len(messages) == 2 and all(
        ": a worker process has ended; retrying" in text for text in messages
    )


def once(path, item):
    """Ends its process, the first time for 3."""
    if item == 3 and not os.path.exists(path):
        with open(path, "w"):
            os._exit(3)
    return item


def test_task_whose_worker_is_lost_once(tmp_path):
    with open_executor("processes:1") as pool, own_warnings() as told:
        done = list(run_remote(pool, once, str(tmp_path / "x"), range(20), name=str, ordered=True))
    assert done == [(item, item) for item in range(20)]
    (text,) = texts_of(told)
    assert text.endswith("retrying")


class EndsWhoBegins:
    """Ends the processes that unpickle it, as long as the folder has files."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return end_while_there_are_files, (self.folder,)


def end_while_there_are_files(folder):
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):  # the other worker's
            os.unlink(os.path.join(folder, name))
            os._exit(3)
    return "shared"


def item_of(shared, item):
    return item


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_ends_while_it_begins_is_retried(tmp_path, workers):
    (tmp_path / "x").touch()
    shared = EndsWhoBegins(str(tmp_path))
    with (
        open_executor(f"processes:{workers}") as pool,
        pytest.warns(AgfmcWarning, match="a worker process has ended; retrying"),
    ):
        done = dict(run_remote(pool, item_of, shared, range(5), name=str))
    assert done == {item: item for item in range(5)} and not list(tmp_path.iterdir())


def test_workers_that_always_end_while_they_begin_are_given_up(tmp_path):
    for number in range(20):
        (tmp_path / str(number)).touch()
    with (
        open_executor("processes:1") as pool,
        pytest.warns(AgfmcWarning, match="retrying"),
        pytest.raises(CommandFailed, match="end before they begin to work"),
    ):
        list(run_remote(pool, item_of, EndsWhoBegins(str(tmp_path)), range(5), name=str))
    assert len(list(tmp_path.iterdir())) == 17


def test_a_worker_that_ends_before_the_next_task_is_submitted(monkeypatch):
    submit, broken = ProcessPoolExecutor.submit, [BrokenProcessPool("ended")]

    def once_broken(self, function, /, *args):
        if function is not os.getpid and broken:
            raise broken.pop()
        return submit(self, function, *args)

    monkeypatch.setattr(ProcessPoolExecutor, "submit", once_broken)
    with open_executor("processes:1") as pool, pytest.warns(AgfmcWarning, match="retrying"):
        assert list(run_remote(pool, item_of, None, [1], name=str)) == [(1, 1)]


@pytest.mark.parametrize("count, error", [(1, CommandFailed), (3, BrokenProcessPool)])
def test_tasks_end_where_threads_of_the_pool_cannot_start(monkeypatch, count, error):
    """Its second thread is the one whose error nobody sees."""
    start = threading.Thread.start
    room = count

    def start_where_there_is_room(thread):
        nonlocal room
        if room == 0:
            raise RuntimeError("can't start new thread")
        room -= 1
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_where_there_is_room)
    with pytest.raises(error), open_executor("processes:1") as pool:
        pool.submit(max, 1, 3).result(timeout=20)


def test_a_worker_killed_before_it_reads_what_tasks_share(monkeypatch):
    """More than a pipe holds; the first worker is a program that ends at once."""
    begin = multiprocessing.util.spawnv_passfds
    programs = [[sys.executable, "-c", ""]]

    def first_ends(path, args, descriptors):
        if "--multiprocessing-fork" in map(os.fsdecode, args) and programs:
            args = programs.pop()
        return begin(path, args, descriptors)

    monkeypatch.setattr("multiprocessing.util.spawnv_passfds", first_ends)
    with open_executor("processes:1") as pool, pytest.warns(AgfmcWarning, match="retrying"):
        shared = b"x" * (1 << 20)
        assert list(run_remote(pool, length_of, shared, [1], name=str)) == [(1, 1 << 20)]


def length_of(shared, item):
    return len(shared)


def test_a_standard_pool_whose_worker_dies_is_an_error():
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool,
        pytest.raises(CommandFailed, match="the workers have ended"),
    ):
        list(run_remote(pool, max, 0, [Ends()], name=str))


class Ends:
    """Ends the process that unpickles it."""

    def __reduce__(self):
        return os._exit, (1,)


def number_of(shared, item):
    return os.getpid() if item else os.kill(2**40, 0)


def gone(number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, 0)
        return False
    return True


def test_fault_of_a_task_is_raised_and_no_process_stays():
    with open_executor("processes:1") as pool:
        number = pool.submit(number_of, None, 1).result()
        assert not gone(number)
        with pytest.raises(RuntimeError, match="ProcessLookupError|OverflowError"):
            list(run_remote(pool, number_of, None, [0, 0], name=str))
    assert gone(number)


def test_window_bounds_what_is_taken():
    taken = []

    def items():
        for number in range(12):
            taken.append(number)
            yield number

    with open_executor("processes:1") as pool:
        run = run_remote(pool, max, 3, items(), name=str, ordered=True)
        assert next(run) == (0, 3) and len(taken) <= 5
        assert [result for _, result in run] == [max(3, number) for number in range(1, 12)]


def test_window_of_ones_own():
    taken = []
    with open_executor("processes:1") as pool:
        run = run_remote(
            pool,
            max,
            3,
            (taken.append(number) or number for number in range(9)),
            name=str,
            ordered=2,
        )
        assert next(run) == (0, 3) and len(taken) <= 3
        assert [item for item, _ in run] == [*range(1, 9)]


def has(shared, item):
    return item if shared == "part" else remote.SharedDataUnavailable()


class SentOnce(Here):
    def submit_with(self, shared, function, /, *args):
        return self.submit(function, shared, *args)


def test_part_where_a_worker_lacks_something():
    parts = []
    done = list(
        run_remote(
            SentOnce(),
            has,
            "all",
            range(20),
            name=str,
            ordered=2,
            part=lambda shared, item: parts.append((shared, item)) or "part",
        )
    )
    assert done == [(item, item) for item in range(20)]
    assert sorted(parts) == [("all", item) for item in range(20)]


def test_worker_that_lacks_something_and_then_dies(monkeypatch):
    """What it lacked was no attempt."""

    class Once(Here):
        died = False

        def submit(self, function, /, *args):
            if args[0] == "part" and not self.died:
                self.died = True
                future = Future()
                future.set_exception(EOFError())
                return future
            return super().submit(function, *args)

        def lost(self, error):
            return "worker died" if isinstance(error, EOFError) else None

    with pytest.warns(AgfmcWarning, match="worker died; retrying"):
        done = list(run_remote(Once(), has, "all", [1], name=str, part=lambda *_: "part"))
    assert done == [(1, 1)]


class Sent:
    """Says how often it was sent: each copy has one more."""

    def __init__(self, times=0):
        self.times = times

    def __reduce__(self):
        self.times += 1
        return Sent, (self.times,)


def times_sent(shared, item):
    return shared.times


def test_what_is_shared_is_sent_once_in_a_run_of_several_parts():
    shared = Sent()
    with open_executor("processes:1") as pool:
        for _ in range(2):
            assert list(run_remote(pool, times_sent, shared, [0], name=str)) == [(0, 1)]
    assert shared.times == 1


def test_nothing_shared_is_sent_by_parts():
    assert (
        len(
            list(
                run_remote(Here(), has, None, range(5), name=str, part=lambda shared, item: "part")
            )
        )
        == 5
    )


def test_killed_while_running():
    with open_executor("processes:1") as pool:
        run = run_remote(pool, number_of, 3, range(1, 100), name=str, ordered=True)
        number = next(run)[1]
    assert gone(number)
    with pytest.raises((CommandFailed, RuntimeError), match="stopped|ended|after the shutdown"):
        list(run)
    with pytest.raises(RuntimeError, match="after the shutdown"):
        pool.submit(max, 1, 2)


def test_processes_are_an_executor():
    """Faults, results that cannot be sent, and functions that workers cannot load."""
    with ProcessPool(2) as pool:
        assert list(pool.map(divmod, [7, 8, 9], [2, 3, 4])) == [(3, 1), (2, 2), (2, 1)]
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
        with pytest.raises(TypeError, match="cannot pickle"):
            pool.submit(open, os.devnull).result()
        with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
            pool.submit(lambda: 1).result()
        assert pool.submit_with([1, 2], len).result() == 2
        assert pool.submit_with([1, 2, 3], len).result() == 3


def test_data_that_workers_cannot_load():
    with (
        open_executor("processes:1") as pool,
        pytest.warns(AgfmcWarning, match="retrying"),
        pytest.raises(CommandFailed, match="worker processes end before they begin to work"),
    ):
        list(run_remote(pool, max, Unloadable(), [1, 2], name=str))


class Unloadable:
    def __reduce__(self):
        return __import__, ("no_such_module",)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs PYTHONSAFEPATH")
def test_a_worker_loads_nothing_from_the_current_folder(tmp_path):
    for name in (
        "numpy",
        "agfmc",
        "socket",
        "pickle",
        "sitecustomize",
        "usercustomize",
        "queue",
        "multiprocessing",
        "signal",
        "random",
        "libsvm",
        "scipy",
        "importlib",
    ):
        (tmp_path / f"{name}.py").write_text("open('pwned', 'w')\nraise SystemExit('pwned')\n")
    root = os.path.dirname(os.path.dirname(sys.modules["agfmc"].__file__))
    code = (
        f"import sys; sys.path[0] = {root!r}\n"
        "from agfmc.executors.processes import ProcessPool, refuse_modules\n"
        "with ProcessPool(1) as pool: print(list(pool.map(max, [1, 5], [3, 3])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "[3, 5]\n", done.stderr
    assert not (tmp_path / "pwned").exists()


@pytest.fixture(scope="module")
def configuration(tmp_path_factory):
    from agfmc.control.build import rename
    from agfmc.control.tree import model_names
    from agfmc.models.control_files import write_control
    from agfmc.models.files import load
    from agfmc.models.libsvm import format_svm_model

    folder = tmp_path_factory.mktemp("models")
    x, y = data()
    tree = parse('"" 0/1; "" 0/2; "" 1/2; {4 0 9}')
    for one in fit(plan_jobs(tree, str(folder / "m"), "-c 5", 1), Dataset(x, y)):
        lines = [
            " ".join(f"{i}:{v!r}" for i, v in enumerate(row, 1)) for row in x[one.rows].tolist()
        ]
        with open(one.job.name, "w", encoding="utf-8") as file:
            file.write(format_svm_model(one.model, lines))
    write_control(str(folder / "c"), rename(tree, model_names(tree, str(folder / "m"))))
    return load(str(folder / "c"))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "more",
    [{"reject": 0.6}, {}, {"method": "vote"}, {"raw": True}, {"method": "ddag", "counting": True}],
)
def test_same_answers(executor, configuration, tmp_path, more):
    x, _ = data(400, 3)
    chunks = [x[start : start + 90] for start in range(0, 400, 90)]
    classifier = Classifier(configuration, Decoding(**more))
    texts = {}
    for name, workers in (("here", 1), ("there", executor)):
        text = bytearray()
        layout = Layout(classifier.classes, classifier.all_classes)
        answers = classify(classifier, iter(chunks), workers, layout.formatted)
        done = write_answers(answers, str(tmp_path / name), text.extend, layout)
        texts[name] = (
            bytes(text),
            done,
            *((tmp_path / f"{name}.{end}").read_bytes() for end in ("cls", "con")),
        )
    assert texts["here"] == texts["there"] and len(texts["here"][0]) > 1000


def test_a_classifier_travels(configuration):
    x, _ = data(50, 3)
    classifier = Classifier(configuration, Decoding("least-squares", reject=0.5))
    before = classifier(x)
    other = pickle.loads(pickle.dumps(classifier))  # by what it was made of
    assert other is not classifier and not other.values._machines
    np.testing.assert_array_equal(other(x).columns, before.columns)
    np.testing.assert_array_equal(other(x).classes, before.classes)


def test_bad_points_are_the_same_error(configuration):
    bad = np.full((3, 2), np.nan)
    with pytest.raises(DataError, match="3 of 3 points give no decision value"):
        list(classify(Classifier(configuration), [bad], Here()))


def test_commands_stay_here(configuration):
    classifier = Classifier(configuration)
    classifier.values = object()
    with pytest.raises(UsageError, match="external programs run on this machine"):
        list(classify(classifier, [], Here()))


def test_modules_in_the_place_of_those_of_python(tmp_path):
    """Python 3.10 would run them in worker processes."""
    (tmp_path / "json").mkdir()
    (tmp_path / "mine.py").write_text("")
    refuse_modules(str(tmp_path))
    for name in ("pickle.py", "json/__init__.py"):
        (tmp_path / name).write_text("")
        with pytest.raises(CommandFailed, match=f"'{name.split('/')[0]}' in the current folder"):
            refuse_modules(str(tmp_path))
        (tmp_path / name).unlink()

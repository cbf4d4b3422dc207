"""Fixtures for every test: see tests/README.md."""

import gc
import importlib
import io
import os
import random
import signal
import sys
import tarfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

# The examples of property tests are the same in every run, whatever the machine's speed and
# whatever an earlier run left in .hypothesis; `explore` draws others by --hypothesis-seed.
# `-m long` takes ten times as many.
settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("repeatable"), max_examples=200)
settings.register_profile("explore", settings.get_profile("thorough"), derandomize=False)
settings.load_profile("repeatable")

# A shell has what runs in the background ignore these, and what the tests start would too.
for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)

# Compiled modules are kept in __pycache__, even where PYTHONDONTWRITEBYTECODE is set, as in many
# containers: compiling them in each process anew takes longer than most tests.
sys.dont_write_bytecode = False

# As in a process of a command: with more threads numpy's last digits differ.  numpy comes later.
os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

# What a test writes need not outlive a loss of power, and disks take milliseconds to promise it.
os.fsync = lambda handle: None

ROOT = Path(__file__).resolve().parents[1]
MOST_WORKERS = 4


def pytest_addoption(parser):
    parser.addoption(
        "--shuffle",
        type=int,
        metavar="SEED",
        help="run the files of tests in a random order, the same for the same number",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Whole folders of tests are run by several processes.

    Where pytest-xdist is installed, there is more than one core, and the command line names no
    file, nor -n, -k, -m, -s or --pdb.
    """
    options, here = config.option, not hasattr(config, "workerinput")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if (
        here
        and getattr(options, "numprocesses", 0) is None
        and options.dist == "no"
        and (
            cores > 1
            and options.markexpr in config.getini("addopts")
            and not options.keyword
            and options.capture != "no"
            and not options.usepdb
            and not options.collectonly
            and all(os.path.isdir(name) for name in config.args)
        )
    ):
        options.numprocesses, options.dist = min(cores, MOST_WORKERS), "loadfile"
    if options.shuffle is not None:
        options.loadscopereorder = False  # else xdist begins with the largest files


def asks_for_long(config):
    """Is this a run of the long tests?"""
    return "long" in config.option.markexpr.replace("not long", "")


def pytest_configure(config):
    if asks_for_long(config) and not config.option.hypothesis_profile:
        settings.load_profile("thorough")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Hide all that is collected from the garbage collector, which is called less often, and from
    PyArrow, which looks among all objects for the frame of each of its errors."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark `long` the parametrisations that `few` leaves out, and shuffle the files.

    A run of the long tests has property tests too, with more examples.
    """
    tests = defaultdict(list)
    for item in items:
        if item.get_closest_marker("few"):
            tests[item.parent, item.originalname].append(item)
        if asks_for_long(config) and hasattr(getattr(item, "obj", None), "hypothesis"):
            item.add_marker("long")
    for cases in tests.values():
        chosen = some_of(cases, *cases[0].get_closest_marker("few").args)
        for item in cases:
            if item not in chosen:
                item.add_marker("long")
    if config.option.shuffle is not None:
        files = list(dict.fromkeys(item.path for item in items))
        random.Random(config.option.shuffle).shuffle(files)
        items.sort(key=lambda item: files.index(item.path))


def some_of(cases, number=None):
    """So many cases, or as many as each value of each parameter needs to occur, far apart."""
    cases = [item for item in cases if not item.get_closest_marker("long")]
    values = [{(name, id(value)) for name, value in item.callspec.params.items()} for item in cases]
    missing, chosen, left = set().union(*values), [], list(range(len(cases)))
    while left and (missing if number is None else len(chosen) < number):
        best = max(
            left,
            key=lambda i: (len(values[i] & missing), min((abs(i - j) for j in chosen), default=-i)),
        )
        chosen.append(best)
        left.remove(best)
        missing -= values[best]
    return {cases[i] for i in chosen}


class Done(NamedTuple):
    """A command that has ended: its exit status and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def raw(self):
        """The bytes on standard output."""
        return self.out.encode("utf-8", "surrogateescape")

    def line(self, *texts):
        """The one line on standard error, which holds all `texts`."""
        assert self.err.count("\n") == 1 and self.err.endswith("\n"), self.err
        assert all(text in self.err for text in texts), self.err
        return self.err

    def refused(self, *texts):
        """The one line of a command that printed nothing, which holds all `texts`."""
        assert self.out == "", self.out
        return self.line(*texts)


@pytest.fixture(scope="session")
def run():
    """Function that runs a command in this process: `run("print_control", "-Q", 1, "data")`.

    command: its name;  words: its command line, made text;  stdin: text or bytes;
    status: the exit status that is expected, None for any;  -> `Done`.
    """

    def run(command, *words, stdin="", status=0):
        main = importlib.import_module("agfmc.cli").main_of(command)
        stdin = stdin if isinstance(stdin, bytes) else stdin.encode("utf-8", "surrogateescape")
        streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (stdin, b"", b"")]
        with pytest.MonkeyPatch.context() as patch:
            for name, stream in zip(("stdin", "stdout", "stderr"), streams):
                patch.setattr(sys, name, stream)
            found = main([str(word) for word in words])
            streams[1].flush()
        out, err = (
            stream.buffer.getvalue().decode("utf-8", "surrogateescape") for stream in streams[1:]
        )
        assert status in (found, None), f"status {found}: {command} {words}\n{err}"
        assert found == 0 or err.splitlines()[-1].startswith(
            (f"{command}: ", '{"event": "done", ')
        ), err  # which --log json ends with
        assert not any(ord(letter) < 32 for letter in err.replace("\n", "")), err
        return Done(found, out, err)

    return run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of the test's own, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def warned():
    """The suite's warnings in the test, a list that grows."""
    from own_warnings import own_warnings

    with own_warnings() as caught:
        yield caught


@pytest.fixture
def no_warnings():
    """A warning of the suite, or of NumPy about its arithmetic, is an error."""
    from own_warnings import no_own_warnings

    with no_own_warnings():
        yield


@pytest.fixture
def unchecked(monkeypatch):
    """Model files (.mbm) are written without a check, so that there are wrong ones to be read."""
    monkeypatch.setattr("agfmc.models.mbm.checked", lambda content, *_: content)


@pytest.fixture(scope="session")
def root():
    """The project's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def segment(tmp_path_factory):
    """Folder of libAGF's golden numbers: data, models/, answers (see data/golden/README.md)."""
    folder = tmp_path_factory.mktemp("golden")
    with tarfile.open(ROOT / "tests" / "data" / "golden" / "segment.tar.xz") as archive:
        for member in filter(tarfile.TarInfo.isfile, archive):
            path = folder / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.extractfile(member).read())
    return folder / "segment"


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Unfinished work of the tests stays out of the user's cache folder."""
    before = os.environ.get("XDG_CACHE_HOME")
    folder = tmp_path_factory.mktemp("cache")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    yield folder
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before

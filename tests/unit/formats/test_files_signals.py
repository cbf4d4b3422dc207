"""Signals between the renames of files that belong together wait until all are done."""

import os
import signal
import threading

import pytest

from agfmc.errors import DataError, NotPutBack
from agfmc.formats.atomic import replacing_all
from agfmc.formats.atomic import cleared


class Stopped(Exception):
    """What the handler of a signal raises here."""


@pytest.fixture(params=["one thread", "two threads"])
def threads(request):
    """With a second thread a signal can come though the first has it blocked."""
    done = threading.Event()
    if request.param == "two threads":
        threading.Thread(target=done.wait, daemon=True).start()
    yield
    done.set()


@pytest.fixture(params=[signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGXCPU],
                ids=lambda number: number.name)
def number(request):
    def stop(number, frame):
        raise Stopped

    before = signal.signal(request.param, stop)
    yield request.param
    assert signal.signal(request.param, before) is stop  # what was there is there again


def write(folder):
    with replacing_all([folder / "one", folder / "two"]) as files:
        for file in files:
            file.write("new")


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize("old", [{}, {"one": "old", "two": "old"}, {"two": "old"}])
@pytest.mark.parametrize("call", [1, 2])
def test_a_signal_between_two_renames(tmp_path, monkeypatch, threads, number, old, call):
    for name, text in old.items():
        (tmp_path / name).write_text(text)
    replace, calls = os.replace, []

    def disturbed(source, target):
        replace(source, target)
        calls.append(target)
        if len(calls) == call:
            signal.raise_signal(number)

    monkeypatch.setattr(os, "replace", disturbed)
    with pytest.raises(Stopped):
        write(tmp_path)
    assert contents(tmp_path) == {"one": "new", "two": "new"}


def test_a_signal_while_old_files_are_put_back(tmp_path, monkeypatch, threads, number):
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"old {name}")
    replace, calls = os.replace, []

    def failing(source, target):
        calls.append(target)
        if len(calls) == 1:
            raise OSError(5, "Input/output error")
        replace(source, target)
        signal.raise_signal(number)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(Stopped) as caught:
        write(tmp_path)
    assert isinstance(caught.value.__context__, DataError) and len(calls) == 3
    assert contents(tmp_path) == {"one": "old one", "two": "old two"}


def test_all_that_cannot_be_put_back_is_named_and_stays(tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"old {name}")

    def failing(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(NotPutBack) as caught:
        write(tmp_path)
    with cleared():
        pass
    there = contents(tmp_path)
    assert sorted(there.values()) == ["old one", "old two"] and not {"one", "two"} & set(there)
    assert all(text in str(caught.value) for text in (*there, "one", "two"))


def test_the_end_of_the_program_waits_for_renames_in_a_thread(tmp_path, monkeypatch):
    (tmp_path / "one").write_text("old")
    begun, ended, replace = threading.Event(), threading.Event(), os.replace

    def slow(source, target):
        begun.set()
        ended.wait(0.3)
        replace(source, target)

    monkeypatch.setattr(os, "replace", slow)
    thread = threading.Thread(target=write, args=(tmp_path,))
    thread.start()
    begun.wait(10)
    with cleared():
        assert contents(tmp_path) == {"one": "new", "two": "new"}
        ended.set()
    thread.join()

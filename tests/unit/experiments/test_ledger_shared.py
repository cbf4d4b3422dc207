"""Equal runs at the same time, with one file of finished work that nobody has named."""

import errno
import fcntl
import os
import subprocess
import sys

import pytest

from agfmc.errors import AgfmcWarning
from agfmc.experiments.result_cache import join_runs, leave_runs
from agfmc.experiments.result_cache import Ledger


@pytest.fixture
def path(tmp_path):
    (tmp_path / "own").mkdir(mode=0o700)
    return str(tmp_path / "own" / "state")


def beside(path):
    return sorted(os.listdir(os.path.dirname(path)))


def ends(ledger, error=None):
    ledger.__exit__(error, None, None)


def test_the_last_run_removes_it(path):
    one, two = Ledger(path), Ledger(path)
    one.put("x", b"1")
    two.put("y", b"2")
    two.flush()
    ends(one)
    two.put("z", b"3")
    two.flush()
    assert two.get("x") == b"1" and two.get("z") == b"3" and os.path.exists(path)
    ends(two)
    assert beside(path) == []


def test_the_work_of_a_run_that_is_interrupted_later_is_there(path):
    one, two = Ledger(path), Ledger(path)
    one.put("x", b"1")
    two.put("y", b"2")
    ends(one)
    two.put("z", b"3")
    ends(two, KeyboardInterrupt)
    assert beside(path) == ["state"]  # nothing else is left
    with Ledger(path) as ledger:
        assert [ledger.get(key) for key in "xyz"] == [b"1", b"2", b"3"]
    assert beside(path) == []


def test_a_run_that_found_nothing_leaves_the_file_of_another(path):
    one = Ledger(path)
    ends(Ledger(path), KeyboardInterrupt)
    one.put("x", b"1")
    ends(one, KeyboardInterrupt)
    assert beside(path) == ["state"]


def test_what_a_killed_run_leaves_is_removed_by_the_next(path, root):
    code = ("import os, sys\nfrom agfmc.experiments.result_cache import Ledger\n"
            "ledger = Ledger(sys.argv[1])\nledger.put('k', b'value')\nledger.flush()\n"
            "os.kill(os.getpid(), 9)\n")
    assert subprocess.run([sys.executable, "-c", code, path], cwd=root).returncode == -9
    assert beside(path) == ["state", "state-runs"]
    with Ledger(path) as ledger:
        assert ledger.get("k") == b"value"
    assert beside(path) == []


def test_a_run_that_gives_up_leaves_no_mark(path):
    ledger = Ledger(path)
    ledger._connection.execute("DROP TABLE done")
    with pytest.warns(AgfmcWarning, match="cannot read"):
        ledger.get("k")
    assert beside(path) == ["state"]
    ends(ledger)


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks(path, monkeypatch, code):
    def flock(handle, way):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", flock)
    for error, left in ((KeyboardInterrupt, ["state"]), (None, [])):
        with Ledger(path) as ledger:
            found = ledger.get("k")
            ledger.put("k", b"value")
            ledger.flush()
            assert beside(path) == ["state"]
            ends(ledger, error)
        assert beside(path) == left
    assert found == b"value"


def test_a_mark_that_is_just_removed_is_made_anew(path, monkeypatch):
    first = join_runs(path)
    flock, handles = fcntl.flock, []

    def late(handle, way):
        """The other run leaves between our opening of its mark and the lock."""
        handles.append(handle)
        if len(handles) == 1:
            with monkeypatch.context() as patch:
                patch.setattr(fcntl, "flock", flock)
                leave_runs(path, first, True)
        flock(handle, way)

    monkeypatch.setattr(fcntl, "flock", late)
    second = join_runs(path)
    assert len(handles) == 2 and beside(path) == ["state-runs"]
    assert os.path.samestat(os.fstat(second), os.stat(f"{path}-runs"))
    leave_runs(path, second, True)
    assert beside(path) == []


def test_nothing_marks_a_file_that_is_kept(path):
    with Ledger(path, keep=True) as ledger:
        ledger.put("k", b"value")
        assert beside(path) == ["state"]


def test_whether_anything_is_kept(path):
    with Ledger(None) as ledger:
        ledger.put("k", b"value")
        assert not ledger.keeps_anything()
    with Ledger(path) as ledger:
        assert not ledger.keeps_anything()
        ledger.put("k", b"value")
        assert ledger.keeps_anything()
        with Ledger(path) as other:
            assert other.get("k") == b"value"  # it is on the disk
    with pytest.warns(AgfmcWarning):
        ledger = Ledger("/dev/null/state")
    ledger.put("k", b"value")
    assert not ledger.keeps_anything()

"""A dask.distributed cluster of two workers on this machine: the same bytes, whoever dies."""

import asyncio
import contextlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from agfmc.core.errors import CommandFailed
from agfmc.executors.dask_cluster import connected

pytestmark = [
    pytest.mark.dask,
    pytest.mark.skipif(
        importlib.util.find_spec("distributed") is None, reason="dask.distributed is not installed"
    ),
]
PATIENCE = 60


class Cluster:
    """A scheduler and two workers, as processes; each worker is the leader of a session."""

    def __init__(self, folder, env):
        self.folder, self.env = folder, {**env, "OMP_NUM_THREADS": "1"}
        self.file = folder / "scheduler.json"
        self._running = [
            self._start(
                "scheduler",
                "--host",
                "127.0.0.1",
                "--port",
                "0",
                "--no-dashboard",
                "--dashboard-address",
                "127.0.0.1:0",
                "--scheduler-file",
                self.file,
            )
        ]
        wait_for(self.file.exists)
        self.workers = [self.join(), self.join()]

    def _start(self, what, *words):
        with open(self.folder / f"{what}.log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{what}", *map(str, words)],
                cwd=self.folder,
                env=self.env,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def join(self):
        """One more worker, of one thread."""
        process = self._start(
            "worker",
            "--scheduler-file",
            self.file,
            "--no-nanny",
            "--nworkers",
            "1",
            "--nthreads",
            "1",
            "--no-dashboard",
            "--host",
            "127.0.0.1",
        )
        self._running.append(process)
        return process

    def wait(self, count):
        """Until so many workers are there."""
        from distributed import Client

        with Client(
            scheduler_file=str(self.file), timeout=PATIENCE, set_as_default=False
        ) as client:
            wait_for(lambda: len(client.nthreads()) == count)

    def stop(self):
        for process in self._running:
            process.kill()
            process.wait()


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture(scope="module")
def cluster(trained, tmp_path_factory):
    running = Cluster(tmp_path_factory.mktemp("dask"), trained.env)
    try:
        running.wait(2)
        yield running
    finally:
        running.stop()


@pytest.fixture
def slow(place):
    """`place` with big.vec, big.cls and bigplan: 15 classifiers that take their time."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 6, 2600)
    x = rng.normal(size=(2600, 6)) + 0.7 * np.eye(6)[y]
    place.points("big", x, y)
    (place / "bigplan").write_bytes(place.ok("print_control", "big"))
    return place


def test_same_models_and_answers(cluster, place, many):
    here, there = place.below("here"), place.below("there")
    words = ("-n", "-+", "-c 3", "--cv-errors", "errors", "../plan", "../trn", "m", "ctl")
    here.ok("multi_borders", *words)
    there.ok("multi_borders", f"-jdask:{cluster.file}", *words)
    assert here.files() == there.files() and len(here.files()) == 7
    for more in ((), ("-Q", "ddag", "--count"), ("-0",)):
        words = (*more, "-a", "m.std", "ctl", "../many.vec", "out")
        assert here.ok("classify_m", *words) == there.ok(
            "classify_m", f"-jdask:{cluster.file}", *words
        )
        assert here.files() == there.files()


def test_worker_killed_in_the_middle(cluster, slow):
    cluster.wait(2)
    here, there = slow.below("here"), slow.below("there")
    words = ("-+", "-c 20", "../bigplan", "../big", "m", "ctl")
    here.ok("multi_borders", *words)
    with there.start("multi_borders", f"-jdask:{cluster.file}", *words) as process:
        wait_for(lambda: list(there.folder.glob("m-*")) or process.poll() is not None)
        os.kill(cluster.workers[0].pid, signal.SIGKILL)
        _, words = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, words.decode()
    assert here.files() == there.files()
    cluster.workers[0] = cluster.join()
    cluster.wait(2)


def test_sums_of_shared_landmarks(cluster, slow):
    """The same bytes, also with a worker killed while it works."""
    cluster.wait(2)
    y = np.arange(60_000) % 3
    x = np.random.default_rng(4).normal(size=(len(y), 6)) + np.eye(3)[y][:, [0, 1, 2, 0, 1, 2]]
    slow.points("large", x, y)
    (slow / "rest").write_text('"" 0 / 1 2; "" 0 1 / 2; {0 1 2}')
    here, there, killed = (slow.below(name) for name in ("here", "there", "killed"))
    words = ("-+", "learner=nystrom -m 900", "../rest", "../large", "m", "ctl")
    here.ok("multi_borders", *words)
    there.ok("multi_borders", f"-jdask:{cluster.file}", *words)
    assert here.files() == there.files()
    before = used(cluster.workers[0].pid)
    with killed.start("multi_borders", f"-jdask:{cluster.file}", *words) as process:
        wait_for(lambda: used(cluster.workers[0].pid) > before + 0.6)
        os.kill(cluster.workers[0].pid, signal.SIGKILL)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said.decode()
    assert here.files() == killed.files()
    cluster.workers[0] = cluster.join()
    cluster.wait(2)


def test_same_comparison(cluster, slow):
    """Also with a worker killed while it works."""

    def table(text):
        return [
            {
                key: value
                for key, value in row.items()
                if key not in ("design_s", "train_s", "classify_s", "best")
            }
            for row in json.loads(text)["rows"]
        ]

    cluster.wait(2)
    words = (
        "compare_control",
        "--no-state",
        "-d",
        "2",
        "-+",
        "-c 20",
        "--json",
        "big",
        "one-vs-one",
        "tree:full",
    )
    one = table(slow.ok(*words))
    before = used(cluster.workers[0].pid)
    with slow.start(*words, f"-jdask:{cluster.file}") as process:
        wait_for(lambda: used(cluster.workers[0].pid) > before + 0.6)
        os.kill(cluster.workers[0].pid, signal.SIGKILL)
        done, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said.decode()
    assert table(done) == one
    cluster.workers[0] = cluster.join()
    cluster.wait(2)
    assert table(slow.ok(*words, f"-jdask:{cluster.file}")) == one
    words = (
        "compare_control",
        "--no-state",
        "-d",
        "2",
        "-n",
        "--platt",
        "loo",
        "--json",
        "big",
        "one-vs-rest",
    )
    assert table(slow.ok(*words)) == table(slow.ok(*words, f"-jdask:{cluster.file}"))


def used(number):
    """Seconds of a core that a process has used."""
    with open(f"/proc/{number}/stat", encoding="ascii") as file:
        return int(file.read().rpartition(")")[2].split()[11]) / os.sysconf("SC_CLK_TCK")


def test_data_error_comes_back_as_it_is(cluster, place):
    here, there = place.below("here"), place.below("there")
    words = ("-+", "-s 1 -n 1", "../plan", "../trn", "m", "ctl")
    a = here.run("multi_borders", *words)
    b = there.run("multi_borders", f"-jdask:{cluster.file}", *words)
    assert a.returncode == b.returncode == 3 and sorted(a.stderr.splitlines()) == sorted(
        b.stderr.splitlines()
    )
    assert here.files() == there.files()


def test_points_without_values_are_the_same_error(cluster, place):
    x = np.ones((5, 4), "<f4")
    x[3, 2] = np.nan
    (place / "bad.vec").write_bytes(np.int32(4).tobytes() + x.tobytes())
    words = ("all.mbm", "bad.vec", "out")
    a = place.run("classify_m", *words)
    b = place.run("classify_m", f"-jdask:{cluster.file}", *words)
    assert a.returncode == b.returncode == 1 and a.stderr == b.stderr
    assert not (place / "out.cls").exists()


def test_no_scheduler_at_that_address(place):
    began = time.monotonic()
    done = place.run("classify_m", "-jdask:127.0.0.1:1", "all.mbm", "tst.vec", "out")
    assert done.returncode == 1 and time.monotonic() - began < 30
    assert done.stderr.startswith(b"classify_m: there is no scheduler of dask at 127.0.0.1:1: ")
    assert done.stderr.count(b"\n") == 1


def test_in_a_program_with_an_event_loop():
    async def begin():
        with connected("127.0.0.1:1"):
            pass

    with pytest.raises(CommandFailed, match="no scheduler of dask at 127.0.0.1:1: "):
        asyncio.run(begin())


@pytest.mark.parametrize(
    "words",
    [
        None,
        b"",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\0" * 4096,
        b"\xff" * 4096,
        (1 << 37).to_bytes(8, "little"),
    ],
    ids=["closes", "is silent", "HTTP", "zeros", "ones", "a long message"],
)
def test_another_service(place, words):
    """None: it closes the connection; b"": it waits."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept = []

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    if words is None:
                        connection.close()
                    else:
                        connection.sendall(words)
                        kept.append(connection)

        threading.Thread(target=serve, daemon=True).start()
        where = f"127.0.0.1:{server.getsockname()[1]}"
        done = place.run("classify_m", f"-jdask:{where}", "all.mbm", "tst.vec", "out")
        for connection in kept:
            connection.close()
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"classify_m: there is no scheduler of dask at {where}: ".encode()
    )
    assert done.stderr.count(b"\n") == 1


def test_other_versions_are_refused(cluster, place, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import agfmc.core.version\nagfmc.core.version.__version__ = '0.0.dev0'\n"
    )
    place.env["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{place.env['PYTHONPATH']}"
    done = place.run("classify_m", f"-jdask:{cluster.file}", "all.mbm", "tst.vec", "out")
    assert done.returncode == 1 and b"and here it is 0.0.dev0: both must be the same" in done.stderr

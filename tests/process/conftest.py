"""A folder for each test, and the commands in it: as processes, or here where that is enough."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = sorted(path.name for path in (ROOT / "bin").iterdir())
LABELS = (2, 5, 9)
WORDS = ("pine", "birch", "moss")
PATIENCE = 120


class Place:
    """A folder, and the commands of this checkout run in it."""

    def __init__(self, folder, programs, here):
        self.folder, self.programs, self.here = folder, programs, here
        self.env = {
            name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
        }
        self.env.update(
            PATH=f"{programs}{os.pathsep}{os.environ['PATH']}",
            PYTHONPATH=str(ROOT),
            PYTHONDONTWRITEBYTECODE="1",
            LC_ALL="C.UTF-8",
        )

    def at(self, folder):
        return Place(folder, self.programs, self.here)

    def below(self, name):
        """A new folder in this one."""
        (self / name).mkdir()
        return self.at(self / name)

    def __truediv__(self, name):
        return self.folder / name

    def start(
        self, command, *args, python=(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more
    ):
        """A running process."""
        return subprocess.Popen(
            [sys.executable, *python, str(ROOT / "bin" / command), *map(str, args)],
            cwd=self.folder,
            env=self.env,
            stdout=stdout,
            stderr=stderr,
            **more,
        )

    def run(self, command, *args, stdin=b"", **more):
        """A process that has ended -> CompletedProcess, whatever its status."""
        with self.start(command, *args, stdin=subprocess.PIPE, **more) as process:
            try:
                out, err = process.communicate(stdin, timeout=PATIENCE)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def call(self, command, *args, status=None, **more):
        """The command in this process, which is faster -> `Done`."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            return self.here(command, *args, status=status, **more)

    def ok(self, command, *args, stdin=b""):
        """What a command prints that succeeds in this process."""
        return self.call(command, *args, stdin=stdin, status=0).raw

    def each(self, lines):
        """Do printed commands in this process, the last first."""
        for line in reversed(lines.decode().splitlines()):
            self.ok(*shlex.split(line))

    def process(self, command, *args, stdin=b""):
        """What a process prints that succeeds."""
        done = self.run(command, *args, stdin=stdin)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def shell(self, script, shell="sh"):
        """What a script prints, in which the commands are on the path."""
        done = subprocess.run(
            [shell, "-ec", script],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def points(self, name, x, labels):
        """Write name.vec and name.cls."""
        write_vec(self / f"{name}.vec", x)
        (self / f"{name}.cls").write_bytes(np.asarray(labels, "<i4").tobytes())

    def files(self):
        """{name: bytes} of everything in the folder."""
        return {
            path.name: path.read_bytes() for path in sorted(self.folder.iterdir()) if path.is_file()
        }


def make_points(n, seed, k=3, d=4):
    """x (n, d) in eighths, exact in float32 and in short text, and class numbers y (n,)."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    centres = np.random.default_rng(9).normal(size=(k, d)) * 2
    x = np.round(8 * (centres[y] + rng.normal(size=(n, d)))) / 8
    return x.astype(np.float32), y


def write_vec(path, x):
    path.write_bytes(np.int32(x.shape[1]).tobytes() + np.ascontiguousarray(x, "<f4").tobytes())


def write_svm(path, x, labels):
    path.write_text(
        "".join(
            f"{label} " + " ".join(f"{i}:{value!r}" for i, value in enumerate(row, 1)) + "\n"
            for label, row in zip(labels, x.tolist())
        )
    )


def write_lvq(path, x, labels):
    path.write_text(
        f"{x.shape[1]}\n"
        + "".join(
            " ".join(map(repr, row)) + f" {label}\n" for label, row in zip(labels, x.tolist())
        )
    )


@pytest.fixture(scope="session")
def trained(run, tmp_path_factory):
    """Data, one-vs-one control file `plan`, models m-00..., `ctl` and `all.mbm`."""
    programs = tmp_path_factory.mktemp("programs")
    for command in COMMANDS:
        wrapper = programs / command
        wrapper.write_text(
            "#!/bin/sh\nexec "
            + shlex.join([sys.executable, str(ROOT / "bin" / command)])
            + ' "$@"\n'
        )
        wrapper.chmod(0o755)
    place = Place(tmp_path_factory.mktemp("trained"), programs, run)
    for name, n, seed in (("trn", 45, 1), ("tst", 60, 2)):
        x, y = make_points(n, seed)
        labels = np.array(LABELS, dtype="<i4")[y]
        place.points(name, x, labels)
        write_svm(place / f"{name}.svm", x, labels.tolist())
        write_lvq(place / f"{name}.lvq", x, labels.tolist())
        write_svm(place / f"{name}-words.svm", x, [WORDS[i] for i in y])
    (place / "plan").write_bytes(place.ok("print_control", "trn"))
    place.ok("multi_borders", "plan", "trn", "m", "ctl")
    place.ok("mbh2mbm", "ctl", "all.mbm")
    return place


@pytest.fixture
def place(trained, tmp_path):
    """A folder with a copy of what `trained` holds."""
    folder = tmp_path / "here"
    shutil.copytree(trained.folder, folder)
    return trained.at(folder)


@pytest.fixture(scope="session")
def wait():
    """Function that waits until a condition holds, while a process runs."""

    def wait(condition, process=None):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert process is None or process.poll() is None, process.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.01)

    return wait


@pytest.fixture(scope="session")
def gone():
    """Function: is there no process of this number, or a zombie at most?"""

    def gone(number):
        try:
            return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    return gone


@pytest.fixture
def many(place):
    """`place` with many.vec, 6000 points: more text than a pipe holds, several blocks."""
    x, _ = make_points(6000, 3)
    write_vec(place / "many.vec", x)
    return place

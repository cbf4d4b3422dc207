"""Training on shared landmarks: cut short, and divided among commands, with the same files."""

import shlex
import signal

import numpy as np
import pytest

from data_files import write_svm

PATIENCE = 120
WORDS = ("-n", "-+", "learner=nystrom -m 60 -g .1", "../plan", "../big", "m", "ctl")
# 4 ranges and 4 classes: 16 sums, a file `at` from the fifth on, and time to be interrupted
SLOWLY = """
import runpy, sys, time
from agfmc.landmarks import sums_file
add, count = sums_file.GroupSums.add, 0
def slow(*args):
    global count
    add(*args)
    count += 1
    if count >= 5:
        open("at", "w").close()
    time.sleep(0.3 * (count >= 5))
sums_file.GroupSums.add = slow
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(scope="module")
def data(trained, tmp_path_factory):
    """A folder with big.vec and big.cls, the control file `plan`, and `whole`, a run of it."""
    here = trained.at(tmp_path_factory.mktemp("sums"))
    rng = np.random.default_rng(4)
    y = rng.integers(0, 4, 16_000)
    x = np.round(8 * (rng.normal(size=(len(y), 4)) + 1.5 * np.eye(4)[y])) / 8
    here.points("big", x, y)
    write_svm(here / "big.svm", x, y)
    (here / "plan").write_bytes(here.ok("print_control", "big"))
    here.below("whole").ok("multi_borders", *WORDS)
    return here


@pytest.fixture
def here(data, tmp_path):
    """An empty folder beside the data."""
    return data.below(tmp_path.name)


def files(place):
    return {name: content for name, content in place.files().items() if name != "at"}


def whole(data):
    return data.at(data / "whole").files()


def slowly(place, *words):
    return place.start("multi_borders", *words, *WORDS, python=("-c", SLOWLY))


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda n: n.name)
@pytest.mark.parametrize("words", [(), ("--time-limit", "1:00:00", "-j", "2")], ids=len)
def test_ended_by_a_signal(data, here, number, words, wait):
    with slowly(here, *words) as process:
        wait((here / "at").exists, process)
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode in (-number, 128 + number) and said == b""
    assert list(files(here)) == ["m.sums-0"]
    here.ok("multi_borders", *WORDS)
    assert files(here) == whole(data)


@pytest.mark.long
@pytest.mark.parametrize("form", ["vec", "svm"])
def test_commands_for_ranges(data, here, form):
    """In reversed order, one of them missing; and once more when all is there."""
    words = list(WORDS)
    if form == "svm":
        words[4:5] = ["-M", "../big.svm"]
    lines = here.ok("multi_borders", "-0", *words).decode().splitlines()
    assert [shlex.split(line)[1] for line in lines] == [
        *(f"--sums=0:{i}" for i in range(4)),
        "--options=learner=nystrom -m 60 -g .1",
    ]
    assert files(here).keys() == {"ctl", "m.std"}
    for line in lines[-3::-1]:
        here.shell(line)
    assert [name for name in files(here) if "sums" in name] == [f"m.sums-0-{i}" for i in range(3)]
    here.shell(lines[-1])
    assert files(here) == whole(data)
    for line in lines:
        here.shell(line)
    assert files(here) == whole(data)


def test_commands_need_a_control_file(data, here):
    done = here.call(
        "multi_borders",
        "-0",
        *WORDS[:3],
        "-",
        *WORDS[4:],
        status=2,
        stdin=(data / "plan").read_bytes(),
    )
    done.refused("with -0, control must be a file where classifiers share landmarks")
    assert files(here) == {}


@pytest.mark.parametrize(
    "words, told",
    [
        (("--sums", "1"), "expected GROUP:RANGE, two whole numbers from 0, found '1'"),
        (("--sums", "0:4"), "there is no range 4: expected a number from 0 to 3"),
        (("--sums", "1:0"), "there is no group 1 of classifiers that share landmarks"),
        (("--sums", "0:0", "-0"), "-0 and --sums exclude each other"),
        (("--sums", "0:0", "--time-limit", "9"), "--sums and --time-limit exclude each other"),
    ],
)
def test_wrong_ranges(here, words, told):
    here.call("multi_borders", *words, *WORDS[1:], status=2).refused(told)
    assert files(here) == {}

"""What a command loads before it is asked to work, and what every command answers."""

import re
from pathlib import Path

import pytest

COMMANDS = sorted(path.name for path in (Path(__file__).resolve().parents[2] / "bin").iterdir())
HEAVY = {"numpy", "scipy", "ctypes", "libsvm"}


def loaded(place, *words):
    """Top-level modules that a command loads, by the interpreter's own account."""
    done = place.run(*words, python=["-X", "importtime"])
    assert done.returncode == 0
    return {line.rsplit("|", 1)[1].strip().split(".")[0]
            for line in done.stderr.decode().splitlines() if line.startswith("import time:")}


def test_there_are_commands():
    assert {"print_control", "multi_borders", "mbh2mbm", "classify_m", "eval_uc"} < set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_light(place, command):
    modules = loaded(place, command, "--help")
    assert "argparse" in modules
    assert not modules & HEAVY


@pytest.mark.parametrize("scheme", ["0", "1", "2", "4", "5", "6", "7", "16"])
def test_print_control_is_light(place, scheme):
    modules = loaded(place, "print_control", "-Q", scheme, "26")
    assert "agfmc" in modules
    assert not modules & HEAVY


def test_the_probe_can_see(place):
    assert "numpy" in loaded(place, "print_control", "trn")
    assert "scipy" not in loaded(place, "classify_m", "all.mbm", "tst.vec", "out")
    assert "scipy" not in loaded(place, "multi_borders", "plan", "trn", "t", "tctl")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_and_version_go_to_standard_output(place, command):
    done = place.run(command, "--help")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"usage: " + command.encode() + b" ")
    done = place.run(command, "--version")
    assert (done.returncode, done.stderr) == (0, b"")
    assert re.fullmatch(rf"{command} \(agfmc\) \d+\.\d+\S*\n", done.stdout.decode())

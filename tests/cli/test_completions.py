"""Completions for bash, zsh and fish: made for every command, loaded and asked by the shells."""

import configparser
import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agfmc.cli import parser_of
from man.completions import SHELLS

pytest.importorskip("shtab")

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = sorted(path.name for path in (ROOT / "bin").iterdir())


@pytest.fixture(scope="module")
def share(tmp_path_factory):
    """The folder of all completions, made as in a build, where nothing heavy is installed."""
    folder = tmp_path_factory.mktemp("share")
    code = (
        "import sys\n"
        "from man.completions import write_completions\n"
        "write_completions(sys.argv[1])\n"
        "assert not {'numpy', 'scipy', 'resvg_py', 'jinja2'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def run_shell(name, lines, cwd):
    """The lines that a script prints; the test is skipped where there is no such shell."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    bare = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[name]
    done = subprocess.run(
        [name, *bare], input="\n".join(lines), cwd=cwd, text=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def lines_of(name, share, command, word):
    """The lines of a script that print what is offered in the place of a last word."""
    load = f"source {share / SHELLS[name].format(command)}"
    if name == "bash":
        words = f"COMP_WORDS=({command} {word}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))"
        answer = "printf '%s\\n' \"${COMPREPLY[@]}\""
        return ["compopt() { :; }", load, words, f"_shtab_{command}", answer]
    if name == "fish":
        return [load, f"complete -C '{command} {word}'"]
    # zsh completes within its editor alone: what is passed to its own function instead
    return [
        "compdef() { :; }",
        f"_arguments() {{ print -rl -- $_shtab_{command}_options }}",
        f'eval "$(<{share / SHELLS[name].format(command)})"',
        f"_shtab_{command}",
    ]


def test_every_command_has_a_file_for_every_shell_and_setuptools_knows_them(share):
    files = sorted(
        path.relative_to(share).as_posix() for path in share.rglob("*") if path.is_file()
    )
    assert files == sorted(
        place.format(command) for place in SHELLS.values() for command in COMMANDS
    )
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    assert setup["options"]["scripts"].split() == [f"bin/{command}" for command in COMMANDS]
    for place in SHELLS.values():
        folder = Path(place).parent.as_posix()
        assert setup["options.data_files"][f"share/{folder}"] == f"build/share/{folder}/*"


@pytest.mark.parametrize("name", SHELLS)
def test_shells_load_their_files_which_offer_every_long_option(name, share, tmp_path):
    script = []
    for command in COMMANDS:
        script += ["echo command " + command, *lines_of(name, share, command, "--")]
    offered = {}
    for line in run_shell(name, script, tmp_path):
        if line.startswith("command "):
            options = offered.setdefault(line.split()[1], set())
        else:  # with its help after [ in zsh, after a tab in fish
            options.add(line.replace("[", "\t").split("\t")[0].strip(" (*)-:"))
    for command in COMMANDS:
        actions = parser_of(command)._actions
        options = [option for action in actions for option in action.option_strings]
        names = {option[2:] for option in options if option.startswith("--")}
        assert names <= offered[command], command


@pytest.mark.parametrize("name", ["bash", "fish"])
@pytest.mark.parametrize(
    "words, wanted",
    [
        ("tune_m --by lo", "log-loss"),
        ("tune_m -+ x one-vs-one my", "my file.csv"),
        ("compare_control -j 2 a my", "my file.csv"),
        ("multi_borders -0 -^ cat my", "my file.csv"),
        ("classify_m --path fol", "folder"),
    ],
)
def test_values_and_operands_are_offered(name, words, wanted, share, tmp_path):
    (tmp_path / "my file.csv").touch()
    (tmp_path / "folder").mkdir()
    command, _, rest = words.partition(" ")
    lines = run_shell(name, lines_of(name, share, command, rest), tmp_path)
    assert [line.split("\t")[0].rstrip("/") for line in lines] == [wanted]


@pytest.mark.parametrize("command", COMMANDS)
def test_zsh_takes_signs_and_colons_for_nothing_else(command, share, tmp_path):
    # a sign after an option's letter says how its value follows, a third colon begins a command
    for line in run_shell("zsh", lines_of("zsh", share, command, "--"), tmp_path):
        if line.startswith("-"):
            assert re.fullmatch(r"[-\w]+\[(\\.|[^]])*\](:[^:]*:[^:]*)?", line)


def test_a_build_without_shtab_has_no_completions_and_says_so(tmp_path, monkeypatch, capsys):
    pytest.importorskip("setuptools")
    backend = importlib.import_module("man.build_backend")
    monkeypatch.setattr(backend, "SHARE", tmp_path / "share")
    monkeypatch.setattr(
        backend.build_meta,
        "build_wheel",
        lambda *words: sorted(path.name for path in (tmp_path / "share").rglob("*tune_m*")),
    )
    assert backend.build_wheel("there") == ["_tune_m", "tune_m", "tune_m.fish"]
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert backend.build_wheel("there") == [] and not (tmp_path / "share").exists()
    error = capsys.readouterr().err
    assert "no completions for shells are installed" in error and error.count("\n") == 1

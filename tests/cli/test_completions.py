"""Completions for bash, zsh and fish: made for every command, read and driven by the shells."""

import configparser
import functools
import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agfmc.cli.options import Parser
from man import completions
from man.completions import SHELLS

pytest.importorskip("shtab")

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = sorted(path.name for path in (ROOT / "bin").iterdir())
# What a help must not make a shell do: its text ends up in double and single quotes.
EVIL = [
    'it\'s "quoted" `touch A`',
    "'; touch B; '",
    "$(touch C)",
    '"; touch D; "',
    "[x:y] {z} ]:a:",
    "(touch E)",
    "%% $HOME ~ ! # & | < > * ?",
    "the end \\",
    "\\' \\\" \\`",
    "x\n`touch F`",
]


@pytest.fixture(scope="module")
def share(tmp_path_factory):
    """The folder of all completions, made as in a build, where nothing heavy is installed."""
    folder = tmp_path_factory.mktemp("share")
    code = (
        "import sys\n"
        "from man import completions\n"
        "assert completions.main(sys.argv[1:]) == 0\n"
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


@functools.cache
def parser_of(command):
    return importlib.import_module(f"agfmc.cli.{command}").get_parser()


def shell(name, script, *words, cwd):
    """What a script prints; the test is skipped where there is no such shell."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    bare = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[name]
    done = subprocess.run(
        [name, *bare, "-c", script, *words], cwd=cwd, text=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


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


@pytest.mark.parametrize("command", COMMANDS)
def test_every_long_option_is_completed(command, share):
    texts = {name: (share / place.format(command)).read_text() for name, place in SHELLS.items()}
    for action in parser_of(command)._actions:
        for option in action.option_strings:
            if option.startswith("--"):
                assert re.search(rf"option_strings=\(.*{option}[ )]", texts["bash"])
                assert re.search(rf'[",)*]{option}(,|[}}"]?["\[])', texts["zsh"])
                assert re.search(rf" -l {option[2:]} ", texts["fish"])


def test_every_value_has_a_completion_or_is_known_to_be_free():
    seen = set()
    for command in COMMANDS:
        for action in parser_of(command)._actions:
            if action.nargs != 0:
                values = completions.values_of(command, action)
                assert values is not None, f"{command} {action.metavar}: neither completed nor free"
                seen.add(action.metavar)
                if not action.option_strings and not values:
                    seen.add((command, action.dest))
                assert all(re.fullmatch(r"[\w.:=-]+", value) for value in values)
    assert completions.FREE | completions.FREE_OPERANDS <= seen


@pytest.mark.parametrize("name", SHELLS)
def test_shells_parse_their_files(name, share):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    for path in sorted((share / SHELLS[name]).parent.iterdir()):
        done = subprocess.run([name, "-n", str(path)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), path.name


BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE=$LINE
compopt() { :; }
_agfmc_$1
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    "words, wanted",
    [
        ("classify_m --tre", "--tree"),
        ("classify_m -Q loss : hi", "hinge"),  # readline ends words at = and :
        ("tune_m --by = lo", "log-loss"),
        ("tune_m --kernels rbf,li", "rbf,linear"),
        ("tune_m one-vs-o", "one-vs-one"),
        ("tune_m --plot = my", "my file.csv"),
        ("tune_m -+ x one-vs-one my", "my file.csv"),
        ("tune_m --learn-metric 2 one-vs-one my", "my file.csv"),
        ("compare_control a b c my", "my file.csv"),
        ("classify_m --path fol", "folder"),
        ("print_control --of best-c", "best-code"),
    ],
)
def test_bash_completes(words, wanted, share, tmp_path):
    (tmp_path / "my file.csv").touch()
    (tmp_path / "folder").mkdir()
    command = words.split()[0]
    line = re.sub(r" ([:=]) ", r"\1", words)
    script = f"LINE='{line}'{BASH}"
    path = share / SHELLS["bash"].format(command)
    assert shell("bash", script, "bash", str(path), *words.split(), cwd=tmp_path) == f"{wanted}\n"


FISH = [
    ("classify_m --tre", "--tree"),
    ("classify_m -Q loss:hi", "loss:hinge"),
    ("tune_m --by=lo", "--by=log-loss"),
    ("tune_m --kernels rbf,li", "rbf,linear"),
    ("tune_m one-vs-o", "one-vs-one"),
    ("tune_m --plot=my", "--plot=my file.csv"),
    ("tune_m -+ x one-vs-one my", "my file.csv"),
    ("compare_control a b c my", "my file.csv"),
    ("classify_m --path fol", "folder/"),
]


def test_fish_completes(share, tmp_path):
    (tmp_path / "my file.csv").touch()
    (tmp_path / "folder").mkdir()
    lines = [
        f"source {share / SHELLS['fish'].format(command)}"
        for command in sorted({line.split()[0] for line, _ in FISH})
    ]
    lines += [f"complete -C '{line}'" for line, _ in FISH]
    found = shell("fish", "\n".join(lines), cwd=tmp_path).splitlines()
    assert [line.split("\t")[0] for line in found] == [wanted for _, wanted in FISH]


@pytest.mark.few(2)
@pytest.mark.parametrize("name", SHELLS)
def test_text_of_a_parser_runs_nothing(name, tmp_path):
    parser = Parser("evil", EVIL[0])
    parser.add_argument("train", help=EVIL[0], metavar="{a:b | `c` $(touch G)}")
    for i, text in enumerate(EVIL):
        parser.add_argument(f"--flag{i}", action="store_true", help=text)
        parser.add_argument(f"--text{i}", metavar="LO:HI[:STEP]", help=text)
        parser.add_argument(f"--file{i}", metavar="FILE", help=text)
    path = tmp_path / "completions"
    path.write_text(completions._complete(parser, name))
    script = {
        "bash": "source $0",
        "fish": "source ./completions; complete -C 'evil --'",
        "zsh": 'autoload -Uz compinit; compinit -u -D; eval "$(<completions)"',
    }[name]
    shell(name, script, str(path), cwd=tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["completions"]
    parsed = subprocess.run([name, "-n", str(path)], capture_output=True, check=False)
    assert (parsed.returncode, parsed.stderr) == (0, b"")


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
    assert completions.main([str(tmp_path)]) == 2
    assert "completions need shtab 1.13 or newer" in capsys.readouterr().err

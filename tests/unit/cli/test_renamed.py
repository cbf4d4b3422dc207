"""Options of the version before: those of another name are read, those that are gone refused."""

import shlex

import pytest

from agfmc.cli import parser_of, renamed

ROWS = [
    (command, name, text)
    for command, options in renamed.EARLIER.items()
    for name, text in options.items()
]


@pytest.fixture
def table(monkeypatch):
    rows = {"--boxes": "--bins {}", "--plain": "--log text", "-Z": "give --json instead"}
    monkeypatch.setitem(renamed.EARLIER, "eval_uc", rows)


def parsed(*words):
    return parser_of("eval_uc").parse_args(words)


@pytest.mark.parametrize("words", [["--boxes", "7"], ["--boxes=7"]])
def test_the_value_goes_to_the_option_of_today(table, words, capsys):
    assert parsed("t.cls", "a.txt", *words).bins == 7
    assert capsys.readouterr().err == "agfmc: --boxes has another name: --bins 7\n"


def test_an_option_may_stand_for_an_option_with_its_value(table, capsys):
    assert parsed("--plain", "t.cls", "a.txt").log == "text"
    assert capsys.readouterr().err == "agfmc: --plain has another name: --log text\n"


def test_the_note_is_not_for_quiet_commands(table, capsys):
    assert parsed("--boxes", "7", "--quiet", "t.cls", "a.txt").bins == 7
    assert capsys.readouterr().err == ""


def test_an_option_without_its_value_is_refused(run, table):
    run("eval_uc", "t.cls", "a.txt", "--boxes", status=2).refused(
        "option --boxes: expected a value after it"
    )


@pytest.mark.parametrize("word", ["-Z", "-Z5"])
def test_an_option_that_is_gone_says_what_to_use(run, table, word):
    run("eval_uc", word, "t.cls", "a.txt", status=2).refused(
        "there is no option -Z any more: give --json instead"
    )


def test_operands_and_values_of_options_are_no_options(table):
    args = parsed("--top-accuracy", "3", "--", "--boxes", "-Z")
    assert "--boxes" in vars(args).values() and args.result == "-Z"


@pytest.mark.parametrize("command, name, text", ROWS, ids=lambda value: value.replace(" ", "-"))
def test_rows_are_of_options_that_the_parser_does_not_show(command, name, text):
    parser = parser_of(command)
    assert name not in parser._option_string_actions
    assert name not in parser.format_help().replace(",", " ").split()
    for word in shlex.split(text) if text.startswith("-") else ():
        if word.startswith("-"):
            assert word.partition("=")[0] in parser._option_string_actions

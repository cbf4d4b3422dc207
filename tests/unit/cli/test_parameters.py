"""Parameters in messages of the library, and the options that stand for them in commands."""

import ast
import re
from pathlib import Path

import pytest

import agfmc.cli
from agfmc.cli import parser_of
from agfmc.cli.parameters import PARAMETERS, with_options

PACKAGE = Path(agfmc.cli.__file__).parents[1]
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent.name != "cli"]
COMMANDS = sorted(path.name for path in (PACKAGE.parent / "bin").iterdir())
PROGRAMS = {"gunzip"}  # of others, in backquotes
DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef


@pytest.fixture(scope="module")
def options():
    """{command: its options}."""
    return {command: set(parser_of(command)._option_string_actions) for command in COMMANDS}


def parameters():
    """Names of arguments and fields of the library."""
    names = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                names.add(node.target.id)
    return names


def named_in_messages():
    """{name in backquotes: the file} of strings that document nothing."""
    names = {}
    for path in FILES:
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        bodies = (node.body for node in nodes if isinstance(node, DOCUMENTED))
        documents = {
            id(line.value) for body in bodies for line in body if isinstance(line, ast.Expr)
        }
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if id(node) not in documents:
                    for name in re.findall("`([a-z_]+)[`=]", node.value):
                        names[name] = path.name
    return names


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_the_commands_of_a_row_have_its_option(parameter, options):
    option, commands = PARAMETERS[parameter]
    if commands:
        assert option in options[commands.split()[0]]
        assert set(commands.split()) <= options.keys()
    else:
        assert any(option in known for known in options.values())


def test_rows_are_needed(options):
    """No row says what is so without it."""
    for parameter, (option, commands) in PARAMETERS.items():
        if option == "--" + parameter.replace("_", "-"):
            lacking = [command for command in COMMANDS if option not in options[command]]
            assert lacking, parameter


def test_messages_name_parameters():
    known = parameters()
    named = named_in_messages()
    assert {"min_class", "coverage", "ignored"} <= named.keys()
    rows = {parameter.partition("=")[0] for parameter in PARAMETERS}
    assert not {name: file for name, file in named.items() if name not in known | rows | PROGRAMS}


@pytest.mark.parametrize(
    "message, command, expected",
    [
        ("`min_class=5` leaves out", "multi_borders", "--min-class 5 leaves out"),
        ("`coverage` and `p_values`", "classify_m", "--coverage and --p-values"),
        ('`tree="full"` or `raw`', "classify_m", "--tree full or -0"),
        ('`tree="full"`', "eval_uc", "classify_m --tree full"),
        ("`blanks`", "multi_borders", "table2agf --blanks"),
        ("`blanks`", "agf_train", "--blanks"),
        ("without `calibrated=False`", "classify_m", "without --uncalibrated"),
        ('`group="my column"`', "nfold", "--group 'my column'"),
        ('LVQ text with `kind="lvq"`', "nfold", "LVQ text with -A"),
        ("`gunzip` it", "nfold", "`gunzip` it"),
        ("`coverage`", "nfold", "`coverage`"),  # neither in the table nor an option
        ("column '`label`': `label`", "nfold", "column '`label`': --label"),
        ("`label`.csv: 3", "nfold", "`label`.csv: 3"),
        ("of/`label`: 3", "nfold", "of/`label`: 3"),
        ("'it's `label`' has", "nfold", "'it's `label`' has"),
        ('found "`label`"', "nfold", 'found "`label`"'),
        (
            "the models' own `label`, and others' too",
            "nfold",
            "the models' own --label, and others' too",
        ),
        ("`print_control -M DATA` writes", "nfold", "`print_control -M DATA` writes"),
        ("nothing in backquotes", "nfold", "nothing in backquotes"),
    ],
)
def test_options_in_place_of_parameters(message, command, expected, options):
    assert with_options(message, command, options[command]) == expected

"""How many options the commands have: names of one thing, which do not grow unnoticed."""

from agfmc.cli import parser_of
from man.generate import commands

GENERAL = {"--help", "--help-all", "--version", "--quiet", "--log", "--debug"}
OPTIONS, NAMES = 445, 163  # at most; lower them where there are fewer


def test_there_are_no_more_options_and_names():
    options = {
        command: [
            max(action.option_strings, key=len)
            for action in parser_of(command)._actions
            if action.option_strings and not GENERAL & set(action.option_strings)
        ]
        for command in commands()
    }
    count = sum(map(len, options.values()))
    names = set().union(*options.values())
    for command, own in options.items():
        print(f"{command:24}{len(own):4}")
    print(f"{count} options, {len(names)} names")
    assert count <= OPTIONS and len(names) <= NAMES

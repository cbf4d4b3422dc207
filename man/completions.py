"""Completions of bash, zsh and fish: `python -m man.completions FOLDER`.

One file for each command and shell, made by shtab from the command's parser, below FOLDER: the
places below share/ where the shells look for them.  The build of a wheel makes them
(`build_backend.py`), and setup.cfg installs them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from agfmc.cli import parser_of
from agfmc.cli.options import FILES

from .generate import commands

__all__ = ["complete", "SHELLS", "write_completions"]

# The file of a command below share/, by shell.
SHELLS = {
    "bash": "bash-completion/completions/{}",
    "zsh": "zsh/site-functions/_{}",
    "fish": "fish/vendor_completions.d/{}.fish",
}


def write_completions(folder):
    """Write the files of all commands and shells below `folder`."""
    for shell, place in SHELLS.items():
        for command in commands():
            path = Path(folder) / place.format(command)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(complete(command, shell), encoding="utf-8")


def complete(command, shell):
    """The text of the completions of a command for a shell, one of `SHELLS`."""
    import shtab

    parser = parser_of(command)
    for action in parser._actions:
        if action.metavar == "FOLDER":
            action.complete = shtab.DIRECTORY
        elif action.metavar in FILES or not action.option_strings:
            action.complete = shtab.FILE
        if shell == "zsh":
            # where + and ^ after a dash have another meaning, and a colon begins a command
            action.option_strings = [
                name for name in action.option_strings if name not in ("-+", "-^")
            ]
            action.metavar = (action.metavar or action.dest).replace(":", "-")
    return shtab.complete(parser, shell) + "\n"


if __name__ == "__main__":
    write_completions(sys.argv[1])

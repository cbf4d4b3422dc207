"""Commands: parsers and glue; the only floor that reads argv or prints."""

import os
import signal
import sys


def main_of(name: str):
    """The command `name` as a function of argv (default: the process's own) -> exit status."""
    from importlib import import_module

    from .run import run_command
    command = import_module(f".{name}", __name__)
    return lambda argv=None: run_command(command.get_parser(), command.execute, argv)


def launch(path: str) -> None:
    """Run the command of the name of the file `path`, and end with its exit status."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # silent until the command is loaded
    sys.exit(main_of(os.path.basename(os.path.realpath(path)))())

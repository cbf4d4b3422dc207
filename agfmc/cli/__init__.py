"""Commands: parsers and glue; the only floor that reads argv or prints."""

import os
import sys
import threading


def parser_of(name: str):
    """The parser of the command `name`, new."""
    return _command_of(name).get_parser()


def main_of(name: str):
    """The command `name` as a function of argv (default: the process's own) -> exit status."""
    from .run import run_command

    command = _command_of(name)
    return lambda argv=None: run_command(command.get_parser(), command.execute, argv)


def _command_of(name):
    """The place of the parser and the function of the command: a row of `CONVERTERS`, or a module."""
    from importlib import import_module

    from .convert import CONVERTERS

    return CONVERTERS.get(name) or import_module(f".{name}", __name__)


def launch(path: str) -> None:
    """Run the command of the name of the file `path`, and end with its exit status."""
    status = main_of(os.path.basename(os.path.realpath(path)))()
    # A thread that was left behind may be within a library, which ends with the process, and it
    # would then end by a fault; those of PyArrow, which Python does not count, read files ahead.
    if threading.active_count() > 1 or "pyarrow" in sys.modules:
        from ..files.atomic import remove_temporaries

        sys.stdout.flush()
        remove_temporaries()
        os._exit(status)
    sys.exit(status)

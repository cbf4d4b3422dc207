"""Commands: parsers and glue; the only floor that reads argv or prints."""

import os
import signal
import sys


def launch(path: str) -> None:
    """Run the command of the name of the file `path`, and end with its exit status."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # silent until the command is loaded
    from importlib import import_module

    sys.exit(import_module(f".{os.path.basename(os.path.realpath(path))}", __name__).main())

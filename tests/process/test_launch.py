"""The end of a command that leaves a thread behind, as at a time limit."""

import subprocess
import sys

import pytest

BUSY = """
import os, sys, threading
from agfmc import cli
left = threading.Event()
cli.main_of = lambda name: lambda: (
    threading.Thread(target=lambda: left.wait(), daemon=True).start(), print("answer"), 3)[-1]
import atexit
atexit.register(print, "libraries end")
{started}
cli.launch("multi_borders")
"""


@pytest.mark.parametrize("busy", [True, False])
def test_libraries_do_not_end_under_a_busy_thread(busy):
    script = BUSY.format(started="" if busy else "left.set()")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 3 and done.stdout.startswith("answer\n") and not done.stderr
    if busy:
        assert "libraries end" not in done.stdout

#!/usr/bin/env python3
"""A command of the suite whose clock is its processor time, so that a busy machine changes nothing.

    python tests/benchmarks/processor_clock.py PACE agf_train --time-limit 60 -j 1 TRAIN MODEL

With a PACE of 1 a limit of 60 seconds is one of 60 seconds on one idle core; with 2.5 the clock
runs as on a core of which other programs take three fifths. The command has to run in one thread.
"""

# What waits in threads keeps the clock of the machine: it is imported before.
import concurrent.futures  # noqa: F401
import queue  # noqa: F401
import runpy
import selectors  # noqa: F401
import subprocess  # noqa: F401
import sys
import threading  # noqa: F401
import time
from pathlib import Path

COMMANDS = Path(__file__).resolve().parents[2] / "bin"


def main():
    pace, command = float(sys.argv[1]), sys.argv[2]
    time.monotonic = lambda: pace * time.process_time()
    if "/" not in command:
        command = str(COMMANDS / command)
    sys.argv = [command, *sys.argv[3:]]
    runpy.run_path(command, run_name="__main__")


if __name__ == "__main__":
    main()

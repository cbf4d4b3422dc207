"""Numbers and lengths that ask for memory or time: a file costs no more than in proportion."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("hostile_sizes.py")
LIE = 64 << 20  # bytes that a small file may take
TIMES = 100  # its size, for a large one
# In fact a large table, below the limit; objects for each of 45000 classifiers.
TABLES = {"wider and wider", "classifiers"}


def cases(scale):
    done = subprocess.run([sys.executable, str(SCRIPT), str(scale)], capture_output=True, text=True,
                          timeout=3000, env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[2])})
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(found):
    assert len(found) > 80
    wrong = []
    for name, size, peak, ending in found:
        if not ending.startswith(("result", "refused: FILE", "refused: standard input")):
            wrong.append(f"{name}: {ending}")
        if peak > (LIE if size < 1 << 16 else LIE // 4 + TIMES * size) and name not in TABLES:
            wrong.append(f"{name}: {size} bytes, and {peak >> 20} MiB of memory")
    assert wrong == []


@pytest.mark.long
def test_numbers_that_lie_and_files_of_some_size():
    check(cases(15))


@pytest.mark.long
def test_files_of_several_megabytes():
    check(cases(1000))

"""The Python of README and of the tutorials has types that mypy accepts as they are."""

import os
import re
import subprocess
import sys

import pytest

pytest.importorskip("mypy", reason="mypy is not installed")

PAGES = (
    "README.md",
    "man/site/docs/tutorials/own.md",
    "man/site/docs/tutorials/sklearn.md",
    "man/site/docs/tutorials/service.md",
)
# what the examples say of data that their readers have
GIVEN = """\
from typing import Any
import agfmc
from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore
X: Any = None
y: Any = None
x: Any = None
new_X: Any = None
new_x: Any = None
other_X: Any = None
other_y: Any = None
pipeline: Any = None
rows: Any = None
"""


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_examples_are_typed(page, root, tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", (root / page).read_text(), re.M | re.S)
    assert blocks
    (tmp_path / "example.py").write_text(GIVEN + "".join(blocks))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--allow-untyped-defs",
            "--follow-imports=silent",
            "example.py",
        ],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(root)},
        capture_output=True,
        text=True,
    )
    ours = [
        line
        for line in done.stdout.splitlines()
        if line.startswith("example.py") and "import-untyped" not in line and ": error:" in line
    ]
    assert ours == [], done.stdout[-2000:]

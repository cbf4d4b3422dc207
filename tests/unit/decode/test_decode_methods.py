"""The table of decoders."""

import subprocess
import sys

import pytest

from agfmc.decode.methods import METHODS, find_method
from agfmc.errors import UsageError


@pytest.mark.parametrize("text, name", [
    ("-1", "binary"), (0, "least-squares"), ("0", "least-squares"), ("lsq", "least-squares"),
    ("7", "zadrozny"), ("Zadrozny-KL", "zadrozny-kl"), ("renormalized", "renormalised"),
])
def test_found_by_number_name_or_alias(text, name):
    assert find_method(text).name == name


def test_unknown_lists_what_exists():
    with pytest.raises(UsageError, match="0 least-squares.*zadrozny-kl"):
        find_method("8")


def test_no_name_is_used_twice():
    names = [name for method in METHODS for name in (method.name, *method.aliases)]
    numbers = [method.number for method in METHODS if method.number is not None]
    assert len(set(names)) == len(names)
    assert numbers == list(range(-1, 8))


def test_table_needs_no_numpy(root):
    code = "import sys; import agfmc.decode.methods; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=root).returncode == 0


def test_decoders_need_no_scipy(root):
    code = ("import sys; from agfmc.decode.front import plan; from agfmc.decode.methods import *\n"
            "for method in METHODS: plan([[-1, 1, 0], [-1, 0, 1], [0, -1, 1]], method)([.1, .2, .3])\n"
            "sys.exit('scipy' in sys.modules)")
    assert subprocess.run([sys.executable, "-c", code], cwd=root).returncode == 0

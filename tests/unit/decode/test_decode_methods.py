"""The table of decoders."""

import subprocess
import sys

import pytest

from agfmc.decode.methods import find_method, METHODS
from agfmc.errors import UsageError


@pytest.mark.parametrize("text, name", [
    ("-1", "binary"), (0, "least-squares"), ("0", "least-squares"), ("lsq", "least-squares"),
    ("7", "zadrozny"), ("Zadrozny-KL", "zadrozny-kl"), ("renormalized", "renormalised"),
    ("svm-vote", "loss:hamming"), ("svm_vote", "loss:hamming"),
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
    code = ("import sys, numpy; from agfmc.decode.front import plan\n"
            "from agfmc.decode.methods import *; from agfmc.decode.asked import *\n"
            "codes = {'one-vs-rest': [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]}\n"
            "pairs = [[-1, 1, 0], [-1, 0, 1], [0, -1, 1]]\n"
            "for method in METHODS:\n"
            "    if method.gives != 'winner':\n"
            "        plan(codes.get(method.codes, pairs), method)([.1, .2, .3])\n"
            "    elif method.name != 'radag':\n"
            "        asking_plan(pairs, method, AskOptions())(\n"
            "            2, lambda rows, columns: numpy.zeros((len(rows), len(columns))))\n"
            "sys.exit('scipy' in sys.modules)")
    assert subprocess.run([sys.executable, "-c", code], cwd=root).returncode == 0

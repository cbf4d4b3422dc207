"""Property tests: the same examples in every run, and others where they are asked for."""

import random
import shlex
import subprocess
import sys

import pytest
from hypothesis import settings


def test_the_examples_of_a_run_are_always_the_same(request):
    usual = settings.get_profile("repeatable")
    assert usual.derandomize and usual.database is None and usual.deadline is None
    for item in request.session.items:
        own = getattr(getattr(item, "obj", None), "_hypothesis_internal_use_settings", usual)
        assert own.derandomize == settings.default.derandomize, item.nodeid
        assert own.database is None and own.deadline is None, item.nodeid


@pytest.mark.long
def test_a_failure_names_what_repeats_it(tmp_path, root):
    (tmp_path / "conftest.py").write_text((root / "tests" / "conftest.py").read_text())
    (tmp_path / "test_false.py").write_text(
        "from hypothesis import given, strategies as st\n"
        "@given(st.lists(st.integers()))\n"
        "def test_false(numbers):\n    print('drawn', numbers)\n    assert len(numbers) < 3\n")

    def drawn(*options):
        done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options,
                               "test_false.py"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "@reproduce_failure(" in done.stdout
        return [line for line in done.stdout.splitlines() if line.startswith("drawn")]

    assert drawn() != drawn("--hypothesis-profile=explore", "--hypothesis-seed=1")


@pytest.mark.long
@pytest.mark.parametrize("turn", range(4))
def test_with_other_examples(root, turn):
    """The command is printed with its seed: it repeats what failed."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider",
               "-m", "hypothesis", "--hypothesis-profile=explore",
               f"--hypothesis-seed={random.SystemRandom().randrange(10**9)}"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"

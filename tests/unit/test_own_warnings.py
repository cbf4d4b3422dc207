"""The helpers of the tests: warnings of others are neither gathered nor errors."""

import re
import warnings

import pytest

from agfmc.core.errors import AgfmcNotice, AgfmcWarning, warn_user
from own_warnings import no_own_warnings, own_warnings, texts_of


def test_warnings_of_others_are_left_to_others():
    with pytest.warns(ResourceWarning, match="unclosed"), own_warnings() as caught:
        warn_user("first")
        warnings.warn("unclosed", ResourceWarning, stacklevel=1)
        warn_user("second", AgfmcNotice)
    assert texts_of(caught) == ["first", "second"]
    assert [one.category for one in caught] == [AgfmcWarning, AgfmcNotice]


def test_only_own_warnings_are_errors():
    with no_own_warnings(), pytest.warns(ResourceWarning):
        warnings.warn("unclosed", ResourceWarning, stacklevel=1)
    with no_own_warnings(), pytest.raises(AgfmcWarning, match="own"):
        warn_user("own")


GATHERS = re.compile(r'recwarn|record=True|simplefilter\("error"\)|warns\(AgfmcWarning.*\) as ')


def test_no_test_gathers_the_warnings_of_others(root):
    folder = root / "tests"
    allowed = {
        "support/own_warnings.py",
        "unit/test_own_warnings.py",
        "unit/executors/test_remote.py",
    }
    gathering = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if GATHERS.search(path.read_text(encoding="utf-8"))
    }
    assert gathering <= allowed, "use own_warnings or no_own_warnings of tests/support"

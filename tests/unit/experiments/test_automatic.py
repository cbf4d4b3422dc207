"""The decisions before anything is tried."""

import pytest

from agfmc.core.errors import DataError
from agfmc.experiments.budget import LARGE, LARGE_SAMPLE, plan_budget, SAMPLE


def test_samples_and_the_learner_go_by_the_number_of_rows():
    few, more, many = (plan_budget({0: 3, 1: rows - 3}, {}, "t") for rows in (
        SAMPLE, LARGE, LARGE + 1))
    assert (few.choosing, few.tuning, few.options) == (None, None, "")
    assert (more.choosing, more.tuning, more.options) == (SAMPLE, None, "")
    assert (many.choosing, many.tuning, many.options) == (SAMPLE, LARGE_SAMPLE, "learner=nystrom")


def test_time_of_training_grows_with_the_square_of_the_rows_or_with_the_rows():
    few, many = (plan_budget({0: half, 1: half}, {}, "t") for half in (SAMPLE, 5 * SAMPLE))
    assert few.training_seconds(3.0, [SAMPLE / 2]) == 48.0
    assert many.training_seconds(3.0, [SAMPLE / 4] * 2) == 60.0


def test_small_classes_are_refused_or_left_out():
    counts, names = {0: 9, 1: 2, 2: 7, 5: 1}, {0: "a", 1: "b", 2: "c"}
    with pytest.raises(DataError, match=r"^t: 2 of 4 classes have fewer than 3 rows, too few to "
                                        r"hold one out: b \(2\), 5 \(1\); --min-class 3 leaves"):
        plan_budget(counts, names, "t")
    left = plan_budget(counts, names, "t", 3)
    assert (left.rows, left.classes) == (16, 2)
    with pytest.raises(DataError, match="holds 1 class of 8 rows or more: expected at least two"):
        plan_budget(counts, names, "t", 8)

"""From a tree to jobs: sides, orientation, names, options, and checks before anything runs."""

import pickle

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.errors import ControlError, DataError, UsageError
from agfmc.learners.jobs import check_jobs, plan_jobs, problem
from agfmc.learners.protocol import parse_options

TEXT = '"-c 1" 0 / 1 2;\n"" 2 / 0;\n{\n  "." {7 3}\n  5\n  " " {4 9}\n}'


def jobs_of(text=TEXT, default="-c 8", seed=3):
    return plan_jobs(parse(text, "f"), "dir/m", default, seed)


def test_plan():
    jobs = jobs_of()
    assert [job.name for job in jobs] == ["dir/m-00", "dir/m-01", "dir/m.00", "dir/m.02"]
    assert [(job.left, job.right) for job in jobs] == [
        ((7, 3), (5, 4, 9)), ((4, 9), (7, 3)), ((7,), (3,)), ((4,), (9,))]
    assert [job.options.cost for job in jobs] == [1.0, 8.0, 8.0, 1.0]
    assert [job.text for job in jobs] == ["-c 1", "-c 8", "-c 8", ""]
    assert [job.place for job in jobs] == [("f", 1, 1), ("f", 2, 1), ("f", 4, 3), ("f", 6, 3)]
    assert {job.seed for job in jobs} == {3}
    assert pickle.loads(pickle.dumps(jobs)) == jobs


def test_wrong_options_are_found_first():
    with pytest.raises(UsageError, match="^f:4:3: option -c: expected a number, found 'x'$"):
        jobs_of(TEXT.replace('"."', '"-c x"'))
    with pytest.raises(UsageError, match="^unknown training option"):
        jobs_of(default="-y")
    with pytest.raises(ControlError, match="^f:1:1: expected training options"):
        jobs_of("m {0 1}")


def test_problem_keeps_the_order_of_the_data():
    rows_of = {label: np.flatnonzero(np.array([5, 7, 3, 9, 4, 7, 3]) == label)
               for label in (3, 4, 5, 7, 9)}
    part = problem(jobs_of()[0], rows_of)  # the first row of all, 0, is on the right
    assert part.rows.tolist() == [0, 3, 4, 1, 2, 5, 6]
    assert part.side.tolist() == [1, 1, 1, 0, 0, 0, 0]
    part = problem(jobs_of()[1], rows_of)  # 4 and 9 left, 7 and 3 right
    assert part.rows.tolist() == [1, 2, 5, 6, 3, 4]
    assert part.side.tolist() == [1, 1, 1, 1, 0, 0]


def test_few_samples():
    jobs = jobs_of()
    counts = {3: 5, 4: 5, 5: 5, 7: 5, 9: 5}
    assert check_jobs(jobs, counts) == []
    few = check_jobs(jobs, {**counts, 9: 4})
    assert few == ["the right side (class 9) of 'dir/m.02' has 4 samples"]
    with pytest.raises(DataError) as caught:
        check_jobs(jobs, {**counts, 9: 1})
    assert str(caught.value) == ("f:6:3: the right side (class 9) of 'dir/m.02' has 1 sample: "
                                 "expected at least 2")
    with pytest.raises(DataError, match="has 0 samples"):
        check_jobs(jobs, {**counts, 7: 0})


def test_default_options_are_shared():
    assert jobs_of()[1].options == parse_options("-c 8")

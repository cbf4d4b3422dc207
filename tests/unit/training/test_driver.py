"""The driver: what a store has is taken, the rest is trained and put there as it is finished."""

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.core.errors import DataError
from agfmc.data.types import Dataset
from agfmc.learners.protocol import Fitted, plan_jobs
from agfmc.training.driver import Memory, shuffled_for, train
from agfmc.training.fit import fit, TrainingSettings

SETTINGS = TrainingSettings(workers=1)
DATA = Dataset(np.random.default_rng(1).normal(size=(40, 2)), np.arange(40, dtype=np.int32) % 4)


def jobs_of(text):
    return plan_jobs(parse(text), "m", "learner=logistic", 1)


class Shelf(Memory):
    """A store of names, with those that are there already."""

    def __init__(self, *there, several=False, smaller=None):
        self.there = dict.fromkeys(there, "before")
        self.several = several
        self.smaller = smaller or {}

    def get(self, job):
        return self.there.get(job.name)

    def put(self, fitted):
        self.there[fitted.job.name] = fitted
        return "now"


def done(jobs, store, way=fit):
    return {job.name: result for job, result in train(jobs, DATA, SETTINGS, store, way=way)}


def test_what_the_store_has_is_not_trained():
    jobs = jobs_of('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
    store = Shelf("m-01")
    assert done(jobs, store) == {"m-00": "now", "m-01": "before", "m-02": "now"}
    assert store.there["m-02"].model.name == "m-02"
    assert done(jobs, store, way=None) == {job.name: store.there[job.name] for job in jobs}
    fitted = done(jobs, Memory())
    assert [fitted[job.name].job for job in jobs] == jobs


def test_each_is_in_the_store_before_the_next_is_trained():
    jobs = jobs_of('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
    store = Shelf()

    def way(jobs, *more):
        for number, job in enumerate(jobs):
            assert len(store.there) == number
            yield Fitted(job, None)

    assert len(done(jobs, store, way)) == 3


def test_an_error_is_a_result_that_is_not_stored():
    jobs = jobs_of('"" 0 / 1; "" 0 / 2; {0 1 2}')
    error = DataError("no")
    store = Shelf()
    results = done(jobs, store, lambda jobs, *more: (Fitted(job, error) for job in jobs))
    assert set(results.values()) == {error} and not store.there


@pytest.mark.parametrize("there", [(), ("m-02",)])
def test_the_solution_of_a_smaller_cost_stands_for_larger_ones(there):
    jobs = jobs_of('"" 0 / 1; "" 0 / 1; "" 0 / 1; {0 1}')
    names = [job.name for job in jobs]
    smaller = {name: tuple(names[:number]) for number, name in enumerate(names)}
    trained = []

    def way(jobs, *more):
        for job in jobs:
            trained.append(job.name)
            yield Fitted(job, None, unbounded=job.name == names[1])

    store = Shelf(*there, smaller=smaller)
    store.put = lambda fitted: fitted
    results = done(jobs, store, way)
    assert trained == names[:2]
    assert results[names[2]] is results[names[1]] is not results[names[0]]


def test_turns_where_others_are_at_the_same_work():
    """Each turn looks again; jobs of the same sides are in one."""
    jobs = jobs_of(
        '"" 0 / 1; "" 0 / 2; "" 0 / 3; "" 1 / 2; "" 1 / 3; "" 2 / 3; "" 0 / 1; {0 1 2 3}'
    )
    store = Shelf(several=True)
    turns = []

    def way(jobs, *more):
        if not turns:  # another process has done the rest meanwhile
            store.there |= {job.name: "theirs" for job in all_jobs if job not in jobs}
        turns.append([job.name for job in jobs])
        return (Fitted(job, None) for job in jobs)

    all_jobs = jobs
    results = done(jobs, store, way)
    assert len(turns) == 1 and 4 <= len(turns[0]) <= 5 and len(results) == 7
    assert ("m-00" in turns[0]) == ("m-06" in turns[0])


def test_the_order_of_one_process_among_several():
    assert shuffled_for(Shelf(), [3, 1, 2]) == [3, 1, 2]
    items = list(range(100))
    orders = [shuffled_for(Shelf(several=True), items) for _ in range(2)]
    assert orders[0] != orders[1] and sorted(orders[0]) == items

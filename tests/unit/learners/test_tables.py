"""Tables of kernel values and decision values from one fit, in the course of training."""

import threading

import numpy as np
import pytest

import agfmc.training.fit as fit_module
from agfmc.control.parse import parse
from agfmc.core.errors import DataError
from agfmc.data.types import Dataset
from agfmc.executors.threads import Background
from agfmc.training.fit import fit, TrainingSettings
from agfmc.training.kernel_tables import Tables
from agfmc.models.libsvm import format_svm_model
from agfmc.learners.protocol import plan_jobs
from agfmc.core.splits import rows_by_class
from agfmc.learners.points import Nodes
from agfmc.learners.kernel_table import KernelTable

PAIRS = "; ".join(f'"" {i}/{j}' for i in range(5) for j in range(i + 1, 5)) + "; {0 1 2 3 4}"


def data(n=400, d=12):
    generator = np.random.default_rng(8)
    y = generator.integers(0, 5, n).astype(np.int32)
    return generator.normal(size=(n, d)) + 0.7 * y[:, None] * (np.arange(d) % 3), y


def models(text=PAIRS, options="-g 0.1 -c 5", progress=None, platt="cv", **settings):
    x, y = data()
    jobs = plan_jobs(parse(text), "m", options, 1)
    done = {
        one.job.name: format_svm_model(one.model)
        for one in fit(jobs, Dataset(x, y), TrainingSettings(platt=platt, **settings), progress)
    }
    return [done[job.name] for job in jobs]


def tables(text=PAIRS, options="-g 0.1 -c 5", workers=1, megabytes=512, fits=4.2):
    x, y = data()
    jobs = plan_jobs(parse(text), "m", options, 1)
    fits = {job.name: fits for job in jobs}
    return Tables(x, jobs, rows_by_class(y), fits, workers, megabytes), jobs


def test_jobs_share_a_table_where_it_fits():
    shared, jobs = tables(workers=3)  # too few jobs to have their own
    found = [shared.of(job, np.arange(3), False) for job in jobs]
    assert isinstance(found[0], KernelTable) and all(table is found[0] for table in found)
    assert not any(shared.has_own(job) for job in jobs)


@pytest.mark.parametrize("megabytes", [1, 512])
def test_many_jobs_of_few_samples_have_their_own(megabytes):
    some, jobs = tables(megabytes=megabytes)
    assert all(some.has_own(job) for job in jobs)
    rows = np.arange(9)
    assert isinstance(some.of(jobs[0], rows, True), KernelTable)
    assert isinstance(some.of(jobs[0], rows, False), Nodes)
    few, jobs = tables(megabytes=1, workers=3)  # too few jobs for three workers
    assert not any(few.has_own(job) for job in jobs)


@pytest.mark.parametrize(
    "kwargs", [{"megabytes": 0}, {"options": "-t 0"}, {"options": "-g 1e9"}, {"fits": 0.01}]
)
def test_no_table(kwargs):
    none, jobs = tables(**kwargs)
    assert all(isinstance(none.of(job, np.arange(3), True), Nodes) for job in jobs)


def test_each_kernel_has_its_own_table():
    some, jobs = tables(
        '"-g 0.1" 0 1/2 3 4; "-g 0.1" 0 2/1 3 4; "-g 0.2" 0 1 2/3 4; "-t 0" 0/1 2 3 4; {0 1 2 3 4}'
    )
    first, second, third, fourth = (some.of(job, np.arange(3), False) for job in jobs)
    assert first is second and first is not third and isinstance(fourth, Nodes)


@pytest.mark.few(4)
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("megabytes", [1, 512])
@pytest.mark.parametrize("options", ["-g 0.1 -c 5", "-s 1 -n 0.2"])
def test_models_are_the_same_bytes(megabytes, workers, options):
    assert models(options=options, workers=workers, kernel_memory=megabytes) == models(
        options=options, kernel_memory=0
    )


def test_progress_of_jobs_with_tables_of_their_own():
    seen = []
    models(kernel_memory=1, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(6 * i, 60) for i in range(1, 11)]


@pytest.mark.parametrize("workers", [1, 3])
def test_one_fit_in_place_of_six(workers):
    seen = []
    once = models(platt="loo", workers=workers, progress=lambda *args: seen.append(args))
    assert seen == [(i, 10) for i in range(1, 11)]
    for one, six in zip(once, models()):
        assert '"platt loo", "seed": 1' in one and '"folds 5", "seed": 1' in six
        assert one.split("\nSV\n")[1].split("#")[0] == six.split("\nSV\n")[1].split("#")[0]
        a, b = (float(text.split("probA ")[1].split()[0]) for text in (one, six))
        assert a != b and a / b == pytest.approx(1, abs=0.5)
    assert once == models(platt="loo")


def test_folds_where_leaving_out_single_ones_is_too_much(monkeypatch):
    original = fit_module.loo_values

    def some(kernel, x, problem, *rest, **more):
        return None if len(problem.rows) % 2 else original(kernel, x, problem, *rest, **more)

    monkeypatch.setattr(fit_module, "loo_values", some)
    seen = []
    mixed = models(platt="loo", workers=2, progress=lambda *args: seen.append(args))
    plain, once = models(), models(platt="loo")
    assert mixed == once
    folded = [text for text in mixed if '"folds 5"' in text]
    assert 0 < len(folded) < 10 and set(folded) <= set(plain)
    assert seen[-1] == (10 + 5 * len(folded),) * 2


def test_what_runs_in_the_background_is_done_at_the_end():
    done = []
    with Background() as background:
        for number in range(20):
            background(done.append, number)
    assert sorted(done) == list(range(20))


def fail():
    raise DataError("the disk is full")


def test_an_error_in_the_background_is_raised():
    before = threading.active_count()
    with pytest.raises(DataError, match="the disk is full"), Background() as background:
        background(fail)
    done = []
    with pytest.raises(DataError, match="the disk is full"), Background() as background:
        background(fail)
        for number in range(500):  # a later call raises it
            background(done.append, number)
    assert len(done) < 500
    with pytest.raises(KeyError):  # the first error of all is the one to be told
        with Background() as background:
            background(fail)
            raise KeyError
    assert threading.active_count() == before

"""Training end to end: the same models whatever the workers, and files that classify."""

from dataclasses import replace

import numpy as np
import pytest

from agfmc.control.build import from_pairs
from agfmc.control.parse import parse
from agfmc.core.errors import AgfmcWarning, DataError
from agfmc.data.types import Dataset
from agfmc.training.fit import fit, TrainingSettings, HeldOutRequest
from agfmc.learners.svm import SVM
from agfmc.learners.protocol import plan_jobs
from agfmc.core.splits import rows_by_class
from own_warnings import own_warnings, texts_of

CODE = '"" 0/1; "-t 0" 0/2; "" 1/2; {4 0 9}'


def data(n=120, seed=0):
    generator = np.random.default_rng(seed)
    y = generator.choice([0, 4, 9], n, p=[0.5, 0.3, 0.2]).astype(np.int32)
    centre = {0: (0, 0), 4: (2, 0), 9: (0, 2)}
    return generator.normal(size=(n, 2)) * 0.8 + [centre[label] for label in y.tolist()], y


def fitted(text=CODE, workers=1, progress=None):
    """By folds."""
    x, y = data()
    jobs = plan_jobs(parse(text), "m", "-c 5 -g 0.5", 1)
    done = {
        one.job.name: (one.model, one.rows)
        for one in fit(jobs, Dataset(x, y), TrainingSettings(platt="cv", workers=workers), progress)
    }
    return [done[job.name] for job in jobs]


def test_rows_by_class():
    rows = rows_by_class(np.array([5, 2, 5, 9, 2], dtype=np.int32))
    assert {label: where.tolist() for label, where in rows.items()} == {
        2: [1, 4],
        5: [0, 2],
        9: [3],
    }


def test_models():
    x, y = data()
    models = fitted()
    assert [model.name for model, _ in models] == ["m-00", "m-01", "m-02"]
    assert [model.kernel.kind for model, _ in models] == ["rbf", "linear", "rbf"]
    sides = [((4,), (0,)), ((4,), (9,)), ((0,), (9,))]
    for (model, rows), (left, right) in zip(models, sides):
        np.testing.assert_array_equal(model.sv, x[rows])
        assert model.features == 2
        first = np.isin(y[rows[: model.n_sv[0]]], right if model.labels[0] else left)
        assert first.all()
        assert model.platt[0] < 0  # the first label grows more probable with f
    # the class that comes first in the data is the first label
    assert [model.labels for model, _ in models] == [
        (0, 1) if np.argmax(np.isin(y, left)) < np.argmax(np.isin(y, right)) else (1, 0)
        for left, right in sides
    ]
    made = models[0][0].provenance
    assert made.options == "-s 0 -t 2 -g 0.5 -c 5.0 -e 0.001 -h 1"
    assert (made.features, made.probabilities, made.seed) == (2, "folds 5", 1)


def test_seed_decides_the_folds_and_nothing_else():
    x, y = data()
    told = []
    for seed in (1, 2):
        jobs = plan_jobs(parse('"" {0 9}'), "m", "", seed)
        keep = y != 4
        (one,) = fit(jobs, Dataset(x[keep], y[keep]), TrainingSettings(platt="cv"))
        told.append(one.model)
    assert told[0].coef.tobytes() == told[1].coef.tobytes() and told[0].platt != told[1].platt


def test_a_tree_and_its_code_are_the_same_models():
    tree = fitted('"" {"" {4 0} 9}')
    code = fitted('"" 0 1/2; "" 0/1; {4 0 9}')
    for (one, _), (other, _) in zip(tree, code):
        assert one.coef.tobytes() == other.coef.tobytes() and one.platt == other.platt


def test_progress_ends_at_the_total():
    seen = []
    fitted(progress=lambda done, total: seen.append((done, total)))
    assert seen == [(i + 1, 18) for i in range(18)]
    x, y = data()
    few = np.concatenate([np.flatnonzero(y == 9)[:3], np.flatnonzero(y == 0)])
    seen.clear()
    jobs = plan_jobs(parse('"" {0 9}'), "m", "", 1)
    with pytest.warns(AgfmcWarning, match="has 3 samples: its probabilities rest on very few"):
        settings = TrainingSettings(platt="cv")
        list(fit(jobs, Dataset(x[few], y[few]), settings, lambda *args: seen.append(args)))
    assert seen == [(i + 1, 4) for i in range(4)]


@pytest.mark.parametrize(("held_out", "fits"), [(False, 1), (True, 6)])
def test_own_probabilities_need_folds_only_for_held_out_samples(held_out, fits):
    x, y = data()
    jobs = plan_jobs(parse('"" {0 9}'), "m", "learner=logistic", 1)
    seen = []
    few = np.flatnonzero(np.isin(y, [0, 9]))
    (one,) = fit(
        jobs,
        Dataset(x[few], y[few]),
        progress=lambda *args: seen.append(args),
        requested=HeldOutRequest(held_out),
    )
    assert seen[-1] == (fits, fits) and (one.held_out is not None) == held_out


def test_a_side_with_one_sample_is_refused_before_training():
    x, y = data()
    keep = np.concatenate([np.flatnonzero(y == 9)[:1], np.flatnonzero(y == 0)])
    with pytest.raises(DataError, match="has 1 sample: expected at least 2"):
        list(fit(plan_jobs(parse('"" {0 9}'), "m", "", 1), Dataset(x[keep], y[keep])))


@pytest.mark.parametrize("workers", [1, 3])
def test_a_job_that_cannot_be_trained_leaves_the_others(workers):
    x, y = data()
    jobs = plan_jobs(parse('"" 0/1; "-s 1 -n 1" 0/2; "" 1/2; {4 0 9}', "f"), "m", "", 1)
    done = {
        one.job.name: one.model
        for one in fit(jobs, Dataset(x, y), TrainingSettings(workers=workers))
    }
    assert isinstance(done["m-01"], DataError)
    assert str(done["m-01"]).startswith(
        "f:1:9: 'm-01': LIBSVM refuses the problem: specified nu is infeasible: with "
    )
    assert done["m-00"].platt and done["m-02"].platt


def test_probabilities_are_calibrated():
    x, y = data(1500, 3)
    keep = y != 9
    (one,) = fit(plan_jobs(parse('"" {0 4}'), "m", "-g 0.5", 1), Dataset(x[keep], y[keep]))
    model = one.model
    assert 0 < sum(model.n_sv) < keep.sum()
    test_x, test_y = data(3000, 4)
    some = test_y != 9
    from agfmc.kernels.machine import decision_values

    f = decision_values(model.kernel, model.sv, model.coef, model.rho, test_x[some])
    a, b = model.scale
    p = (1 + np.tanh(a * f + b)) / 2
    assert abs(np.mean(p) - np.mean(test_y[some] == 4)) < 0.03
    sure = p > 0.9
    assert sure.sum() > 100 and np.mean(test_y[some][sure] == 4) > 0.9


def test_labels_that_say_nothing_get_their_shares_where_points_are_left_out():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(60, 3)), rng.permutation(np.repeat([0, 1], [20, 40])).astype(np.int32)
    settings = TrainingSettings(options="-c 0.001 -g 0.1", platt="loo", calibration=0)
    [job] = plan_jobs(from_pairs((0, 1), range(2)), "m", settings.options, 1)
    [fitted] = fit([job], Dataset(x, y), settings)
    a, b = fitted.model.platt
    assert a == 0 and sorted([1 / (1 + np.exp(b)), 1 / (1 + np.exp(-b))]) == pytest.approx(
        [1 / 3, 2 / 3], abs=0.02
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_a_classifier_that_does_not_converge_is_named_once(monkeypatch, workers):
    solve = SVM.solve
    monkeypatch.setattr(
        SVM, "solve", lambda *args, **more: replace(solve(*args, **more), converged=False)
    )
    tree = parse('"" 0 / 1;\n{0 1}', "f")._replace(names={0: "Adelie", 1: "Gentoo"})
    (job,) = plan_jobs(tree, "m", "", 1)
    x = np.arange(20.0)[:, None]
    y = (x[:, 0] > 9).astype(np.int32)
    with own_warnings() as caught:
        list(fit([job], Dataset(x, y), TrainingSettings(workers=workers)))
    texts = texts_of(caught)
    assert len(texts) == 1 and texts[0].startswith("'m-00' (Adelie / Gentoo) did not converge")

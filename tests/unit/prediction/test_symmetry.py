"""What may change when data and configurations are turned round, and what may not.

Platt's sigmoid (a, b) is fitted on folds that are drawn from the seed and the labels of a
partition, and dealt to the samples in their order: other labels or another order of the
samples move it a little.  Nothing else may change but by rounding.
"""

import numpy as np
import pytest

from agfmc.data.types import Dataset
from agfmc.prediction.decoding import Decoding
from agfmc.models.merge import assemble
from agfmc.control.parse import parse
from agfmc.training.fit import fit, TrainingSettings
from agfmc.prediction.classifier import Classifier
from agfmc.kernels.machine import decision_values
from agfmc.data.normalisation import fit_normalisation
from agfmc.learners.protocol import plan_jobs

PAIRS = '"" 0/1; "" 0/2; "" 0/3; "" 1/2; "" 1/3; "" 2/3; {A B C D}'
# the same problems, rows and columns elsewhere: the children are D B A C
PAIRS_ELSEWHERE = '"" 2/1; "" 1/3; "" 2/0; "" 3/0; "" 2/3; "" 1/0; {D B A C}'
KINDS = {
    "pairs": PAIRS,
    "rest": '"" 1 2 3/0; "" 0 2 3/1; "" 0 1 3/2; "" 0 1 2/3; {A B C D}',
    "ternary": '"" 0 1/2 3; "" 0 2/3; "" 1/0 3; "" 1/2; "-t 0 -e 1e-8" 0 3/1 2; {A B C D}',
    "tree": '"" { "-t 0 -e 1e-8" {A B} "" {C D} }',
    "chain": '"" { "" { "" {A B} C} D}',
    "matrix in a tree": '"" {"" 0/1; "" 0/2; "" 1/2; {A B C} D}',
    "tree in a matrix": '"" 0/1; "-t 1 -d 2 -r 1 -c 0.1 -e 1e-8" 0/2; "" 1/2; {"" {A B} C D}',
}
LABELS = dict(A=2, B=5, C=6, D=11)
TIGHT = "-e 1e-8 -g 0.3 -c 2"


def with_labels(text, labels=LABELS):
    for name, label in labels.items():
        text = text.replace(name, str(label))
    return text


def data(seed, n=140):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(4), rng.integers(4, size=n - 4)])
    x = rng.normal(size=(n, 3)) + np.eye(4, 3)[y] * 2
    return x, np.array(list(LABELS.values()), dtype=np.int32)[y]


def trained(text, x, y, workers=1):
    tree = parse(text)
    jobs = plan_jobs(tree, "m", TIGHT, 1)
    made = {
        one.job.name: one.model
        for one in fit(jobs, Dataset(x, y), TrainingSettings(workers=workers))
    }
    models = [made[job.name] for job in jobs]
    return tree, models, assemble(tree, models, {})


def answers(configuration, x, method="0"):
    return Classifier(configuration, Decoding(method, tree="full"))(x)


TEST = data(99)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_features_in_another_order(kind):
    x, y = data(2)
    order = [2, 0, 1]
    one = answers(trained(with_labels(KINDS[kind]), x, y)[2], TEST)
    two = answers(trained(with_labels(KINDS[kind]), x[:, order], y)[2], TEST[:, order])
    np.testing.assert_allclose(two.columns, one.columns, atol=1e-5)
    clear = np.abs(one.confidence - two.confidence) < 1e-4
    assert clear.all() and np.mean(one.classes == two.classes) > 0.98


@pytest.mark.parametrize("kind", KINDS)
def test_samples_in_another_order(kind):
    x, y = data(3)
    order = np.random.default_rng(0).permutation(len(y))
    tree, one, _ = trained(with_labels(KINDS[kind]), x, y)
    _, two, _ = trained(with_labels(KINDS[kind]), x[order], y[order])
    for first, second in zip(one, two, strict=True):
        f, g = (
            model.orientation * decision_values(model.kernel, model.sv, model.coef, model.rho, TEST)
            for model in (first, second)
        )
        np.testing.assert_allclose(g, f, atol=1e-5)
        r, q = (
            np.tanh(model.scale[0] * model.orientation * v + model.scale[1])
            for model, v in ((first, f), (second, g))
        )
        assert np.abs(r - q).max() < 0.5  # other folds


@pytest.mark.parametrize("kind", KINDS)
def test_other_labels(kind):
    x, y = data(4)
    # 2 5 6 11 become 9 7 30 1
    other = dict(A=9, B=7, C=30, D=1)
    renamed = np.array([other[name] for name in LABELS])[np.searchsorted([2, 5, 6, 11], y)]
    tree, one, configuration = trained(with_labels(KINDS[kind]), x, y)
    elsewhere, two, _ = trained(with_labels(KINDS[kind], other), x, renamed.astype(np.int32))
    assert list(elsewhere.classes) == sorted(other.values())
    for first, second in zip(one, two, strict=True):
        assert first.sv.tobytes() == second.sv.tobytes()
        assert first.coef.tobytes() == second.coef.tobytes() and first.rho == second.rho
        assert first.labels == second.labels and first.kernel == second.kernel
    # The same sigmoids: the same answers, in the order of the new labels.
    same = assemble(elsewhere, one, {})
    p, q = answers(configuration, TEST), answers(same, TEST)
    columns = [sorted(other.values()).index(other[name]) for name in LABELS]
    np.testing.assert_allclose(q.columns[:, columns], p.columns, atol=1e-12)
    mapped = np.array([other[name] for name in LABELS])[np.searchsorted([2, 5, 6, 11], p.classes)]
    np.testing.assert_array_equal(q.classes, mapped)


@pytest.mark.few(6)
@pytest.mark.parametrize(
    "method", ["0", "1", "2", "3", "4", "5", "6", "7", "zadrozny-kl", "loss:hinge", "wu-lin-weng"]
)
@pytest.mark.filterwarnings("ignore:the decoder orthogonal")
def test_classes_and_rows_elsewhere_in_the_control_file(method):
    x, y = data(5)
    one = answers(trained(with_labels(PAIRS), x, y)[2], TEST, method)
    two = answers(trained(with_labels(PAIRS_ELSEWHERE), x, y)[2], TEST, method)
    close = 5e-3 if method == "wu-lin-weng" else 1e-6
    # Every partition is the same, so each model is too: only sums come in another order.
    np.testing.assert_allclose(two.columns, one.columns, atol=close)
    top = np.sort(one.columns, axis=1)
    clear = top[:, -1] - top[:, -2] > 2 * close
    np.testing.assert_array_equal(two.classes[clear], one.classes[clear])


@pytest.mark.parametrize("factors", [(1, 1024, 2.0**-20), (2.0**60, 1, 2.0**-30)])
def test_units_are_taken_out_by_normalisation(factors):
    x, y = data(7)
    x = x.astype(np.float32)
    scaled = (x * np.array(factors)).astype(np.float32)
    one, two = fit_normalisation(x), fit_normalisation(scaled)
    np.testing.assert_array_equal(two.apply(scaled), one.apply(x))

"""De-duplication against tables of bytes; whole configurations against their parts, one by one."""

from dataclasses import replace
import math

from hypothesis import given, strategies as st
import numpy as np
import pytest

from agfmc.models.merge import collate
from agfmc.core.points import unique_rows
from agfmc.control.parse import parse
from agfmc.core.errors import ModelError, Place
from agfmc.models.control_files import write_control
from agfmc.models.libsvm import format_svm_model
from agfmc.learners.protocol import Job, learner_class, NodeProblem, samples
from agfmc.core.splits import rows_by_class
from agfmc.core.models import BinaryModel, Kernel
from agfmc.prediction.classifier import Classifier
from agfmc.models.files import load, save
from agfmc.prediction.decoding import Decoding
from agfmc.core.provenance import Provenance
from agfmc.training.run import write_node

KERNELS = [
    Kernel("linear"),
    Kernel("polynomial", 0.3, -0.5, 3),
    Kernel("rbf", 0.7),
    Kernel("sigmoid", 0.2, 0.1),
]
# numbers that are easily taken for each other
NEAR = [0.0, -0.0, 5e-324, -5e-324, 1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0), -1.0, 1e-300]
# left and right by position; the labels are LABELS in the order of the leaves
CONFIGURATIONS = {
    "one-vs-one": "r 0/1; r 0/2; r 0/3; r 1/2; r 1/3; r 2/3; {A B C D}",
    "one-vs-rest": "r 1 2 3/0; r 0 2 3/1; r 0 1 3/2; r 0 1 2/3; {A B C D}",
    "adjacent": "r 0/1 2 3; r 0 1/2 3; r 0 1 2/3; {A B C D}",
    "tree": "r {r {A B} r {C D}}",
    "chain": "r {A r {B r {C D}}}",
    "matrix in a tree": "r {r 0/1; r 0/2; r 1/2; {A B C} D}",
    "tree in a matrix": "r 0/1; r 0/2; r 1/2; {r {A B} C D}",
    "neighbours above": 'k K "-k 3" {r {A B} r {C D}}',
    "logistic below": 'r 0/1; r 1/2; {l L "" {A B} C D}',
    "both": 'k K "-k 5" {l L "" {A B} r {C D}}',
}
LABELS = dict(A=9, B=2, C=30, D=4)


def key(point):
    """The bytes of a point, zeros without their sign."""
    return (np.asarray(point, float) + 0.0).tobytes()


def kernel_value(kernel, x, z):
    """K(x, z), each sum rounded once."""
    dot = math.fsum(a * b for a, b in zip(x, z))
    if kernel.kind == "linear":
        return dot
    if kernel.kind == "polynomial":
        return (kernel.gamma * dot + kernel.coef0) ** kernel.degree
    if kernel.kind == "sigmoid":
        return math.tanh(kernel.gamma * dot + kernel.coef0)
    return math.exp(-kernel.gamma * math.fsum((a - b) ** 2 for a, b in zip(x, z)))


def f_of(model, x):
    """f of one point, the classifier by itself."""
    return math.fsum(
        [
            *(
                c * kernel_value(model.kernel, x, sv)
                for c, sv in zip(model.coef.tolist(), model.sv.tolist())
            ),
            -model.rho,
        ]
    )


@st.composite
def several(draw):
    """Binary models over points that are equal, or nearly so, in one and across several."""
    d, m = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    pool = draw(
        st.lists(st.lists(st.sampled_from(NEAR), min_size=d, max_size=d), min_size=1, max_size=5)
    )
    models = []
    for i in range(m):
        rows = draw(st.lists(st.sampled_from(pool), max_size=7))
        split = draw(st.integers(0, len(rows)))
        models.append(
            BinaryModel(
                f"m{i}",
                "c_svc",
                draw(st.sampled_from(KERNELS)),
                np.array(rows, float).reshape(len(rows), d),
                np.array(
                    draw(st.lists(st.integers(-9, 9), min_size=len(rows), max_size=len(rows))),
                    float,
                ),
                draw(st.floats(-2, 2)),
                draw(st.sampled_from([(0, 1), (1, 0)])),
                (split, len(rows) - split),
                draw(st.sampled_from([None, (-1.5, 0.25)])),
                Provenance(f"s{i}"),
                d,
            )
        )
    return models


@given(several())
def test_merging_is_a_table_of_bytes(models):
    sides = [((0,), (1, 2)) if i % 2 else ((2,), (0,)) for i in range(len(models))]
    merged = collate(models, sides, [0, 1, 2])
    wanted = {key(sv) for model in models for sv in model.sv}
    stored = [row.tobytes() for row in merged.sv]
    assert len(stored) == len(set(stored)) and set(stored) == wanted
    assert merged.sv.shape[1] == models[0].sv.shape[1]
    assert merged.indptr[0] == 0 and len(merged.indptr) == len(models) + 1
    assert (np.diff(merged.group) >= 0).all()
    assert merged.provenances == tuple(model.provenance for model in models)
    assert merged.kernels == tuple(dict.fromkeys(model.kernel for model in models))
    classes = {}
    for i, (model, side) in enumerate(zip(models, sides)):
        sums = {}
        for place, (sv, coef) in enumerate(zip(model.sv, model.coef)):
            sums[key(sv)] = sums.get(key(sv), 0.0) + coef
            label = model.labels[0 if place < model.n_sv[0] else 1]
            if 0 not in model.n_sv:  # else it is a landmark
                classes.setdefault(key(sv), {0, 1, 2}).intersection_update(side[label])
        part = slice(merged.indptr[i], merged.indptr[i + 1])
        stored_here = dict(zip((stored[j] for j in merged.index[part]), merged.coef[part].tolist()))
        assert stored_here == sums and part.stop - part.start == len(sums)
        assert (np.diff(merged.index[part]) > 0).all()
        assert merged.kernels[merged.kernel_of[i]] == model.kernel and merged.rho[i] == model.rho
        # f > 0 speaks for labels[0], and 1 is right
        assert merged.orientation[i] == (1 if model.labels[0] == 1 else -1)
        if model.platt is None:
            assert np.isnan(merged.a[i]) and np.isnan(merged.b[i])
        else:
            p_first = 1 / (1 + math.exp(model.platt[0] * 0.3 + model.platt[1]))
            right = p_first if model.labels[0] == 1 else 1 - p_first
            assert math.isclose(math.tanh(merged.a[i] * 0.3 + merged.b[i]), 2 * right - 1)
    assert [min(classes.get(sv, ()), default=3) for sv in stored] == merged.group.tolist()


@given(st.lists(st.lists(st.sampled_from(NEAR), min_size=2, max_size=2), max_size=12))
def test_unique_rows_are_those_of_a_table(rows):
    assert [len(one) for one in unique_rows(np.empty((3, 0)))] == [1, 3]
    x = np.array(rows, float).reshape(-1, 2)
    first, inverse = unique_rows(x)
    seen = {}
    for row in x:
        seen.setdefault(key(row), len(seen))
    assert inverse.tolist() == [seen[key(row)] for row in x]
    assert [key(x[i]) for i in first] == list(seen)
    assert all(key(x[i]) not in {key(row) for row in x[:i]} for i in first)


def written(folder, text, seed, kernels):
    """Files of random models for a configuration; -> (tree, parts, trained direct points)."""
    rng = np.random.default_rng(seed)
    for name, label in LABELS.items():
        text = text.replace(name, str(label))
    count = text.count("r ")
    pieces = text.split("r ")
    names = [str(folder / f"m{i}") for i in range(count)]
    text = pieces[0] + "".join(f"{name} {piece}" for name, piece in zip(names, pieces[1:]))
    text = text.replace("k K", f"{folder}/k K").replace("l L", f"{folder}/l L")
    tree = parse(text)
    pool = rng.normal(size=(12, 3)).round(2)
    pool[3] = np.nextafter(pool[2], 9)  # the last bit
    pool[4, 0], pool[5] = 0.0, pool[4]
    pool[5, 0] = -0.0
    parts = []
    for i, name in enumerate(names):
        n = 0 if i == 1 else int(rng.integers(1, 15))  # the second has no support vectors
        chosen = pool[rng.integers(12, size=n)]
        split = int(rng.integers(n + 1))
        model = BinaryModel(
            name,
            "c_svc",
            kernels[i % len(kernels)],
            chosen,
            rng.normal(size=n),
            rng.normal(),
            (1, 0) if rng.integers(2) else (0, 1),
            (split, n - split),
            (float(-rng.uniform(0.3, 3)), float(rng.normal())),
            Provenance.from_line("1; features 3"),
            3,
        )
        parts.append(model)
        (folder / f"m{i}").write_text(format_svm_model(model))
    x = rng.normal(size=(40, 3)).astype(np.float32)
    y = np.array(list(LABELS.values()), np.int32)[np.arange(40) % 4]
    for number, direct in tree.directs.items():
        job = Job(
            direct.name,
            tree.branch_labels()[number],
            learner_class(direct.learner_letter).parse(direct.options),
            "",
            1,
            Place("c", 1, 1),
        )
        write_node(job, NodeProblem(x, samples(job, rows_by_class(y))), job.files)
    return tree, parts, (x, y)


def shares(tree, number, r, direct, trained, point):
    """Probabilities of the branches of a node, by the definition of each kind."""
    node, x, y = tree.nodes[number], *trained
    if node.bare:
        return np.array([(1 - r[0]) / 2, (1 + r[0]) / 2])
    if node.direct is None:
        return None
    branches = tree.branch_labels()[number]
    if node.direct.learner_letter == "K":
        known = [i for i, label in enumerate(y) if any(label in b for b in branches)]
        k = int(node.direct.options.split()[1])
        near = sorted(known, key=lambda i: math.dist(point, x[i].astype(float)))[:k]
        return np.array([sum(y[i] in branch for i in near) / k for branch in branches])
    weights = direct[number].weights
    z = np.array([math.fsum([*(w * v for w, v in zip(row, point)), row[-1]]) for row in weights])
    return np.exp(z - z.max()) / np.exp(z - z.max()).sum()


@pytest.mark.few(10)
@pytest.mark.parametrize(
    "kernels",
    [[kernel] for kernel in KERNELS] + [KERNELS],
    ids=[*(kernel.kind for kernel in KERNELS), "all"],
)
@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_a_configuration_is_its_parts(tmp_path, kind, kernels):
    tree, parts, trained = written(tmp_path, CONFIGURATIONS[kind], len(kind), kernels)
    points = np.random.default_rng(1).normal(size=(9, 3)).round(2)
    write_control(str(tmp_path / "control"), tree)
    configuration = load(str(tmp_path / "control"))
    assert configuration.merged_from == sum(len(model.sv) for model in parts)
    assert len(configuration.machines.sv) == len({key(sv) for model in parts for sv in model.sv})
    save(str(tmp_path / "all.mbm"), configuration)
    f = np.array([[f_of(model, point) for model in parts] for point in points])
    scale = np.array([model.scale for model in parts])
    r = np.tanh(scale[:, 0] * f + scale[:, 1])
    for found in (configuration, load(str(tmp_path / "all.mbm"))):
        np.testing.assert_allclose(
            Classifier(found, Decoding(raw=True))(points).columns, f, rtol=1e-12, atol=1e-11
        )
        np.testing.assert_allclose(Classifier(found, "-1")(points).columns, r, atol=1e-11)
        if all(node.bare or node.direct for node in tree.nodes):
            p = np.array(
                [
                    leaf_products(tree, r[i], answering(found), trained, point)
                    for i, point in enumerate(points)
                ]
            )
            answers = Classifier(found, Decoding(tree="full"))(points)
            np.testing.assert_allclose(answers.columns, p, atol=1e-11)
            np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
            np.testing.assert_array_equal(
                answers.classes, np.array(tree.classes)[answers.columns.argmax(axis=1)]
            )
    again = load(str(tmp_path / "control")).machines
    for name in ("sv", "group", "indptr", "index", "coef"):
        assert getattr(again, name).tobytes() == getattr(configuration.machines, name).tobytes()


def answering(configuration):
    return {
        number: learner_class(one.code).classifier(one)
        for number, one in configuration.node_classifiers.items()
    }


def leaf_products(tree, r, direct, trained, point):
    """Probabilities of all classes in ascending order of their labels, along the paths."""
    found, at = {}, 0
    reached = {0: 1.0}
    for number, node in enumerate(tree.nodes):
        local = shares(tree, number, r[at : at + len(node.rows)], direct, trained, point)
        at += len(node.rows)
        for child, share in zip(node.children, local, strict=True):
            if isinstance(child, int):
                reached[child] = reached[number] * share
            else:
                found[child.label] = reached[number] * share
    return [found[label] for label in sorted(found)]


RBF = Kernel("rbf", 0.3)


def model_of(name, sv, coef, n_sv, **changes):
    model = BinaryModel(
        name,
        "c_svc",
        RBF,
        np.array(sv, dtype=float),
        np.array(coef, dtype=float),
        0.5,
        (0, 1),
        n_sv,
        (-2.0, 0.25),
        Provenance(f"made {name}"),
        0,
    )
    return replace(model, **changes)


ONE = model_of("one", [[1, 2], [3, 4], [1, 2], [-0.0, 5]], [1.0, -2.0, 0.25, -1.0], (3, 1))
TWO = model_of(
    "two", [[0.0, 5], [1, 2], [7, 7]], [1.5, -0.5, 4.0], (1, 2), labels=(1, 0), rho=-1.0, platt=None
)
SIDES = [((0,), (1,)), ((0, 2), (1,))]


@given(several(), st.integers(0, 4))
def test_models_with_one_array_are_as_with_copies_of_it(models, first):
    shared = models[first % len(models)]
    models += [
        replace(one, sv=shared.sv, coef=np.arange(len(shared.sv)) - 1.5, n_sv=shared.n_sv)
        for one in models
    ]
    sides = [((0,), (1, 2)) if i % 2 else ((2,), (0,)) for i in range(len(models))]
    one = collate(models, sides, [0, 1, 2])
    other = collate([replace(model, sv=model.sv.copy()) for model in models], sides, [0, 1, 2])
    for name in ("sv", "group", "indptr", "index", "coef", "rho"):
        got, wanted = getattr(one, name), getattr(other, name)
        assert got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes()


def test_widths():
    narrow = model_of("narrow", [[1.0]], [1.0], (1, 0))
    model = collate([narrow, ONE], SIDES, [0, 1, 2])
    assert model.any_width and model.sv.shape[1] == 2
    stated = collate([narrow, replace(ONE, features=5)], SIDES, [0, 1, 2])
    assert not stated.any_width and stated.sv.shape[1] == 5
    with pytest.raises(ModelError, match="^two: was trained on 4 features, and one on 3$"):
        collate([replace(ONE, features=3), replace(TWO, features=4)], SIDES, [0, 1, 2])
    with pytest.raises(ModelError, match="^two: has 2 features, and narrow was trained on 1$"):
        collate([replace(narrow, features=1), TWO], SIDES, [0, 1, 2])

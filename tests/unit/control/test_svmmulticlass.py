"""LIBSVM's models of several classes: by hand, against LIBSVM itself, there and back."""

import ctypes
import shutil
import subprocess
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from agfmc.control.matrix import rows_to_matrix
from agfmc.models.merge import collate
from agfmc.control.build import from_rows, rename
from agfmc.control.parse import parse
from agfmc.decode.front import CodeDecoder
from agfmc.decode.methods import find_method
from agfmc.core.errors import AgfmcWarning, DataError, ModelError
from agfmc.models.libsvm import format_svm_multiclass, read_svm_multiclass
from agfmc.kernels.machine import Machine
from agfmc.core.models import BinaryModel, Kernel
from agfmc.models.configuration import Configuration
from agfmc.data.normalisation import Normalisation
from agfmc.core.provenance import Provenance

# f(7,2) = 2 x1 - x2 - 0.5, f(7,5) = x1 - 3 x2 - 3 (x1 + x2) + 1, f(2,5) = x2 - (x1 + x2) - 0.25
HAND = """svm_type c_svc
kernel_type linear
nr_class 3
total_sv 3
rho 0.5 -1 0.25
label 7 2 5
probA -1 -2 -3
probB 0.1 0.2 0.3
nr_sv 1 1 1
SV
2 1 1:1~
-1 1 2:1~
-3 -1 1:1 2:1~
""".replace("~", " ")


def read(text, names=None, path="folder/three.svm"):
    return read_svm_multiclass(path, text.encode("utf-8", "surrogateescape"), names)


def collated(tree, models):
    return Configuration(tree, collate(models, tree.sides(), tree.classes))


def written(configuration):
    return "".join(format_svm_multiclass(configuration))


def values(configuration, x):
    model = configuration.machines
    return Machine(model, range(len(model.rho))).decision_values(np.asarray(x, dtype=float))


def test_a_model_by_hand():
    tree, models = read(HAND)
    assert tree.labels == (7, 2, 5) and tree.sides() == [((2,), (5,)), ((2,), (7,)), ((5,), (7,))]
    assert [row.text for row in tree.rows] == [f"three.svm-{i:02d}" for i in range(3)]
    assert [model.name for model in models] == [row.text for row in tree.rows]
    assert [model.labels for model in models] == [(0, 1), (1, 0), (1, 0)]
    assert [model.platt for model in models] == [(-3, 0.3), (-1, 0.1), (-2, 0.2)]
    given = collated(tree, models)
    model = given.machines
    x1, x2 = 3.0, 0.5
    np.testing.assert_array_equal(
        values(given, [[x1, x2]]),
        [[x2 - (x1 + x2) - 0.25, 2 * x1 - x2 - 0.5, x1 - 3 * (x1 + x2) + 1]],
    )
    # P(2 | 2, 7) = 1 - 1/(1 + exp(-f + 0.1)) for f that speaks for 7
    f = values(given, [[x1, x2]])[0]
    r = np.tanh(model.a * f + model.b)
    p_first = 1 / (1 + np.exp(np.array([-3, -1, -2]) * f + [0.3, 0.1, 0.2]))
    np.testing.assert_allclose(
        r, [1 - 2 * p_first[0], 2 * p_first[1] - 1, 2 * p_first[2] - 1], atol=1e-15
    )
    assert model.orientation.tolist() == [-1, 1, 1]
    assert model.any_width and model.sv.shape == (3, 2)


def test_labels_below_zero_are_names_and_come_back():
    text = HAND.replace("label 7 2 5", "label 7 -10 -2")
    with pytest.warns(
        AgfmcWarning, match="three.svm: labels -10, -2, 7 are taken as names of the classes 0, 1, 2"
    ):
        tree, models = read(text)
    assert tree.labels == (2, 0, 1) and tree.names == {0: "-10", 1: "-2", 2: "7"}
    plain, _ = read(HAND)  # 2 < 5 < 7
    assert [(row.left, row.right) for row in tree.rows] == [
        (row.left, row.right) for row in plain.rows
    ]
    model = collated(tree, models)
    assert "label 7 -10 -2\n" in written(model)
    for names in (
        {0: "3", 1: "5", 2: "7"},
        {0: "-1", 1: "0.5", 2: "7"},
        {0: "-1", 1: "5"},
        {0: "-1", 1: "a", 2: "7"},
    ):  # not those of whole numbers, some below 0
        assert "label 2 0 1\n" in written(model.renamed(names))


@pytest.mark.parametrize(
    "labels, names, wanted",
    [
        ("7 -10 -2", ("-10", "-5", "-2", "7"), (3, 0, 2)),  # a class that the model lacks
        ("7 2 5", ("-1", "2", "5", "6", "7"), (4, 1, 2)),  # no label below 0 is left
        ("7 2 5", ("-1.5", "2", "5", "6", "7"), (7, 2, 5)),  # LIBSVM cannot have such labels
        ("7 2 5", ("2", "5", "7"), (7, 2, 5)),
    ],
)
def test_labels_are_looked_up_in_names(labels, names, wanted):
    tree, _ = read(HAND.replace("label 7 2 5", f"label {labels}"), names)
    assert tree.labels == wanted
    assert tree.names in ({}, {label: names[label] for label in wanted if label < len(names)})


def test_a_label_that_is_not_among_the_names():
    with pytest.raises(DataError, match="three.svm: label 7 is not among the names"):
        read(HAND.replace("label 7 2 5", "label 7 -10 -2"), ("-10", "-2", "1"))


def test_many_labels_below_zero_are_no_continuous_quantity():
    k = 21
    pairs = k * (k - 1) // 2
    text = (
        f"svm_type c_svc\nkernel_type linear\nnr_class {k}\ntotal_sv {k}\n"
        f"rho {' '.join(['0.5'] * pairs)}\nlabel {' '.join(str(-i) for i in range(k))}\n"
        f"nr_sv {' '.join(['1'] * k)}\nSV\n" + ("1 " * (k - 1) + "1:1 \n") * k
    )
    with pytest.warns(AgfmcWarning, match="21 labels, -20, "):
        assert read(text)[0].names[0] == "-20"


def test_zero_coefficients_belong_to_no_pair():
    tree, models = read(HAND.replace("-1 1 2:1", "0 1 2:1"))
    assert [model.n_sv for model in models] == [(1, 1), (1, 0), (1, 1)]


def test_there_and_back_by_hand():
    text = written(collated(*read(HAND)))
    as_numbers = [
        [float(w) if w[0] in "-0123456789" and ":" not in w else w for w in line.split()]
        for line in text.replace(":1.0", ":1").splitlines()
    ]
    assert as_numbers == [
        [float(w) if w[0] in "-0123456789" and ":" not in w else w for w in line.split()]
        for line in HAND.splitlines()
    ]


def test_landmarks_of_all_pairs_are_written_for_all_classes_but_one():
    generator = np.random.default_rng(6)
    sv, x, k = generator.normal(size=(5, 3)), generator.normal(size=(9, 3)), 4
    pairs = list(combinations(range(k), 2))
    models = [
        BinaryModel(
            f"m{i}",
            "c_svc",
            Kernel("rbf", 0.3),
            sv,
            generator.normal(size=5),
            0.1 * i,
            (1, 0),
            (5, 0),
            (-2.0, 0.1 * i),
        )
        for i in range(len(pairs))
    ]
    tree = rename(
        from_rows([((a,), (b,)) for a, b in pairs], list(range(k)), {}),
        [model.name for model in models],
    )
    given = collated(tree, models)
    text = written(given)
    assert "\ntotal_sv 15\n" in text and "\nnr_sv 5 5 5 0\n" in text
    tree, models = read(text)
    assert all(model.sv is models[0].sv and model.n_sv in ((5, 0), (0, 5)) for model in models)
    again = collated(tree, models)
    assert len(again.machines.sv) == 5
    sign = given.machines.orientation * again.machines.orientation  # pairs are in the same order
    np.testing.assert_allclose(values(again, x), values(given, x) * sign, atol=1e-14)


def test_the_number_of_features_may_be_told():
    record = '# agfmc {"version": "0.4.0", "features": 5, "seed": 1}\n'
    for line in (record, "# agfmc 0.4.0; features 5; seed 1\n"):
        given = collated(*read(HAND + line))
        model = given.machines
        assert model.sv.shape == (3, 5) and not model.any_width
        assert list(model.provenances) == [Provenance("0.4.0", features=5, seed=1)] * 3
        assert written(given).endswith(record)
    mixed = written(with_provenances(given, map(Provenance, "abc")))
    assert mixed.endswith('# agfmc {"features": 5}\n')
    assert collated(*read(mixed)).machines.sv.shape == (3, 5)


def with_provenances(given, provenances):
    """A configuration whose classifiers have these."""
    return replace(given, machines=replace(given.machines, provenances=tuple(provenances)))


def test_what_made_the_classifiers_is_told_once_and_comes_back():
    given = model_of([(9, 4), (0, 4), (9, 0)], (9, 0, 4))
    count = {0: 7, 4: 30, 9: 5}
    digest = "62cc0e70d8bc0229"

    def of_pair(left, right, options="-c 1", samples=count, normalised=digest):
        made = Provenance("0.4.0", options=options, features=3, seed=1, normalised=normalised)
        return made.with_samples((samples[left], samples[right]), ((left,), (right,)))

    def last(provenances):
        text = written(with_provenances(given, provenances))
        line = text.splitlines()[-1].removeprefix("# agfmc ")
        return Provenance.from_line(line), collated(*read(text)).machines.provenances

    sides = [(9, 4), (0, 4), (9, 0)]
    whole = Provenance(
        "0.4.0", options="-c 1", features=3, seed=1, samples=(7, 30, 5), normalised=digest
    )
    assert last(of_pair(*side) for side in sides) == (
        whole,
        (of_pair(0, 4), of_pair(0, 9), of_pair(4, 9)),
    )
    # what differs is left out: options, samples of another run, classes of another use
    assert last([of_pair(9, 4), of_pair(0, 4, "-c 2"), of_pair(9, 0)])[0] == replace(
        whole, options=None
    )
    for odd in (of_pair(0, 4, samples={0: 8, 4: 30}), of_pair(4, 0)):
        alone, back = last([of_pair(9, 4), odd, of_pair(9, 0)])
        assert alone == replace(whole, samples=None)
        assert back == (alone,) * 3
    # one model of another program tells nothing: its points were normalised all the same
    assert last([of_pair(9, 4), Provenance(), of_pair(9, 0)])[0] == Provenance(
        features=3, normalised=digest
    )
    assert last([of_pair(9, 4), of_pair(0, 4, normalised=None), of_pair(9, 0)])[0] == whole


def model_of(sides, labels, seed=3, platt=True, shared=True, kernel=Kernel("rbf", 0.5)):
    """One-vs-one over `labels`; pairs, their sides and signs as given; points shared by classes."""
    rng = np.random.default_rng(seed)
    points = {label: rng.normal(size=(4, 3)) for label in labels}
    if shared:  # a point that stands in two classes
        points[labels[1]][0] = points[labels[0]][1]
    models = []
    for i, (left, right) in enumerate(sides):
        order = (0, 1) if rng.random() < 0.5 else (1, 0)
        first, second = (left, right) if order == (0, 1) else (right, left)
        models.append(
            BinaryModel(
                f"m-{i:02d}",
                "c_svc",
                kernel,
                np.concatenate([points[first], points[second]]),
                np.concatenate([rng.uniform(0.1, 2, 4), -rng.uniform(0.1, 2, 4)]),
                rng.normal(),
                order,
                (4, 4),
                (-rng.uniform(1, 2), rng.normal()) if platt else None,
            )
        )
    column = {label: i for i, label in enumerate(labels)}
    tree = rename(
        from_rows([((column[a],), (column[b],)) for a, b in sides], labels),
        [model.name for model in models],
    )
    return collated(tree, models)


SIDES = [(9, 4), (0, 4), (9, 0), (3, 9), (3, 0), (4, 3)]


@pytest.mark.parametrize("platt", [True, False])
@pytest.mark.parametrize("shared", [True, False])
def test_there_and_back(platt, shared):
    """f, r and votes are the same, whatever the order and the sides of the pairs were."""
    one = model_of(SIDES, (9, 0, 3, 4), platt=platt, shared=shared)
    other = collated(*read(written(one)))
    sides = other.tree.sides()
    assert other.tree.labels == (9, 0, 3, 4)
    assert sides == [((a,), (b,)) for a, b in combinations((0, 3, 4, 9), 2)]
    x = np.random.default_rng(0).normal(size=(50, 3))
    f, g = values(one, x), values(other, x)
    model, again = one.machines, other.machines
    for i, (left, right) in enumerate(SIDES):
        j = sides.index(((min(left, right),), (max(left, right),)))
        turn = 1 if left < right else -1
        speaks = model.orientation[i] * f[:, i], turn * again.orientation[j] * g[:, j]
        np.testing.assert_allclose(speaks[1], speaks[0], rtol=0, atol=1e-13)
        if platt:
            np.testing.assert_allclose(
                turn * np.tanh(again.a[j] * g[:, j] + again.b[j]),
                np.tanh(model.a[i] * f[:, i] + model.b[i]),
                atol=1e-13,
            )
        else:
            assert np.isnan(again.a[j])
    assert written(other) == written(collated(*read(written(other))))
    assert ("probA" in written(one)) == platt


def test_two_classes():
    tree, models = read(
        "svm_type nu_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\n"
        "rho 0.25\nlabel 5 3\nnr_sv 1 1\nSV\n1 1:1 \n-1 2:1 \n"
    )
    assert tree.sides() == [((3,), (5,))] and models[0].labels == (1, 0)
    assert models[0].platt is None and models[0].svm_type == "nu_svc"
    model = collated(tree, models)
    # a tree of one classifier is one-vs-one as well
    single = replace(model, tree=parse("m { 3 5 }"))
    assert "label 3 5" in written(single)
    assert values(collated(*read(written(single))), [[1, 0]]) == pytest.approx(
        -values(model, [[1, 0]])
    )


@pytest.mark.parametrize(
    "rows",
    [
        [((0,), (1, 2)), ((1,), (0, 2)), ((2,), (0, 1))],
        [((0,), (1,)), ((0,), (2,))],
        [((0,), (1,)), ((0,), (2,)), ((2,), (0,))],
        [((0,), (1,)), ((0,), (2,)), ((1,), (2,)), ((1,), (2,))],
    ],
)
def test_only_one_vs_one_is_exported(rows):
    given = model_of([(0, 1)] * len(rows), (0, 1, 2), shared=False)
    tree = rename(from_rows(rows, (0, 1, 2)), list("abcd"))
    with pytest.raises(ModelError, match="each of the 3 pairs of the 3 classes"):
        format_svm_multiclass(replace(given, tree=tree))


def test_what_else_is_not_exported():
    given = model_of([(0, 1)], (0, 1))
    with pytest.raises(ModelError, match="normalisation"):
        format_svm_multiclass(
            replace(
                given,
                normalisation=Normalisation(np.eye(3, dtype=np.float32), np.zeros(3, np.float32)),
            )
        )
    with pytest.raises(ModelError, match="not a classifier of code K"):
        format_svm_multiclass(replace(given, tree=parse('a { 0 m K "-k 3" {1 2} }')))
    with pytest.raises(ModelError, match="one kernel"):
        format_svm_multiclass(
            replace(
                given,
                machines=replace(given.machines, kernels=(Kernel("linear"), Kernel("rbf", 1.0))),
            )
        )


def broken(old, new):
    assert HAND.count(old) == 1, old
    return HAND.replace(old, new)


CASES = {
    "empty": ("", "found an empty file"),
    "no classes": (broken("nr_class 3\n", ""), "'nr_class' is missing"),
    "one class": (broken("nr_class 3", "nr_class 1"), ":3: expected 2 to 1024 classes, found 1"),
    "classes enormous": (broken("nr_class 3", "nr_class 2000000000"), ":3: expected 2 to 1024"),
    "classes too many": (broken("nr_class 3", "nr_class 4"), ":6: 'label': expected 4 values"),
    "label twice": (broken("label 7 2 5", "label 7 2 7"), ":6: a label is listed twice"),
    "label fraction": (broken("label 7 2 5", "label 7 2.5 5"), ":6: 'label': expected a number"),
    "rho": (broken("rho 0.5 -1 0.25", "rho 0.5 -1"), ":5: 'rho': expected 3 values, found 2"),
    "rho NaN": (broken("rho 0.5", "rho nan"), ":5: 'rho': expected a finite number"),
    "probA": (broken("probA -1 -2 -3", "probA -1 -2"), ":7: 'probA': expected 3 values, found 2"),
    "no probB": (broken("probB 0.1 0.2 0.3\n", ""), ":7: probA and probB must both be given"),
    "nr_sv": (broken("nr_sv 1 1 1", "nr_sv 1 1"), "'nr_sv': expected 3 values, found 2"),
    "sum": (broken("nr_sv 1 1 1", "nr_sv 1 1 2"), "nr_sv adds up to 4, and total_sv is 3"),
    "too few": (
        broken("nr_sv 1 1 1", "nr_sv 1 1 2").replace("total_sv 3", "total_sv 4"),
        "expected 4 support vectors, found 3",
    ),
    "coefficient missing": (broken("-1 1 2:1", "-1 2:1"), ":12: expected 2 coefficients and index"),
    "coefficient too many": (broken("-1 1 2:1", "-1 1 1 2:1"), ":12: expected 2 coefficients"),
    "coefficient behind": (broken("-1 1 2:1", "-1 2:1 1"), ":12: expected 2 coefficients"),
    "coefficient NaN": (broken("-1 1 2:1", "-1 nan 2:1"), ":12: expected a finite number"),
    "index": (broken("-1 1 2:1", "-1 1 0:1"), ":12: expected whole, ascending feature numbers"),
    "more": (HAND + "1 1 1:1\n", ":14: expected the end of the file after 3"),
    "line end": (HAND[:-1], ":13: truncated"),
    "regression": (broken("c_svc", "nu_svr"), ":1: 'svm_type nu_svr' is not supported"),
    "byte": (
        broken("-1 1 2:1", "-1 1 \udcff2:1"),
        ":12: expected a LIBSVM model, found other bytes",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_broken_files(case):
    text, words = CASES[case]
    with pytest.raises(ModelError) as caught:
        read(text)
    message = str(caught.value)
    assert words in message and message.startswith("folder/three.svm:")
    assert "\n" not in message and len(message) < 200


def test_every_prefix_is_refused():
    for stop in range(len(HAND)):
        with pytest.raises(ModelError):
            read(HAND[:stop])


# --- against LIBSVM --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def svm_train():
    program = shutil.which("svm-train")
    if program is None:
        pytest.skip("svm-train is not installed")
    return program


def data(kind, k=5, n=150):
    """Points x (n, 4) and labels in an order of their own."""
    rng = np.random.default_rng(kind)
    y = rng.choice([7, 2, 10, 5, 0][:k], n)
    x = rng.normal(size=(n, 4)).round(6)
    x[:, 0] += y / 3
    return x, y


def train(svm_train, folder, x, y, *options):
    (folder / "data").write_text(
        "".join(
            f"{label} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row, 1)) + "\n"
            for row, label in zip(x.tolist(), y.tolist())
        )
    )
    subprocess.run(
        [svm_train, "-q", *options, str(folder / "data"), str(folder / "theirs")],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return str(folder / "theirs")


def ask_libsvm(path, x, k):
    """LIBSVM's own (labels, f (n, m), classes by votes, p (n, k), classes by p)."""
    svm = pytest.importorskip("libsvm.svm")
    model = svm.libsvm.svm_load_model(path.encode())
    assert model
    labels = (ctypes.c_int * k)()
    svm.libsvm.svm_get_labels(model, labels)
    f, votes, p, best = [], [], [], []
    for row in x:
        nodes, _ = svm.gen_svm_nodearray({j: v for j, v in enumerate(row.tolist(), 1)})
        numbers = (ctypes.c_double * (k * (k - 1) // 2))()
        votes.append(svm.libsvm.svm_predict_values(model, nodes, numbers))
        f.append(list(numbers))
        shares = (ctypes.c_double * k)()
        best.append(svm.libsvm.svm_predict_probability(model, nodes, shares))
        p.append(list(shares))
    return list(labels), np.array(f), np.array(votes), np.array(p), np.array(best)


def coarse(r, k):
    """p (k,) by Wu, Lin and Weng's iteration from r (k, k) = P(i over j), stopped at 0.005/k."""
    q = -r * r.T
    np.fill_diagonal(q, (r.T**2).sum(axis=1) - np.diag(r) ** 2)
    p = np.full(k, 1 / k)
    for _ in range(max(100, k)):
        qp = q @ p
        if np.abs(qp - p @ qp).max() < 0.005 / k:
            break
        for t in range(k):
            p[t] += (p @ q @ p - q[t] @ p) / q[t, t]
            p /= p.sum()
    return p


def ours(given, x, method):
    """f, r and what the decoder gives, its columns in ascending order of the labels."""
    tree, model = given.tree, given.machines
    f = values(given, x)
    r = (
        np.tanh(model.a * f + model.b)
        if np.isfinite(model.a).all()
        else np.sign(f * model.orientation)
    )
    code = rows_to_matrix([(row.left, row.right) for row in tree.rows], len(tree.labels))
    p = CodeDecoder(code, find_method(method))(r)[0]
    return f, r, p[:, np.argsort(tree.labels)], np.array(tree.labels)[p.argmax(axis=1)]


def in_file_order(labels):
    """(column of LIBSVM's f, turn of r) of each of our rows."""
    place = {label: i for i, label in enumerate(labels)}
    number = {pair: i for i, pair in enumerate(combinations(range(len(labels)), 2))}
    pairs = list(combinations(sorted(labels), 2))
    return (
        [number[tuple(sorted((place[a], place[b])))] for a, b in pairs],
        [(place[a], place[b]) for a, b in pairs],
    )


@pytest.mark.parametrize("kind", range(4))
def test_libsvm_gives_the_same_values_and_probabilities(tmp_path, svm_train, kind):
    x, y = data(kind)
    path = train(svm_train, tmp_path, x, y, "-b", "1", "-t", str(kind), "-g", "0.2", "-r", "0.1")
    labels, theirs, _, p, best = ask_libsvm(path, x, 5)
    model = collated(*read_svm_multiclass(path))
    f, r, q, classes = ours(model, x, "1")
    columns, pairs = in_file_order(labels)
    np.testing.assert_allclose(f, theirs[:, columns], rtol=1e-9, atol=1e-9)

    # LIBSVM stops its iteration early: the same iteration from our r is the same p ...
    wins = np.full((len(x), 5, 5), 0.5)
    for column, (i, j) in enumerate(pairs):
        wins[:, j, i] = np.clip((1 + r[:, column]) / 2, 1e-7, 1 - 1e-7)
        wins[:, i, j] = 1 - wins[:, j, i]
    early = np.array([coarse(each, 5) for each in wins])
    np.testing.assert_allclose(early, p, rtol=0, atol=1e-9)
    # ... and the decoder that is made for it, in classes too
    _, _, swept, chosen = ours(model, x, "wu-lin-weng")
    np.testing.assert_allclose(swept, p[:, np.argsort(labels)], rtol=0, atol=1e-9)
    assert (chosen == best).all()
    # ... and the solution itself is near
    np.testing.assert_allclose(q, p[:, np.argsort(labels)], rtol=0, atol=5e-3)
    sure = np.diff(np.sort(p, axis=1)[:, -2:], axis=1)[:, 0] > 1e-2
    assert sure.sum() > 30 and (classes == best)[sure].all()


@pytest.mark.parametrize("options", [(), ("-s", "1", "-n", "0.2"), ("-t", "0", "-c", "0.01")])
def test_votes_are_libsvms_also_on_ties(tmp_path, svm_train, options):
    x, y = data(7)
    path = train(svm_train, tmp_path, x, y, *options)
    x = np.random.default_rng(1).normal(size=(300, 4)) * 3
    labels, theirs, votes, _, _ = ask_libsvm(path, x, 5)
    model = collated(*read_svm_multiclass(path))
    f, _, count, classes = ours(model, x, "3")
    np.testing.assert_allclose(f, theirs[:, in_file_order(labels)[0]], rtol=1e-9, atol=1e-7)
    np.testing.assert_array_equal(classes, votes)
    assert labels != sorted(labels)
    top = np.sort(count, axis=1)
    assert (top[:, -1] == top[:, -2]).any()  # there are ties


def test_two_classes_of_libsvm(tmp_path, svm_train):
    x, y = data(3, k=2)
    path = train(svm_train, tmp_path, x, y, "-b", "1")
    labels, theirs, _, p, best = ask_libsvm(path, x, 2)
    f, _, q, classes = ours(collated(*read_svm_multiclass(path)), x, "0")
    np.testing.assert_allclose(f, theirs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(q, p[:, np.argsort(labels)], rtol=0, atol=5e-3)
    np.testing.assert_array_equal(classes, best)


@pytest.mark.parametrize("platt", [True, False])
def test_libsvm_reads_what_is_exported(tmp_path, platt):
    model = model_of(SIDES, (9, 0, 3, 4), platt=platt)
    path = tmp_path / "ours"
    path.write_text(written(model))
    x = np.random.default_rng(0).normal(size=(80, 3))
    labels, theirs, votes, p, best = ask_libsvm(str(path), x, 4)
    assert labels == [9, 0, 3, 4]
    again = collated(*read_svm_multiclass(str(path)))
    f, _, q, classes = ours(again, x, "1" if platt else "3")
    np.testing.assert_allclose(f, theirs[:, in_file_order(labels)[0]], rtol=0, atol=1e-12)
    own = ours(model, x, "1" if platt else "3")
    np.testing.assert_array_equal(own[3], classes)
    if platt:
        np.testing.assert_allclose(own[2], q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(own[2], p[:, np.argsort(labels)], rtol=0, atol=5e-3)
        sure = np.diff(np.sort(p, axis=1)[:, -2:], axis=1)[:, 0] > 1e-2
        assert (classes == best)[sure].all()
    else:
        np.testing.assert_array_equal(classes, votes)

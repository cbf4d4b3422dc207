"""Schemes, data and tables to control trees."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.cli import main_of
from agfmc.designs import random_codes, schemes
from agfmc.designs.distances import class_distances, join
from agfmc.designs.schemes import find_scheme, LINKAGES, PARAMETERS, read_scheme, SCHEMES
from agfmc.control.build import from_rows
from agfmc.control.write import format_tree
from agfmc.core.errors import DataError, UsageError
from agfmc.designs.design import design, LabelledPoints, make_design, matrix_of, sketch
from agfmc.data.confusions import Confusions
from agfmc.core.weights import Weights

LABELS = (2, 3, 5, 9)
NAMES = {2: "a", 3: "b", 5: "c", 9: "d"}


def points():
    """Four classes along a line: 5, 2, 9, 3."""
    generator = np.random.default_rng(4)
    y = np.repeat(LABELS, 12)
    where = {5: 0.0, 2: 3.0, 9: 7.0, 3: 12.0}
    x = generator.normal(size=(48, 3)) * 0.3
    x[:, 0] += [where[label] for label in y]
    return x, y


def confusions(errors):
    errors = np.array(errors, dtype=float)
    return Confusions(LABELS, errors, np.repeat(errors.sum(axis=1)[:, None], 4, axis=1), 4)


@pytest.mark.parametrize(
    "scheme", [s for s in SCHEMES if "classes" in s.made_of], ids=lambda s: s.name
)
def test_schemes_that_count_classes(scheme):
    expected = design(scheme.name, LABELS, names=NAMES)
    x, y = points()
    assert design(scheme.heading.split()[0], LABELS, names=NAMES, x=x, y=y) == expected


def test_options_reach_their_schemes():
    rows = random_codes.random_code(4, 6, True, 8)
    assert matrix_of(design("7", LABELS, rows=6, strict=True, seed=8)) == (rows, LABELS)
    assert (
        design("rand", range(9), draws=30, seed=2)
        == design("random", range(9), draws=30, seed=2)
        != design("random", range(9), seed=2)
    )
    assert len(design("ortho", range(6), reduced=True).rows) == 7


def test_parameters_follow_the_name_of_a_scheme():
    assert design("7 rows=6 strict=yes seed=8", LABELS) == design(
        "random", LABELS, rows=6, strict=True, seed=8
    )
    assert design("ensemble members=2 average=geometric", range(4)).decoder == "geometric"
    assert read_scheme("linkage=average emp", seed=3)[1] == {"linkage": "average"}
    assert read_scheme("rand", seed=3)[1] == {"seed": 3}
    assert read_scheme("rand seed=4", seed=3)[1] == {"seed": 4}
    assert {name for scheme in SCHEMES for name in scheme.options} == set(PARAMETERS)
    for scheme in SCHEMES:
        for name, default in scheme.options.items():
            assert default is None or PARAMETERS[name].checked(name, default) == default


@pytest.mark.parametrize(
    "text, message",
    [
        ("tree linkage=single", "the scheme tree has no parameter 'linkage': it has none"),
        ("empirical draws=2", "the scheme empirical has no parameter 'draws': expected metric, li"),
        ("ensemble draws=2", "the scheme ensemble of random-tree has no parameter 'draws': expec"),
        ("ensemble of=random kind=uniform", "ensemble of random has no parameter 'kind'"),
        ("ensemble of=tree", "parameter of: expected random-tree, random, random-as-orthogonal, "),
        ("empirical linkage=ward", "parameter linkage: expected single, complete, average, found "),
        ("random strict=2", "parameter strict: expected yes or no, found '2'"),
        (
            "random rows=0",
            "parameter rows: expected a whole number from 1 to 1000000000, found '0'",
        ),
        ("random rows=1e3", "parameter rows: expected a whole number from 1 to 1000000000, found "),
        ("random rows", "there is no scheme 'random rows'"),
        ("rows=3", "there is no scheme ''"),
    ],
)
def test_wrong_parameters(text, message):
    with pytest.raises(UsageError, match=message):
        design(text, range(4))


@pytest.mark.parametrize("name", ["9", "contingency", "confusion", "to-code"])
def test_schemes_of_other_things(name):
    with pytest.raises(UsageError, match="not of training data"):
        make_design(name, LabelledPoints(*points(), LABELS))


@pytest.mark.parametrize("metric", ["hausdorff", "mean-deviation"])
@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_tree_from_data(metric, linkage):
    x, y = points()
    made = make_design(
        "empirical", LabelledPoints(x, y, LABELS, NAMES), metric=metric, linkage=linkage
    )
    tree, heights = made
    pairs, expected = join(class_distances(x, y, LABELS, metric), linkage)
    assert heights == expected and len(heights) == len(tree.nodes)
    shown = format_tree(tree)
    for label in LABELS:
        assert f"# class {label}: {NAMES[label]}\n" in shown
    text = str(pairs)
    assert tree.labels == tuple(LABELS[int(c)] for c in text if c.isdigit())
    assert (
        design("empirical", LABELS, names=NAMES, x=x, y=y, metric=metric, linkage=linkage) == tree
    )


def test_the_defaults_of_trees_and_orders():
    source = LabelledPoints(*points(), LABELS)
    table = confusions([[9, 0, 1, 2], [0, 9, 0, 2], [3, 0, 9, 0], [2, 1, 0, 9]])
    for scheme, made_of, options in (
        ("3", source, {"metric": "hausdorff", "linkage": "single"}),
        ("ordered", source, {"metric": "mean-deviation"}),
        ("contingency", table, {"linkage": "average"}),
    ):
        first, second = make_design(scheme, made_of), make_design(scheme, made_of, **options)
        assert first == second


def test_a_design_takes_data_where_it_needs_them():
    x, y = points()
    assert (
        design("empirical", LABELS, names=NAMES, x=x, y=y)
        == make_design("empirical", LabelledPoints(x, y, LABELS, NAMES))[0]
    )
    assert design("tree", LABELS, x=x, y=y) == design("tree", LABELS)
    with pytest.raises(UsageError, match="made of training data"):
        design("empirical", LABELS)


def test_sketches_before_any_data():
    assert sketch("empirical").hierarchical and sketch("tree").hierarchical
    assert sketch("ordered").labels in ((0, 1, 2, 3), (3, 2, 1, 0))
    assert len(sketch("random rows=3").rows) == 3
    with pytest.raises(UsageError, match="made of a control file, not of training data"):
        sketch("convert")


@pytest.mark.parametrize("metric", [None, "hausdorff", "mean-deviation"])
def test_classes_in_the_order_of_data(metric):
    x, y = points()
    tree, heights = make_design("ordered", LabelledPoints(x, y, LABELS, NAMES), metric=metric)
    assert heights is None
    assert tree.labels == (3, 9, 2, 5) or tree.labels == (5, 2, 9, 3)
    assert [row.left for row in tree.rows] == [(0,), (0, 1), (0, 1, 2)]
    assert tree.names == NAMES


def test_classes_in_the_order_of_a_table():
    chain = {5: 0, 2: 1, 9: 2, 3: 3}
    table = [[{0: 30, 1: 6, 2: 1, 3: 0}[abs(chain[i] - chain[j])] for j in LABELS] for i in LABELS]
    tree = make_design("ordered", confusions(table), NAMES)[0]
    assert tree.labels in ((3, 9, 2, 5), (5, 2, 9, 3)) and tree.names == NAMES


def test_classes_most_confused_are_split_last():
    table = confusions([[50, 1, 30, 0], [0, 60, 1, 9], [20, 0, 60, 1], [1, 11, 0, 70]])
    tree, heights = make_design("contingency", table, NAMES)
    assert {frozenset(side) for side in tree.sides()[0]} == {frozenset({2, 5}), frozenset({3, 9})}
    assert heights[0] == max(heights) and len(heights) == 3


def test_labels_without_samples():
    with pytest.raises(DataError, match="class 7 has no samples"):
        make_design("empirical", LabelledPoints(*points(), (*LABELS, 7)))
    with pytest.raises(UsageError, match="at least 2 classes"):
        make_design("ordered", LabelledPoints(*points(), (2,)))


def test_a_scheme_without_a_number_has_no_word_for_it():
    without = [scheme for scheme in SCHEMES if scheme.number is None]
    for word in ("none", "None", ""):
        with pytest.raises(UsageError, match="there is no scheme") as found:
            find_scheme(word)
        assert "None" not in str(found.value).split("expected")[1]
    assert all(find_scheme(scheme.name).heading == scheme.name for scheme in without)
    assert find_scheme("16").heading == "16 random-as-orthogonal"
    names = [name for scheme in SCHEMES for name in (scheme.name, *scheme.aliases)]
    assert len(names) == len(set(names))


# A new scheme is one function and one row


def around(k, reach=1):
    """k rows: each class against the next ones in a circle."""
    return [((i,), tuple((i + j) % k for j in range(1, reach + 1))) for i in range(k)]


def far_apart(distances):
    """One row: the class farthest from class 0 against the others."""
    k = len(distances)
    last = int(np.argmax(distances[0]))
    return [(tuple(i for i in range(k) if i != last), (last,))]


@pytest.fixture
def new_schemes(monkeypatch):
    """Rows in the table for the two functions above."""
    main_of("print_control")  # loaded with the table as it is
    monkeypatch.setitem(
        sys.modules, "agfmc.designs.new", SimpleNamespace(around=around, far_apart=far_apart)
    )
    rows = (
        *SCHEMES,
        schemes.Scheme(
            None, "invented-circle", ("invented-alias",), "in a circle", "designs.new:around"
        ),
        schemes.Scheme(
            None,
            "apart",
            (),
            "far",
            "designs.new:far_apart",
            ("data", "confusions"),
            {"metric": "hausdorff"},
            lambda k, **_: (1, 1, ""),
        ),
    )
    monkeypatch.setattr(schemes, "SCHEMES", rows)
    monkeypatch.setattr("agfmc.cli.print_control.SCHEMES", rows)


def test_a_new_scheme_reaches_the_command(new_schemes, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    assert main_of("print_control")(["-Q", "invented-alias", "4"]) == 0
    assert capsys.readouterr().out == format_tree(from_rows(around(4), range(4)))
    assert main_of("print_control")(["-Q", "invented-circle", "-G", "4"]) == 2
    assert "-G is for -Q random and ensemble, not for invented-circle" in capsys.readouterr().err
    x, y = points()
    svm = "".join(f"{label} 1:{a} 2:{b} 3:{c}\n" for label, (a, b, c) in zip(y, x))
    (tmp_path / "train.svm").write_text(svm)
    words = ["-Q", "apart metric=mean-deviation", "-M", "train.svm"]
    assert main_of("print_control")(words) == 0
    assert capsys.readouterr().out == format_tree(from_rows([((0, 2, 3), (1,))], LABELS))
    assert main_of("print_control")(["-Q", "apart", "4"]) == 2
    assert "expected training data or a contingency table" in capsys.readouterr().err
    assert sketch("invented-circle").labels == sketch("apart").labels == (0, 1, 2, 3)


def test_designs_see_the_weights_of_points():
    """One class moves towards another when the points that are there count more."""
    x = np.array([0.0, 0.2, 10.0, 10.2, 3.0, 3.2, 9.0, 9.2, 14.0, 14.2])[:, None]
    y = np.repeat([0, 1, 2, 3], [2, 2, 4, 2])
    heavy = [np.where((y == 2) & far, 50.0, 1.0) for far in (x[:, 0] > 5, x[:, 0] < 5)]

    def made(scheme, x, y, weights=None, **options):
        w = None if weights is None else Weights(weights.astype(float))
        found = make_design(scheme, LabelledPoints(x, y, range(4), None, w), **options)
        return found

    first, second = (made("empirical", x, y, w, metric="mean-deviation") for w in heavy)
    assert first != second
    whole = np.random.default_rng(1).integers(1, 4, len(y))
    x = x + np.random.default_rng(2).normal(size=x.shape)
    for scheme in ("empirical", "ordered"):
        tree, heights = made(scheme, x, y, whole, metric="mean-deviation")
        copies, others = made(
            scheme, np.repeat(x, whole, axis=0), np.repeat(y, whole), metric="mean-deviation"
        )
        assert tree == copies and (heights is None or np.allclose(heights, others))
    for w in heavy:  # the extremes of classes have no weights
        assert made("empirical", x, y, w) == made("empirical", x, y)

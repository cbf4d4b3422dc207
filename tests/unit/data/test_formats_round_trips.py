"""What is written is read, and what is read is written: every format, up to its last numbers."""

import io
import json
import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from hypothesis.extra import numpy as hnp

from agfmc.cli.messages import json_text
from agfmc.control.parse import parse
from agfmc.control.tree import changed, Leaf, Node, Row, Tree
from agfmc.control.write import format_tree, quote_name
from agfmc.core.answers import Results
from agfmc.core.errors import DataError, UsageError
from agfmc.data import libagf
from agfmc.core.text import name_fault
from agfmc.data.class_names import names_bytes, read_names
from agfmc.data.confusions import format_pair_errors, PairErrors, read_confusions, read_pair_errors
from agfmc.models.libagf import format_ascii_model, read_ascii_model
from agfmc.data.libsvm import iter_svm, read_svm, svm_lines
from agfmc.models.libsvm import format_svm_model, read_svm_model
from agfmc.learners.logistic import format_logistic_model, LogisticModel, read_logistic_model
from agfmc.data.lvq import lvq_lines, read_lvq
from agfmc.models.mbm import read_store, write_store
from agfmc.answers.libagf_text import format_points
from agfmc.data.printed import read_probabilities, read_svm_output
from agfmc.files.number_text import is_text
from agfmc.core.models import BinaryModel, MergedModel, NodeModel, Kernel
from agfmc.models.configuration import Configuration
from agfmc.data.types import InputFormat
from agfmc.data.normalisation import Normalisation
from agfmc.models.files import load, save
from agfmc.score.evaluation import evaluate
from agfmc.core.provenance import Provenance
from data_files import write_cls, write_lvq, write_svm, write_vec

TINY = 5e-324
EXTREMES = [
    0.0,
    -0.0,
    TINY,
    -TINY,
    2.2250738585072014e-308,
    2.225073858507201e-308,
    1e308,
    -1.7976931348623157e308,
    3.4028234663852886e38,
    3.4028235677973366e38,
    1e-45,
    1.4e-45,
    1.1754943508222875e-38,
    0.1,
    1 / 3,
    1 - 2**-53,
    1 + 2**-52,
    2.0**53,
    2.0**53 + 2,
    -9007199254740993.0,
    1e15,
    999999999999999.0,
    123456789012345680.0,
    1e16,
    1e22,
    1e23,
    4.35,
    0.000123456789012345,
    5e-5,
    9.5e-7,
]
FLOATS = st.one_of(st.sampled_from(EXTREMES), st.floats(allow_nan=False, allow_infinity=False))
SINGLE = [
    0.0,
    -0.0,
    1.401298464324817e-45,
    -1.1754942106924411e-38,
    1.1754943508222875e-38,
    3.4028234663852886e38,
    -3.4028234663852886e38,
    0.1,
    1 + 2**-23,
    2.0**24,
]
SINGLES = st.one_of(
    st.sampled_from(SINGLE), st.floats(width=32, allow_nan=False, allow_infinity=False)
)
LABELS = st.one_of(
    st.sampled_from([-(2**31), 2**31 - 1, 0, -1, 2**24 + 1]), st.integers(-(2**31), 2**31 - 1)
)
KERNELS = st.one_of(
    st.just(Kernel("linear")),
    st.builds(Kernel, st.just("rbf"), FLOATS.map(abs)),
    st.builds(Kernel, st.just("sigmoid"), FLOATS.map(abs), FLOATS),
    st.builds(Kernel, st.just("polynomial"), FLOATS.map(abs), FLOATS, st.integers(0, 1000)),
)
# everything but the surrogates that no file can hold, line breaks and NUL
TEXT = st.text(
    st.one_of(
        st.characters(codec="utf-8", exclude_characters="\n\0"),
        st.sampled_from('\ufeff\udc80\udcff\r\x0b\x1c\x85\u2028 #"\\{};/'),
    ),
    min_size=1,
    max_size=8,
)


def tables(elements, dtype=np.float64, side=5):
    return hnp.arrays(
        dtype, hnp.array_shapes(min_dims=2, max_dims=2, max_side=side), elements=elements
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("trips")


def same(one, other, *, leave=()):
    """That two records agree, arrays bit for bit and with their types."""
    if isinstance(one, Normalisation):
        for name in ("matrix", "mean"):
            a, b = getattr(one, name), getattr(other, name)
            assert a.dtype == b.dtype and a.shape == b.shape, name
            assert a.tobytes() == b.tobytes(), name
        return
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name in leave:
            continue
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype and a.shape == b.shape, field.name
            assert a.tobytes() == b.tobytes(), field.name
        elif isinstance(a, (MergedModel, Normalisation)):
            same(a, b)
        elif field.name == "node_classifiers":
            assert list(a) == list(b)
            for number in a:
                same(a[number], b[number])
        elif isinstance(a, Tree):
            assert format_tree(a) == format_tree(b)
        else:
            assert repr(a) == repr(b), field.name  # tells -0.0 from 0.0


# Binary data


@given(st.binary(min_size=8, max_size=8 * 9), st.integers(1, 4))
@example(np.array(SINGLE, "<f4").tobytes(), 2)
def test_any_numbers_of_a_vec_come_back_as_the_same_bytes(folder, raw, d):
    values = np.frombuffer(raw[: len(raw) // (4 * d) * 4 * d], "<f4")
    path = folder / "a.vec"
    path.write_bytes(d.to_bytes(4, "little") + values.tobytes())
    if not len(values) or not np.isfinite(values).all():
        with pytest.raises(DataError):
            libagf.read_vec(path)
        return
    for mapped in (False, True):
        write_vec(folder / "b.vec", libagf.read_vec(path, mapped))
        assert (folder / "b.vec").read_bytes() == path.read_bytes()
    if is_text(values.tobytes(), floats=True):
        return  # without a header it would be taken for text
    column = folder / "a.con"
    column.write_bytes(values.tobytes())
    (folder / "b.con").write_bytes(libagf.con_bytes(libagf.read_con(column)))
    (folder / "b.dat").write_bytes(libagf.con_bytes(libagf.read_con(column).astype(np.float64)))
    assert (folder / "b.con").read_bytes() == (folder / "b.dat").read_bytes() == values.tobytes()


@given(st.lists(LABELS, min_size=1, max_size=9))
@example([-(2**31), 2**31 - 1])
def test_labels_through_every_format(folder, labels):
    y = np.array(labels, np.int32)
    raw = y.astype("<i4").tobytes()
    write_cls(folder / "a.cls", y.astype(np.float64))
    assert (folder / "a.cls").read_bytes() == raw
    got = libagf.read_cls(folder / "a.cls", negative=True)
    x = np.ones((len(y), 1))
    write_svm(folder / "a.svm", x, got)
    got = read_svm(folder / "a.svm").y
    write_lvq(folder / "a.lvq", x, got)
    got = read_lvq(folder / "a.lvq").y
    assert got.dtype == np.int32 and got.tobytes() == raw
    for beyond in (-(2**31) - 1, 2**31):
        write_svm(folder / "a.svm", x[:1], [beyond])
        with pytest.raises(DataError, match="not a whole number of 32 bits"):
            read_svm(folder / "a.svm")


@given(st.data())
def test_std(folder, data):
    matrix = data.draw(tables(SINGLES, np.float32))
    zeros = data.draw(st.lists(st.integers(0, len(matrix) - 1), max_size=2))
    matrix[zeros] = 0.0
    mean = data.draw(hnp.arrays(np.float32, len(matrix), elements=SINGLES))
    told = Normalisation(matrix, mean, tuple(np.flatnonzero(~matrix.any(axis=1)).tolist()))
    libagf.write_std(folder / "a.std", told)
    got = libagf.read_std(folder / "a.std")
    same(told, got)
    assert got.digest() == told.digest() and got.dropped == told.dropped
    libagf.write_std(folder / "b.std", got)
    assert (folder / "a.std").read_bytes() == (folder / "b.std").read_bytes()


# Text of points


@given(tables(FLOATS), st.booleans(), st.integers(1, 60))
@example(np.array(EXTREMES).reshape(-1, 3), False, 1 << 20)
@example(np.array(EXTREMES).reshape(-1, 3), True, 7)
def test_points_as_text(x, full, block):
    y = np.arange(len(x)) % 3
    text = "".join(svm_lines(x, y, full=full)).encode()
    got = read_svm("-", stdin=io.BytesIO(text), block=block) if b":" in text else None
    if got is not None:
        wide = np.zeros_like(x)
        wide[:, : got.x.shape[1]] = got.x
        assert wide.tobytes() == x.tobytes()
        assert "".join(svm_lines(got.x, got.y, full=full)).encode() == text
    chunk = np.concatenate(
        list(iter_svm("-", InputFormat("svm", -7.0), len(x), x.shape[1], stdin=io.BytesIO(text)))
    )
    here = full | (x != 0) | np.signbit(x)
    assert chunk.tobytes() == np.where(here, x, -7.0).tobytes()
    for labels, header in ((y, True), (y, False), (None, True), (None, False)):
        text = "".join(lvq_lines(x, labels, header)).encode()
        form = InputFormat("lvq", header=header, labels=labels is not None)
        got = read_lvq("-", form, stdin=io.BytesIO(text), block=block)
        assert got.x.tobytes() == x.tobytes()
        assert "".join(lvq_lines(got.x, got.y, header)).encode() == text


@given(tables(FLOATS), st.integers(1, 60))
@example(np.array(EXTREMES).reshape(-1, 5), 1 << 20)
def test_sparse_points_as_text(x, block):
    x[0, -1] = TINY
    text = "".join(svm_lines(x, np.zeros(len(x), int))).encode()
    sparse = read_svm("-", stdin=io.BytesIO(text), block=block, sparse=True).x
    assert np.asarray(sparse).tobytes() == (x + 0.0).tobytes()  # zeros have no sign there
    assert sparse.counts.tolist() == np.count_nonzero(x, axis=1).tolist()
    again = "".join(svm_lines(np.asarray(sparse), np.zeros(len(x), int)))
    assert again == "".join(svm_lines(x + 0.0, np.zeros(len(x), int)))
    parts = iter_svm("-", rows=2, d=x.shape[1], stdin=io.BytesIO(text), block=block, sparse=True)
    np.testing.assert_array_equal(np.vstack([np.asarray(part) for part in parts]), x)


@given(st.lists(TEXT, min_size=1, max_size=4, unique=True))
@example(["\ufeffa", "b"])
@example(["a", "\ufeffb"])
@example(["\ufeff"])
def test_words_as_labels_and_names_come_back_or_are_refused(folder, names):
    y = np.arange(len(names))
    try:
        (folder / "a.names").write_bytes(names_bytes(names))
    except DataError:
        assert any(map(name_fault, names)) or names[0].startswith("\ufeff")
    else:
        assert read_names(folder / "a.names") == tuple(names)
        raw = (folder / "a.names").read_bytes()
        (folder / "b.names").write_bytes(names_bytes(read_names(folder / "a.names")))
        assert (folder / "b.names").read_bytes() == raw
    for write, read in ((write_svm, read_svm), (write_lvq, read_lvq)):
        try:
            write(folder / "a.txt", np.ones((len(y), 1)), y, names=names)
        except DataError:
            continue
        for given_names in (names, None):
            try:
                got = read(folder / "a.txt", names=given_names)
            except DataError as error:  # more is refused than is known to the writer
                assert "control character" in error.message or "cannot be a name" in error.message
                continue
            assert [got.names[label] for label in got.y] == names


# Control text


def class_names(labels):
    """{label: name} of the labels, but for names that no file can hold."""
    return st.lists(
        TEXT.map(str.strip), min_size=len(labels), max_size=len(labels), unique=True
    ).map(lambda names: {label: name for label, name in zip(labels, names) if not name_fault(name)})


@st.composite
def control_trees(draw):
    """Trees with odd names, options and names of classes."""
    nodes, labels = [], draw(st.permutations([0, 3, 7, 10, 2**31 - 1, 2**31 - 2, 99, 100]))
    left = iter(labels)

    def row(one, other):
        text = draw(TEXT)
        quoted = draw(st.booleans())
        row = Row(text, quoted, one, other)
        return changed(row, quoted=quote_name(text).startswith('"') or not row.is_name)

    def grow(depth):
        number = len(nodes)
        nodes.append(None)
        count = draw(st.integers(2, 3)) if depth else 2
        bare = count == 2 and draw(st.booleans())
        rows = (
            (row((0,), (1,)),)
            if bare
            else tuple(row((i,), tuple(j for j in range(count) if j != i)) for i in range(count))
        )
        children = [
            grow(depth + 1) if depth < 1 and draw(st.booleans()) else Leaf(next(left))
            for _ in range(count)
        ]
        nodes[number] = Node(rows, tuple(children), bare, depth, None)
        return number

    grow(0)
    tree = Tree(tuple(nodes))
    return changed(
        tree, names=draw(class_names([label for label in tree.labels if draw(st.booleans())]))
    )


@given(control_trees())
def test_control_text_with_odd_names(tree):
    if any("\x00" in row.text for row in tree.rows):
        with pytest.raises(UsageError):
            format_tree(tree)
        return
    text = format_tree(tree)
    got = parse(text)
    assert format_tree(got) == text
    assert got.labels == tree.labels and dict(got.names) == dict(tree.names)
    assert got.sides() == tree.sides()
    for one, other in zip(tree.rows, got.rows, strict=True):
        kept = other.text.removeprefix("./") if other.text != one.text else other.text
        assert kept == one.text and (other.left, other.right) == (one.left, one.right)


@pytest.mark.parametrize("name", ["a b\\", '\\" x', "x \\\\", '\\\\ \\"\\', "#", "{", "12", "K"])
def test_names_with_signs_of_the_language(name):
    row = Row(name, quote_name(name).startswith('"'), (0,), (1,))
    tree = Tree((Node((row,), (Leaf(4), Leaf(9)), True, 0, None),), {4: name})
    got = parse(format_tree(tree))
    assert got.rows[0].text == name and dict(got.names) == {4: name}


# Models


@st.composite
def binary_models(draw):
    sv = draw(tables(FLOATS, side=4)) + 0.0
    n = len(sv)
    split = draw(st.integers(0, n))
    return BinaryModel(
        "m",
        draw(st.sampled_from(["c_svc", "nu_svc"])),
        draw(KERNELS),
        sv,
        draw(hnp.arrays(np.float64, n, elements=FLOATS)),
        draw(FLOATS),
        draw(st.sampled_from([(0, 1), (1, 0)])),
        (split, n - split),
        draw(st.one_of(st.none(), st.tuples(FLOATS, FLOATS))),
        Provenance("1", features=sv.shape[1]),
        sv.shape[1],
    )


@given(binary_models())
@example(
    BinaryModel(
        "m",
        "c_svc",
        Kernel("polynomial", 0.1 + 0.2, -0.0, 0),
        np.array([EXTREMES[:4], EXTREMES[6:10]]) + 0.0,
        np.array([0.7 + 0.1, -TINY]),
        1.1 + 2.2,
        (1, 0),
        (0, 2),
        (0.1 + 0.7, -0.1 - 0.2),
        Provenance("1", features=4),
        4,
    )
)
@example(
    BinaryModel(
        "m",
        "nu_svc",
        Kernel("linear"),
        np.zeros((0, 4)),
        np.zeros(0),
        0.5,
        (0, 1),
        (0, 0),
        None,
        Provenance("1", features=4),
        4,
    )
)
@example(
    BinaryModel(
        "m",
        "c_svc",
        Kernel("linear"),
        np.ones((1, 2)),
        np.ones(1),
        0.5,
        (0, 1),
        (1, 0),
        None,
        Provenance(),
        0,
    )
)  # of another program
def test_svm_models(folder, model):
    text = format_svm_model(model)
    (folder / "m").write_text(text)
    got = read_svm_model(str(folder / "m"))
    same(model, got, leave={"name"})
    assert format_svm_model(got) == text


@given(st.data())
def test_logistic_models(folder, data):
    weights = data.draw(
        hnp.arrays(np.float64, st.tuples(st.integers(2, 4), st.integers(2, 4)), elements=FLOATS)
    )
    model = LogisticModel(
        weights, data.draw(FLOATS.map(abs)), 10**11, Provenance("1", options="-r 1")
    )
    (folder / "l").write_text(format_logistic_model(model))
    got = read_logistic_model(folder / "l")
    same(model, got)
    assert format_logistic_model(got) == format_logistic_model(model)


@st.composite
def collated(draw, ascii_only=False):
    """A model of three classes: one-vs-one, perhaps below a multi-class node of each code."""
    d, s = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    elements = SINGLES if draw(st.booleans()) else FLOATS
    sv = draw(hnp.arrays(np.float64, (s, d), elements=elements, unique=False)) + 0.0
    sv = np.unique(sv, axis=0)
    s = len(sv)
    parts = [sorted(draw(st.sets(st.integers(0, s - 1)))) for _ in range(3)]
    index = np.array([i for part in parts for i in part], np.int32)
    several = [Kernel("rbf", 0.5)] if ascii_only else [Kernel("rbf", 0.5), Kernel("linear")]
    kernels = tuple(dict.fromkeys([draw(KERNELS), *(several if not ascii_only else [])]))[:2]
    a = draw(hnp.arrays(np.float64, 3, elements=FLOATS))
    a[a == 0] = 1.0
    b = draw(hnp.arrays(np.float64, 3, elements=FLOATS))
    rows = "m0 0 / 1;\nm1 0 / 2;\nm2 1 / 2;\n{\n  0\n  1\n  2147483647\n}\n"
    control, direct, names = rows, {}, {}
    if not ascii_only:
        names = draw(class_names([0, 2147483647]))
        if draw(st.booleans()):
            control = (
                'k K "-k 2"\n{\n  l L ""\n  {\n    5\n    6\n    7\n  }\n  '
                + rows.replace("\n", "\n  ").rstrip()
                + "\n}\n"
            )
            direct = {
                0: NodeModel(
                    "K",
                    "k",
                    2,
                    Provenance(options="-k 2"),
                    points=draw(hnp.arrays(np.float32, (3, d), elements=SINGLES)),
                    y=np.array([0, 1, 1], np.int32),
                    k=2,
                ),
                1: NodeModel(
                    "L",
                    "l",
                    3,
                    Provenance("1"),
                    weights=draw(hnp.arrays(np.float64, (3, d + 1), elements=FLOATS)),
                ),
            }
        if draw(st.booleans()):
            hole = draw(st.integers(0, 2))
            a[hole] = b[hole] = np.nan
    normalisation = None
    if not ascii_only and draw(st.booleans()):
        normalisation = Normalisation(
            draw(hnp.arrays(np.float32, (2, d), elements=SINGLES)),
            draw(hnp.arrays(np.float32, 2, elements=SINGLES)),
        )
    tree = changed(parse(control), names=names)
    orientation = (
        np.where(a < 0, -1, 1)
        if ascii_only
        else np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=3, max_size=3)))
    )
    return Configuration(
        tree,
        MergedModel(
            kernels=kernels,
            kernel_of=np.array([0, len(kernels) - 1, 0], np.int32),
            sv=sv,
            group=np.zeros(s, np.int32),
            indptr=np.cumsum([0, *map(len, parts)]).astype(np.int64),
            index=index,
            coef=draw(hnp.arrays(np.float64, len(index), elements=FLOATS)),
            rho=draw(hnp.arrays(np.float64, 3, elements=FLOATS)),
            a=a,
            b=b,
            orientation=orientation.astype(np.int8),
            provenances=(Provenance(),) * 3
            if ascii_only
            else (Provenance("0.1", options="-c 1"), Provenance(), Provenance("x")),
        ),
        direct,
        normalisation,
    )


@given(collated(), st.booleans())
def test_mbm(folder, given, wide):
    given = replace(given, machines=replace(given.machines, any_width=wide))
    path = str(folder / "m.mbm")
    write_store(path, given, {"agfmc": "1"})
    raw = (folder / "m.mbm").read_bytes()
    got = read_store(path)
    same(given, got, leave={"made_by"})
    write_store(path, got, got.made_by)
    assert (folder / "m.mbm").read_bytes() == raw
    save(path, load(path))
    same(given, load(path), leave={"made_by"})


@pytest.mark.parametrize("gamma", [TINY, 1e300, 1.7976931348623157e308])
def test_mbm_with_any_kernel_that_can_be_written(folder, gamma):
    given = Configuration(
        parse("a {0 1}"),
        MergedModel(
            kernels=(Kernel("sigmoid", gamma, -gamma),),
            kernel_of=np.zeros(1, np.int32),
            sv=np.ones((1, 1)),
            group=np.zeros(1, np.int32),
            indptr=np.array([0, 1]),
            index=np.zeros(1, np.int32),
            coef=np.array([gamma]),
            rho=np.array([-gamma]),
            a=np.array([gamma]),
            b=np.array([-0.0]),
            orientation=np.ones(1, np.int8),
            provenances=(Provenance(),),
        ),
    )
    write_store(str(folder / "k.mbm"), given, {"agfmc": "1"})
    same(given, load(str(folder / "k.mbm")), leave={"made_by"})


# rows that change their order when they are rounded to six digits
ROUNDED = Configuration(
    parse("m0 {0 1}"),
    MergedModel(
        kernels=(Kernel("linear"),),
        kernel_of=np.zeros(1, np.int32),
        sv=np.array([[1.0000001, 5.0], [1.0000002, 1.0]]),
        group=np.zeros(2, np.int32),
        indptr=np.array([0, 2]),
        index=np.array([0, 1], np.int32),
        coef=np.array([0.5, -0.5]),
        rho=np.zeros(1),
        a=np.ones(1),
        b=np.zeros(1),
        orientation=np.ones(1, np.int8),
        provenances=(Provenance(),),
    ),
)


@given(collated(ascii_only=True))
@example(ROUNDED)
def test_ascii_models(given):
    lines = "".join(format_ascii_model(given))
    got = read_ascii_model("m", lines.encode())
    same(given, got)
    model = given.machines
    turned = replace(model, sv=model.sv[::-1], index=len(model.sv) - 1 - model.index)
    assert "".join(format_ascii_model(replace(given, machines=turned))) == lines
    assert "".join(format_ascii_model(got)) == lines
    # with fewer digits, as libAGF prints single precision, numbers are those that were printed
    if max(np.abs(model.sv).max(), np.abs(model.coef).max(initial=0)) < 1e300:
        sv, coef = (
            np.array([float(f"{v:.6g}") for v in values.ravel()]).reshape(values.shape)
            for values in (model.sv + 0.0, model.coef)
        )
        sv, place = np.unique(sv + 0.0, axis=0, return_inverse=True)  # in a new order, perhaps
        if len(sv) == len(model.sv):
            short = replace(
                given,
                machines=replace(
                    model, sv=sv, coef=coef, index=place.ravel()[model.index].astype(np.int32)
                ),
            )
            lines = "".join(format_ascii_model(short))
            same(short, read_ascii_model("m", lines.encode()))


# What is printed


@given(st.data())
def test_tables_of_probabilities(folder, data):
    p = data.draw(
        hnp.arrays(
            np.float64,
            st.tuples(st.integers(1, 6), st.integers(2, 4)),
            elements=st.one_of(st.floats(0, 1), FLOATS.filter(lambda v: abs(v) < 1e20)),
        )
    )
    labels = sorted(
        data.draw(st.sets(st.integers(0, 2**31 - 1), min_size=p.shape[1], max_size=p.shape[1]))
    )
    classes = np.array(
        data.draw(st.lists(st.sampled_from([*labels, -1]), min_size=len(p), max_size=len(p))),
        np.int32,
    )
    head = f"labels {' '.join(map(str, labels))}\n".encode()
    for first in (b"", head):
        text = first + format_points(p, classes)
        (folder / "p").write_bytes(text)
        got = read_probabilities(folder / "p")
        assert first + format_points(got.p, got.classes) == text
        assert got.classes.tolist() == classes.tolist()
        assert (got.labels is None) == (first == b"") and (
            got.labels is None or got.labels.tolist() == labels
        )
        np.testing.assert_array_equal(got.p, [[float("%.6f" % v) for v in row] for row in p])


@given(st.data())
def test_output_of_svm_predict(folder, data):
    labels = data.draw(
        st.lists(st.integers(1 - 2**31, 2**31 - 1), min_size=2, max_size=4, unique=True)
    )
    n = data.draw(st.integers(1, 5))
    p = data.draw(
        hnp.arrays(
            np.float64,
            (n, len(labels)),
            elements=st.one_of(st.sampled_from([0.0, 1.0, TINY, 1 - 2**-53]), st.floats(0, 1)),
        )
    )
    classes = data.draw(st.lists(st.sampled_from(labels), min_size=n, max_size=n))
    text = "".join(
        [
            f"labels {' '.join(map(str, labels))}\n",
            *(f"{c} {' '.join(map(repr, row))}\n" for c, row in zip(classes, p.tolist())),
        ]
    )
    (folder / "o").write_text(text)
    got = read_svm_output(folder / "o")
    assert got.labels == tuple(labels) and got.classes.tolist() == classes
    assert got.p.tobytes() == p.tobytes()


@given(st.data())
def test_errors_of_pairs(folder, data):
    k = data.draw(st.integers(2, 4))
    labels = tuple(sorted(data.draw(st.sets(st.integers(0, 2**31 - 1), min_size=k, max_size=k))))
    counts = st.one_of(st.sampled_from([1, 2**53]), st.integers(1, 2**53))
    n, errors = np.zeros((2, k, k), np.int64)
    irrelevant, wins = np.zeros((2, k, k, k), np.int64)
    for i in range(k):
        for j in range(k):
            if i != j:
                n[i, j] = data.draw(counts)
                errors[i, j] = data.draw(st.integers(0, int(n[i, j])))
            for t in set(range(k)) - {i, j} if i < j else ():
                irrelevant[t, i, j] = irrelevant[t, j, i] = count = data.draw(counts)
                wins[t, i, j] = data.draw(st.integers(0, count))
                wins[t, j, i] = count - wins[t, i, j]
    told = PairErrors(labels, n, errors, *((irrelevant, wins) if k > 2 else (None, None)))
    (folder / "e").write_text(format_pair_errors(told))
    got = read_pair_errors(folder / "e")
    same(told, got, leave={"source"})
    assert format_pair_errors(got) == format_pair_errors(told)
    found = read_confusions(folder / "e")
    assert found.labels == labels
    np.testing.assert_array_equal(found.errors, errors)
    np.testing.assert_array_equal(found.samples, n)


@given(st.data())
def test_tables_of_confusions(folder, data):
    labels = sorted(data.draw(st.sets(st.integers(0, 2**31 - 1), min_size=2, max_size=4)))
    n = data.draw(st.integers(1, 30))
    truth = np.array(data.draw(st.lists(st.sampled_from(labels), min_size=n, max_size=n)))
    result = np.array(data.draw(st.lists(st.sampled_from([*labels, -1]), min_size=n, max_size=n)))
    table = np.array([[np.sum((truth == i) & (result == j)) for j in labels] for i in labels])
    text = json_text(evaluate(Results(truth, result, np.array(labels), len(labels))))
    if not table.any():
        return
    (folder / "t").write_text(text)
    got = read_confusions(folder / "t")
    assert got.labels == tuple(labels) and got.alternatives == len(labels)
    np.testing.assert_array_equal(got.errors, table)
    np.testing.assert_array_equal(
        got.samples, np.repeat(table.sum(axis=1)[:, None], len(labels), axis=1)
    )
    told = json.loads(text)
    assert told["rejected"] == np.sum(result == -1)
    assert math.isclose(told["accuracy"], np.mean((truth == result)[result >= 0]))

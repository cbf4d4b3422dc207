"""Every reader of files, with small files that are right: what the broken ones are made of.

A `Reader` takes a path.  `covers` names the public functions that it goes through, as
`data.libagf.read_vec`; `accepts` looks at what came out, and at the bytes it came from.
"""

import functools
import gzip
import io
import json
import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from hostile_store import calibration, check_visible, forest, RECIPE
from made_tables import collars, mend, select_rows, survey

from agfmc.control.graphviz import format_dot
from agfmc.control.matrix import parse_matrix
from agfmc.control.parse import parse
from agfmc.control.tree import looks_like_options
from agfmc.control.write import format_tree
from agfmc.core.errors import ControlError, DataError, ModelError, UsageError
from agfmc.models.files import load
from agfmc.prediction.decision_values import MachineValues
from agfmc.models.description import describe_recipe
from agfmc.report.model import recipe_blocks
from agfmc.report.text import blocks_text
from agfmc.answers import columns as answer_columns, libagf_text, libagf_text as set_text
from agfmc.calibration import file as calibration_file
from agfmc.data import (
    class_names,
    confusions,
    cost_file,
    from_table,
    libagf as vectors,
    libsvm,
    lvq,
    groups as groups_file,
    printed,
    reading,
    weights as weights_file,
)
from agfmc.models import control_files, libagf, libsvm as libsvm_model
from agfmc.learners import logistic as logistic_model
from agfmc.learners import trees as boosted_model
from agfmc.tables import reading as table, recipe_file
from agfmc.tables.types import ColumnRoles
from agfmc.tables.words import Words
from agfmc.files import codec, opening
from agfmc.models.checks import check_configuration
from agfmc.core.forest import Forest
from agfmc.core.models import BinaryModel, Kernel, NodeModel
from agfmc.data.types import InputFormat
from agfmc.core.provenance import Provenance

FOUND = Path(__file__).parent / "found"
LIMIT = 1 << 26  # bytes of a table

# Found by the fuzzers, too, and long: words and lines that once took quadratic time.
LONG = {
    "ascii model": [b'SVM\n"' + b'\\"' * 20000 + b"\n"],
    "confusions": [b'{"labels": [' + b"1" * 20000 + b', 2], "contingency": [[1, 0], [0, 1]]}'],
    "control": [b"#\n" * 20000 + b"a {0 1}", b'"' + b'\\"' * 20000 + b" {0 1}"],
    "lvq in chunks": [b"3\n1 1 1 " + b"a" * 50000 + b"\n" + b"1 1 1 1\n" * 3000],
    "pair errors": [b"\n".join(b"%d %d 1 0 1 0" % (2 * i, 2 * i + 1) for i in range(600))],
    "svm text": [b"0" * 50000 + b"1 1:1\n" + b"1 1:1\n" * 1000],
    "svm text to classify": [b"a" * 50000 + b" 1:1\n" + b"1 1:1\n" * 3000],
}


class Reader(NamedTuple):
    """read(path) -> anything; seeds: bytes; text: lines count, and stand in errors.

    found: files that once were not refused, or not well.
    """

    name: str
    read: callable
    seeds: tuple
    text: bool
    covers: tuple
    accepts: callable
    found: tuple = ()


def all_finite(*arrays):
    for array in arrays:
        assert np.isfinite(array).all()


def points(data, raw, tall=True):
    """A `Dataset`: finite points, a label for each."""
    x = data.x.csr if hasattr(data.x, "csr") else np.asarray(data.x)
    assert x.ndim == 2 and x.shape[0] > 0 and x.shape[1] > 0
    if hasattr(data.x, "csr"):
        x.check_format()
        assert (np.diff(x.indptr) >= 0).all() and x.has_sorted_indices
        all_finite(x.data)
    else:
        all_finite(x)
    if data.y is not None:
        assert data.y.shape == (x.shape[0],)
        all_finite(data.y)
        if data.names is not None:
            assert data.y.min() >= 0 and data.y.max() < len(data.names)


def chunks(parts, raw):
    for x in parts:
        assert x.ndim == 2 and len(x) > 0
        all_finite(x.csr.data if hasattr(x, "csr") else x)


def points_to_classify(parts, raw):
    """Chunks of finite points, or of points without data: all NaN."""
    for x in parts:
        assert x.ndim == 2 and len(x) > 0
        empty = np.isnan(x).any(axis=1)
        assert np.isnan(x[empty]).all()
        all_finite(x[~empty])


def columns(values, raw):
    assert values.ndim == 1 and len(values) * 4 == len(raw)
    all_finite(values)


def matrix(x, raw):
    assert x.ndim == 2 and x.nbytes == len(raw) - 4
    all_finite(x)


def labels_told(found, raw):
    labels, told = found
    assert list(labels) == sorted(labels) and min(labels.values()) > 0


def tree_again(tree, raw):
    """A tree can be written, and what is written is the same tree; it can be drawn."""
    try:
        text = format_tree(tree)
    except (ModelError, UsageError) as error:
        assert "line break" in str(error)
        return
    again = parse(text)
    assert again.labels == tree.labels and len(again.nodes) == len(tree.nodes)
    for one, other in zip(again.rows, tree.rows):
        assert (one.left, one.right) == (other.left, other.right)
        assert (
            one.text == other.text
            or one.text == "./" + other.text
            and looks_like_options(other.text)
        )
    assert again.names == tree.names
    assert (again.options, again.decoder) == (tree.options, tree.decoder)
    assert format_dot(tree).endswith("}\n")
    tree.sides(), tree.classes, tree.spans()


def binary_model(model, raw):
    assert isinstance(model, BinaryModel)
    count, d = model.sv.shape
    assert model.coef.shape == (count,) and sum(model.n_sv) == count and min(model.n_sv) >= 0
    all_finite(model.sv, model.coef, model.rho, *(model.platt or ()))
    assert sorted(model.labels) == [0, 1]
    assert max(model.features, 0) <= d
    kernel_sane(model.kernel)


def kernel_sane(kernel):
    assert kernel.gamma >= 0 and 0 <= kernel.degree <= 1000
    all_finite(kernel.gamma, kernel.coef0)


def multiclass(found, raw):
    tree, models = found
    k = len(tree.labels)
    assert len(models) == len(tree.rows) == k * (k - 1) // 2
    for model in models:
        binary_model(model, raw)


def collated(configuration, raw):
    def fail(message):
        return AssertionError(message)

    check_configuration(configuration, fail)
    kernel_sane(configuration.machines.kernels[0])


def classifying(configuration, raw):
    """A whole configuration answers for two points without NaN, or says that it cannot."""
    model = configuration.machines
    d = model.sv.shape[1]
    if d > 10_000:
        return
    values = MachineValues(configuration, True)
    x = np.zeros((2, d))
    x[1] = 0.5
    try:
        f, r = values(range(len(model.rho)), values.prepared(x))
    except DataError as error:
        assert "too large for the kernel" in str(error)
        return
    all_finite(f, r)
    assert (np.abs(r) <= 1).all()


def calibrated(found, raw):
    """What is written of a calibration is read again, and is the same text."""
    text = calibration_file.format_calibration(found)
    assert text == calibration_file.format_calibration(
        reread(calibration_file.read_calibration, text)
    )
    assert len(found.counts) == len(found.classes)
    for one in found.decoders.values():
        assert 0 <= one.map.floor < 1
        if one.map.kind != "none":
            all_finite(one.map.weights, one.map.intercept)
        if one.points is not None:
            assert np.isin(one.points.label, found.classes).all()
            all_finite(one.points.p_true, one.points.cumulative, one.points.p_largest)
            if one.points.left is not None:
                all_finite(one.points.left)


def reread(read, text):
    with tempfile.NamedTemporaryFile() as file:
        file.write(text.encode())
        file.flush()
        return read(file.name)


def logistic(model, raw):
    assert model.weights.ndim == 2 and model.weights.shape[0] >= 2 and model.weights.shape[1] >= 2
    all_finite(model.weights, model.ridge)


def boosted_node(model, raw):
    model.forest.check(AssertionError)
    assert len(model.forest.starts) == model.branches + 1 >= 3
    all_finite(model.forest.value)
    if model.held_out is not None:
        all_finite(model.held_out)


def probabilities(found, raw):
    n, k = found.p.shape
    assert n > 0 and k >= 2 and found.classes.shape == (n,)
    assert found.labels is None or found.labels.shape == (k,)
    all_finite(found.p)


def class_sets(found, raw):
    assert len(found.size) > 0 and found.size.min() >= 0 and found.size.sum() == len(found.labels)
    assert found.labels.min(initial=0) >= 0


def confused(found, raw):
    k = len(found.labels)
    assert found.errors.shape == found.samples.shape == (k, k) and k >= 2
    assert list(found.labels) == sorted(set(found.labels))
    assert (found.errors <= found.samples).all() and (found.errors >= 0).all()


def costly(found, raw):
    assert found.costs.shape == (3, 3) and (found.costs >= 0).all()
    assert (found.costs >= np.diag(found.costs)[:, None]).all()
    all_finite(found.costs, *(() if found.refusal is None else (found.refusal,)))


def pair_error_counts(found, raw):
    k = len(found.labels)
    assert found.n.shape == found.errors.shape == (k, k)
    assert (found.errors <= found.n).all() and (found.errors >= 0).all()
    assert found.wins is None or (found.wins <= found.irrelevant).all()


def predicted(found, raw):
    n = len(found.classes)
    assert n > 0 and (found.p is None or len(found.p) == n)
    assert found.labels is None or np.isin(found.classes, found.labels).all()
    assert found.p is None or (np.abs(found.p - 0.5) <= 0.5 + 1e-6).all()


def normalisation(found, raw):
    assert found.matrix.shape[0] == len(found.mean) and found.matrix.shape[1] > 0
    all_finite(found.matrix, found.mean, found.apply(np.zeros((1, len(found.mean)))))


def named(found, raw):
    assert found and len(set(found)) == len(found)
    assert class_names.names_bytes(found)
    assert all(name and "\n" not in name for name in found)


def same_json(found, raw):
    """Nothing is read that the file does not hold, and finite numbers alone."""

    def within(part, whole):
        if isinstance(part, dict):
            return all(within(part[key], whole[key]) for key in part)
        if isinstance(part, list):
            return len(part) == len(whole) and all(map(within, part, whole))
        return type(part) is type(whole) and part == whole

    assert within(found, json.loads(raw))
    json.dumps(found, allow_nan=False)


def matrix_of_file(path):
    rows = parse_matrix(opening.read_bytes(path).decode("utf-8", "replace"), path)
    if rows is None:
        raise ControlError("is no matrix", file=path, line=1)
    return rows


def anything(found, raw):
    """There is nothing that the result could break."""


def bytes_of(path):
    return Path(path).read_bytes()


def by_blocks(path):
    """LIBSVM text gives the same points in small blocks as in one, dense as sparse."""
    whole = libsvm.read_svm(path, limit_bytes=LIMIT)
    for size in (3, 16) if os.path.getsize(path) < 4096 else (4096,):
        part = libsvm.read_svm(path, limit_bytes=LIMIT, block=size)
        assert np.array_equal(part.x, whole.x) and np.array_equal(part.y, whole.y)
        assert part.names == whole.names
    sparse = libsvm.read_svm(path, limit_bytes=LIMIT, sparse=True)
    assert np.array_equal(np.asarray(sparse.x), whole.x) and np.array_equal(sparse.y, whole.y)
    y, told = libsvm.read_svm_labels(path)
    assert np.array_equal(y, whole.y) and told == whole.names
    return whole


def naive_svm(data, raw):
    """LIBSVM text read by the plainest loop gives the same numbers."""
    points(data, raw)
    rows = []
    for line in raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        words = line.partition(b"#")[0].split()
        if words:
            rows.append({int(i): float(v) for i, v in (w.split(b":") for w in words[1:])})
    assert len(rows) == len(data.x)
    for row, x in zip(rows, np.asarray(data.x)):
        assert all(x[i - 1] == v for i, v in row.items())
        assert np.count_nonzero(x) == sum(v != 0 for v in row.values())


def naive_lvq(data, raw):
    points(data, raw)
    lines = [
        line.partition(b"#")[0].split() for line in raw.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    ]
    rows = [words for words in lines if words][1:]
    assert len(rows) == len(data.x)
    for words, x in zip(rows, data.x):
        assert [float(w) for w in words[:-1]] == x.tolist()


def beside(ending, other, content, read):
    """A reader of a base name: the hostile file is one of two, the other one is right."""

    def inner(path):
        base = os.path.join(os.path.dirname(path), "beside")
        Path(base + ending).write_bytes(bytes_of(path))
        Path(base + other).write_bytes(content)
        return read(base)

    return inner


def answers(path):
    """The cells of JSON lines, whose name tells what they are."""
    Path(f"{path}.jsonl").write_bytes(bytes_of(path))
    try:
        with answer_columns.open_answers(f"{path}.jsonl") as opened:
            return opened.read(
                {
                    name: {"p": "number", "set": "set"}.get(
                        name, "number" if name.startswith("p:") else "words"
                    )
                    for name in opened.names
                }
            )
    except DataError as error:
        raise DataError(error.message, file=path, line=error.line) from error
    finally:
        os.unlink(f"{path}.jsonl")


def binary_weights(path):
    """The weights in a file, whose name tells that they are binary."""
    Path(f"{path}.wgt").write_bytes(bytes_of(path))
    try:
        return weights_file.read_weights(f"{path}.wgt")
    except DataError as error:
        raise DataError(error.message, file=path) from error
    finally:
        os.unlink(f"{path}.wgt")


def weighty(w, raw):
    assert w.ndim == 1 and len(w) > 0 and (w >= 0).all()
    all_finite(w)


def class_weights(found, raw):
    assert found and all(0 < weight < np.inf for weight in found.values())


def answered(found, raw):
    """A cell in each row and column; no infinite number."""
    for name, cells in found.cells.items():
        assert len(getattr(cells, "codes", cells)) == len(found.numbers) > 0
        assert not isinstance(cells, np.ndarray) or not np.isinf(cells).any(), name


def from_pipe(read):
    """The same from standard input, which has no size."""

    def inner(path):
        return read("-", stdin=io.BytesIO(bytes_of(path)))

    return inner


def text_of(read):
    """A reader of text that a control file quotes."""

    def inner(path):
        return read(bytes_of(path).decode("utf-8", "surrogateescape"), file=path, line=1)

    return inner


def training_options(text, **place):
    from agfmc.learners.protocol import parse_options

    options = parse_options(text, **place)
    assert "\n" not in options.canonical()
    return options


def direct_options(text, **place):
    from agfmc.learners.protocol import learner_class

    try:
        return learner_class("K").parse(text, **place)
    except UsageError:
        return learner_class("L").parse(text, **place)


def similarity(path):
    from agfmc.experiments.simulation import read_similarity

    return read_similarity(path)


def rows_of(path, **options):
    """All cells of a table, as numbers where a column of a block has no others, else as words."""
    found = []
    with table.open_table(path, **options) as opened:
        for block in opened.blocks(dict.fromkeys(range(len(opened.names)), "either")):
            for row in range(block.rows):
                found.append(
                    (block.number(row), [cell_of(block[i], row) for i in range(len(opened.names))])
                )
    return found


def surveyed(path):
    """The points of a table for training, by the recipe that a survey of it makes."""
    form = InputFormat("table", roles=ColumnRoles(label="class"))
    return from_table.read_table(path, form)


def surveyed_points(data, raw):
    """Points are finite, or missing where the recipe keeps that; a label for each."""
    assert len(data.x) == len(data.y) > 0 and data.recipe is not None
    assert recipe_file.format_recipe(data.recipe)
    all_finite(np.asarray(data.x))


def raw_table(make, delimiter):
    """A few rows, of those that differ, of a table as people have them."""
    table, _ = make()
    table = select_rows(mend(table), slice(None, None, 150))
    lines = (delimiter.join(row) for row in (table, *zip(*table.values())))
    return "\n".join(lines).replace(", ", ",").encode() + b"\n"


def arrived(path):
    """Points of lines that come a few at a time."""
    with opening.open_input(path, raw=True) as file:
        rows, lines = from_table.rows_of_lines(
            opening.arriving_lines(file), InputFormat("table"), RECIPE, path
        )
        return [
            x
            for data, line in lines
            for _ in [rows.table.put(data, line)]
            for x, _ in rows.chunks(9)
        ]


def cell_of(column, row):
    if not isinstance(column, Words):
        return str(column[row])
    return column.words[column.codes[row]] if column.codes[row] >= 0 else "nan"


def in_blocks(path):
    """A table in text gives the same whatever the blocks, as far as its rows fit into them."""
    told = []
    for size in (512, 1 << 20):
        try:
            told.append(rows_of(path, block=size))
        except DataError as error:
            told.append(error)
    if isinstance(told[1], DataError):
        assert isinstance(told[0], DataError)
        raise told[1]
    if isinstance(told[0], DataError):
        assert "is longer than" in str(told[0])
    return told[1]


def tabled(rows, raw):
    """Rows of the same length, in the order of the file; of cells that are no infinite number."""
    assert rows and len({len(cells) for _, cells in rows}) == 1
    numbers = [number for number, _ in rows]
    assert numbers == sorted(set(numbers)) and numbers[0] >= 1
    if not raw.startswith((GZ[:2], PARQUET[:4], FEATHER[:4], b"\xff\xff\xff\xff")):
        assert numbers[-1] <= raw.count(b"\n") + raw.count(b"\r") + 1


def arrow_bytes(write):
    """A small table in a format of PyArrow; text without PyArrow, to have something."""
    try:
        import pyarrow as pa
    except ImportError:
        return TABLE
    out = io.BytesIO()
    write(
        pa.table(
            {
                "n": [1, None, 3],
                "x": [0.5, 2.0, float("nan")],
                "w": ["a", "b\u00e4r", "a"],
                "d": pa.array(["x", "y", None]).dictionary_encode(),
            }
        ),
        out,
    )
    return out.getvalue()


def parquet_bytes(rows, out):
    from pyarrow.parquet import write_table

    write_table(rows, out)


def feather_bytes(rows, out):
    from pyarrow.feather import write_feather

    write_feather(rows, out)


def recipe_again(recipe, raw):
    """A recipe is the same when it is written and read, and can be shown."""
    assert reread(recipe_file.read_recipe, recipe_file.format_recipe(recipe)) == recipe
    check_visible(blocks_text(recipe_blocks(describe_recipe(recipe))))


def all_of(result):
    return list(result)


def unsealed(sidecar):
    """The bytes of a sidecar without its checksum."""
    return re.sub(rb'\n "sum": "[^"]*",', b"", sidecar)


X = np.array([[0.5, 0, 2], [1, -1, 0], [0, 3, 0.25], [2, 2, 2]])
Y = np.array([0, 1, 2, 1])
VEC = np.int32(3).tobytes() + X.astype("<f4").tobytes()
CLS = Y.astype("<i4").tobytes()
CON = np.array([0.5, -1, 1, 0], "<f4").tobytes()
STD = np.int32(3).tobytes() + np.array([[2, 0, 1], [0, 0.5, -1], [0, 0, 3]], "<f4").tobytes()
SVM = "".join(libsvm.svm_lines(X, Y)).encode()
WORDS = "".join(libsvm.svm_lines(X, Y, ("ant", "b\u00e4r", "cat"))).encode()
SIGNED = b"-1 1:2\n+0.5 2:3\n-1.0 1:1 2:1\n"
LVQ = "".join(lvq.lvq_lines(X, Y)).encode()
PLAIN = "".join(lvq.lvq_lines(X, header=False)).encode()
NAMES = class_names.names_bytes(("ant", "b\u00e4r", "a cat"))
CONTROLS = (
    b'"" 0 / 1;\n"-c 2" 0 2 / 1; # x\n{ 2 5 9}\n',
    b'# options: -c 5 -g 1\n# decoder: loss:hinge\n"" {0 "." {1 2}}\n',
    b'# class 3: b\xc3\xa4r\nm-00 0 1 / 2;\n"m 01" 0 / 1 2;\n'
    b"{\n  m.00 {\n    3 \n 0\n  }\n  7\n 8}\n",
    b'"-c 1" {"" K {0 1 4} "-r 2" L {2 3}}\n',
    b'k K "-k 3" {\n 0\n 1\n}\n',
)


def _binary(labels=(0, 1), platt=(-1.5, 0.25), kernel=Kernel("rbf", 0.5)):
    return BinaryModel(
        "m",
        "c_svc",
        kernel,
        X,
        np.array([1.0, -0.5, -0.5, 0.75]),
        0.125,
        labels,
        (2, 2),
        platt,
        Provenance("svm", features=3),
        3,
    )


def _svm_models():
    yield libsvm_model.format_svm_model(_binary())
    yield codec.sealed(
        libsvm_model.format_svm_model(_binary((1, 0), None, Kernel("polynomial", 1.0, 0.5, 3))),
        "0123456789abcdef",
    )
    yield libsvm_model.format_svm_model(
        replace(
            _binary((1, 0), kernel=Kernel("linear")),
            svm_type="trees",
            sv=X[:0],
            coef=X[:0, 0],
            rho=0.0,
            n_sv=(0, 0),
            function=forest(3, 1),
        )
    )


LINEAR = """svm_type c_svc
kernel_type linear
nr_class 2
total_sv 2
rho 0
label 0 1
probA -1
probB 0
nr_sv 1 1
SV
1 1:1
-1 1:-1
"""
MULTICLASS = b"""svm_type c_svc
kernel_type sigmoid
gamma 0.5
coef0 -1
nr_class 3
total_sv 4
rho 0.5 -0.25 1e-3
label 5 2 9
probA -1 -2 -3
probB 0 0.5 1
nr_sv 2 1 1
SV
1 0.5 1:0.5 3:2
0 -1 1:1 2:-1
-1 1 2:3
-0.5 1 1:2 2:2 3:2
"""
ASCII = b"""SVM
a 0 / 1;
b 0 / 2;
c 1 / 2;
{ 2 5 9}
radial
 0.5
3 2
-1 0
0 1
2 2.5
a
2
-1.5 0.25
 0.5 -0.5 0.125
 0 1
b
1
1 0
 1 0
 2
c
2
2 0.5
 0.5 -0.5 1
 1 2
"""
CALIBRATION = calibration_file.format_calibration(
    calibration("0123456789abcdef", (0, 2, 5), 4)
).encode()
PAIRS = b"0 1 5 1 6 2\n# x\n1 2 6 0 7 3\n0 2 5 0 7 7\n2 0 1 4 3\n"
TABLE = b'id,size,"co,lour"\r\n1,2.5,red\r\n\r\n2,NA," b\xc3\xa4r"\r\n3,-1e3,"say ""x""\ntwice"\r\n'
COLLARS = raw_table(collars, ";")
SURVEY = raw_table(survey, ";")
GZ = gzip.compress(TABLE, mtime=0)
PARQUET = arrow_bytes(parquet_bytes)
FEATHER = arrow_bytes(feather_bytes)
RECIPE_TEXT = (
    recipe_file.format_recipe(replace(RECIPE, classes=("a", "b")))
    .encode()
    .replace(b"\n ", b"")
    .replace(b"  ", b"")
)
JSON = b'{"labels": [2, 5], "contingency": [[3, 1, 0], [0, 4, 2]]}\n'
SPREAD = {"pooled": 0.5, "mean": 0, "sd": None, "values": [1, None]}
ONE = {"configuration": "a", "decoder": "b"}
ESTIMATE = {"score": 1e-2, "error": 0, "points": 4, "options": 2, "how": "so"}
COMPARISON = {
    "data": "d",
    "options": "",
    "points": 4,
    "classes": 2,
    "splits": 2,
    "trials": 2,
    "plan": "p",
    "by": "brier",
    "left_out": None,
    "calibrated": [True],
    "mcnemar": False,
    "against": ONE,
    "rows": [
        {
            **ONE,
            **dict.fromkeys(("design_s", "train_s", "classify_s")),
            "brier": SPREAD,
            "classifiers": 1,
            "calibrated": True,
            "zero_probability": None,
            "best": ["brier"],
            "difference": {"brier": {"pooled": -1, "mean": 0, "sd": 0.5, "p_value": None}},
        },
        {**ONE, "error": "e"},
    ],
}
TRIED = {
    "points": [
        {
            "options": "",
            "kernel": "rbf",
            "degree": None,
            "coef0": None,
            "log2g": -3.5,
            "log2c": 0,
            "score": 0.5,
            "sd": 0.1,
            "values": [0.5],
            "mean": 0.5,
            "zero_probability": 0,
            "rows": None,
            "parts": [1],
        }
    ],
    "best": 0,
    "given": None,
    "border": ["C high"],
}
SEARCH = {
    "control": "c",
    "data": "d",
    "by": "brier",
    "plan": "p",
    "search": "fast",
    "decoder": "x",
    "complete": True,
    "left_out": None,
    "tried": 2,
    "estimate": ESTIMATE,
    "partitions": [{"left": [0], "right": [2], "rows": [0], **TRIED}],
    "own": True,
    "common": {
        "points": [],
        "best": None,
        "given": None,
        "border": [],
        "scores": None,
        "tried": 0,
        "estimate": None,
    },
    "whole": {"common": {"brier": SPREAD}},
}


def compact(value):
    return json.dumps(value, separators=(",", ":")).encode()


ANSWERS = b"""{"id": "a", "class": "x", "p": 0.5, "probabilities": {"x": 0.5, "y": 0.5}, "set": []}
{"id": 2, "class": null, "p": 1, "probabilities": {"x": 0, "y": 1e0}, "set": ["x", "\\u00e9"]}
"""
PROBABILITIES = b"labels 0 2 5\n" + libagf_text.format_points(
    np.array([[0.5, 0.25, 0.25], [0.125, 0.875, 0]]), np.array([0, 2])
)


def found(name):
    """The bytes of the files in the folder of that reader, and of the long ones."""
    folder = FOUND / name.replace(" ", "_")
    return tuple(path.read_bytes() for path in sorted(folder.glob("*"))) + tuple(LONG.get(name, ()))


def _boosted_node():
    """The text of a model of code T of two scores, each a tree of two leaves."""
    forest = Forest(
        2,
        np.array([0, 1, 2]),
        np.array([0, 3], "<i4"),
        np.array([0, -1, -1, 1, -1, -1], "<i4"),
        np.array([0.5, -1.0, 2.0, 1e-300, 0.25, -0.25]),
        np.array([1, 1, 2, 4, 4, 5], "<i4"),
        np.array([2, 1, 2, 5, 4, 5], "<i4"),
        np.array([True, *[False] * 5]),
    )
    held_out = np.array([[0.5, -0.5], [1.0, 2.0]], "<f4")
    made = Provenance("lightgbm", options="-b 3", samples=(1, 1))
    node = NodeModel("T", "m", 2, made, forest=forest, held_out=held_out)
    return boosted_model.format_boosted_node(node)


@functools.lru_cache(None)
def readers():
    """The table, by name."""
    svm = tuple(text.encode() for text in _svm_models())
    held = (libsvm_model.format_svm_model(_binary(), held_out=X[:, 0]).encode(),)
    weights = logistic_model.LogisticModel(X[:2], 0.5, 40, Provenance("logistic", options="-r 0.5"))
    logistics = (logistic_model.format_logistic_model(weights).encode(),)
    boosted = (_boosted_node().encode(),)
    rows = [
        (
            "control",
            control_files.read_control,
            CONTROLS,
            True,
            tree_again,
            [
                "control.parse.parse",
                "control.parse.closing_quote",
                "models.control_files.read_control",
            ],
        ),
        (
            "coding matrix",
            matrix_of_file,
            [b"-1 1 0  # first\n-1, 0, +1\n 0 -1 1\n"],
            True,
            anything,
            ["control.matrix.parse_matrix"],
        ),
        ("names", class_names.read_names, [NAMES], True, named, ["data.class_names.read_names"]),
        (
            "names of",
            functools.partial(class_names.read_names_of, labels=(0, 2)),
            [NAMES],
            True,
            anything,
            ["data.class_names.read_names_of"],
        ),
        (
            "vec",
            vectors.read_vec,
            [VEC],
            False,
            matrix,
            ["data.libagf.read_vec", "data.libagf.VecReader"],
        ),
        ("vec mapped", functools.partial(vectors.read_vec, mmap=True), [VEC], False, matrix, []),
        ("vec from a pipe", from_pipe(vectors.read_vec), [VEC], False, matrix, []),
        (
            "vec in chunks",
            lambda path: all_of(vectors.VecReader(path, 1)),
            [VEC],
            False,
            chunks,
            ["data.libagf.VecReader"],
        ),
        ("cls", vectors.read_cls, [CLS], False, columns, ["data.libagf.read_cls"]),
        (
            "cls negative",
            functools.partial(vectors.read_cls, negative=True),
            [CLS],
            False,
            columns,
            [],
        ),
        (
            "wgt",
            binary_weights,
            [np.abs(np.frombuffer(CON, "<f4")).tobytes()],
            False,
            weighty,
            ["data.weights.read_weights"],
        ),
        (
            "groups",
            groups_file.read_groups,
            [b"Ann\nday 2\r\nAnn\n"],
            True,
            anything,
            ["data.groups.read_groups"],
        ),
        (
            "weights",
            weights_file.read_weights,
            [b"1\n2.5 # two\n\n0\n1e-3\n"],
            True,
            weighty,
            ["data.weights.read_weights"],
        ),
        (
            "class weights",
            weights_file.read_class_weights,
            [b"# c\n0 2.5\na b\t1e-3\n"],
            True,
            class_weights,
            ["data.weights.read_class_weights"],
        ),
        (
            "con",
            functools.partial(vectors.read_con, n=4),
            [CON],
            False,
            columns,
            ["data.libagf.read_con"],
        ),
        ("dat", vectors.read_con, [CON], False, columns, []),
        ("std", vectors.read_std, [STD], False, normalisation, ["data.libagf.read_std"]),
        ("kind of std", vectors.holds_map, [STD], False, anything, ["data.libagf.holds_map"]),
        (
            "svm text",
            by_blocks,
            [SVM, WORDS],
            True,
            naive_svm,
            ["data.libsvm.read_svm", "data.libsvm.read_svm_labels"],
        ),
        (
            "svm text, absent",
            functools.partial(libsvm.read_svm, form=InputFormat("svm", -7.5), limit_bytes=LIMIT),
            [SVM],
            True,
            points,
            [],
        ),
        (
            "svm text, named",
            functools.partial(
                reading.read_training, form=InputFormat("svm"), names=("ant", "b\u00e4r", "cat")
            ),
            [WORDS],
            True,
            points,
            [],
        ),
        (
            "svm text, sparse",
            functools.partial(libsvm.read_svm, sparse=True, block=16),
            [SVM, WORDS],
            True,
            points,
            [],
        ),
        (
            "svm text in a file",
            functools.partial(libsvm.store_svm, least=0, block=16, limit_bytes=1 << 20),
            [SVM, WORDS],
            True,
            points,
            ["data.libsvm.store_svm"],
        ),
        (
            "svm text, ordinates",
            functools.partial(
                libsvm.read_svm, form=InputFormat("svm", ordinates=True), limit_bytes=LIMIT
            ),
            [SVM.replace(b"2 ", b"2.5 ")],
            True,
            points,
            [],
        ),
        (
            "svm text in chunks",
            lambda path: all_of(libsvm.iter_svm(path, rows=2, block=8)),
            [SVM],
            True,
            chunks,
            ["data.libsvm.iter_svm", "data.libsvm.svm_chunks"],
        ),
        (
            "svm text to classify",
            lambda path: all_of(reading.iter_points(path, InputFormat("svm"), 3, 3)),
            [SVM, WORDS],
            True,
            chunks,
            ["data.reading.iter_points"],
        ),
        (
            "svm text to classify, sparse",
            lambda path: all_of(reading.iter_points(path, InputFormat("svm"), 3, 3, sparse=True)),
            [SVM, WORDS],
            True,
            chunks,
            [],
        ),
        (
            "svm training",
            functools.partial(reading.read_training, form=InputFormat("svm"), keep="sparse"),
            [SVM, SIGNED],
            True,
            points,
            ["data.reading.read_training"],
        ),
        (
            "svm labels",
            functools.partial(reading.read_labels, form=InputFormat("svm")),
            [SVM, WORDS, SIGNED],
            True,
            labels_told,
            ["data.reading.read_labels"],
        ),
        (
            "vec of a base",
            beside(".vec", ".cls", CLS, reading.read_training),
            [VEC],
            False,
            points,
            [],
        ),
        (
            "vec that stays in its file",
            vectors.open_vec,
            [VEC],
            False,
            lambda x, raw: all_finite(np.asarray(x)),
            ["data.libagf.open_vec"],
        ),
        (
            "opened training",
            beside(".vec", ".cls", CLS, functools.partial(reading.read_training, keep="lazy")),
            [VEC],
            False,
            points,
            [],
        ),
        (
            "cls of a base",
            beside(".cls", ".vec", VEC, reading.read_training),
            [CLS],
            False,
            points,
            [],
        ),
        (
            "dat of a base",
            beside(
                ".dat",
                ".vec",
                VEC,
                functools.partial(reading.read_training, form=InputFormat(ordinates=True)),
            ),
            [CON],
            False,
            points,
            [],
        ),
        (
            "vec to classify",
            lambda path: all_of(reading.iter_points(path, InputFormat(), 2, 3)),
            [VEC],
            False,
            points_to_classify,
            [],
        ),
        ("lvq", lvq.read_lvq, [LVQ], True, naive_lvq, ["data.lvq.read_lvq"]),
        (
            "lvq alone",
            functools.partial(lvq.read_lvq, form=InputFormat("lvq", header=False, labels=False)),
            [PLAIN],
            True,
            points,
            [],
        ),
        (
            "lvq in chunks",
            lambda path: all_of(lvq.iter_lvq(path, rows=2, d=3, block=16)),
            [LVQ],
            True,
            chunks,
            ["data.lvq.iter_lvq"],
        ),
        (
            "lvq training",
            functools.partial(reading.read_training, form=InputFormat("lvq")),
            [LVQ],
            True,
            points,
            [],
        ),
        (
            "svm model",
            libsvm_model.read_svm_model,
            svm + held,
            True,
            binary_model,
            ["models.libsvm.read_svm_model"],
        ),
        (
            "held-out values",
            lambda path: libsvm_model.held_out_values(bytes_of(path), path),
            held,
            True,
            lambda found, raw: found is None or all_finite(found),
            ["models.libsvm.held_out_values"],
        ),
        (
            "svm multiclass",
            libsvm_model.read_svm_multiclass,
            [MULTICLASS],
            True,
            multiclass,
            ["models.libsvm.read_svm_multiclass"],
        ),
        ("svm multiclass used", load, [MULTICLASS], True, classifying, []),
        (
            "logistic model",
            logistic_model.read_logistic_model,
            logistics,
            True,
            logistic,
            ["learners.logistic.read_logistic_model"],
        ),
        (
            "boosted node",
            boosted_model.read_boosted_node,
            boosted,
            True,
            boosted_node,
            ["learners.trees.read_boosted_node", "learners.forest_text.read_forest"],
        ),
        (
            "ascii model",
            libagf.read_ascii_model,
            [ASCII],
            True,
            collated,
            ["models.libagf.read_ascii_model"],
        ),
        ("ascii model used", load, [ASCII], True, classifying, []),
        (
            "is ascii",
            lambda path: libagf.is_ascii_model(bytes_of(path)),
            [ASCII[:80]],
            True,
            anything,
            ["models.libagf.is_ascii_model"],
        ),
        (
            "seal",
            lambda path: (codec.seal_of(bytes_of(path)),),
            svm[1:],
            True,
            anything,
            ["files.codec.seal_of"],
        ),
        (
            "calibration",
            calibration_file.read_calibration,
            [CALIBRATION, unsealed(CALIBRATION)],
            True,
            calibrated,
            ["calibration.file.read_calibration"],
        ),
        (
            "probabilities",
            printed.read_probabilities,
            [PROBABILITIES],
            True,
            probabilities,
            ["data.printed.read_probabilities"],
        ),
        (
            "sets",
            set_text.read_sets,
            [b"0 2\n-\n17\n"],
            True,
            class_sets,
            ["answers.libagf_text.read_sets"],
        ),
        (
            "confusions",
            confusions.read_confusions,
            [JSON, PAIRS],
            True,
            confused,
            ["data.confusions.read_confusions"],
        ),
        (
            "costs",
            lambda path: cost_file.read_costs(path, (0, 2, 5), {5: "a cat"}),
            [
                b"0 2 5 -\n2 1 0 3 .5\n0 0 1 2 .5\n5 9 9 0.5 1\n",
                b"0\t2\ta cat\n0\t1\t2\n1\t0\t3\n1\t1\t0\n",
            ],
            True,
            costly,
            ["data.cost_file.read_costs"],
        ),
        (
            "kind of confusions",
            confusions.holds_confusions,
            [JSON, PAIRS],
            True,
            anything,
            ["data.confusions.holds_confusions"],
        ),
        (
            "pair errors",
            confusions.read_pair_errors,
            [PAIRS],
            True,
            pair_error_counts,
            ["data.confusions.read_pair_errors"],
        ),
        (
            "svm-predict",
            printed.read_svm_output,
            [b"labels 2 0\n2 0.75 0.25\n0 0.125 0.875\n", b"1\n2\n-1\n", b"1 0.5\n0 1\n"],
            True,
            predicted,
            ["data.printed.read_svm_output"],
        ),
        (
            "training options",
            text_of(training_options),
            [b"-c 2 -g 0.5 -w0 3", b"learner=linear -s 0 -c 1", b"learner=logistic -c 1"],
            True,
            anything,
            [],
        ),
        ("direct options", text_of(direct_options), [b"-k 3 -m 0", b"-r 0.5"], True, anything, []),
        (
            "table",
            in_blocks,
            [TABLE, b"a;b\n3,5;x\n?;y\n", b"a\n1\n"],
            True,
            tabled,
            ["tables.reading.open_table"],
        ),
        (
            "survey of a table",
            surveyed,
            [COLLARS, SURVEY],
            True,
            surveyed_points,
            [],
        ),
        (
            "lines of a table",
            arrived,
            [b'id,size,colour\n1,2.5,b\xc3\xa4r\n\n2,-1,"red"\n'],
            True,
            chunks,
            ["files.opening.arriving_lines"],
        ),
        (
            "lines of JSON",
            arrived,
            [
                '{"id": "a", "size": 1.5, "colour": "bär"}\n{"size": 2, '
                '"colour": "\\u00e4"}\n'.encode()
            ],
            True,
            chunks,
            [],
        ),
        ("table in gzip", from_pipe(rows_of), [GZ], True, tabled, []),
        (
            "answers",
            answers,
            [ANSWERS],
            True,
            answered,
            [
                f"answers.columns.{name}"
                for name in ("open_answers", "answers_in_lines", "answers_in_table")
            ],
        ),
        ("answers in gzip", answers, [gzip.compress(ANSWERS)], False, answered, []),
        ("table in Parquet", rows_of, [PARQUET], False, tabled, []),
        ("table in Feather", from_pipe(rows_of), [FEATHER], False, tabled, []),
        (
            "recipe",
            recipe_file.read_recipe,
            [RECIPE_TEXT],
            True,
            recipe_again,
            [
                "tables.recipe_file.read_recipe",
                "tables.recipe_file.recipe_if_there",
                "files.codec.strict_json",
            ],
        ),
        ("similarity", similarity, [b"1 0.5 0.25\n"], True, lambda r, raw: all_finite(r), []),
    ]
    return {
        name: Reader(name, read, tuple(seeds), text, tuple(covers), accepts, found(name))
        for name, read, seeds, text, accepts, covers in rows
    }

"""Forged model files: a .mbm taken apart, changed, sealed with a right checksum, and used.

Every file ends in an `AgfmcError`, or in a model with which every decoder gives finite
numbers, and probabilities where it promises them, that can be described, written and read
again.  `fuzz_store.py` makes as many as there is time for.
"""

import hashlib
import json
import math
import struct
import tempfile
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import get_type_hints

import numpy as np

from agfmc.prediction.classifier import Classifier
from agfmc.prediction.decoding import Decoding, TREE_MODES
from agfmc.control.parse import parse
from agfmc.decode.methods import METHODS
from agfmc.core.errors import AgfmcError
from agfmc.models.files import _check_neighbours, export, load, save
from agfmc.models.description import describe
from agfmc.report.model import model_blocks
from agfmc.report.text import blocks_text
from agfmc.models import mbm
from agfmc.calibration.types import (
    Calibration,
    CalibrationPoints,
    DecoderCalibration,
    ProbabilityMap,
)
from agfmc.core.forest import Forest
from agfmc.core.models import MergedModel, NodeModel, Kernel, LearnedDecoder
from agfmc.models.configuration import Configuration
from agfmc.data.normalisation import Normalisation
from agfmc.core.points import SparsePoints
from agfmc.core.provenance import Provenance
from agfmc.tables.types import ColumnRecipe, TableRecipe

START = struct.Struct("<8sIIQQ32s")
KERNELS = (
    Kernel("rbf", 0.5),
    Kernel("linear"),
    Kernel("polynomial", 0.5, 1.0, 3),
    Kernel("sigmoid", 0.1, -0.5),
)
CONTROLS = {
    "pairs": "# class 3: b\u00e4r\n# class 7: elk\na 0 / 1;\nb 0 / 2;\nc 1 / 2;\n{ 3 7 9}\n",
    "code": "a 0 1 / 2 3;\nb 0 2 / 1;\nc 3 / 0 1;\n{ 0 1 2 3}\n",
    "rest": "# decoder: argmax\na 0 / 1 2;\nb 1 / 0 2;\nc 2 / 0 1;\n{ 0 1 2}\n",
    "tree": "# decoder: full\na { b { 0 1 } c { 2 d { 5 4 } } }\n",
    "nested": "a 0 1 / 2;\nb 0 / 1 2;\n{ c { 0 1 } 2 d { 3 4 } }\n",
    "K": 'a K "-k 2" { 0 1 2 }\n',
    "L": 'a L "" { 0 1 2 }\n',
    "mixed": 'a { b K "-k 2" { 0 1 2 } c L "-r 2" { 3 4 } }\n',
    "T": 'a T "-b 2" { 0 1 2 }\n',
}

RECIPE = TableRecipe(
    (ColumnRecipe("size", fill=0.1), ColumnRecipe("colour", ("b\u00e4r",), "b\u00e4r")),
    "kind",
    tuple(f"c{label}" for label in range(10)),
    ("id",),
    "w",
    "median",
    "t.csv",
)


def models():
    """{name: `Configuration`}, small ones of every kind."""
    found = {}
    for name, text in CONTROLS.items():
        tree = parse(text)
        found[name] = _model(tree, np.random.default_rng(len(found)))
    norm = Normalisation(
        np.array([[0.5, 0], [0, 2], [0, 0]], dtype=np.float32),
        np.array([1, 2, 3], dtype=np.float32),
    )
    found["normalised"] = replace(found["code"], normalisation=norm)
    mixing = Normalisation(np.array([[0.5, 1], [0, 2], [1, 0]], dtype=np.float32), norm.mean)
    found["projected"] = replace(found["code"], normalisation=mixing)
    machines = found["pairs"].machines
    found["trees"] = replace(
        found["pairs"],
        machines=replace(machines, forest=forest(machines.sv.shape[1], len(machines.rho))),
    )
    none = np.full(len(machines.rho), np.nan)
    found["votes"] = replace(
        found["pairs"], machines=replace(machines, a=none, b=none, any_width=True)
    )
    sparse = SparsePoints.of_matrix(machines.sv)
    found["sparse"] = replace(found["pairs"], machines=replace(machines, sv=sparse))
    found["table"] = replace(found["pairs"], recipe=RECIPE)
    for name in ("pairs", "mixed"):
        one = found[name]
        found[f"calibrated {name}"] = replace(
            one, calibration=calibration(one.digest(), one.tree.classes, len(one.tree.rows))
        )
    return found


def forest(features, count):
    """A `Forest` of so many classifiers, the first of two trees, the others of one."""
    tree = Forest(
        features,
        np.array([0, 1]),
        np.array([0], "<i4"),
        np.array([0, -1, features - 1, -1, -1], "<i4"),
        np.array([0.5, -1.0, -0.25, 2.0, 0.75]),
        np.array([1, 1, 3, 3, 4], "<i4"),
        np.array([2, 1, 4, 3, 4], "<i4"),
        np.array([True, *[False] * 4]),
    )
    whole = Forest.concatenate([tree] * (count + 1))
    return replace(whole, starts=np.delete(whole.starts, 1))


def calibration(model, classes, m):
    """A `Calibration` with everything that there can be, for m binary classifiers."""
    rng, k = np.random.default_rng(m), len(classes)
    right = np.arange(9) % 4 != 3
    p = rng.random(9) / 2
    points = CalibrationPoints(
        rng.choice(classes, 9).astype(np.int32),
        p,
        np.where(right, p, p + 0.5),
        np.where(right, p, 0.5),
        right,
    )
    none = CalibrationPoints(*(part[:0] for part in vars(points).values() if part is not None))
    return Calibration(
        model,
        tuple(classes),
        "9 points, b\u00e4r",
        (3,) * k,
        {
            "least-squares": DecoderCalibration(
                ProbabilityMap("temperature", np.array(1 / 0.7), np.zeros(k), 1 / 300), points
            ),
            "inverse": DecoderCalibration(ProbabilityMap("none")),
            "recursive least-squares": DecoderCalibration(
                ProbabilityMap("matrix", rng.random((2, 2)), rng.random(2)), replace(points, left=p)
            ),
            "full inverse": DecoderCalibration(
                ProbabilityMap("matrix", rng.random((k, k)), rng.random(k), 0.01), none
            ),
        },
        LearnedDecoder(rng.random((k, m)), rng.random(k)),
    )


def _model(tree, rng):
    m, s, d = len(tree.rows), 6 if tree.rows else 0, 2
    index = [np.sort(rng.choice(s, 3, replace=False)) for _ in range(m)]
    direct = {}
    for number, node in tree.directs.items():
        c = len(tree.nodes[number].children)
        if node.learner_letter == "K":
            direct[number] = NodeModel(
                "K",
                node.name,
                c,
                Provenance(options="-k 2"),
                k=2,
                points=rng.normal(size=(5, d)).astype(np.float32),
                y=np.arange(5, dtype=np.int32) % c,
            )
        elif node.learner_letter == "T":
            direct[number] = NodeModel(
                "T",
                node.name,
                c,
                Provenance(options="-b 3", samples=(3, 4, 5)),
                forest=forest(d, c),
            )
        else:
            direct[number] = NodeModel(
                "L",
                node.name,
                c,
                Provenance(options="-r 1.0", samples=(3, 4, 5)),
                weights=rng.normal(size=(c, d + 1)),
            )
    return Configuration(
        tree,
        MergedModel(
            kernels=KERNELS[: max(1, min(m, 4))] if m else (),
            kernel_of=np.arange(m, dtype=np.int32) % 4,
            sv=rng.normal(size=(s, d)),
            group=np.sort(rng.integers(0, len(tree.classes), s)).astype(np.int32),
            indptr=np.arange(0, 3 * m + 1, 3),
            index=np.concatenate([*index, []]).astype(np.int32),
            coef=rng.normal(size=3 * m),
            rho=rng.normal(size=m),
            a=rng.normal(size=m),
            b=rng.normal(size=m),
            orientation=rng.choice([-1, 1], m).astype(np.int8),
            provenances=(Provenance("0.1", options="-c 1", samples=(3, 4)),) * m,
        ),
        direct,
    )


def bytes_of(model):
    """The .mbm file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        mbm.write_store(str(path), model, {"agfmc": "0.1.0"})
        return path.read_bytes()


def entries(part, path=""):
    """(path, {"shape", "offset"}) of every array in a header or a part of one."""
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(value, dict) and value.keys() == {"shape", "offset"}:
            yield f"{path}{key}", value
        elif isinstance(value, (dict, list)):
            yield from entries(value, f"{path}{key}.")


def taken_apart(raw):
    """(header, {path: bytes of an array}) of a .mbm file."""
    length = START.unpack_from(raw)[3]
    header = json.loads(raw[64 : 64 + length])
    arrays = {}
    for path, entry in entries(header):
        start = 64 + length + entry["offset"]
        arrays[path] = raw[start : start + math.prod(entry["shape"]) * dtype_of(path).itemsize]
    return header, arrays


_DTYPES = {
    name: np.dtype(rules[0].replace("b", "u"))
    for kind in (
        MergedModel,
        Forest,
        NodeModel,
        mbm._StoredMap,
        mbm._StoredPoints,
        ProbabilityMap,
        CalibrationPoints,
        LearnedDecoder,
    )
    for name, rules in (
        (name, hint.__metadata__)
        for name, hint in get_type_hints(kind, localns={"np": np}, include_extras=True).items()
        if hasattr(hint, "__metadata__")
    )
    if isinstance(rules[0], str)
}


def dtype_of(path):
    """The numbers of an array, by its path in the header."""
    return (
        np.dtype("<i4")
        if path.endswith("forest.right")
        else _DTYPES[path.rpartition(".")[2].split()[0]]
    )


def put_together(header, arrays, *, tail=b"", **start):
    """A sealed .mbm file of a header (or its text) and {path: array or bytes}.

    The places of arrays of the header that are in `arrays` follow from these;
    shapes only where they are arrays.
    """
    blobs, at = [], 0
    if not isinstance(header, (str, bytes)):
        header = json.loads(json.dumps(header))
        for path, entry in list(entries(header)):
            if path not in arrays:
                continue
            array = arrays[path]
            if isinstance(array, np.ndarray):
                entry["shape"] = list(array.shape)
                array = np.ascontiguousarray(array, dtype_of(path)).tobytes()
            entry["offset"] = at
            blobs.append(array + bytes(-len(array) % 64))
            at += len(blobs[-1])
        header = json.dumps(header)
    return sealed(header, b"".join(blobs) + tail, **start)


def sealed(header, body, *, major=1, minor=3, length=None, size=None, magic=mbm.MAGIC):
    """A .mbm file of these bytes with a checksum that agrees."""
    text = header if isinstance(header, bytes) else header.encode("utf-8", "surrogatepass")
    text += b" " * (-len(text) % 64)
    start = START.pack(
        magic,
        major,
        minor,
        len(text) if length is None else length,
        64 + len(text) + len(body) if size is None else size,
        bytes(32),
    )[:32]
    return start + hashlib.sha256(start + text + body).digest() + text + body


NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    63,
    64,
    127,
    255,
    2**16,
    2**31 - 1,
    2**31,
    -(2**31),
    2**32,
    2**47,
    2**48,
    2**63 - 1,
    2**63,
    -(2**63),
    2**64,
    10**30,
    0.5,
    1e300,
    -1e300,
    1e308,
    True,
    False,
    None,
)
TEXTS = (
    "",
    "a",
    "\n",
    "\x1b[2J",
    "\u202e",
    "\ud800",
    "\udc80",
    "\0",
    "9" * 400,
    "-1",
    "K",
    "L",
    "T",
    "G",
    "linear",
    "rbf",
    "sigmoid",
    "polynomial",
    "; samples 1 2",
    "; vectors raw;",
    "; normalised 0123456789abcdef;",
    "../../etc/passwd",
    "# class 3: x",
)
FLOATS = (0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 1e200, 1e-320, 2.0**53)


def mutated(raw, rng):
    """Another sealed .mbm file, with some changes to the one in `raw`."""
    header, arrays = taken_apart(raw)
    arrays = {name: np.frombuffer(data, dtype_of(name)).copy() for name, data in arrays.items()}
    shapes = {name: entry["shape"] for name, entry in entries(header)}
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        kind = rng.randrange(10)
        if kind < 4:
            _change_array(arrays, rng)
        elif kind < 7:
            _change_json(header, rng)
        elif kind == 7:
            header["control"] = _cut_and_paste(header.get("control"), rng)
        elif kind == 8:
            name = rng.choice(sorted(shapes) or ["sv"])
            if name in shapes and isinstance(shapes[name], list) and shapes[name]:
                shapes[name] = list(shapes[name])
                shapes[name][rng.randrange(len(shapes[name]))] = rng.choice(NUMBERS)
        else:
            _resize(arrays, shapes, rng)
    blobs, at, listing = [], 0, dict(entries(header))
    for name, array in arrays.items():
        blob = array.tobytes()
        if name in listing:
            listing[name].update(offset=at, shape=shapes[name])
        blobs.append(blob + bytes(-len(blob) % 64))
        at += len(blobs[-1])
    if rng.random() < 0.1 and listing:
        listing[rng.choice(sorted(listing))]["offset"] = rng.choice(
            (0, 64, 128, 1, -64, 2**47, at, None)
        )
    text = json.dumps(header)
    if rng.random() < 0.1:
        text = _cut_and_paste(text, rng)
    return sealed(text, b"".join(blobs), minor=START.unpack_from(raw)[2])


def _change_array(arrays, rng):
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    if not array.size:
        return
    at = rng.randrange(array.size)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if array.dtype.kind == "f":
            value = rng.choice(FLOATS)
            if rng.random() < 0.2:
                array[...] = value
            else:
                array[at] = value
        else:
            limits = np.iinfo(array.dtype)
            value = rng.choice(
                (0, 1, 2, 3, -1, limits.min, limits.max, int(array[at]) + 1, int(array[at - 1]))
            )
            array[at] = min(max(value, limits.min), limits.max)


def _resize(arrays, shapes, rng):
    name = rng.choice(sorted(arrays))
    count = rng.choice((0, 1, 2, 7))
    shape = shapes[name]
    if (
        not isinstance(shape, list)
        or not shape
        or not all(type(n) is int and 0 <= n < 100 for n in shape)
    ):
        return
    shape = [count, *shape[1:]] if rng.random() < 0.7 else [*shape[:-1], count]
    arrays[name] = np.resize(arrays[name], int(np.prod(shape)))
    shapes[name] = shape


def _change_json(header, rng):
    """One value somewhere in the header becomes another one."""
    place, key = header, rng.choice(sorted(header) or ["control"])
    while key in place if isinstance(place, dict) else True:
        inside = place[key]
        if isinstance(inside, dict) and inside and rng.random() < 0.8:
            place, key = inside, rng.choice(sorted(inside))
        elif isinstance(inside, list) and inside and rng.random() < 0.8:
            place, key = inside, rng.randrange(len(inside))
        else:
            break
    kind = rng.randrange(6)
    if kind == 0 and isinstance(place, dict):
        place.pop(key, None)
    elif kind == 1 and isinstance(place, list):
        place.append(place[key])
    elif kind == 2 and isinstance(place, dict):
        place[rng.choice(TEXTS)] = rng.choice(NUMBERS + TEXTS)
    elif kind == 3:
        place[key] = rng.choice(([], {}, [[]], [1], {"a": 1}, [[[[1]]]]))
    elif kind == 4:
        place[key] = rng.choice(NUMBERS)
    else:
        old = place.get(key) if isinstance(place, dict) else place[key]
        place[key] = (
            (old + rng.choice(TEXTS))
            if isinstance(old, str) and rng.random() < 0.5
            else rng.choice(TEXTS)
        )


def _cut_and_paste(text, rng):
    if not isinstance(text, str) or not text:
        return text
    a, b = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
    b = min(b, a + 12)
    piece = rng.choice(("", text[a:b] * 2, rng.choice(TEXTS), " ", "{", "}", ";", "0", "1", '"'))
    return text[:a] + piece + text[b:]


def stored(path, raw):
    """The configuration in the bytes of a .mbm file, as `load` reads it."""
    configuration = mbm.read_store(path, raw)
    _check_neighbours(configuration, path)
    return configuration


def use(raw, tmp, counts=None, rng=None):
    """Read the file `raw` and do everything with it; -> a word for how it ended.

    tmp: a file that may be written; rng: ask some of the decoders only.  Raises
    AssertionError, or whatever the package let through.
    """
    counts = Counter() if counts is None else counts
    try:
        configuration = stored("m.mbm", raw)
    except AgfmcError as error:
        assert "\n" not in str(error), error
        return "refused"
    check_answers(configuration, counts, rng)
    text = blocks_text(model_blocks(describe(configuration)))
    check_visible(text)
    check_visible(json.dumps(describe(configuration)))
    save(tmp, configuration)
    again = Path(tmp).read_bytes()
    save(tmp, stored("again", again))
    assert Path(tmp).read_bytes() == again
    save(tmp, configuration.renamed({label: f"c{label}" for label in configuration.tree.classes}))
    for form in ("ascii", "svm"):
        try:
            export(tmp, configuration, form)
        except AgfmcError:
            pass
        else:
            try:
                load(tmp)
            except AgfmcError as error:
                counts[f"own {form} not read: {error.message[:60]}"] += 1
    return "accepted"


def check_visible(text):
    """No character that a terminal obeys, or that hides what stands beside it."""
    bad = [
        c
        for c in text
        if c != "\n"
        and (
            ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
        )
    ]
    assert not bad, bad


def check_answers(configuration, counts, rng=None):
    """Every decoder and way through a tree: an error, or finite numbers on the simplex."""
    tree, width = configuration.tree, configuration.features
    width = configuration.machines.sv.shape[1] if width is None else width
    x = np.array([[0.0], [1.0], [-2.5]]) * np.ones(width)
    for method in METHODS if rng is None else rng.sample(METHODS, 4):
        for mode in TREE_MODES[:3] if tree.hierarchical else ("recursive",):
            for raw in (False, True):
                name = f"{method.name} {mode}{' raw' if raw else ''}"
                try:
                    classifier = Classifier(configuration, Decoding(method, tree=mode, raw=raw))
                    answers = classifier(x)
                except AgfmcError as error:
                    assert "\n" not in str(error)
                    counts[f"no: {error.message[:40]}"] += 1
                    continue
                counts["answers"] += 1
                assert np.isin(answers.classes, (-1, *tree.classes)).all(), name
                finite = not (raw or method.gives == "votes")
                if finite:
                    assert np.isfinite(answers.confidence).all(), name
                if answers.columns is None:
                    continue
                assert not np.isnan(answers.columns).any(), name
                if finite:
                    assert np.isfinite(answers.columns).all(), name
                if (
                    not raw
                    and method.gives == "probabilities"
                    and (mode == "full" or not tree.hierarchical)
                ):
                    assert (answers.columns >= 0).all(), name
                    assert np.allclose(answers.columns.sum(axis=1), 1, atol=1e-9), name

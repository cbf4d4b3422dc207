"""The suite's own model file, `.mbm`: everything needed to classify, in one file.

    bytes 0-7     89 4D 42 4D 0D 0A 1A 0A (the letters MBM between bytes that text
                  conversions damage)
    8-11, 12-15   format version: major 1, minor 3 (uint32, little-endian throughout)
    16-23, 24-31  length of the header, length of the whole file (uint64)
    32-63         SHA-256 of all bytes but these 32
    64-           the header: JSON in UTF-8, a `_Stored` with {"shape", "offset"} in the place of
                  arrays, then these, each at a multiple of 64

Nothing in the file is executed or unpickled; every length is checked against
the size of the file before anything is allocated, and no byte serves two arrays, so
that what a model takes in memory is in proportion to its file.  Files of minor version 0 and 1,
which had no calibration, recipe, ensemble and weights of neighbours, are read too.
"""

import hashlib
import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from ..calibration.types import Calibration
from ..control.build import with_heading
from ..control.parse import parse
from ..control.write import format_tree
from ..core.errors import ControlError, ModelError, one_line
from ..core.models import MergedModel, NodeModel
from ..core.points import is_sparse, SparsePoints
from ..core.rows import optional_field
from ..data.normalisation import JoinedNormalisation, Normalisation
from ..files.atomic import checked, replacing
from ..files.codec import decode, encode, strict_json
from ..files.opening import read_bytes
from ..tables.recipe_file import check_table_recipe
from ..tables.types import TableRecipe
from .checks import check_configuration
from .configuration import Configuration

MAGIC = b"\x89MBM\r\n\x1a\n"
_MAJOR, _MINOR = 1, 3
_START = struct.Struct("<8sIIQQ32s")
_Line = Annotated[str, one_line]


@dataclass(frozen=True)
class _StoredMap:
    """A `Normalisation`: the matrix, or feature and factor of each column where it is None."""

    matrix: Annotated[np.ndarray | None, "<f4", 2]
    mean: Annotated[np.ndarray, "<f4", 1]
    column: Annotated[np.ndarray | None, "<i4", 1] = optional_field()
    scale: Annotated[np.ndarray | None, "<f4", 1] = optional_field()

    @classmethod
    def of(cls, normalisation):
        if normalisation.is_compact:
            return cls(None, normalisation.mean, normalisation.column, normalisation.scale)
        return cls(normalisation.matrix, normalisation.mean)

    def normalisation(self, fail):
        if self.matrix is not None and self.column is self.scale is None:
            return Normalisation(self.matrix, self.mean)
        column, scale = self.column, self.scale
        if self.matrix is not None or column is None or scale is None or len(column) != len(scale):
            raise fail("a normalisation has neither a matrix nor its columns")
        if np.any(column < 0) or np.any(column >= len(self.mean)) or not scale.all():
            raise fail("a column of a normalisation is that of no feature")
        return Normalisation.of_scales(column, scale, self.mean)


@dataclass(frozen=True)
class _StoredPoints:
    """`SparsePoints`: row i has the entries indptr[i] to indptr[i + 1]."""

    indptr: Annotated[np.ndarray, "<i8", 1]
    index: Annotated[np.ndarray, "<i4", 1]
    value: Annotated[np.ndarray, "<f8", 1]

    @classmethod
    def of(cls, points):
        return cls(points.csr.indptr, points.csr.indices, points.csr.data)

    def points(self, d, fail):
        ends, index = self.indptr, self.index
        # compared, not subtracted: a difference of lying numbers could overflow
        if (
            not len(ends)
            or ends[0] != 0
            or ends[-1] != len(index)
            or len(index) != len(self.value)
            or np.any(ends[1:] < ends[:-1])
            or np.any(index < 0)
            or np.any(index >= d)
            or not self.value.all()
        ):
            raise fail("the entries of the support vectors are invalid")
        row = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        if np.any((np.diff(row) == 0) & (index[1:] <= index[:-1])):
            raise fail("the entries of a support vector do not ascend")
        return SparsePoints.of_rows(ends, index, self.value, d)


@dataclass(frozen=True)
class _Stored:
    """The header of an .mbm file, made by {program: version}.

    There are several `normalisations` side by side, or one. Support vectors are in `machines`, or
    `sparse`.
    """

    control: str
    machines: MergedModel
    node_classifiers: tuple[NodeModel, ...]
    normalisation: _StoredMap | None
    calibration: Calibration | None
    recipe: TableRecipe | None
    made_by: Mapping[_Line, _Line]
    normalisations: tuple[_StoredMap, ...] | None = optional_field()
    sparse: _StoredPoints | None = optional_field()


def write_store(path, configuration, made_by):
    """Write a `Configuration` to `path`, whole or not at all.

    `made_by` is {program: version}; equal configurations written by equal versions are equal files.
    """
    tree = configuration.tree
    machines = configuration.machines
    sparse = None
    if is_sparse(machines.sv):
        sparse = _StoredPoints.of(machines.sv)
        machines = replace(machines, sv=np.empty((0, machines.sv.shape[1])))
    if tree.norm_file is not None:  # what that holds is stored
        tree = with_heading(tree, "normalisation", None)
    blobs = []
    offset = 0

    def put(array):
        nonlocal offset
        entry = {"shape": list(array.shape), "offset": offset}
        blobs.append(array.tobytes() + bytes(-array.nbytes % 64))
        offset += len(blobs[-1])
        return entry

    if configuration.normalisation is None:
        maps = ()
    else:
        maps = tuple(map(_StoredMap.of, configuration.normalisation.parts))
    stored = _Stored(
        format_tree(tree),
        machines,
        # names without the folders that the files of the nodes were read from
        tuple(
            replace(model, name=tree.directs[number].name)
            for number, model in configuration.node_classifiers.items()
        ),
        maps[0] if len(maps) == 1 else None,
        configuration.calibration,
        configuration.recipe,
        dict(sorted(made_by.items())),
        maps if len(maps) > 1 else None,
        sparse,
    )
    header = json.dumps(encode(stored, put), separators=(",", ":")).encode()
    header += b" " * (-len(header) % 64)
    size = _START.size + len(header) + offset
    start = _START.pack(MAGIC, _MAJOR, _MINOR, len(header), size, bytes(32))
    body = b"".join([header, *blobs])
    checked(
        body, lambda body: _configuration(strict_json(header), body, len(header), path, ""), path
    )
    digest = hashlib.sha256(start[:32] + body).digest()
    with replacing(path, binary=True) as file:
        file.write(start[:32] + digest)
        file.write(body)


def read_store(path, raw=None):
    """Read a `.mbm` file; -> `Configuration`.  raw: its bytes, if read already.

    Raises `ModelError` where the file is not one, is damaged, or is of a version that this program
    does not know.  The arrays share the memory that the file was read into.
    """
    if raw is None:
        raw = read_bytes(path)
    header, start = _checked_header(raw, path)
    return _configuration(header, raw, start, path, "damaged or not made by this suite: ")


def _configuration(header, raw, start, path, why):
    def fail(message):
        return ModelError(f"{why}{message}", file=path)

    arrays = _Arrays(raw, start)
    stored = decode(_Stored, header, fail, arrays.read)
    if arrays.overlap():
        raise fail("two arrays share bytes")
    try:
        tree = parse(stored.control, path)
        tree.require_names()  # its classifiers are all trained
    except ControlError as error:
        raise ModelError(f"damaged: {error.message} in its control text", file=path) from error
    nodes = tree.directs
    classifiers = stored.node_classifiers
    if [
        (node.learner_letter, len(tree.nodes[number].children)) for number, node in nodes.items()
    ] != [(one.code, one.branches) for one in classifiers]:
        raise fail("the multi-class nodes are not those of the control text")
    if stored.recipe is not None:
        check_table_recipe(stored.recipe, fail)
    normalisation = stored.normalisation and stored.normalisation.normalisation(fail)
    several = stored.normalisations
    if several is not None:
        if normalisation is not None or len(several) < 2:
            raise fail("the normalisations are invalid")
        normalisation = JoinedNormalisation(tuple(one.normalisation(fail) for one in several))
    machines = stored.machines
    if stored.sparse is not None:
        if len(machines.sv) or machines.any_width:
            raise fail("the support vectors are stored twice, or have any number of features")
        machines = replace(machines, sv=stored.sparse.points(machines.sv.shape[1], fail))
    try:
        configuration = Configuration(
            tree,
            machines,
            dict(zip(nodes, classifiers)),
            normalisation,
            stored.made_by,
            calibration=stored.calibration,
            recipe=stored.recipe,
        )
    except ModelError as error:  # another number of classifiers
        raise fail(error.message) from None
    check_configuration(configuration, fail)
    return configuration


def _checked_header(raw, path):
    if not raw.startswith(MAGIC):
        if not raw:
            what = "an empty file"
        else:
            what = "another kind of file"
        raise ModelError(f"expected a model file (.mbm), found {what}", file=path)
    if len(raw) < _START.size:
        raise ModelError(f"truncated: the file ends after {len(raw)} bytes", file=path)
    _, major, minor, length, size, digest = _START.unpack_from(raw)
    if major != _MAJOR or minor > _MINOR:
        raise ModelError(
            f"has format version {major}.{minor}, this program reads {_MAJOR}.0 to "
            f"{_MAJOR}.{_MINOR}: use a newer version of the suite",
            file=path,
        )
    if size != len(raw):
        if size > len(raw):
            word = "truncated"
        else:
            word = "damaged"
        raise ModelError(f"{word}: expected {size} bytes, found {len(raw)}", file=path)
    check = hashlib.sha256(raw[:32])
    check.update(memoryview(raw)[_START.size :])
    if check.digest() != digest or _START.size + length > size or length % 64:
        raise ModelError("damaged: the checksum does not agree with the contents", file=path)
    try:
        header = strict_json(raw[_START.size : _START.size + length])
        if minor < 2:
            header = _upgraded(header)
        return header, _START.size + length
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        raise ModelError("damaged: the header cannot be read", file=path) from None


def _upgraded(old):
    """The header of a file of version 1.0 or 1.1 in the layout of the later ones."""
    arrays = old.pop("arrays")
    machines = {
        "kernels": [
            dict(zip(("kind", "gamma", "coef0", "degree"), kernel, strict=True))
            for kernel in old.pop("kernels")
        ],
        "provenances": old.pop("settings"),
        "any_width": old.pop("any_width"),
    }
    norm = {name: arrays.pop(name) for name in ("matrix", "mean") if name in arrays}
    classifiers = [
        {
            **dict(zip(("code", "name", "branches", "k", "provenance"), entry, strict=True)),
            "w": None,
            **{part: arrays.pop(f"{part} {number}", None) for part in ("points", "y", "weights")},
        }
        for number, entry in enumerate(old.pop("direct", []))
    ]
    del old["names"]  # which the control text has
    return dict(
        **old,
        machines=dict(**machines, **arrays),
        node_classifiers=classifiers,
        normalisation=norm or None,
        calibration=None,
        recipe=None,
    )


class _Arrays:
    """The arrays behind the header, which share the memory of the bytes `raw`."""

    def __init__(self, raw, start):
        self._raw, self._start = raw, start
        self._spans = []

    def read(self, entry, dtype, dimensions):
        if not isinstance(entry, dict) or set(entry) != {"shape", "offset"}:
            raise ValueError("expected the shape and the offset of an array")
        shape = entry["shape"]
        offset = entry["offset"]
        if (
            not isinstance(shape, list)
            or len(shape) not in dimensions
            or not all(type(n) is int and 0 <= n < 2**48 for n in [*shape, offset])
            or any(n >= 2**31 for n in shape[1:])
        ):
            raise ValueError("the shape is invalid")
        count = math.prod(shape)
        stop = offset + count * dtype.itemsize
        if offset % 64 or self._start + stop > len(self._raw):
            raise ValueError("the array does not lie inside the file")
        if count == 0:
            return np.zeros(shape, dtype)
        self._spans.append((offset, stop))
        truth = dtype.kind == "b"  # of which another byte than 0 and 1 would be an odd one
        array = np.frombuffer(self._raw, np.uint8 if truth else dtype, count, self._start + offset)
        return (array != 0 if truth else array).reshape(shape)

    def overlap(self):
        self._spans.sort()
        return any(end > start for (_, end), (start, _) in zip(self._spans, self._spans[1:]))

"""The suite's own model file, `.mbm`: everything needed to classify, in one file.

    bytes 0-7     89 4D 42 4D 0D 0A 1A 0A (the letters MBM between bytes that text
                  conversions damage)
    8-11, 12-15   format version: major 1, minor 0, or 1 with multi-class nodes, or 2 with a
                  calibration, or 3 for an ensemble, or 4 with the recipe of a table, or 5 with
                  weights of neighbours (uint32, little-endian throughout)
    16-23, 24-31  length of the header, length of the whole file (uint64)
    32-63         SHA-256 of all bytes but these 32
    64-           the header: JSON in UTF-8, then the arrays, each at a multiple of 64

Nothing in the file is executed or unpickled; every length is checked against
the size of the file before anything is allocated, and no byte serves two arrays, so
that what a model takes in memory is in proportion to its file.
"""

import hashlib
import json
import math
import struct

import numpy as np

from ..control.parse import parse
from ..control.build import with_heading
from ..control.write import format_tree
from ..errors import ControlError, ModelError, one_line
from ..models import (Calibration, CalibrationPoints, CollatedModel, Configuration,
                      DecoderCalibration, DirectModel, Kernel, KERNELS, LearnedDecoder,
                      Normalisation, ProbabilityMap)
from ..provenance import Provenance
from .atomic import replacing
from .consistency import check_configuration, checked
from .inputs import read_bytes
from .recipe_file import recipe_from_json, recipe_to_json
from .strict_json import strict_json

__all__ = ["MAGIC", "read_store", "write_store"]

MAGIC = b"\x89MBM\r\n\x1a\n"
_MAJOR, _MINOR = 1, 5
_START = struct.Struct("<8sIIQQ32s")
_ARRAYS = {  # name: (dtype, number of dimensions)
    "sv": ("<f8", 2), "group": ("<i4", 1), "indptr": ("<i8", 1), "index": ("<i4", 1),
    "coef": ("<f8", 1), "rho": ("<f8", 1), "a": ("<f8", 1), "b": ("<f8", 1),
    "orientation": ("|i1", 1), "kernel_of": ("<i4", 1),
}
_NORMALISATION = {"matrix": ("<f4", 2), "mean": ("<f4", 1)}
_DIRECT = {"K": {"points": ("<f4", 2), "y": ("<i4", 1)}, "L": {"weights": ("<f8", 2)}}
_POINT_WEIGHTS = ("<f4", 1)  # w of code K, where there are weights
# Those of a calibration, followed by the number of the decoder; the weights by their kind.
_WEIGHTS = {"none": None, "temperature": 0, "vector": 1, "matrix": 2}
_POINTS = {"label": ("<i4", 1), "p_true": ("<f8", 1), "cumulative": ("<f8", 1),
           "p_largest": ("<f8", 1), "right": ("|u1", 1)}
_LEARNED = {"learned_weights": ("<f8", 2), "learned_intercept": ("<f8", 1)}
_KEYS = {"arrays", "any_width", "control", "kernels", "made_by", "names", "settings"}


def write_store(path, configuration, made_by):
    """Write a `Configuration` to `path`, whole or not at all.

    made_by: {program: version}; equal configurations written by equal versions are
    equal files.
    """
    model, tree = configuration.machines, configuration.tree
    if tree.norm_file is not None:  # what that holds is stored
        tree = with_heading(tree, "normalisation", None)
    arrays = {name: getattr(model, name) for name in _ARRAYS}
    wanted = dict(_ARRAYS)
    if configuration.normalisation is not None:
        wanted.update(_NORMALISATION)
        arrays.update(matrix=configuration.normalisation.matrix,
                      mean=configuration.normalisation.mean)
    directs = list(configuration.node_classifiers.values())
    for number, direct in enumerate(directs):
        for name, kind in _DIRECT[direct.code].items():
            wanted[f"{name} {number}"] = kind
            arrays[f"{name} {number}"] = getattr(direct, name)
        if direct.w is not None:
            wanted[f"w {number}"], arrays[f"w {number}"] = _POINT_WEIGHTS, direct.w
    extra = {"direct": [[d.code, d.name, d.branches, d.k, d.provenance.to_line()]
                        for d in directs]} if directs else {}
    minor = 1 if directs else 0
    if configuration.calibration is not None:
        minor = 2
        extra["calibration"] = _calibration_header(configuration.calibration)
        wanted.update(_calibration_arrays(extra["calibration"]))
        arrays.update(_arrays_of(configuration.calibration))
    if tree.is_ensemble:
        minor = 3
    if configuration.recipe is not None:
        minor = 4
        extra["recipe"] = recipe_to_json(configuration.recipe)
    if any(direct.w is not None for direct in directs):
        minor = 5
    listing = {}
    blobs = []
    offset = 0
    for name, (dtype, _) in wanted.items():
        blob = np.ascontiguousarray(arrays[name], dtype=dtype).tobytes()
        listing[name] = {"shape": list(np.shape(arrays[name])), "offset": offset}
        blobs.append(blob + bytes(-len(blob) % 64))
        offset += len(blobs[-1])
    header = json.dumps({
        "control": format_tree(tree), "names": {str(k): v for k, v in sorted(tree.names.items())},
        "kernels": [[k.kind, k.gamma, k.coef0, k.degree] for k in model.kernels],
        "settings": [one.to_line() for one in model.provenances],
        "any_width": bool(model.any_width),
        "made_by": made_by, "arrays": listing, **extra,
    }, sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 64)
    size = _START.size + len(header) + offset
    start = _START.pack(MAGIC, _MAJOR, minor, len(header), size, bytes(32))
    body = b"".join([header, *blobs])
    checked(body, lambda body: _stored(strict_json(header), body, len(header), path,
                                       lambda message: ModelError(message, file=path)), path)
    digest = hashlib.sha256(start[:32] + body).digest()
    with replacing(path, binary=True) as file:
        file.write(start[:32] + digest)
        file.write(body)


def read_store(path, raw=None):
    """Read a `.mbm` file; -> `Configuration`.  raw: its bytes, if read already.

    Raises `ModelError` where the file is not one, is damaged, or is of a
    version that this program does not know.  The arrays share the memory that
    the file was read into.
    """
    raw = read_bytes(path) if raw is None else raw
    header, start = _checked_header(raw, path)
    return _stored(header, raw, start, path, lambda message: ModelError(
        f"damaged or not made by this suite: {message}", file=path))


def _stored(header, raw, start, path, fail):
    """The `Configuration` of a header and of the arrays in the bytes `raw` from `start` on."""
    if not isinstance(header, dict) or set(header) - {"direct", "calibration", "recipe"} != _KEYS:
        raise fail("the header does not have the expected keys")
    listing = header["arrays"]
    wanted = dict(_ARRAYS)
    if isinstance(listing, dict) and "matrix" in listing:
        wanted.update(_NORMALISATION)
    entries = _direct_entries(header.get("direct", []), fail)
    wanted.update(_direct_arrays(entries, listing))
    if "calibration" in header:
        _check_calibration_header(header["calibration"], fail)
        wanted.update(_calibration_arrays(header["calibration"]))
    if not isinstance(listing, dict) or set(listing) != set(wanted):
        raise fail("the list of arrays is invalid")
    stored = _Arrays(raw, start, fail)
    arrays = {name: stored.read(name, listing[name], *wanted[name]) for name in wanted}
    stored.check_apart()
    names, kernels, settings = header["names"], header["kernels"], header["settings"]
    if not (isinstance(header["control"], str) and isinstance(names, dict)
            and all(key.isascii() and key.isdigit() and len(key) <= 10
                    and key == str(int(key)) and isinstance(value, str)
                    for key, value in names.items())
            and isinstance(settings, list) and all(isinstance(s, str) for s in settings)
            and not any("\n" in name for name in names.values())
            and all(text == one_line(text) for text in settings)
            and isinstance(header["any_width"], bool) and isinstance(header["made_by"], dict)
            and all(isinstance(word, str) and word == one_line(word)
                    for entry in header["made_by"].items() for word in entry)):
        raise fail("a value of the header has the wrong type")
    normalisation = None
    if "matrix" in arrays:
        matrix, mean = arrays.pop("matrix"), arrays.pop("mean")
        if matrix.shape != (len(mean), arrays["sv"].shape[1]):
            raise fail("the normalisation does not fit the support vectors")
        normalisation = Normalisation(matrix, mean)
    direct = tuple(
        DirectModel(code, name, branches, Provenance.from_line(made_from), k=k,
                    w=arrays.pop(f"w {number}", None), **{
                        part: arrays.pop(f"{part} {number}") for part in _DIRECT[code]})
        for number, (code, name, branches, k, made_from) in enumerate(entries))
    tree = _tree(header["control"], path)
    if {int(key): value for key, value in names.items()} != tree.names:
        raise fail("the class names are not those of the control text")
    nodes = tree.directs
    if [(node.code, len(tree.nodes[number].children)) for number, node in nodes.items()] != \
            [(one.code, one.branches) for one in direct]:
        raise fail("the multi-class nodes are not those of the control text")
    calibration = _calibration(header.get("calibration"), arrays)
    recipe = recipe_from_json(header["recipe"], fail) if "recipe" in header else None
    machines = CollatedModel(kernels=_kernels(kernels, fail), any_width=header["any_width"],
                             provenances=tuple(map(Provenance.from_line, settings)), **arrays)
    try:
        configuration = Configuration(tree, machines, dict(zip(nodes, direct)), normalisation,
                                      header["made_by"], calibration=calibration,
                                      recipe=recipe)
    except ModelError as error:  # another number of classifiers
        raise fail(error.message) from None
    check_configuration(configuration, fail)
    return configuration


def _tree(text, path):
    """The control tree of the header, whose classifiers are all trained."""
    try:
        tree = parse(text, path)
        tree.require_names()
        return tree
    except ControlError as error:
        raise ModelError(f"damaged: {error.message} in its control text", file=path) from error


def _checked_header(raw, path):
    """The header of the bytes of a model file, checksum and lengths verified."""
    if not raw.startswith(MAGIC):
        what = "an empty file" if not raw else "another kind of file"
        raise ModelError(f"expected a model file (.mbm), found {what}", file=path)
    if len(raw) < _START.size:
        raise ModelError(f"truncated: the file ends after {len(raw)} bytes", file=path)
    _, major, minor, length, size, digest = _START.unpack_from(raw)
    if major != _MAJOR or minor > _MINOR:
        raise ModelError(f"has format version {major}.{minor}, this program reads {_MAJOR}.0 to "
                         f"{_MAJOR}.{_MINOR}: use a newer version of the suite", file=path)
    if size != len(raw):
        word = "truncated" if size > len(raw) else "damaged"
        raise ModelError(f"{word}: expected {size} bytes, found {len(raw)}", file=path)
    check = hashlib.sha256(raw[:32])
    check.update(memoryview(raw)[_START.size:])
    if check.digest() != digest or _START.size + length > size or length % 64:
        raise ModelError("damaged: the checksum does not agree with the contents", file=path)
    try:
        return strict_json(raw[_START.size:_START.size + length]), _START.size + length
    except (ValueError, RecursionError):
        raise ModelError("damaged: the header cannot be read", file=path) from None


class _Arrays:
    """The arrays behind the header, which share the memory of the bytes `raw`."""

    def __init__(self, raw, start, fail):
        self._raw, self._start, self._fail = raw, start, fail
        self._spans = []

    def read(self, name, entry, dtype, ndim):
        """The array of an entry of the header, checked."""
        if not isinstance(entry, dict) or set(entry) != {"shape", "offset"}:
            raise self._fail(f"the entry of '{name}' is invalid")
        shape, offset = entry["shape"], entry["offset"]
        numbers = [*shape, offset] if isinstance(shape, list) else [None]
        if len(numbers) != ndim + 1 or \
                not all(type(n) is int and 0 <= n < 2**48 for n in numbers) or \
                any(n >= 2**31 for n in shape[1:]):
            raise self._fail(f"the shape of '{name}' is invalid")
        count = math.prod(shape)
        stop = offset + count * np.dtype(dtype).itemsize
        if offset % 64 or self._start + stop > len(self._raw):
            raise self._fail(f"'{name}' does not lie inside the file")
        if count == 0:
            return np.zeros(shape, dtype)
        self._spans.append((offset, stop))
        return np.frombuffer(self._raw, dtype=dtype, count=count,
                             offset=self._start + offset).reshape(shape)

    def check_apart(self):
        """Refuse two arrays that share bytes."""
        self._spans.sort()
        if any(end > start for (_, end), (start, _) in zip(self._spans, self._spans[1:])):
            raise self._fail("two arrays share bytes")


def _calibration_header(calibration):
    """The part of the header that tells of a `Calibration` all but its arrays."""
    return {"model": calibration.model, "classes": [int(c) for c in calibration.classes],
            "source": calibration.source, "counts": [int(n) for n in calibration.counts],
            "decoders": [[key, one.map.kind, float(one.map.floor), one.points is not None]
                         for key, one in calibration.decoders.items()],
            "learned": calibration.learned is not None}


def _calibration_arrays(header):
    """{name: (dtype, number of dimensions)} of the arrays that this part of a header needs."""
    wanted = {}
    for number, (_, kind, _, has_points) in enumerate(header["decoders"]):
        if _WEIGHTS[kind] is not None:
            wanted[f"map_weights {number}"] = "<f8", _WEIGHTS[kind]
            wanted[f"map_intercept {number}"] = "<f8", 1
        if has_points:
            wanted.update({f"{name} {number}": kind for name, kind in _POINTS.items()})
    return {**wanted, **_LEARNED} if header["learned"] else wanted


def _arrays_of(calibration):
    """{name: array} of all arrays of a `Calibration`."""
    arrays = {}
    for number, one in enumerate(calibration.decoders.values()):
        arrays[f"map_weights {number}"] = one.map.weights
        arrays[f"map_intercept {number}"] = one.map.intercept
        if one.points is not None:
            arrays.update({f"{name} {number}": getattr(one.points, name) for name in _POINTS})
    if calibration.learned is not None:
        arrays.update(learned_weights=calibration.learned.weights,
                      learned_intercept=calibration.learned.intercept)
    return arrays


def _check_calibration_header(header, fail):
    """Refuse a calibration whose values have the wrong types, or name no map that there is."""
    def whole(values):
        return isinstance(values, list) and all(type(value) is int for value in values)

    if not (isinstance(header, dict)
            and set(header) == {"model", "classes", "source", "counts", "decoders", "learned"}
            and isinstance(header["model"], str) and isinstance(header["source"], str)
            and whole(header["classes"]) and whole(header["counts"])
            and type(header["learned"]) is bool
            and isinstance(header["decoders"], list)
            and all(isinstance(entry, list) and [type(part) for part in entry] == [
                str, str, float, bool] and entry[1] in _WEIGHTS for entry in header["decoders"])
            and len({entry[0] for entry in header["decoders"]}) == len(header["decoders"])):
        raise fail("a value of the calibration has the wrong type")


def _calibration(header, arrays):
    """The `Calibration` of the header, whose arrays are taken out of {name: array}; or None."""
    if header is None:
        return None
    decoders = {}
    for number, (key, kind, floor, has_points) in enumerate(header["decoders"]):
        points = None
        if has_points:
            columns = {name: arrays.pop(f"{name} {number}") for name in _POINTS}
            points = CalibrationPoints(**{**columns, "right": columns["right"] != 0})
        decoders[key] = DecoderCalibration(ProbabilityMap(
            kind, arrays.pop(f"map_weights {number}", None),
            arrays.pop(f"map_intercept {number}", None), floor), points)
    learned = None
    if header["learned"]:
        learned = LearnedDecoder(arrays.pop("learned_weights"), arrays.pop("learned_intercept"))
    return Calibration(header["model"], tuple(header["classes"]), header["source"],
                       tuple(header["counts"]), decoders, learned)


def _direct_arrays(entries, listing):
    """{name: (dtype, number of dimensions)} of the arrays of the multi-class nodes.

    listing: of the arrays of the file, which tells whether neighbours have weights.
    """
    wanted = {}
    for number, entry in enumerate(entries):
        wanted.update({f"{name} {number}": kind for name, kind in _DIRECT[entry[0]].items()})
        if entry[0] == "K" and isinstance(listing, dict) and f"w {number}" in listing:
            wanted[f"w {number}"] = _POINT_WEIGHTS
    return wanted


def _direct_entries(entries, fail):
    """[code, name, branches, k, line of provenance] of each multi-class node, checked."""
    for entry in entries if isinstance(entries, list) else [None]:
        if not (isinstance(entry, list) and [type(part) for part in entry] == [
                str, str, int, int, str] and entry[0] in _DIRECT
                and entry[4] == one_line(entry[4])):
            raise fail("a multi-class node is invalid")
    return entries


def _kernels(entries, fail):
    kernels = []
    for entry in entries if isinstance(entries, list) else [None]:
        if not (isinstance(entry, list) and len(entry) == 4
                and isinstance(entry[0], str) and entry[0] in KERNELS
                and all(type(v) in (int, float) for v in entry[1:3]) and type(entry[3]) is int):
            raise fail("a kernel is invalid")
        kernels.append(Kernel(entry[0], *map(float, entry[1:3]), entry[3]))
    return tuple(kernels)

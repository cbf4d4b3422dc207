"""LIBSVM's model files for two classes, read with every check and written without loss.

Numbers are written so that they read back bit for bit (LIBSVM itself rounds
support vectors to eight digits): equal support vectors are equal in every
file.  A last line that LIBSVM does not read, `# agfmc ...`, says what made
the model.
"""

from __future__ import annotations

import math
import re

import numpy as np

from ..errors import ModelError
from ..models import BinaryModel, Kernel
from .files import read_bytes

__all__ = ["RowText", "format_svm_model", "read_svm_model"]

_KINDS = ("linear", "polynomial", "rbf", "sigmoid")
_TYPES = ("c_svc", "nu_svc")
_MARK = "# agfmc "
_MAX_FEATURES = 2**24


class RowText:
    """Text of training points, made once for each and used by every model that needs it."""

    def __init__(self, x):
        self._x = x
        self._text = {}

    def __call__(self, row):
        text = self._text.get(row)
        if text is None:
            text = self._text[row] = sparse_text(self._x[row])
        return text


def sparse_text(point):
    """`index:value` pairs of one point, zeros left out, each number in full."""
    return " ".join([f"{i}:{v!r}" for i, v in enumerate(point.tolist(), 1) if v != 0])


def format_svm_model(model, sv_text=None):
    """The text of a `BinaryModel` as a LIBSVM model file.

    `sv_text`: text of each support vector, where the caller has it already.
    """
    kernel = model.kernel
    lines = [f"svm_type {model.svm_type}", f"kernel_type {kernel.kind}"]
    if kernel.kind == "polynomial":
        lines.append(f"degree {kernel.degree}")
    if kernel.kind != "linear":
        lines.append(f"gamma {kernel.gamma!r}")
    if kernel.kind in ("polynomial", "sigmoid"):
        lines.append(f"coef0 {kernel.coef0!r}")
    lines += ["nr_class 2", f"total_sv {len(model.sv)}", f"rho {float(model.rho)!r}",
              f"label {model.labels[0]} {model.labels[1]}"]
    if model.platt is not None:
        lines += [f"probA {model.platt[0]!r}", f"probB {model.platt[1]!r}"]
    lines += [f"nr_sv {model.n_sv[0]} {model.n_sv[1]}", "SV"]
    if sv_text is None:
        sv_text = [sparse_text(point) for point in model.sv]
    lines += [f"{c!r} {text} " for c, text in zip(model.coef.tolist(), sv_text)]
    if model.settings:
        lines.append(f"{_MARK}{model.settings}")
    return "\n".join(lines) + "\n"


def read_svm_model(path):
    """Read a LIBSVM model file of two classes; -> `BinaryModel` named `path`.

    Accepts c_svc and nu_svc, the four kernels, labels 0 and 1 or -1 and 1
    (left and right), with or without probabilities.  Raises `ModelError` with
    the line for anything else.
    """
    raw = read_bytes(path)
    try:
        text = raw.decode("ascii")
    except UnicodeDecodeError as error:
        line = raw[:error.start].count(b"\n") + 1
        raise ModelError("expected a LIBSVM model, found other bytes", file=path,
                         line=line) from None
    lines = text.splitlines()
    header, at = _header(lines, path)
    model = _model(header, lines, at, path)
    if not text.endswith("\n"):
        raise ModelError("truncated: the last line is not complete", file=path, line=len(lines))
    return model


def _header(lines, path):
    """Key words up to `SV`; -> ({key: (words, line)}, index of the first support vector)."""
    header = {}
    for number, line in enumerate(lines, 1):
        words = line.split()
        if words == ["SV"]:
            return header, number
        if not words or words[0] not in _KEYS:
            found = repr(words[0][:20]) if words else "a blank line"
            raise ModelError(f"expected a key word of a LIBSVM model, found {found}",
                             file=path, line=number)
        if words[0] in header:
            raise ModelError(f"'{words[0]}' stands here for the second time", file=path,
                             line=number)
        header[words[0]] = words[1:], number
    if not lines:
        raise ModelError("expected a LIBSVM model, found an empty file", file=path)
    raise ModelError("expected the line 'SV', found the end of the file", file=path,
                     line=len(lines))


# key: number of values
_KEYS = {"svm_type": 1, "kernel_type": 1, "degree": 1, "gamma": 1, "coef0": 1, "nr_class": 1,
         "total_sv": 1, "rho": 1, "label": 2, "probA": 1, "probB": 1, "nr_sv": 2,
         "prob_density_marks": None}


def _model(header, lines, at, path):
    def fail(key, message):
        line = header[key][1] if key in header else None
        return ModelError(message, file=path, line=line)

    def values(key, kind):
        if key not in header:
            raise fail(key, f"'{key}' is missing")
        words, line = header[key]
        if len(words) != _KEYS[key]:
            raise fail(key, f"'{key}': expected {_KEYS[key]} value"
                            f"{'s' if _KEYS[key] > 1 else ''}, found {len(words)}")
        try:
            numbers = [kind(word) for word in words]
        except ValueError:
            raise fail(key, f"'{key}': expected a number, found '{' '.join(words)[:30]}'") from None
        if not all(abs(number) < (math.inf if kind is float else 2**31) for number in numbers):
            word = "finite" if kind is float else "smaller"
            raise fail(key, f"'{key}': expected a {word} number")
        return numbers

    def word(key, allowed):
        if key not in header or len(header[key][0]) != 1:
            raise fail(key, f"'{key}' is missing or not one word")
        if header[key][0][0] not in allowed:
            raise fail(key, f"'{key} {header[key][0][0][:20]}' is not supported: expected "
                            + " or ".join(allowed))
        return header[key][0][0]

    svm_type = word("svm_type", _TYPES)
    if "nr_class" in header and values("nr_class", int) != [2]:
        raise fail("nr_class", f"expected a model of 2 classes, found {header['nr_class'][0][0]}")
    kind = word("kernel_type", _KINDS)
    gamma = values("gamma", float)[0] if kind != "linear" else 0.0
    coef0 = values("coef0", float)[0] if kind in ("polynomial", "sigmoid") else 0.0
    degree = values("degree", int)[0] if kind == "polynomial" else 0
    if gamma < 0 or not 0 <= degree <= 1000:
        raise fail("gamma" if gamma < 0 else "degree", "gamma or degree is out of range")
    labels = tuple(values("label", int))
    if sorted(labels) == [-1, 1]:
        labels = tuple((label + 1) // 2 for label in labels)
    if sorted(labels) != [0, 1]:
        raise fail("label", "expected the labels 0 and 1 (left and right of the partition), "
                            f"found {' '.join(header['label'][0])}")
    if ("probA" in header) != ("probB" in header):
        raise fail("probA" if "probA" in header else "probB", "probA and probB come together")
    platt = (values("probA", float)[0], values("probB", float)[0]) if "probA" in header else None
    total = values("total_sv", int)[0]
    n_sv = tuple(values("nr_sv", int))
    if min(n_sv) < 0 or sum(n_sv) != total:
        raise fail("nr_sv", f"nr_sv adds up to {sum(n_sv)}, and total_sv is {total}")
    stop = at + total
    if total < 0 or stop > len(lines):
        raise ModelError(f"expected {total} support vectors, found {len(lines) - at}",
                         file=path, line=len(lines))
    settings = ""
    for number, line in enumerate(lines[stop:], stop + 1):
        if line.startswith(_MARK) and not settings:
            settings = line[len(_MARK):]
        elif line.strip():
            raise ModelError(f"expected the end of the file after {total} support vectors, "
                             f"found '{line[:30]}'", file=path, line=number)
    stated = re.search(r"(?:^|; )features ([0-9]{1,8})(?:;|$)", settings)
    features = min(int(stated.group(1)), _MAX_FEATURES) if stated else 0
    coef, sv = _support_vectors(lines[at:stop], features, at, path)
    return BinaryModel(path, svm_type, Kernel(kind, gamma, coef0, degree), sv, coef,
                       values("rho", float)[0], labels, n_sv, platt, settings, features)


def _support_vectors(lines, features, at, path):
    """-> coef (l,), sv (l, d); d the larger of `features` and the largest index."""
    coef = np.empty(len(lines))
    counts = np.empty(len(lines), dtype=np.int64)
    pairs = []
    for row, line in enumerate(lines):
        colons = [word.count(":") for word in line.split()]
        words = line.replace(":", " ").split()
        if colons[:1] != [0] or colons.count(1) + 1 != len(colons) or \
                len(words) != 2 * len(colons) - 1:
            raise ModelError("expected a coefficient and index:value pairs, found "
                             f"'{line[:30]}'", file=path, line=at + row + 1)
        counts[row] = len(words) // 2
        pairs.append(words)
    try:
        flat = np.array([word for words in pairs for word in words], dtype=np.float64)
    except ValueError:
        flat = None
    if flat is None or not np.isfinite(flat).all():
        for row, words in enumerate(pairs):
            for text in words:
                if not _finite(text):
                    raise ModelError(f"expected a finite number, found '{text[:20]}'", file=path,
                                     line=at + row + 1)
    starts = np.concatenate([[0], np.cumsum(2 * counts + 1)])
    coef[:] = flat[starts[:-1]]
    rest = np.delete(flat, starts[:-1])
    index, value = rest[0::2], rest[1::2]
    owner = np.repeat(np.arange(len(lines)), counts)
    wrong = (index != np.floor(index)) | (index < 1) | (index > _MAX_FEATURES)
    wrong[1:] |= (index[1:] <= index[:-1]) & (owner[1:] == owner[:-1])
    if wrong.any():
        row = owner[np.argmax(wrong)]
        raise ModelError("expected whole, ascending feature numbers from 1", file=path,
                         line=at + int(row) + 1)
    width = max(features, int(index.max()) if len(index) else 0)
    if width * len(lines) > 2**31:
        raise ModelError(f"{len(lines)} support vectors of {width} features are too many",
                         file=path)
    sv = np.zeros((len(lines), width))
    sv[owner, index.astype(np.int64) - 1] = value
    return coef, sv


def _finite(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False

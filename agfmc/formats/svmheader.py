"""The text that all LIBSVM model files share: lines, key words, lines of support vectors."""

from __future__ import annotations

import math
import re

import numpy as np

from ..errors import ModelError
from ..models import KERNELS, Kernel
from ..provenance import Provenance
from .limits import memory_limit
from .seal import check_seal, unsealed
from .textblocks import NUMBER, numbers

__all__ = ["MARK", "Header", "format_kernel", "read_lines", "provenance_after", "refuse_huge",
           "sparse_text", "support_vectors"]

MARK = "# agfmc "
_TYPES = ("c_svc", "nu_svc")
_KEYS = ("svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho",
         "label", "probA", "probB", "nr_sv", "prob_density_marks")
_MAX_FEATURES = 2**24
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(NUMBER.pattern.decode(), re.ASCII)


def read_lines(raw, path):
    """The lines of a model file; -> (lines, True if the last one is complete)."""
    check_seal(raw, path)
    try:
        text = raw.decode("ascii")
    except UnicodeDecodeError as error:
        line = raw[:error.start].count(b"\n") + 1
        raise ModelError("expected a LIBSVM model, found other bytes", file=path,
                         line=line) from None
    return text.splitlines(), text.endswith("\n")


class Header:
    """The key words of a model file up to `SV`; every value is checked when it is asked for.

    after: index of the first line behind `SV`.  All methods raise `ModelError`
    with the line.
    """

    def __init__(self, lines, path):
        self.path = path
        self._found = {}
        for number, line in enumerate(lines, 1):
            words = line.split()
            if words == ["SV"]:
                self.after = number
                return
            if not words or words[0] not in _KEYS:
                found = repr(words[0][:20]) if words else "a blank line"
                raise ModelError(f"expected a key word of a LIBSVM model, found {found}",
                                 file=path, line=number)
            if words[0] in self._found:
                raise ModelError(f"'{words[0]}' stands here for the second time", file=path,
                                 line=number)
            self._found[words[0]] = words[1:], number
        if not lines:
            raise ModelError("expected a LIBSVM model, found an empty file", file=path)
        raise ModelError("expected the line 'SV', found the end of the file", file=path,
                         line=len(lines))

    def __contains__(self, key):
        return key in self._found

    def text(self, key):
        """The words behind a key that is there, for messages."""
        return " ".join(self._found[key][0])[:60]

    def fail(self, key, message):
        """A `ModelError` at the line of `key`."""
        line = self._found[key][1] if key in self._found else None
        return ModelError(message, file=self.path, line=line)

    def values(self, key, kind, count=1):
        """The `count` finite numbers behind `key`, of type `kind`."""
        if key not in self._found:
            raise self.fail(key, f"'{key}' is missing")
        words, _ = self._found[key]
        if len(words) != count:
            raise self.fail(key, f"'{key}': expected {count} value{'s' if count > 1 else ''}, "
                                 f"found {len(words)}")
        like = _WHOLE if kind is int else _NUMBER
        if not all(like.fullmatch(word) or kind is float and word.lstrip("+-") in ("nan", "inf")
                   for word in words):
            raise self.fail(key, f"'{key}': expected a number, found '{' '.join(words)[:30]}'")
        numbers = [kind(word) if kind is float or len(word) < 20 else 2**31 for word in words]
        if not all(abs(number) < (math.inf if kind is float else 2**31) for number in numbers):
            word = "finite" if kind is float else "smaller"
            raise self.fail(key, f"'{key}': expected a {word} number")
        return numbers

    def word(self, key, allowed):
        """The word behind `key`, one of `allowed`."""
        words, _ = self._found.get(key, ((), None))
        if len(words) != 1:
            raise self.fail(key, f"'{key}' is missing or not one word")
        if words[0] not in allowed:
            raise self.fail(key, f"'{key} {words[0][:20]}' is not supported: expected "
                                 + " or ".join(allowed))
        return words[0]

    def svm_type(self):
        """'c_svc' or 'nu_svc'."""
        return self.word("svm_type", _TYPES)

    def kernel(self):
        """The `Kernel`, with the parameters that its kind has."""
        kind = self.word("kernel_type", tuple(KERNELS))
        kernel = Kernel(kind, **{name: self.values(name, int if name == "degree" else float)[0]
                                 for name in KERNELS[kind].parameters})
        if kernel.gamma < 0 or not 0 <= kernel.degree <= 1000:
            raise self.fail("gamma" if kernel.gamma < 0 else "degree",
                            "gamma or degree is out of range")
        return kernel

    def platt(self, count=1):
        """(A, B) of each of `count` classifiers, or None."""
        if ("probA" in self) != ("probB" in self):
            raise self.fail("probA" if "probA" in self else "probB",
                            "probA and probB come together")
        if "probA" not in self:
            return None
        return list(zip(self.values("probA", float, count), self.values("probB", float, count)))

    def counts(self, classes, lines):
        """Support vectors of each class; as many lines must follow."""
        total = self.values("total_sv", int)[0]
        n_sv = tuple(self.values("nr_sv", int, classes))
        if min(n_sv) < 0 or sum(n_sv) != total:
            raise self.fail("nr_sv", f"nr_sv adds up to {sum(n_sv)}, and total_sv is {total}")
        if self.after + total > len(lines):
            raise ModelError(f"expected {total} support vectors, found "
                             f"{len(lines) - self.after}", file=self.path, line=len(lines))
        return n_sv


def provenance_after(lines, at, total, path):
    """What follows `total` support vectors from `at`; -> (Provenance, features or 0)."""
    provenance = Provenance()
    for number, line in enumerate(lines[at + total:], at + total + 1):
        if line.startswith(MARK) and not provenance:
            provenance = Provenance.from_line(unsealed(line[len(MARK):]))
        elif line.strip():
            raise ModelError(f"expected the end of the file after {total} support vectors, "
                             f"found '{line[:30]}'", file=path, line=number)
    return provenance, min(provenance.features or 0, _MAX_FEATURES)


def support_vectors(lines, at, path, features=0, width=1):
    """Lines of `width` coefficients and index:value pairs; -> coef (l, width), sv (l, d).

    d is the larger of `features` and the largest index; at: lines of the file
    before the first, for messages.
    """
    counts = np.empty(len(lines), dtype=np.int64)
    words_of = []
    start = [0] * width
    for row, line in enumerate(lines):
        colons = [word.count(":") for word in line.split()]
        words = line.replace(":", " ").split()
        if colons[:width] != start or colons.count(1) + width != len(colons) or \
                len(words) != 2 * len(colons) - width:
            what = "a coefficient" if width == 1 else f"{width} coefficients"
            raise ModelError(f"expected {what} and index:value pairs, found "
                             f"'{line[:30]}'", file=path, line=at + row + 1)
        counts[row] = len(colons) - width
        words_of.append(words)
    text = " ".join([word for words in words_of for word in words]).encode("ascii")
    flat = numbers(np.frombuffer(text, np.uint8), sum(map(len, words_of)))
    if flat is None:
        for row, words in enumerate(words_of):
            for text in words:
                if not (_NUMBER.fullmatch(text) and math.isfinite(float(text))):
                    raise ModelError(f"expected a finite number, found '{text[:20]}'", file=path,
                                     line=at + row + 1)
        raise ModelError("expected numbers", file=path, line=at + 1)
    starts = np.concatenate([[0], np.cumsum(2 * counts + width)])[:-1]
    places = (starts[:, None] + np.arange(width)).ravel()
    rest = np.delete(flat, places)
    index, value = rest[0::2], rest[1::2]
    owner = np.repeat(np.arange(len(lines)), counts)
    wrong = (index != np.floor(index)) | (index < 1) | (index > _MAX_FEATURES)
    wrong[1:] |= (index[1:] <= index[:-1]) & (owner[1:] == owner[:-1])
    if wrong.any():
        row = owner[np.argmax(wrong)]
        raise ModelError("expected whole, ascending feature numbers from 1", file=path,
                         line=at + int(row) + 1)
    d = max(features, int(index.max()) if len(index) else 0)
    refuse_huge(len(lines), d, path)
    sv = np.zeros((len(lines), d))
    sv[owner, index.astype(np.int64) - 1] = value
    return flat[places].reshape(len(lines), width), sv


def refuse_huge(count, d, path):
    """ModelError where so many support vectors of d features do not fit in memory."""
    limit = memory_limit() // 2
    if count * d * 8 > limit:
        raise ModelError(f"{count} support vectors of {d} features take "
                         f"{count * d * 8 / 2**30:.3g} GiB, above the limit of "
                         f"{limit / 2**30:.3g} GiB", file=path)


def sparse_text(point):
    """`index:value` pairs of one point, zeros left out, each number in full."""
    return " ".join([f"{i}:{v!r}" for i, v in enumerate(point.tolist(), 1) if v != 0])


def format_kernel(svm_type, kernel):
    """The first lines of a model file: its type, and the kernel with its parameters."""
    values = kernel.values
    return [f"svm_type {svm_type}", f"kernel_type {kernel.kind}", *(
        f"{name} {values[name]!r}" for name in ("degree", "gamma", "coef0") if name in values)]

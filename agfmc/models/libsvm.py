"""LIBSVM's model files, read with every check and written without loss.

Numbers are written so that they read back bit for bit (LIBSVM itself rounds support vectors
to eight digits): equal support vectors are equal in every file.  A last line that LIBSVM does
not read, `# agfmc ...`, is the `Provenance`; one before it, `# agfmc held out N BASE64`, has N
decision values (float32, little-endian) of points that the classifier was not trained on.

Several classes are one-vs-one in a single file.  With the classes numbered in the order of the
line `label`, a support vector of class i has k - 1 coefficients, one for each other class j: the
j-th, or the (j - 1)-th where j > i.  The classifiers stand in the order (0, 1), (0, 2), ...,
(1, 2), ...; f > 0 votes for the first class of the pair, and P(first) = 1/(1 + exp(A f + B)).
There, and only there, the samples of the provenance are those of each class, in the ascending
order of the labels: what each classifier tells of its own two classes follows.

A classifier of svm_type `trees`, which LIBSVM does not know, has no support vectors, but the arrays
of a `Forest`, each in a line `# agfmc trees NAME NUMBER ...`.
"""

import base64
import hashlib
import math
import os
import re
from functools import partial
from itertools import combinations

import numpy as np

from ..control.build import from_rows, rename
from ..core.errors import ModelError
from ..core.memory import refuse_beyond
from ..core.kernels import KERNELS
from ..core.models import BinaryModel, Kernel
from ..core.points import is_sparse
from ..core.provenance import Provenance, shared
from ..data.class_names import ByValue, named_by_value, number_classes
from ..data.libsvm import sparse_text
from ..files.atomic import checked
from ..files.codec import check_seal
from ..files.number_text import ascii_text, NUMBER, numbers, wrong_number
from ..files.opening import read_bytes
from ..learners.forest_text import format_forest, MARK as FOREST_MARK, read_forest
from .checks import check_kernel, require_one_kernel

_MARK = "# agfmc "
_HELD_OUT = f"{_MARK}held out "
_TYPES = ("c_svc", "nu_svc")
_TREE_TYPE = "trees"
_KEYS = (
    "svm_type",
    "kernel_type",
    "degree",
    "gamma",
    "coef0",
    "nr_class",
    "total_sv",
    "rho",
    "label",
    "probA",
    "probB",
    "nr_sv",
    "prob_density_marks",
)
_MAX_FEATURES = 2**24
_MAX_CLASSES = 1024  # 2**19 binary classifiers
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(NUMBER.pattern.decode(), re.ASCII)


class _Header:
    """The key words of a model file up to `SV`; every value is checked when it is read.

    `end` is the index of the first line behind `SV`. All methods raise `ModelError` with the line.
    """

    def __init__(self, lines, path):
        self.path = path
        self._words = {}
        for number, line in enumerate(lines, 1):
            words = line.split()
            if words == ["SV"]:
                self.end = number
                return
            if not words or words[0] not in _KEYS:
                if words:
                    shown = repr(words[0][:20])
                else:
                    shown = "a blank line"
                raise ModelError(
                    f"expected a key word of a LIBSVM model, found {shown}", file=path, line=number
                )
            if words[0] in self._words:
                raise ModelError(f"'{words[0]}' occurs a second time", file=path, line=number)
            self._words[words[0]] = words[1:], number
        if not lines:
            raise ModelError("expected a LIBSVM model, found an empty file", file=path)
        raise ModelError(
            "expected the line 'SV', found the end of the file", file=path, line=len(lines)
        )

    def __contains__(self, key):
        return key in self._words

    def text(self, key):
        return " ".join(self._words[key][0])[:60]

    def fail(self, key, message):
        return ModelError(message, file=self.path, line=self._words.get(key, (None, None))[1])

    def values(self, key, kind, count=1):
        if key not in self:
            raise self.fail(key, f"'{key}' is missing")
        words, _ = self._words[key]
        if len(words) != count:
            raise self.fail(
                key,
                f"'{key}': expected {count} value{'s' if count > 1 else ''}, found {len(words)}",
            )
        if kind is int:
            like = _WHOLE
        else:
            like = _NUMBER
        if not all(
            like.fullmatch(word) or kind is float and word.lstrip("+-") in ("nan", "inf")
            for word in words
        ):
            raise self.fail(key, f"'{key}': expected a number, found '{' '.join(words)[:30]}'")
        values = [kind(word) if kind is float or len(word) < 20 else 2**31 for word in words]
        if not all(abs(value) < (math.inf if kind is float else 2**31) for value in values):
            if kind is float:
                word = "finite"
            else:
                word = "smaller"
            raise self.fail(key, f"'{key}': expected a {word} number")
        return values

    def word(self, key, allowed):
        words, _ = self._words.get(key, ((), None))
        if len(words) != 1:
            raise self.fail(key, f"'{key}' is missing or not one word")
        if words[0] not in allowed:
            raise self.fail(
                key, f"'{key} {words[0][:20]}' is not supported: expected " + " or ".join(allowed)
            )
        return words[0]

    def contents(self, lines, k, vectors):
        """The contents of a model of k classes; vectors: as `_support_vectors`.

        -> type, `Kernel`, labels (k), rho and (A, B) or None of k (k - 1)/2 classifiers, numbers of
        support vectors (k), `Provenance`, features (0 where not known), coef (l, k - 1), sv (l, d).
        """
        svm_type = self.word("svm_type", (*_TYPES, _TREE_TYPE) if k == 2 else _TYPES)
        kind = self.word("kernel_type", tuple(KERNELS))
        kernel = Kernel(
            kind,
            **{
                name: self.values(name, int if name == "degree" else float)[0]
                for name in KERNELS[kind].parameters
            },
        )
        check_kernel(kernel, partial(self.fail, "degree" if kernel.gamma >= 0 else "gamma"))
        labels = self.values("label", int, k)
        count = k * (k - 1) // 2
        rho = self.values("rho", float, count)
        platt = [None] * count
        if ("probA" in self) != ("probB" in self):
            raise self.fail(
                "probA" if "probA" in self else "probB", "probA and probB must both be given"
            )
        if "probA" in self:
            platt = list(
                zip(self.values("probA", float, count), self.values("probB", float, count))
            )
        total = self.values("total_sv", int)[0]
        n_sv = tuple(self.values("nr_sv", int, k))
        if min(n_sv) < 0 or sum(n_sv) != total:
            raise self.fail("nr_sv", f"nr_sv adds up to {sum(n_sv)}, and total_sv is {total}")
        end = self.end + total
        if end > len(lines):
            raise ModelError(
                f"expected {total} support vectors, found {len(lines) - self.end}",
                file=self.path,
                line=len(lines),
            )
        provenance = _provenance(lines, end, total, self.path)
        features = min(provenance.features or 0, _MAX_FEATURES)
        coef, sv = vectors(lines[self.end : end], self.end, self.path, features, k - 1)
        return svm_type, kernel, labels, rho, platt, n_sv, provenance, features, coef, sv


def _read_lines(raw, path):
    check_seal(raw, path)
    return ascii_text(
        raw, "a LIBSVM model", lambda message, line: ModelError(message, file=path, line=line)
    ).splitlines()


def _check_end(raw, lines, path):
    if not raw.endswith(b"\n"):
        raise ModelError("truncated: the last line is not complete", file=path, line=len(lines))


def _provenance(lines, end, total, path):
    provenance = Provenance()
    while len(lines) > end and lines[end].startswith(FOREST_MARK):
        end += 1
    if len(lines) > end and lines[end].startswith(_HELD_OUT):
        end += 1
    for number, line in enumerate(lines[end:], end + 1):
        if line.startswith(_MARK) and not provenance:
            provenance = Provenance.from_line(line[len(_MARK) :])
        elif line.strip():
            raise ModelError(
                f"expected the end of the file after {total} support vectors, found '{line[:30]}'",
                file=path,
                line=number,
            )
    return provenance


def _support_vectors(lines, start, path, features, width):
    """coef (s, width), sv (s, d) of lines of `width` coefficients and index:value pairs.

    d is the larger of `features` and the largest index; the line numbers of messages begin behind
    `start`.
    """
    counts = np.empty(len(lines), dtype=np.int64)
    words_of = []
    no_colons = [0] * width
    for row, line in enumerate(lines):
        colons = [word.count(":") for word in line.split()]
        words = line.replace(":", " ").split()
        if (
            colons[:width] != no_colons
            or colons.count(1) + width != len(colons)
            or len(words) != 2 * len(colons) - width
        ):
            if width == 1:
                what = "a coefficient"
            else:
                what = f"{width} coefficients"
            raise ModelError(
                f"expected {what} and index:value pairs, found '{line[:30]}'",
                file=path,
                line=start + row + 1,
            )
        counts[row] = len(colons) - width
        words_of.append(words)
    text = " ".join([word for words in words_of for word in words]).encode("ascii")
    flat = numbers(np.frombuffer(text, np.uint8), sum(map(len, words_of)))
    if flat is None:
        line, word = next(
            (
                (line, word)
                for line, words in enumerate(words_of, start + 1)
                if (word := wrong_number(words))
            ),
            (start + 1, ""),
        )
        raise ModelError(f"expected a finite number, found '{word}'", file=path, line=line)
    starts = np.concatenate([[0], np.cumsum(2 * counts + width)])[:-1]
    positions = (starts[:, None] + np.arange(width)).ravel()
    rest = np.delete(flat, positions)
    index = rest[0::2]
    value = rest[1::2]
    owner = np.repeat(np.arange(len(lines)), counts)
    wrong = (index != np.floor(index)) | (index < 1) | (index > _MAX_FEATURES)
    wrong[1:] |= (index[1:] <= index[:-1]) & (owner[1:] == owner[:-1])
    if wrong.any():
        raise ModelError(
            "expected whole, ascending feature numbers from 1",
            file=path,
            line=start + int(owner[np.argmax(wrong)]) + 1,
        )
    d = max(features, int(index.max()) if len(index) else 0)
    refuse_huge(len(lines), d, path)
    sv = np.zeros((len(lines), d))
    sv[owner, index.astype(np.int64) - 1] = value
    return flat[positions].reshape(len(lines), width), sv


def refuse_huge(count, d, file):
    """`DataError` where so many support vectors of d features do not fit in memory twice."""
    refuse_beyond(8 * count * d, f"{count} support vectors of {d} features", file)


def _format_kernel(svm_type, kernel):
    values = kernel.values
    return [
        f"svm_type {svm_type}",
        f"kernel_type {kernel.kind}",
        *(f"{name} {values[name]!r}" for name in ("degree", "gamma", "coef0") if name in values),
    ]


def format_svm_model(model, sv_text=None, held_out=None):
    """The text of a `BinaryModel` as a LIBSVM model file, which is `checked`.

    `sv_text` is the text of each support vector, where the caller has it already; `held_out` (n,)
    are decision values, stored as float32, of points that it was not trained on.
    """
    lines = _format_kernel(model.svm_type, model.kernel)
    lines += [
        "nr_class 2",
        f"total_sv {len(model.sv)}",
        f"rho {float(model.rho)!r}",
        f"label {model.labels[0]} {model.labels[1]}",
    ]
    if model.platt is not None:
        lines += [f"probA {model.platt[0]!r}", f"probB {model.platt[1]!r}"]
    lines += [f"nr_sv {model.n_sv[0]} {model.n_sv[1]}", "SV"]
    if sv_text is None:
        sv_text = [sparse_text(point) for point in model.sv]
    lines += [f"{c!r} {text} " for c, text in zip(model.coef.tolist(), sv_text)]
    if model.function is not None:
        lines += format_forest(model.function)
    if held_out is None:
        values = np.zeros(0)
    else:
        values = np.asarray(held_out, dtype="<f4")
    if held_out is not None:
        lines.append(f"{_HELD_OUT}{len(held_out)} {base64.b64encode(values.tobytes()).decode()}")
    if model.provenance:
        lines.append(f"{_MARK}{model.provenance.to_line()}")

    def read(lines):  # but for the numbers, whose text it would take long to read
        points = model.sv.csr.data if is_sparse(model.sv) else model.sv
        if not all(np.isfinite(array).all() for array in (model.coef, points, values)):
            raise ModelError("a number is not finite")
        _model(lines, model.name, lambda *_: (model.coef, model.sv))

    return "\n".join(checked(lines, read)) + "\n"


def read_svm_model(path, known=None):
    """Read a LIBSVM model file of two classes; -> `BinaryModel` named `path`.

    `known` is a dictionary that the files of one configuration have in common, empty at first:
    support vectors that stand in several of them, as landmarks do, are read once and are one array.
    Accepts c_svc and nu_svc, the four kernels, labels 0 and 1 or -1 and 1 (left and right), with or
    without probabilities. Raises `ModelError` with the line for anything else.
    """
    raw = read_bytes(path)
    lines = _read_lines(raw, path)
    model = _model(lines, path, partial(_known_vectors, known={} if known is None else known))
    _check_end(raw, lines, path)
    return model


def _model(lines, path, vectors):
    header = _Header(lines, path)
    if "nr_class" in header and header.values("nr_class", int) != [2]:
        raise header.fail(
            "nr_class", f"expected a model of 2 classes, found {header.text('nr_class')}"
        )
    svm_type, kernel, labels, rho, platt, n_sv, provenance, features, coef, sv = header.contents(
        lines, 2, vectors
    )
    if sorted(labels) == [-1, 1]:
        labels = [(label + 1) // 2 for label in labels]
    if sorted(labels) != [0, 1]:
        raise header.fail(
            "label",
            "expected the labels 0 and 1 (left and right of the partition), "
            f"found {header.text('label')}",
        )
    if svm_type == _TREE_TYPE:
        forest = read_forest(lines[header.end :], features, 1, path, header.end)
    else:
        forest = None
    return BinaryModel(
        path,
        svm_type,
        kernel,
        sv,
        coef,
        rho[0],
        tuple(labels),
        n_sv,
        platt[0],
        provenance,
        features,
        forest,
    )


def _known_vectors(lines, start, path, features, width, known):
    """coef (l,), sv (l, d) as `_support_vectors` reads them; known: {digest of the text: sv}."""
    parts = [line.partition(" ") for line in lines]
    text = "\n".join([str(features), *[part[2] for part in parts]]).encode("ascii")
    digest = hashlib.sha256(text).digest()
    if digest in known:
        words = [part[0] for part in parts]
        coef = numbers(np.frombuffer(" ".join(words).encode("ascii"), np.uint8), len(parts))
        if coef is not None and all(words):
            return coef, known[digest]
    coef, known[digest] = _support_vectors(lines, start, path, features, width)
    return coef[:, 0].copy(), known[digest]


def held_out_values(raw, path=None):
    """The held-out decision values (n,) float32 in the bytes of a model file; None without them.

    Raises `ModelError` with the line where they are damaged.
    """
    start = raw.rfind(b"\n" + _HELD_OUT.encode()) + 1
    if start == 0:
        return None
    count, _, text = raw[start + len(_HELD_OUT) :].partition(b"\n")[0].rstrip().partition(b" ")
    try:
        values = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4")
    except ValueError:  # binascii.Error is one
        values = np.array([np.nan])
    if count != b"%d" % len(values) or not np.isfinite(values).all():
        raise ModelError(
            "the held-out decision values are damaged",
            file=path,
            line=raw.count(b"\n", 0, start) + 1,
        )
    return values


def read_svm_multiclass(path, raw=None, names=None):
    """Read a LIBSVM model of k >= 2 classes; -> (`Tree`, [`BinaryModel`]).

    Labels of which some are below 0 are names of classes numbered in the order of their values;
    they are looked up in `names` (entry i names label i) if these are whole numbers and some below
    0, as the model may lack classes. The tree is a one-vs-one code whose rows stand in the
    ascending order of the labels, the lower one left; the classes stand in the order of the file,
    so that equal votes are decided as LIBSVM decides them. The classifiers are named after the
    file. `raw` are its bytes, if read already. Raises `ModelError` with the line for anything but
    c_svc and nu_svc.
    """
    if raw is None:
        raw = read_bytes(path)
    lines = _read_lines(raw, path)
    header = _Header(lines, path)
    k = header.values("nr_class", int)[0]
    if not 2 <= k <= _MAX_CLASSES:
        raise header.fail("nr_class", f"expected 2 to {_MAX_CLASSES} classes, found {k}")
    svm_type, kernel, labels, rho, platt, n_sv, provenance, features, coef, sv = header.contents(
        lines, k, _support_vectors
    )
    if len(set(labels)) < k:
        raise header.fail("label", "a label is listed twice")
    _check_end(raw, lines, path)
    spans = [slice(stop - n, stop) for n, stop in zip(n_sv, np.cumsum(n_sv).tolist())]
    number = {pair: i for i, pair in enumerate(combinations(range(k), 2))}
    if path != "-":
        base = os.path.basename(path)
    else:
        base = "svm"
    class_names = {}
    if ByValue(names).whole:
        labels = number_classes(np.array(labels), k, path, names).tolist()
        class_names = {label: names[label] for label in labels}
    elif min(labels) < 0:
        numbered, named = named_by_value(np.array(labels), path, points=False)
        labels = numbered.tolist()
        class_names = dict(enumerate(named))
    made_from = provenance.for_pairs(labels)
    rows = []
    names = []
    models = []
    known: dict[tuple, np.ndarray] = {}
    held = 0
    for low, high in combinations(sorted(range(k), key=labels.__getitem__), 2):
        i = min(low, high)
        j = max(low, high)
        sides = [(spans[i], j - 1), (spans[j], i)]
        used = [np.flatnonzero(coef[span, column]) + span.start for span, column in sides]
        vectors = sv[np.concatenate(used)]
        key = len(vectors), hashlib.sha256(vectors).digest()
        if key not in known:  # else they are landmarks of several pairs
            held += len(vectors)
            refuse_huge(held, sv.shape[1], path)
        rows.append(((low,), (high,)))
        names.append(f"{base}-{len(names):02d}")
        models.append(
            BinaryModel(
                names[-1],
                svm_type,
                kernel,
                known.setdefault(key, vectors),
                np.concatenate([coef[use, column] for use, (_, column) in zip(used, sides)]),
                rho[number[i, j]],
                (0, 1) if i == low else (1, 0),
                (len(used[0]), len(used[1])),
                platt[number[i, j]],
                made_from(labels[low], labels[high]),
                features,
            )
        )
    return rename(from_rows(rows, labels, class_names), names), models


def format_svm_multiclass(configuration):
    """Yield the lines of a one-vs-one `Configuration` as one LIBSVM model.

    The classes stand in the order of the tree, so that equal votes are decided in the
    same way.  Their labels are their names, where these are whole numbers of 32 bits and
    some of them below 0, so that they are those of the training text.  A support vector
    that stands in several classes is written for each.  Raises `ModelError` for what
    LIBSVM cannot hold: a normalisation, another configuration than all pairs of classes,
    several kernels.
    """
    model = configuration.machines
    tree = configuration.tree
    require_one_kernel(configuration, "a LIBSVM model", "mbh2mbm stores it in a .mbm file")
    classes = {label: i for i, label in enumerate(tree.labels)}
    names = [tree.names.get(label, "") for label in tree.labels]
    if ByValue(names).whole:
        labels = [int(float(name)) for name in names]
    else:
        labels = tree.labels
    return _lines(model, classes, _pairs(tree, classes, len(model.rho)), labels)


def _pairs(tree, classes, count):
    """Per classifier (left, right) as positions in `classes`: every pair exactly once."""
    pairs = [
        (classes[left[0]], classes[right[0]])
        for left, right in tree.sides()
        if len(left) == len(right) == 1
    ]
    needed = len(classes) * (len(classes) - 1) // 2
    distinct = {tuple(sorted(pair)) for pair in pairs}
    if not len(pairs) == len(distinct) == len(tree.rows) == count == needed:
        raise ModelError(
            f"a LIBSVM model holds one binary classifier for each of the {needed} "
            f"pairs of the {len(classes)} classes: this is not one-vs-one"
        )
    return pairs


def _lines(model, classes, pairs, labels):
    k = len(classes)
    pairs = np.array(pairs)
    flipped = pairs[:, 0] > pairs[:, 1]  # the left class is the second one of the pair
    # +1 where f > 0 votes for the first class of the pair
    sign = np.where(flipped, 1, -1) * model.orientation.astype(np.int64)
    order = np.lexsort((pairs.max(axis=1), pairs.min(axis=1)))
    owner = np.repeat(np.arange(len(pairs)), np.diff(model.indptr))
    home_class = _home_classes(model, pairs, owner)
    other = pairs.sum(axis=1)[owner] - home_class
    # a support vector of two classes, merged by collation, is one row for each again
    keys, row = np.unique(home_class * max(len(model.sv), 1) + model.index, return_inverse=True)
    coef = np.zeros((len(keys), k - 1))
    coef[row.ravel(), other - (other > home_class)] = model.coef * sign[owner]
    home, index = np.divmod(keys, max(len(model.sv), 1))

    lines = _format_kernel("c_svc", model.kernels[0])
    lines += [
        f"nr_class {k}",
        f"total_sv {len(keys)}",
        _line("rho", (model.rho * sign)[order]),
        _line("label", labels),
    ]
    if np.isfinite(model.a).all():
        # P(first) = (1 -+ tanh(a f + b)) / 2, with f of the sign that LIBSVM has
        side = np.where(flipped, -1.0, 1.0)
        lines += [
            _line("probA", (2 * model.a * side * sign)[order]),
            _line("probB", (2 * model.b * side)[order]),
        ]
    lines += [_line("nr_sv", np.bincount(home, minlength=k)), "SV"]
    yield "\n".join(lines) + "\n"
    for values, point in zip(coef, index):
        yield f"{' '.join(map(repr, values.tolist()))} {sparse_text(model.sv[point])} \n"
    labels = list(classes)
    sides = [(labels[a], labels[b]) for a, b in pairs.tolist()]
    normalised = any(one.normalised is not None for one in model.provenances)
    provenance = shared(
        model.provenances, sides, model.sv.shape[1] if normalised or not model.any_width else None
    )
    if provenance:
        yield f"{_MARK}{provenance.to_line()}\n"


def _home_classes(model, pairs, owner):
    """Per coefficient the class of its pair for which its support vector is written.

    It is the class for which it speaks, unless the support vector is written for fewer classes
    where every coefficient is of the first of its pair: k - 1 for a landmark of all pairs, which
    is always written so.
    """
    count = max(len(model.sv), 1)
    right = model.coef * model.orientation[owner] > 0
    by_sign = pairs[owner, right.astype(np.intp)]
    first = pairs.min(axis=1)[owner]
    written = [
        np.bincount(np.unique(classes * count + model.index) % count, minlength=count)
        for classes in (by_sign, first)
    ]
    landmark = np.bincount(model.index, minlength=count) == len(pairs)
    fewer = (written[1] < written[0]) | landmark & (written[1] == written[0])
    return np.where(fewer[model.index], first, by_sign)


def _line(key, values):
    if isinstance(values, np.ndarray):
        values = values.tolist()
    return f"{key} {' '.join(map(repr, values))}"

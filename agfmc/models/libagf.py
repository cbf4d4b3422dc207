"""libAGF's ASCII model: control structure, support vectors and classifiers in one text.

    SVM
    the control structure, as in a control file for classification
    linear | polynomial | radial | sigmoid
     gamma; sigmoid: gamma coef0; polynomial: gamma coef0 degree; linear: an empty line
    s d
    s lines of d values, in lexicographic order
    and for each binary classifier, in the order of the control structure, five lines:
    its name
    l
    a b
    l coefficients, rho
    l support vectors, by number from 0

with f = sum c K(x, sv) - rho and r = tanh(a f + b).  All classifiers share one
kernel.  The text cannot hold a normalisation, for class names, and for
classifiers without probabilities.
"""

import re
from dataclasses import replace

import numpy as np

from ..control.build import rename
from ..control.parse import closing_quote, parse
from ..control.tree import changed, model_names
from ..control.write import format_tree
from ..core.errors import ControlError, ModelError, warn_user
from ..core.kernels import KERNELS
from ..core.models import MergedModel, Kernel
from ..core.provenance import Provenance
from ..files.number_text import line_numbers, numbers, tokenise
from ..files.opening import read_bytes
from .checks import check_configuration, check_kernel, require_one_kernel
from .configuration import Configuration

_KINDS = {kind.libagf: name for name, kind in KERNELS.items() if kind.in_libsvm}
_SIGN = re.compile(r'["{}]|(?<![^\s{};"])#[^\n]*(?:\s+#[^\n]*){0,1000}')
_KERNEL = re.compile(rf"^[ \t\r]*(?:{'|'.join(_KINDS)})[ \t\r]*$", re.M)
# a control file whose only model has the name SVM goes on with a brace or a position
_START = re.compile(rb"[ \t]*SVM[ \t\r]*\n(?!\s*(?:\{|[0-9]+\s))")
_LARGEST = 2**31
_NAME = re.compile("[A-Za-z/][A-Za-z0-9/._-]*")  # what libAGF is known to read


def is_ascii_model(raw):
    """Return True if the bytes `raw` begin like an ASCII model."""
    return _START.match(raw) is not None


def read_ascii_model(path, raw=None):
    """Read an ASCII model; -> `Configuration`.  raw: its bytes, if read already.

    The sign of a tells the side: `orientation` is 1 for a >= 0, else -1.  `group` is
    0 throughout.  Coefficients of the same support vector in one classifier are
    added.  Raises `ModelError` with the line for whatever is invalid.
    """
    if raw is None:
        raw = read_bytes(path)
    text = _Text(raw, path)
    tree = text.tree()
    kernel = text.kernel()
    sv = text.table()
    parts = [text.classifier(row, len(sv)) for row in tree.rows]
    text.end()
    scales, rho, coef, index = zip(*parts)
    a, b = np.array(scales).T.copy()
    configuration = Configuration(
        tree,
        MergedModel(
            kernels=(kernel,),
            kernel_of=np.zeros(len(parts), dtype=np.int32),
            sv=sv,
            group=np.zeros(len(sv), dtype=np.int32),
            indptr=np.concatenate([[0], np.cumsum([len(c) for c in coef])]).astype(np.int64),
            index=np.concatenate(index),
            coef=np.concatenate(coef),
            rho=np.array(rho),
            a=a,
            b=b,
            orientation=np.where(a < 0, -1, 1).astype(np.int8),
            provenances=(Provenance(),) * len(parts),
        ),
    )
    check_configuration(configuration, lambda message: ModelError(message, file=path))
    return configuration


class _Text:
    """The lines of the file, and how far they have been read."""

    def __init__(self, raw, path):
        self.path = path
        self.text = raw.decode("utf-8", "surrogateescape")
        self.lines = self.text.split("\n")
        self.at = 0
        if self.lines[0].strip() != "SVM":
            raise self.fail("expected the line 'SVM'", 1)
        if self.lines.pop():
            raise self.fail("truncated: the last line is not complete", len(self.lines) + 1)

    def fail(self, message, line=None):
        """A `ModelError` at a line, from 1: by default the one read last."""
        return ModelError(message, file=self.path, line=self.at if line is None else line)

    def line(self, expected):
        if self.at == len(self.lines):
            raise self.fail(f"truncated: expected {expected}, found the end of the file")
        self.at += 1
        return self.lines[self.at - 1].strip()

    def tree(self):
        """The control structure: it ends where its braces are balanced again."""
        start = len(self.lines[0])
        end = _end_of_braces(self.text, start)
        if end < 0:  # the parser says what is wrong
            kernel = _KERNEL.search(self.text, start)
            if kernel:
                end = kernel.start()
            else:
                end = len(self.text)
        try:
            tree = parse(self.text[start:end], self.path)  # from the end of line 1
            tree.require_names()
        except ControlError as error:
            raise ModelError(
                f"{error.message} (in the control structure)",
                file=self.path,
                line=error.line,
                column=error.column,
            ) from error
        for direct in tree.directs.values():
            raise ModelError(
                f"a classifier of code {direct.learner_letter} is no support vector machine",
                file=self.path,
                line=direct.line,
                column=direct.column,
            )
        self.at = self.text.count("\n", 0, end) + 1
        rest = self.text[end:].partition("\n")[0].strip()
        if rest:
            raise self.fail(f"expected the end of the line after '}}', found '{rest[:30]}'")
        return tree

    def kernel(self):
        word = self.line("a kernel")
        if word not in _KINDS:
            raise self.fail(f"expected a kernel, {', '.join(_KINDS)}, found '{word[:20]}'")
        kind = _KINDS[word]
        count = len(KERNELS[kind].parameters)
        kernel = Kernel(kind, *[*self.numbers(count, "parameters"), 0.0, 0.0, 0.0][:3])
        check_kernel(kernel, self.fail)
        return replace(kernel, degree=int(kernel.degree))

    def numbers(self, count, what):
        line = self.line(f"{count} {what}")
        return line_numbers(line, count, what, self.fail).tolist()

    def whole(self, count, what, limit):
        values = self.numbers(count, what)
        for value in values:
            if value != int(value) or not 0 <= value < limit:
                raise self.fail(f"expected {what} from 0 to {limit - 1}, found {value:g}")
        return [int(value) for value in values]

    def table(self):
        s, d = self.whole(2, "sizes", _LARGEST)
        lines = self.lines[self.at : self.at + s]
        if d == 0:
            raise self.fail("expected at least one feature")
        if len(lines) < s:
            raise self.fail(f"expected {s} support vectors, found {len(lines)} lines")
        if s == 0:
            return np.zeros((0, d))
        tokens = tokenise(("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"), 0)
        fits = len(tokens.count) == s and (tokens.count == d).all()
        if fits:
            values = numbers(tokens.text, s * d)
        else:
            values = None
        if values is None:
            for _ in lines:  # to say what is wrong
                self.numbers(d, "values")
            raise self.fail("expected numbers")
        self.at += s
        return values.reshape(s, d) + 0.0

    def classifier(self, row, s):
        """The five lines of a classifier; -> (a, b), rho, coef (l,), index (l,)."""
        name = self.line(f"the classifier '{row.text[:40]}'")
        if name != row.text.strip():
            raise self.fail(
                f"expected the classifier '{row.text[:40]}', as in the control "
                f"structure, found '{name[:40]}'"
            )
        (count,) = self.whole(1, "number of coefficients", _LARGEST)
        scale = self.numbers(2, "values a and b")
        *coef, rho = self.numbers(count + 1, "coefficients and rho")
        index = np.array(self.whole(count, "numbers of support vectors", s), dtype=np.int32)
        coef = np.array(coef)
        distinct, first, inverse = np.unique(index, return_index=True, return_inverse=True)
        if len(distinct) < count:  # in the order in which they first appear
            order = np.argsort(first)
            index, coef = distinct[order], np.bincount(inverse.ravel(), weights=coef)[order]
        return scale, rho, coef, index

    def end(self):
        for number, line in enumerate(self.lines[self.at :], self.at + 1):
            if line.strip():
                raise self.fail(
                    "expected the end of the file after the last classifier, "
                    f"found '{line.strip()[:30]}'",
                    number,
                )


def _end_of_braces(text, at):
    """Behind the brace that closes the first one, quotes and comments passed over; -1 without."""
    depth = 0
    while match := _SIGN.search(text, at):
        sign = match.group()
        at = match.end()
        if sign == '"':
            at = closing_quote(text, match.start()) + 1
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth <= 0:
                return at
        if at == 0:
            break
    return -1


def format_ascii_model(configuration):
    """Yield the lines of a `Configuration` as an ASCII model.

    Numbers have as many digits as it takes to read the same number back.  Where libAGF would
    not read a name, all classifiers get other names, with a warning: in this format they
    are nothing but labels.  Raises `ModelError` for what the format cannot hold: a
    normalisation, several kernels, classifiers without probabilities, no features.
    """
    model = configuration.machines
    tree = configuration.tree
    require_one_kernel(
        configuration,
        "libAGF's ASCII model",
        "print_control -Q convert makes one coding matrix of them, whose classifiers it can hold",
    )
    missing = [row.text for row, a in zip(tree.rows, model.a) if np.isnan(a)]
    if missing:
        raise ModelError(
            "libAGF's ASCII model needs probabilities (probA, probB), which "
            f"{missing[0]} does not hold"
        )
    if model.sv.shape[1] == 0:
        raise ModelError("libAGF's ASCII model needs at least one feature")
    names = [row.text for row in tree.rows]
    foreign = [name for name in names if not _NAME.fullmatch(name)]
    if foreign:
        names = model_names(tree, "m")
        if len(names) == 1:
            new = names[0]
        else:
            new = f"{names[0]} to {names[-1]}"
        warn_user(
            f"libAGF may not read the model name '{foreign[0][:40]}': in its ASCII model "
            f"the classifiers are called {new}"
        )
        tree = rename(tree, names)
    return _lines(model, tree)


def _lines(model, tree):
    yield "SVM\n"
    yield format_tree(changed(tree, names={}, headings={}))
    kernel = model.kernels[0]
    yield KERNELS[kernel.kind].libagf + "\n"
    yield _joined(map(float, kernel.values.values()))[:-1] + "\n"
    sv = np.asarray(model.sv)
    order = np.lexsort(sv.T[::-1])
    rank = np.argsort(order)
    yield f"{len(model.sv)} {model.sv.shape[1]}\n"
    for i in order:
        yield _joined(sv[i].tolist())[1:] + "\n"
    for i, row in enumerate(tree.rows):
        part = slice(model.indptr[i], model.indptr[i + 1])
        yield f"{row.text}\n{part.stop - part.start}\n"
        yield _joined((float(model.a[i]), float(model.b[i]))).strip() + "\n"
        yield _joined([*model.coef[part].tolist(), float(model.rho[i])]) + "\n"
        yield _joined(rank[model.index[part]].tolist())[:-1] + "\n"


def _joined(values):
    """Numbers with a blank before each and one at the end, as short as they read back."""
    return "".join([f" {v!r}".removesuffix(".0") for v in values]) + " "

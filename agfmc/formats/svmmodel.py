"""LIBSVM's model files for two classes, read with every check and written without loss.

Numbers are written so that they read back bit for bit (LIBSVM itself rounds
support vectors to eight digits): equal support vectors are equal in every
file.  A last line that LIBSVM does not read, `# agfmc ...`, says what made
the model.
"""

from __future__ import annotations

from ..errors import ModelError
from ..models import BinaryModel
from .files import read_bytes
from .svmheader import (MARK, Header, format_kernel, read_lines, provenance_after, sparse_text,
                        support_vectors)

__all__ = ["RowText", "format_svm_model", "read_svm_model"]


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


def format_svm_model(model, sv_text=None):
    """The text of a `BinaryModel` as a LIBSVM model file.

    `sv_text`: text of each support vector, where the caller has it already.
    """
    lines = format_kernel(model.svm_type, model.kernel)
    lines += ["nr_class 2", f"total_sv {len(model.sv)}", f"rho {float(model.rho)!r}",
              f"label {model.labels[0]} {model.labels[1]}"]
    if model.platt is not None:
        lines += [f"probA {model.platt[0]!r}", f"probB {model.platt[1]!r}"]
    lines += [f"nr_sv {model.n_sv[0]} {model.n_sv[1]}", "SV"]
    if sv_text is None:
        sv_text = [sparse_text(point) for point in model.sv]
    lines += [f"{c!r} {text} " for c, text in zip(model.coef.tolist(), sv_text)]
    if model.provenance:
        lines.append(f"{MARK}{model.provenance.to_line()}")
    return "\n".join(lines) + "\n"


def read_svm_model(path):
    """Read a LIBSVM model file of two classes; -> `BinaryModel` named `path`.

    Accepts c_svc and nu_svc, the four kernels, labels 0 and 1 or -1 and 1
    (left and right), with or without probabilities.  Raises `ModelError` with
    the line for anything else.
    """
    lines, complete = read_lines(read_bytes(path), path)
    header = Header(lines, path)
    svm_type = header.svm_type()
    if "nr_class" in header and header.values("nr_class", int) != [2]:
        raise header.fail("nr_class",
                          f"expected a model of 2 classes, found {header.text('nr_class')}")
    kernel = header.kernel()
    labels = tuple(header.values("label", int, 2))
    if sorted(labels) == [-1, 1]:
        labels = tuple((label + 1) // 2 for label in labels)
    if sorted(labels) != [0, 1]:
        raise header.fail("label", "expected the labels 0 and 1 (left and right of the partition), "
                                   f"found {header.text('label')}")
    platt = header.platt()
    n_sv = header.counts(2, lines)
    at, total = header.after, sum(n_sv)
    provenance, features = provenance_after(lines, at, total, path)
    coef, sv = support_vectors(lines[at:at + total], at, path, features)
    if not complete:
        raise ModelError("truncated: the last line is not complete", file=path, line=len(lines))
    rho = header.values("rho", float)[0]
    return BinaryModel(path, svm_type, kernel, sv, coef[:, 0].copy(), rho, labels, n_sv,
                       platt and platt[0], provenance, features)

"""Points of a search: a kernel, its parameters and C, and the training options they are."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import UsageError
from ..models import KERNELS
from ..train.options import parse_options

__all__ = ["Point", "fixed_words", "given_text", "number_text", "power"]

_SEARCHED = ("-t", "-d", "-g", "-r", "-c")
_IDLE = ("-b", "-q")  # accepted, and without effect


class Point(NamedTuple):
    """What is tried: log2g is None for a linear kernel, and degree and coef0 are 0 for all but
    polynomials."""

    kernel: str
    degree: int
    coef0: float
    log2g: float | None
    log2c: float

    def text(self, fixed=""):
        """Training options: those that the kernel needs, in one order, then the words `fixed`."""
        words = [] if self.kernel == "rbf" else [f"-t {KERNELS[self.kernel].number}"]
        if self.kernel == "polynomial":
            words.append(f"-d {self.degree}")
        if self.log2g is not None:
            words.append(f"-g {number_text(power(self.log2g))}")
        if self.coef0:
            words.append(f"-r {number_text(self.coef0)}")
        words.append(f"-c {number_text(power(self.log2c))}")
        return " ".join([*words, fixed] if fixed else words)


def power(exponent):
    """2^exponent; to three digits where the exponent is no whole number, for people to read."""
    value = 2.0 ** exponent
    return value if float(exponent).is_integer() else float(f"{value:.3g}")


def number_text(value):
    """The shortest text that is exactly this number."""
    return repr(float(value)).removesuffix(".0")


def fixed_words(base):
    """The words of the options `base` that no search touches and that change anything.

    Raises `UsageError` for options that LIBSVM does not know, for another learner and for a
    nu-SVC.
    """
    options = parse_options(base)
    if options.own_vectors:
        raise UsageError("the search is for LIBSVM's options: learner= may stand in the control "
                         "file, where it is left as it is, and not in those to be searched")
    if options.svm_type != "c_svc":
        raise UsageError("-s 1: a nu-SVC has no C to search: leave it out of the options")
    words = [word for word in base.split() if word != "learner=svm"]
    fixed = []
    while words:
        word = words.pop(0)
        value = [] if word == "-q" else [words.pop(0)]
        if word not in _SEARCHED + _IDLE:
            fixed += [word, *value]
    return " ".join(fixed)


def given_text(base):
    """The options `base` written as those of a `Point` are, with C always among them."""
    options = parse_options(base)
    words = [] if options.kernel == "rbf" else [f"-t {KERNELS[options.kernel].number}"]
    used = KERNELS[options.kernel].parameters
    if "degree" in used:
        words.append(f"-d {options.degree}")
    if "gamma" in used and options.gamma is not None:
        words.append(f"-g {number_text(options.gamma)}")
    if "coef0" in used and options.coef0:
        words.append(f"-r {number_text(options.coef0)}")
    words.append(f"-c {number_text(options.cost)}")
    fixed = fixed_words(base)
    return " ".join([*words, fixed] if fixed else words)

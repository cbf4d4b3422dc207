"""LIBSVM training options as frozen data: parsed once, checked before anything is trained."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import UsageError
from ..models import Kernel

__all__ = ["SvmOptions", "parse_options"]

_KERNELS = ("linear", "polynomial", "rbf", "sigmoid")
_TYPES = ("c_svc", "nu_svc")


@dataclass(frozen=True)
class SvmOptions:
    """What LIBSVM's svm-train can be told about a classifier; its defaults.

    `gamma` None stands for 1 / (number of features); `weights` pairs a side
    (0 left, 1 right) with the factor of its C.
    """

    svm_type: str = "c_svc"
    kernel: str = "rbf"
    degree: int = 3
    gamma: float | None = None
    coef0: float = 0.0
    cost: float = 1.0
    nu: float = 0.5
    cache: float = 100.0
    tolerance: float = 0.001
    shrinking: bool = True
    weights: tuple = ()

    def canonical(self):
        """The settings that decide the result, in one fixed spelling.

        The cache size is left out: it changes the time, not the model.
        """
        words = [f"-s {_TYPES.index(self.svm_type)}", f"-t {_KERNELS.index(self.kernel)}"]
        if self.kernel == "polynomial":
            words.append(f"-d {self.degree}")
        if self.kernel != "linear":
            words.append("-g " + ("1/d" if self.gamma is None else repr(self.gamma)))
        if self.kernel in ("polynomial", "sigmoid"):
            words.append(f"-r {self.coef0!r}")
        words.append(f"-n {self.nu!r}" if self.svm_type == "nu_svc" else f"-c {self.cost!r}")
        words.append(f"-e {self.tolerance!r} -h {int(self.shrinking)}")
        words += [f"-w{side} {factor!r}" for side, factor in self.weights]
        return " ".join(words)

    def kernel_for(self, features):
        """The `Kernel` for data with that many features."""
        gamma = 1.0 / features if self.gamma is None else self.gamma
        if self.kernel == "linear":
            return Kernel("linear")
        if self.kernel == "polynomial":
            return Kernel("polynomial", gamma, self.coef0, self.degree)
        if self.kernel == "sigmoid":
            return Kernel("sigmoid", gamma, self.coef0)
        return Kernel("rbf", gamma)


def parse_options(text, *, file=None, line=None, column=None):
    """Parse `text`, LIBSVM's own letters, into `SvmOptions`.

    `-b` and `-q` are accepted and change nothing: probabilities are always
    fitted and training is always quiet.  Raises `UsageError`, with the place
    given, for an unknown option and for a value out of its range.
    """

    def fail(message):
        return UsageError(message, file=file, line=line, column=column)

    def number(option, word, low, high, *, whole=False, open_low=False):
        try:
            value = int(word) if whole else float(word)
        except ValueError:
            kind = "a whole number" if whole else "a number"
            raise fail(f"option {option}: expected {kind}, found '{word}'") from None
        if not low <= value <= high or open_low and value == low or not math.isfinite(value):
            raise fail(f"option {option}: {word} is out of range: expected "
                       + _range(low, high, open_low))
        return value

    values = {}
    weights = {}
    words = text.split()
    position = 0
    while position < len(words):
        option = words[position]
        position += 1
        if option == "-q":
            continue
        if option not in _KNOWN and not option.startswith("-w"):
            raise fail(f"unknown training option '{option}': expected one of "
                       + " ".join(_KNOWN) + " -w0 -w1 -q")
        if position == len(words):
            raise fail(f"option {option}: expected a value after it")
        word = words[position]
        position += 1
        if option in _KNOWN:
            key, low, high, whole, open_low = _KNOWN[option]
            value = number(option, word, low, high, whole=whole, open_low=open_low)
            if key is not None:
                values[key] = value
        elif option in ("-w0", "-w1"):
            weights[int(option[2:])] = number(option, word, 0, math.inf, open_low=True)
        else:
            raise fail(f"option {option}: weights are for the sides of the partition, "
                       "-w0 (left) and -w1 (right)")
    if "svm_type" in values:
        values["svm_type"] = _TYPES[values["svm_type"]]
    if "kernel" in values:
        values["kernel"] = _KERNELS[values["kernel"]]
    if values.get("gamma") == 0:
        values["gamma"] = None  # as svm-train takes it
    if "shrinking" in values:
        values["shrinking"] = bool(values["shrinking"])
    return SvmOptions(weights=tuple(sorted(weights.items())), **values)


# option: (field, smallest, largest, whole number, smallest excluded)
_KNOWN = {
    "-s": ("svm_type", 0, 1, True, False),
    "-t": ("kernel", 0, 3, True, False),
    "-d": ("degree", 0, 100, True, False),
    "-g": ("gamma", 0, math.inf, False, False),
    "-r": ("coef0", -math.inf, math.inf, False, False),
    "-c": ("cost", 0, math.inf, False, True),
    "-n": ("nu", 0, 1, False, True),
    "-m": ("cache", 0, 1e6, False, True),
    "-e": ("tolerance", 0, math.inf, False, True),
    "-h": ("shrinking", 0, 1, True, False),
    "-b": (None, 0, 1, True, False),
}


def _range(low, high, open_low):
    if high == math.inf:
        if low == -math.inf:
            return "a finite number"
        return f"more than {low}" if open_low else f"{low} or more"
    return f"{'more than ' if open_low else ''}{low} to {high:g}"

"""The learners by name, and the training options of each as frozen data.

A learner is one module of this room with a function

    parse(text, **place) -> options

and its line in `LEARNERS`.  The options are frozen and hashable, checked before anything
is trained, and all that the rest of the suite knows of the learner:

    canonical()            the settings that decide the result, in one fixed spelling
    made_by()              the library that trains and its version, or ""; `UsageError`
                           where it is not installed
    svm_type               what the model file calls it
    kernel_for(features)   the `Kernel` of its models
    own_vectors            True where a model is made of vectors of its own, and not of
                           points of the data
    own_probabilities      True where P(first label) = 1 / (1 + exp(-f)) as it stands:
                           no folds are needed to fit probabilities
    no_loo                 why decision values cannot come from leaving out single samples
                           by a formula, or ""
    packing                problems whose options have the same key share their points
    pack(x, rows=None)     the points x (n, d), an array or `SparsePoints`, as `solve` takes
                           them, for this key; of use for those rows alone, if given
    solve(packed, rows, side)   a `Solution`

A partition chooses with the first word of its options, `learner=NAME`; without one it
is trained by LIBSVM.
"""

from __future__ import annotations

import importlib

from ..errors import UsageError
from .libsvm_options import SvmOptions

__all__ = ["LEARNERS", "SvmOptions", "parse_options"]

LEARNERS = {"svm": "libsvm_options", "linear": "liblinear", "logistic": "logistic"}
_WORD = "learner="


def parse_options(text, *, file=None, line=None, column=None):
    """The options in `text`, of the learner that its first word names.

    Raises `UsageError`, with the place given, for a learner that is not known, an option
    that it does not know and a value out of its range.
    """
    place = {"file": file, "line": line, "column": column}
    words = text.split()
    name = "svm"
    if words and words[0].startswith(_WORD):
        name = words.pop(0)[len(_WORD):]
    if any(word.startswith(_WORD) for word in words):
        raise UsageError(f"{_WORD}NAME is for the first word of training options", **place)
    if name not in LEARNERS:
        raise UsageError(f"there is no learner '{name}': expected one of " + " ".join(LEARNERS),
                         **place)
    return importlib.import_module(f".{LEARNERS[name]}", __package__).parse(" ".join(words),
                                                                             **place)

"""Parameters of an estimator in the terms of the package: trees, training options, seeds."""

from __future__ import annotations

import os
from contextlib import contextmanager
from numbers import Integral

from sklearn.utils import check_random_state

from ..control.parse import parse
from ..control.tree import Tree
from ..errors import AgfmcError
from ..training.design import design, design_for
from ..executors.threads import available_cores
from ..formats.controlfile import read_control
from ..models import KERNELS

__all__ = ["control_tree", "options_of", "refused_as_value_error", "seed_of", "sketch",
           "workers_of"]


@contextmanager
def refused_as_value_error():
    """What the suite refuses is a ValueError, as users of scikit-learn expect."""
    try:
        yield
    except AgfmcError as error:
        raise ValueError(str(error)) from error


def control_tree(control, x, y, labelled, seed):
    """The training control tree that `control` stands for.

    x (n, d), y (n,) control labels: of use to schemes that are made from data.
    """
    tree = _given(control)
    if tree is not None:
        return tree
    return design_for(control, x, y, sorted(labelled.labels.tolist()), labelled.names, seed=seed)


def sketch(control):
    """A tree of the kind that `control` stands for, as far as it is known before any data."""
    tree = _given(control)
    if tree is not None:
        return tree
    from ..coding.schemes import find_scheme

    name = find_scheme(control).name
    stand_ins = {"empirical": "tree", "adjacent-ordered": "adjacent"}
    return design(stand_ins.get(name, name), range(4), rows=3)


def _given(control):
    """The tree that `control` is, names or spells out; None for a scheme."""
    if isinstance(control, Tree):
        return control
    if isinstance(control, os.PathLike):
        return read_control(os.fspath(control))
    if not isinstance(control, str):
        raise TypeError("control must be the name of a scheme, the text of a control file, a "
                        f"pathlib.Path, or a Tree, not {control!r}")
    return parse(control) if "{" in control else None


# Parameters of the learners and their letters in training options.
_LETTERS = {"kernel": "-t", "degree": "-d", "gamma": "-g", "coef0": "-r", "C": "-c", "tol": "-e"}


def options_of(estimator):
    """Training options as text: parameters that are given take the place of their letters."""
    words = [] if estimator.learner is None else [f"learner={estimator.learner}"]
    words.append(estimator.options)
    for name, letter in _LETTERS.items():
        value = getattr(estimator, name)
        if value is None:
            continue
        if name == "kernel":
            if value not in KERNELS:
                raise ValueError(f"kernel must be one of {', '.join(KERNELS)}, not {value!r}")
            text = str(KERNELS[value].number)
        else:
            try:
                text = repr(int(value) if name == "degree" else float(value))
            except (TypeError, ValueError):
                raise ValueError(f"{name} must be a number or None, not {value!r}") from None
        words.append(f"{letter} {text}")
    return " ".join(words).strip()


def seed_of(random_state):
    """The seed of a run: the number itself, else one drawn as scikit-learn would."""
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise ValueError(f"random_state must be 0 or more, not {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def workers_of(n_jobs):
    """Threads for n_jobs as joblib counts: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning: -1 stands for all cores")
    return int(n_jobs) if n_jobs > 0 else max(1, available_cores() + 1 + int(n_jobs))

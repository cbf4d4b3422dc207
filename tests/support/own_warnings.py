"""Warnings of the suite: those of others, as of a file that another test left open, come at any time."""

import warnings
from contextlib import contextmanager

from agfmc.core.errors import AgfmcWarning


@contextmanager
def own_warnings():
    """A list of the suite's warnings in the block, as of `warnings.catch_warnings(record=True)`."""
    caught = []
    with warnings.catch_warnings():
        show_others = warnings.showwarning

        def show(message, category, *place, **more):
            if issubclass(category, AgfmcWarning):
                caught.append(warnings.WarningMessage(message, category, *place, **more))
            else:
                show_others(message, category, *place, **more)

        warnings.simplefilter("always", AgfmcWarning)
        warnings.showwarning = show
        yield caught


def texts_of(caught):
    """The texts of warnings."""
    return [str(warning.message) for warning in caught]


@contextmanager
def no_own_warnings():
    """A warning of the suite, or of NumPy about its arithmetic, is an error in the block."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", AgfmcWarning)
        warnings.filterwarnings("error", "", RuntimeWarning, r"agfmc\.")
        yield

"""A trained configuration: from control file and model files, or from one `.mbm`."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

import numpy as np

from .._version import __version__
from ..collate.merge import collate
from ..control.parse import parse
from ..control.write import format_tree
from ..errors import AgfmcError, AgfmcWarning, ControlError, ModelError
from ..formats.controlfile import read_control
from ..formats.files import read_bytes
from ..formats.store import MAGIC, read_store, write_store
from ..formats.svmmodel import read_svm_model

__all__ = ["Configuration", "load", "merge", "save"]


class Configuration:
    """A `CollatedModel` with its control tree: what classification starts from.

    model: `CollatedModel`;  tree: its `Tree`;  made_by: versions, or {}.
    """

    def __init__(self, model, tree, made_by=None):
        if len(tree.rows) != len(model.rho):
            raise ModelError(f"the control tree has {len(tree.rows)} classifiers, "
                             f"the model {len(model.rho)}")
        self.model = model
        self.tree = tree
        self.made_by = made_by or {}


def load(path, normalisation=None):
    """Read a configuration from a `.mbm` file, or a control file and its models.

    The first bytes tell which it is.  normalisation: to be applied to raw
    points; an error beside a `.mbm` that holds its own.
    """
    raw = read_bytes(path)  # once: it may be a pipe
    if raw.startswith(MAGIC):
        model, made_by = read_store(path, raw)
        if normalisation is not None:
            if model.normalisation is not None:
                raise ModelError("holds its own normalisation: leave -a out", file=path)
            model = _normalised(model, normalisation, path)
        try:
            tree = parse(model.control, path)
            tree.require_names()
            return Configuration(model, tree, made_by)
        except ControlError as error:
            raise ModelError(f"damaged: {error.message} in its control text",
                             file=path) from error
        except ModelError as error:
            raise ModelError(error.message, file=path) from error
    configuration, _ = merge(read_control(path, raw), normalisation)
    return configuration


def merge(tree, normalisation=None, names=None):
    """Read the models that a classification tree names and merge them.

    -> (`Configuration`, number of support vectors before).  names: {label:
    name} in place of those in the control file.
    """
    tree.require_names()
    models = [_read(row, tree.source) for row in tree.rows]
    names = tree.names if names is None else \
        {label: names[label] for label in tree.labels if label in names}
    tree = replace(tree, names=names)
    model = collate(models, tree.sides(), tree.classes, control=format_tree(tree), names=names)
    if normalisation is not None:
        model = _normalised(model, normalisation, tree.source)
    missing = [m.name for m in models if m.platt is None]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        warnings.warn(f"{missing[0]}{more} holds no probabilities (probA, probB): only votes "
                      "can be used", AgfmcWarning, stacklevel=2)
    return Configuration(model, tree), sum(len(m.sv) for m in models)


def _read(row, source):
    try:
        return read_svm_model(row.text)
    except AgfmcError as error:
        if error.file == row.text and error.line is None and "cannot read" in error.message:
            raise ModelError(f"model '{row.text}': {error.message}", file=source,
                             line=row.line, column=row.column) from error
        raise


def _normalised(model, normalisation, source):
    """`model` with a normalisation, whose output has the width of the support vectors."""
    for settings in model.settings:
        told = re.search(r"; normalised ([0-9a-f]{16})(?:;|$)", settings)
        if told and told.group(1) != normalisation.digest():
            raise ModelError("the models were trained with another normalisation than the one "
                             "given", file=source)
    width = normalisation.matrix.shape[1]
    if width < model.sv.shape[1] or (width > model.sv.shape[1] and not model.any_width):
        raise ModelError(f"the normalisation gives {width} features, "
                         f"the models need {model.sv.shape[1]}", file=source)
    sv = np.zeros((len(model.sv), width))
    sv[:, :model.sv.shape[1]] = model.sv
    return replace(model, normalisation=normalisation, sv=sv, any_width=False)


def save(path, configuration):
    """Write a configuration as a `.mbm` file, whole or not at all."""
    write_store(path, configuration.model, {"agfmc": __version__})

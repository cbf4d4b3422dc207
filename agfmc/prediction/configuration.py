"""A trained configuration: from control file and model files, or from one model file."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import replace

import numpy as np

from .._version import __version__
from ..control.parse import parse
from ..control.tree import changed
from ..control.write import format_tree
from ..errors import (AgfmcError, AgfmcWarning, ControlError, DataError, ModelError,
                      Place, UsageError)
from ..formats.consistency import check_control
from ..formats.controlfile import elsewhere, model_file, read_control, require_regular
from ..formats.atomic import read_bytes, replacing
from ..formats.inputs import refuse_beyond, regular_files, within_memory
from ..formats.mbm import MAGIC, read_store, write_store
from ..formats.libsvm_model import refuse_huge
from .run_consistency import all_provenances, check_one_run

__all__ = ["Configuration", "export", "gather", "load", "merge", "read_directs",
           "renamed", "save"]


class Configuration:
    """A `CollatedModel` with its control tree: what classification starts from.

    model: `CollatedModel`, or None where other programs stand for the binary
    classifiers;  tree: the control tree;  made_by: versions, or {};  direct: {node
    number: object with probabilities(x)} of the direct classifiers.
    """

    def __init__(self, model, tree, made_by=None, direct=None):
        if model is not None and len(tree.rows) != len(model.rho):
            raise ModelError(f"the control tree has {len(tree.rows)} classifiers, "
                             f"the model {len(model.rho)}")
        self.model = model
        self.tree = tree
        self.made_by = made_by or {}
        self.direct = direct or {}

    def __reduce__(self):
        return Configuration, (self.model, self.tree, self.made_by, self.direct)


def load(path, normalisation=None, models_in=None, **more):
    """The `Configuration` in a file of any kind: `gather` without the count."""
    configuration, _ = gather(path, normalisation, models_in, **more)
    return configuration


def gather(path, normalisation=None, models_in=None, *, unnormalised=False, commands=None,
           names=None):
    """Read a configuration: a control file and its models, or a file that holds everything.

    -> (`Configuration`, number of support vectors in the files of its binary models, or
    None where there are no such files).  The first bytes tell what `path` is: a
    `.mbm` file, libAGF's ASCII model, a LIBSVM model of any number of classes, else a
    control file.  normalisation: to be applied to raw points; an error beside a
    `.mbm` that holds its own.  models_in: folder of the models that a control file
    names.  unnormalised: the normalisation is for the support vectors too.
    commands: a function that makes a `Predictor` of the text of a command, for
    direct classifiers of code G; an error without it.  names: for labels of a LIBSVM model.
    """
    raw = read_bytes(path, endings=(".mbm", ".mbc", ".vec"))  # once: it may be a pipe
    if not _whole(raw):
        return merge(read_control(path, raw), normalisation, models_in,
                     unnormalised=unnormalised, commands=commands)
    if models_in is not None:
        raise UsageError(f"-y is for the models of a control file: {path} holds its own")
    if raw.startswith(MAGIC):
        configuration = _stored(path, raw)
    elif not raw.startswith(b"svm_type"):
        from ..collate.merge import regroup
        from ..formats.libagf_model import read_ascii_model

        model = read_ascii_model(path, raw)
        tree = parse(model.control, path)
        configuration = Configuration(regroup(model, tree.sides(), tree.classes), tree)
    else:
        from ..formats.libsvm_model import read_svm_multiclass

        tree, models = read_svm_multiclass(path, raw, names)
        _warn_of_votes([path] if models[0].platt is None else [])
        configuration = Configuration(_collated(tree, models), tree)
    configuration.model = _normalised(configuration.model, normalisation, path, unnormalised)
    return configuration, None


def _whole(raw):
    """True where a file that begins with the bytes `raw` holds its models itself."""
    if raw.startswith(MAGIC) or re.match(rb"svm_type\s", raw):
        return True
    from ..formats.libagf_model import is_ascii_model

    return is_ascii_model(raw)


def _stored(path, raw):
    """The configuration in a `.mbm` file."""
    model, made_by = read_store(path, raw)
    try:
        tree = parse(model.control, path)
        tree.require_names()
        configuration = Configuration(model, tree, made_by, _stored_directs(tree, model))
        check_control(model, tree, ModelError)
        return configuration
    except ControlError as error:
        raise ModelError(f"damaged: {error.message} in its control text", file=path) from error
    except ModelError as error:
        raise ModelError(error.message, file=path) from error


def merge(tree, normalisation=None, models_in=None, *, unnormalised=False, commands=None):
    """Read the models that a classification tree names and merge them.

    -> (`Configuration`, number of support vectors before).  Arguments as for
    `gather`; absolute names do not depend on `models_in`.
    """
    tree.require_names()
    models = list(within_memory((_read(row, tree.source, models_in) for row in tree.rows),
                                tree.source, lambda model: model.sv.nbytes,
                                "the support vectors of all its models"))
    direct, asked = read_directs(tree, models_in, commands)
    check_one_run(tree, models, direct)
    model = _normalised(_collated(tree, models, direct), normalisation, tree.source, unnormalised)
    _warn_of_votes([m.name for m in models if m.platt is None])
    return Configuration(model, tree, None, asked), sum(len(m.sv) for m in models)


def read_directs(tree, models_in=None, commands=None):
    """The direct classifiers of a classification tree; -> (`DirectModel`s, {node: answering}).

    Those of code G have no `DirectModel`.  Raises `ModelError` for them without
    `commands`.
    """
    from ..learners.protocol import node_classifier, read_node
    from .external import ExternalDirect

    models, asked, size = [], {}, 0
    for number, direct in tree.directs.items():
        name = model_file(direct.name, models_in)
        branches = len(tree.nodes[number].children)
        place = tree.place(direct)
        if direct.learner.is_program:
            for end in ("", ".vec", ".cls"):
                require_regular(name + end)
            if commands is None:
                raise place.error(ModelError, f"the command '{direct.options}' would be run here: "
                                  "allow it with --allow-commands")
            asked[number] = ExternalDirect(name, branches, commands(direct.options))
            continue
        try:
            with regular_files():
                models.append(read_node(direct, branches, name))
            if models[-1].points is not None:  # in float64, as the search has them
                size += 8 * models[-1].points.size
                refuse_beyond(size, "the points of all its direct classifiers", tree.source)
            asked[number] = node_classifier(models[-1])
        except UsageError as error:  # in the options
            raise place.error(ModelError, error.message) from error
        except DataError as error:
            missing = error.file
            if missing is None or os.path.exists(missing):
                raise
            where = elsewhere(direct.name + missing[len(name):], missing, tree.source)
            raise place.error(ModelError, f"model '{missing}': {error.message}{where}") from error
        except MemoryError as error:
            raise ModelError("there is not enough memory for its points", file=name) from error
    return models, asked


def _stored_directs(tree, model):
    """{node: answering} of a model that holds its direct classifiers."""
    nodes = tree.directs
    if not nodes and not model.direct:
        return {}
    from ..learners.protocol import node_classifier

    if len(nodes) != len(model.direct) or not all(
            _is_told(told, direct, len(tree.nodes[number].children))
            for (number, told), direct in zip(nodes.items(), model.direct)):
        raise ModelError("the direct classifiers are not those of the control text")
    return {number: node_classifier(direct) for number, direct in zip(nodes, model.direct)}


def _is_told(told, direct, branches):
    """Whether a `DirectModel` is the one that a control text tells of at a node."""
    from ..learners.protocol import learner_class

    if (told.code, branches) != (direct.code, direct.branches):
        return False
    try:
        return direct.points is None or learner_class(told.code).parse(told.options).k == direct.k
    except UsageError:
        return False


def renamed(configuration, names):
    """`configuration` with other class names, {label: name}."""
    tree = configuration.tree
    tree = changed(tree, names={label: names[label] for label in tree.labels if label in names})
    model = replace(configuration.model, control=format_tree(tree), names=tree.names)
    return Configuration(model, tree, configuration.made_by, configuration.direct)


def _collated(tree, models, direct=()):
    from ..collate.merge import collate

    # models that state no width are widened to the widest
    widths = [m.sv.shape[1] for m in models] + [d.features for d in direct]
    refuse_huge(sum(len(m.sv) for m in models), max(widths, default=0), tree.source)
    return collate(models, tree.sides(), tree.classes, control=format_tree(tree), names=tree.names,
                   direct=direct)


def _warn_of_votes(names):
    """A warning where the models of these names hold no probabilities."""
    if names:
        more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        warnings.warn(f"{names[0]}{more} holds no probabilities (probA, probB): only votes "
                      "can be used (svm-train -b 1 fits them)", AgfmcWarning, stacklevel=3)


def _read(row, source, models_in):
    from ..formats.libsvm_model import read_svm_model

    path = model_file(row.text, models_in)
    try:
        with regular_files():
            return read_svm_model(path)
    except AgfmcError as error:
        if error.file == path and error.line is None and "cannot read" in error.message:
            where = "" if os.path.exists(path) else elsewhere(row.text, path, source)
            raise Place(source, row.line, row.column).error(
                ModelError, f"model '{path}': {error.message}{where}") from error
        raise


def _normalised(model, normalisation, source, unnormalised=False):
    """`model` with a normalisation, whose output has the width of the support vectors.

    unnormalised: the support vectors have not been through it; models that
    say so need no telling.
    """
    provenances = all_provenances(model)
    if model.normalisation is None and any(one.raw_vectors for one in provenances):
        if normalisation is None:
            raise ModelError("the support vectors are not normalised, and the points were for the "
                             "training: give the normalisation with -a", file=source)
        unnormalised = True
    if normalisation is None:
        return model
    if model.normalisation is not None:
        raise ModelError("holds its own normalisation: leave -a out", file=source)
    if any(one.normalisation not in (None, normalisation.digest()) for one in provenances):
        raise ModelError("the models were trained with another normalisation than the one "
                         "given", file=source)
    if unnormalised and model.direct:
        raise ModelError("-u is for support vectors: direct classifiers have none", file=source)
    width = normalisation.matrix.shape[0 if unnormalised else 1]
    if width < model.sv.shape[1] or (width > model.sv.shape[1] and not model.any_width):
        raise ModelError(f"the normalisation {'takes' if unnormalised else 'gives'} {width} "
                         f"features, the models need {model.sv.shape[1]}", file=source)
    refuse_huge(len(model.sv), max(width, normalisation.matrix.shape[1]), source)
    sv = np.zeros((len(model.sv), width))
    sv[:, :model.sv.shape[1]] = model.sv
    if unnormalised:
        sv = normalisation.apply(sv)
    return replace(model, normalisation=normalisation, sv=sv, any_width=False)


def save(path, configuration):
    """Write a configuration as a `.mbm` file, whole or not at all.

    Raises `ModelError` for commands: a model file must not make one run.
    """
    _refuse_directs(configuration, programs_only=True)
    write_store(path, configuration.model, {"agfmc": __version__})


def export(path, configuration, form):
    """Write a configuration for other programs, whole or not at all.

    form: "ascii" for libAGF's ASCII model, "svm" for one LIBSVM model of all
    classes.  Raises `ModelError` for what the format cannot hold.
    """
    _refuse_directs(configuration)
    from ..formats.libagf_model import format_ascii_model
    from ..formats.libsvm_model import format_svm_multiclass

    forms = {"ascii": format_ascii_model, "svm": format_svm_multiclass}
    lines = forms[form](configuration.model, configuration.tree)
    with replacing(path) as file:
        file.writelines(lines)


def _refuse_directs(configuration, programs_only=False):
    for direct in configuration.tree.directs.values():
        if direct.learner.is_program or not programs_only:
            raise configuration.tree.place(direct).error(
                ModelError, f"a classifier of code {direct.code} has no place in this format")

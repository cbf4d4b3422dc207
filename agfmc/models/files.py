"""Trained configurations on disk: read, merged, checked for models of other runs, written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from ..calibration.file import calibration_of, read_calibration
from ..calibration.priors import class_counts
from ..control.parse import MAX_TEXT
from ..control.tree import Row, Tree
from ..core.errors import AgfmcError, and_more, DataError, ModelError, Place, UsageError, warn_user
from ..core.memory import refuse_beyond, within_memory
from ..core.kernels import KERNELS
from ..core.models import BinaryModel, FunctionModel
from ..core.provenance import classes_text
from ..core.version import __version__
from ..data.libagf import read_std
from ..data.normalisation import Normalisation
from ..decode.methods import is_learned
from ..files.atomic import checked, replacing
from ..files.opening import read_bytes, regular_files
from ..learners.programs import ExternalClassifier
from ..learners.protocol import learner_class, read_node
from ..tables.recipe_file import recipe_beside, recipe_if_there
from .checks import check_configuration, check_recipe
from .configuration import Configuration, ModelFiles
from .control_files import elsewhere, model_file, read_control, require_regular
from .libagf import format_ascii_model, is_ascii_model, read_ascii_model
from .libsvm import (
    format_svm_multiclass,
    held_out_values,
    read_svm_model,
    read_svm_multiclass,
    refuse_huge,
)
from .mbm import MAGIC, read_store, write_store
from .merge import collate, regroup


@dataclass(frozen=True)
class ModelSource:
    """A trained configuration on disk, and how it is to be read.

    Attributes
    ----------
    path : a control file, whose models are read and merged, or one file that holds everything:
        `.mbm`, libAGF's ASCII model, a LIBSVM model of any number of classes
    normalisation : file applied to raw points, in place of the one that a control file names
    models_in : folder of the models that a control file names
    unnormalised : the normalisation is for the support vectors too
    names : names of the labels of a LIBSVM model, entry i names label i
    foreign : the binary models of the control file are for another program, and not read
    calibration : file of the calibration, in place of CONTROL.cal or of the one in a .mbm
    uncalibrated : without any calibration
    named_decoder : the decoder that the control file names will be used: a learned one is read with
        its calibration in any case
    named : a normalisation that the control file names is read
    """

    path: str
    normalisation: Normalisation | None = None
    models_in: str | None = None
    unnormalised: bool = False
    names: Sequence[str] | None = None
    foreign: bool = False
    calibration: str | None = None
    uncalibrated: bool = False
    named_decoder: bool = False
    named: bool = True

    def __post_init__(self):
        if self.unnormalised and self.foreign:
            raise UsageError(
                "`unnormalised` is for support vector machines: it cannot be combined with `foreign`"
            )
        if self.unnormalised and self.normalisation is None:
            raise UsageError("`unnormalised` needs `normalisation`")
        if self.calibration is not None and (self.uncalibrated or self.foreign):
            raise UsageError(
                "`calibration` cannot be combined with "
                + (
                    "`uncalibrated`"
                    if self.uncalibrated
                    else "`foreign`: the answers of another program are not calibrated"
                )
            )


def load(
    path: str,
    normalisation: Normalisation | None = None,
    models_in: str | None = None,
    unnormalised: bool = False,
    *,
    calibration: str | None = None,
    uncalibrated: bool = False,
) -> Configuration:
    """Read a trained configuration from a control file or a model file.

    Parameters
    ----------
    path : str or path-like
        A control file for classification, a `.mbm` file, or a model of libAGF or LIBSVM.
    normalisation : Normalisation, default=None
        Normalisation of the points; None: the one in the model file.
    models_in : str, default=None
        Folder of the binary models that a control file names.
    unnormalised : bool, default=False
        The support vectors of the model files are not normalised yet.
    calibration : str or path-like, default=None
        Calibration file in place of the one that belongs to the model.
    uncalibrated : bool, default=False
        Do not read a calibration.

    Returns
    -------
    Configuration
        The trained configuration.

    Raises
    ------
    AgfmcError
        If a file cannot be read, or files do not fit together.
    """
    return load_configuration(
        ModelSource(
            os.fspath(path),
            normalisation,
            models_in,
            unnormalised,
            uncalibrated=uncalibrated,
            calibration=None if calibration is None else os.fspath(calibration),
        )
    )


def load_configuration(source: ModelSource) -> Configuration:
    """Read a configuration: a control file and its models, or a file that holds everything.

    The first bytes tell which it is.  Raises `AgfmcError` for what cannot be read, and for
    parts that do not fit together.
    """
    path = source.path
    if source.foreign:
        return _with_foreign_models(source)
    raw, kind = _read(path)
    if kind == "control":
        tree = read_control(path, raw)
        configuration = _calibrated(
            merged(tree, _for_tree(source, tree)), source, calibration_of(path)
        )
        if configuration.calibration is None and not source.uncalibrated and path != "-":
            _warn_of_no_calibration(configuration.tree, source)
        return _with_recipe(configuration, path)
    if source.models_in is not None:
        raise UsageError(f"`models_in` is for the models of a control file: {path} holds its own")
    if kind == "svm":
        tree, models = read_svm_multiclass(path, raw, source.names)
        _warn_of_votes([path] if models[0].platt is None else [])
        configuration = _collated(tree, models, {})
    elif kind == "mbm":
        configuration = read_store(path, raw)
        _check_neighbours(configuration, path)
    else:
        configuration = read_ascii_model(path, raw)
        tree = configuration.tree
        configuration = replace(
            configuration, machines=regroup(configuration.machines, tree.sides(), tree.classes)
        )
    source = _for_tree(source, configuration.tree)
    return _calibrated(_normalised(configuration, source, path), source)


def _for_tree(source, tree):
    """`source` with the normalisation that a control tree names, unless it has another one.

    Raises `ModelError` where that is missing, and where the tree says that there is none.
    """
    heading = tree.headings.get("normalisation")
    path = tree.norm_file
    given = source.normalisation is not None
    if heading is None or (not given if path is None else given or not source.named):
        return source
    if path is not None and os.path.exists(path):
        with regular_files():
            return replace(source, normalisation=read_std(path))
    raise tree.place(heading).error(
        ModelError,
        f"normalisation '{path}': there is no such file; `normalisation=FILE` names another place"
        if path
        else "the models were trained on the points as they were: leave `normalisation` out (if "
        "these had been normalised with that file before, delete this line)",
    )


def _warn_of_no_calibration(tree, source):
    """Warn where the first model has decision values for a calibration, which nobody has fitted."""
    if not tree.rows:
        return
    name = model_file(tree.rows[0].text, source.models_in)
    with regular_files():
        if held_out_values(read_bytes(name), name) is not None:
            warn_user(
                f"{source.path}: not calibrated, there is no "
                f"{calibration_of(source.path)}: the command that trained its models, "
                "run again without `dry_run`, only adds it"
            )


def _with_recipe(configuration, control):
    path = recipe_beside(control)
    recipe = None
    if control != "-":
        with regular_files():
            recipe = recipe_if_there(path)
    if recipe is None:
        return configuration
    configuration = replace(configuration, recipe=recipe)
    check_recipe(
        configuration,
        lambda message: ModelError(
            f"belongs to other classifiers than those of {control}: {message}; multi_borders writes "
            "both anew",
            file=path,
        ),
    )
    return configuration


def read_tree(path: str) -> Tree:
    """The control tree in a control file, whose models are not read, or in a model file."""
    raw, kind = _read(path)
    if kind == "svm":
        return read_svm_multiclass(path, raw)[0]
    if kind == "control":
        return read_control(path, raw)
    return (read_store if kind == "mbm" else read_ascii_model)(path, raw).tree


def _read(path):
    """(the bytes of a file, which is read once, its kind); the size of models is not bounded."""
    raw = read_bytes(
        path,
        most=lambda head: MAX_TEXT if _kind(head) == "control" else None,
        expected="a control file or a model",
    )
    return raw, _kind(raw)


def _kind(head):
    if re.match(rb"svm_type\s", head):
        return "svm"
    if head.startswith(MAGIC):
        return "mbm"
    if is_ascii_model(head):
        return "ascii"
    return "control"


def _calibrated(configuration, source, beside="-"):
    """`configuration` with the calibration that its source names, or the file `beside`, if any.

    Raises `ModelError` for that of other classifiers.
    """
    heading = None
    if source.named_decoder:
        heading = configuration.tree.headings.get("decoder")
    if source.uncalibrated and (heading is None or not is_learned(heading.text)):
        return replace(configuration, calibration=None)
    if source.calibration is not None:
        path = source.calibration
        calibration = read_calibration(source.calibration)
    elif beside != "-" and os.path.lexists(beside):
        with regular_files():
            path = beside
            calibration = read_calibration(beside)
    else:
        return configuration
    if not configuration.fits(calibration):
        raise ModelError(
            f"is the calibration of other classifiers than those of {source.path}: "
            "`uncalibrated` does without, multi_borders or calibrate_m makes it anew",
            file=path,
        )
    return replace(configuration, calibration=calibration)


def merged(
    tree: Tree, source: ModelSource, known: Mapping[str, BinaryModel] = MappingProxyType({})
) -> Configuration:
    """The configuration of a control tree, of the source's path: its models, merged.

    `known` is {name: model} of those that are not read.
    """
    tree.require_names()
    tables: dict[bytes, np.ndarray] = {}
    met: dict[int, BinaryModel] = {}

    def size_of(model):
        """Bytes of its support vectors; 0 where a model before it has the same array."""
        if met.setdefault(id(model.sv), model) is model:
            return model.sv.nbytes
        return 0

    rows: dict[str, Row] = {}
    for row in tree.rows:
        rows.setdefault(row.text, row)  # members of an ensemble may share a model
    read = dict(
        zip(
            rows,
            within_memory(
                (
                    known.get(name) or _read_model(row, tree.source, source.models_in, tables)
                    for name, row in rows.items()
                ),
                tree.source,
                size_of,
                "the support vectors of all its models",
            ),
        )
    )
    models = [read[row.text] for row in tree.rows]
    classifiers = _read_node_classifiers(tree, source.models_in)
    check_one_run(tree, models, classifiers)
    configuration = _normalised(_collated(tree, models, classifiers), source, tree.source)
    _warn_of_votes([m.name for m in models if m.platt is None])
    return replace(configuration, merged_from=sum(len(m.sv) for m in read.values()))


def _with_foreign_models(source):
    tree = read_control(source.path)
    tree.require_names()
    source = _for_tree(source, tree)
    classifiers = _read_node_classifiers(tree, source.models_in)
    paths = [model_file(row.text, source.models_in) for row in tree.rows]
    for path, row in zip(paths, tree.rows):
        require_regular(path)
        if not os.path.exists(path):
            raise tree.place(row).error(
                DataError,
                f"model '{path}': there is no such file" + elsewhere(row.text, path, tree.source),
            )
    return Configuration(tree, ModelFiles(tuple(paths)), classifiers, source.normalisation)


def _read_node_classifiers(tree, models_in):
    classifiers = {}
    size = 0
    for number, direct in tree.directs.items():
        name = model_file(direct.name, models_in)
        branches = len(tree.nodes[number].children)
        place = tree.place(direct)
        if direct.learner.is_program:
            for end in ("", ".vec", ".cls"):
                require_regular(name + end)
            classifiers[number] = ExternalClassifier(name, branches, direct.options, place)
            continue
        try:
            with regular_files():
                model = classifiers[number] = read_node(direct, branches, name)
            if model.points is not None:  # in float64, as the search has them
                size += 8 * model.points.size
                refuse_beyond(size, "the points of all its multi-class nodes", tree.source)
        except UsageError as error:  # in the options
            raise place.error(ModelError, error.message) from error
        except DataError as error:
            missing = error.file
            if missing is None or os.path.exists(missing):
                raise
            where = elsewhere(direct.name + missing[len(name) :], missing, tree.source)
            raise place.error(ModelError, f"model '{missing}': {error.message}{where}") from error
    return classifiers


def _check_neighbours(configuration, path):
    """Refuse a stored classifier of code K with another k than its options in the tree."""
    for number, direct in configuration.tree.directs.items():
        model = configuration.node_classifiers[number]
        if model.points is None:
            continue
        k = None
        with suppress(UsageError):
            k = learner_class(direct.learner_letter).parse(direct.options).k
        if k != model.k:
            raise ModelError("the multi-class nodes are not those of the control text", file=path)


def _collated(tree, models, classifiers):
    # models that state no width are widened to the widest
    owned = [one for one in classifiers.values() if one.features is not None]
    widths = [m.sv.shape[1] for m in models] + [one.features for one in owned]
    tables = {id(m.sv): len(m.sv) for m in models}
    refuse_huge(sum(tables.values()), max(widths, default=0), tree.source)
    return Configuration(tree, collate(models, tree.sides(), tree.classes, owned), classifiers)


def _warn_of_votes(names):
    if names:
        warn_user(
            f"{names[0]}{and_more(names)} holds no probabilities (probA, probB): only "
            "votes can be used (svm-train -b 1 fits them)"
        )


def _read_model(row, source, models_in, tables):
    path = model_file(row.text, models_in)
    try:
        with regular_files():
            return read_svm_model(path, tables)
    except AgfmcError as error:
        if error.file == path and error.line is None and "cannot read" in error.message:
            where = ""
            if not os.path.exists(path):
                where = elsewhere(row.text, path, source)
            raise Place(source, row.line, row.column).error(
                ModelError, f"model '{path}': {error.message}{where}"
            ) from error
        raise


def _normalised(configuration, source, file):
    """`configuration` with the normalisation of its source, padded to the width of its output.

    Where the source says so, or the models, the support vectors go through it too.
    """
    machines = configuration.machines
    normalisation = source.normalisation
    provenances = configuration.provenances
    unnormalised = source.unnormalised
    if configuration.normalisation is None and any(one.vectors for one in provenances):
        if normalisation is None:
            raise ModelError(
                "the support vectors are not normalised, and the points were for the "
                "training: give the normalisation with `normalisation`",
                file=file,
            )
        unnormalised = True
    if normalisation is None:
        return configuration
    if configuration.normalisation is not None:
        raise ModelError("holds its own normalisation: leave `normalisation` out", file=file)
    for one in provenances:
        if one.normalised not in (None, normalisation.digest()):
            raise ModelError(
                "the models were trained with another normalisation than the one given",
                file=file,
            )
    if unnormalised and any(
        one.features is not None for one in configuration.node_classifiers.values()
    ):
        raise ModelError(
            "`unnormalised` is for support vectors: multi-class nodes have none", file=file
        )
    width = normalisation.features if unnormalised else normalisation.features_after
    needed = machines.sv.shape[1]
    if width < needed or (width > needed and not machines.any_width):
        raise ModelError(
            f"the normalisation {'takes' if unnormalised else 'gives'} {width} "
            f"features, the models need {needed}",
            file=file,
        )
    refuse_huge(len(machines.sv), max(width, normalisation.features_after), file)
    sv = np.zeros((len(machines.sv), width))
    sv[:, :needed] = machines.sv
    if unnormalised:
        sv = normalisation.apply(sv)
    return replace(
        configuration,
        normalisation=normalisation,
        machines=replace(machines, sv=sv, any_width=False),
    )


def check_one_run(tree, models, classifiers):
    """Raise `ModelError` where models went through different normalisations.

    There is a warning where they were trained for other classes than they stand for, or on numbers
    of samples that no numbers of samples of the classes add up to: they may be meant for that, or
    trained anew on purpose. `models` are `BinaryModel`s in the order of the tree's rows,
    `classifiers` {node number: classifier}. Models of unknown origin, as LIBSVM's own, fit any.
    """

    def warn(message):
        warn_user(f"{tree.source}: {message}")

    names = {}
    for model in [*models, *classifiers.values()]:
        if model.provenance.samples is not None:
            names.setdefault(model.provenance.normalised, model.name)
    if len(names) > 1:
        one, other = list(names.values())[:2]
        raise ModelError(
            f"'{one}' and '{other}' were trained with different normalisations: they "
            "are from different runs",
            file=tree.source,
        )
    branches = tree.branch_labels()
    strange = [
        (model.name, trained, sides)
        for model, sides in [
            *zip(models, tree.sides()),
            *((model, branches[number]) for number, model in classifiers.items()),
        ]
        if (trained := model.provenance.other_classes(sides)) is not None
    ]
    if strange:
        name, trained, sides = strange[0]
        more = ""
        if len(strange) > 1:
            more = f", and {len(strange) - 1} more like it"
        warn(
            f"'{name}' was trained on the classes {_short(trained)}, and is used here for "
            f"{_short(classes_text(sides))}{more}: from another run, unless intended"
        )
    known = [model.provenance for model in models if model.provenance.samples is not None]
    if len({provenance.weights is None for provenance in known}) > 1:
        warn(
            "some models were trained with weights of the samples, others without: they are from "
            "different runs"
        )
    column = {label: i for i, label in enumerate(tree.classes)}
    sizes = [
        ([column[label] for label in side], count)
        for sides, model in zip(tree.sides(), models)
        for side, count in zip(sides, model.provenance.samples or ())
    ]
    try:
        if sizes:
            class_counts(sizes, len(column))
    except ModelError:
        warn(
            "the models record different numbers of samples of the same classes: some may be from "
            "another run"
        )


def _short(text):
    text = text.replace("/", " / ")
    if len(text) <= 60:
        return text
    return f"{text[:28]} ... {text[-28:]}"


def save(path: str, configuration: Configuration) -> None:
    """Write a configuration as a `.mbm` file, whole or not at all.

    Parameters
    ----------
    path : str or path-like
        Name of the file.
    configuration : Configuration
        The trained configuration.

    Raises
    ------
    ModelError
        If classifiers are commands, which a model file must not run, or objects of scikit-learn.
    """
    _refuse_nodes(configuration, programs_only=True)
    write_store(path, configuration, {"agfmc": __version__})


def export(path: str, configuration: Configuration, form: str) -> None:
    """Write a configuration for other programs, whole or not at all.

    Parameters
    ----------
    path : str or path-like
        Name of the file.
    configuration : Configuration
        The trained configuration.
    form : {"ascii", "svm"}
        "ascii": libAGF's ASCII model; "svm": a multi-class model of LIBSVM.

    Raises
    ------
    ModelError
        If the format cannot hold the configuration.
    """
    _refuse_nodes(configuration)
    checked(configuration, lambda one: check_configuration(one, ModelError), path)
    for kernel in getattr(configuration.machines, "kernels", ()):
        if not KERNELS[kernel.kind].in_libsvm:
            raise ModelError(
                f"LIBSVM and libAGF do not have the {kernel.kind} kernel of this "
                "model: a .mbm file can hold it"
            )
    forms = {"ascii": format_ascii_model, "svm": format_svm_multiclass}
    with replacing(path) as file:
        file.writelines(forms[form](configuration))


def _refuse_nodes(configuration, programs_only=False):
    if isinstance(configuration.machines, FunctionModel):
        raise ModelError(
            "model files cannot hold classifiers of scikit-learn: store the estimator "
            "with joblib or skops"
        )
    for direct in configuration.tree.directs.values():
        if direct.learner.is_program or not programs_only:
            raise configuration.tree.place(direct).error(
                ModelError,
                f"a classifier of code {direct.learner_letter} has no place in this format",
            )

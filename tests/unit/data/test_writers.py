"""No writer makes a file that its reader refuses: it looks first, and there is no file."""

import importlib
import pkgutil
from dataclasses import replace


import numpy as np
import pytest

import agfmc
from agfmc.control.parse import parse
from agfmc.control.tree import changed
from agfmc.core.errors import DataError, ModelError
from agfmc.files.atomic import replacing
from agfmc.calibration.file import format_calibration, read_calibration
from agfmc.data.class_names import names_bytes, read_names
from agfmc.data.confusions import format_pair_errors, PairErrors, read_pair_errors
from agfmc.models.control_files import control_text, read_control, write_control
from agfmc.models.libsvm import format_svm_model, held_out_values, read_svm_model
from agfmc.learners.logistic import format_logistic_model, LogisticModel, read_logistic_model
from agfmc.learners.trees import format_boosted_node, read_boosted_node
from agfmc.models.mbm import read_store, write_store
from agfmc.tables.recipe_file import format_recipe, read_recipe
from agfmc.data.libagf import cls_bytes, con_bytes, read_cls, read_con, read_std, write_std
from agfmc.data.groups import groups_bytes, read_groups
from agfmc.data.weights import read_weights, weights_bytes
from agfmc.core.forest import Forest
from agfmc.core.models import BinaryModel, MergedModel, Kernel, NodeModel
from agfmc.calibration.types import (
    Calibration,
    CalibrationPoints,
    DecoderCalibration,
    ProbabilityMap,
)
from agfmc.models.configuration import Configuration
from agfmc.data.normalisation import Normalisation
from agfmc.models.files import export, load
from agfmc.core.provenance import Provenance
from agfmc.tables.types import ColumnRecipe, TableRecipe

NAN, INF = np.nan, np.inf
TREE = parse("# class 0: red\na 0 / 1;\n{ 0 1}\n")
CONFIGURATION = Configuration(
    TREE,
    MergedModel(
        (Kernel("rbf", 0.5),),
        np.zeros(1, np.int32),
        np.eye(2),
        np.array([0, 1], np.int32),
        np.array([0, 2]),
        np.array([0, 1], np.int32),
        np.array([1.0, -1.0]),
        np.zeros(1),
        np.ones(1),
        np.zeros(1),
        np.ones(1, np.int8),
        (Provenance(),),
    ),
)
MAP = ProbabilityMap("temperature", np.array(1.0), np.zeros(2), 0.1)
POINTS = CalibrationPoints(
    np.array([0], np.int32), *np.array([[0.3], [1.0], [0.7]]), np.array([False])
)
CALIBRATION = Calibration(
    CONFIGURATION.digest(),
    (0, 1),
    "nowhere",
    (1, 0),
    {"least-squares": DecoderCalibration(MAP, POINTS)},
)
BINARY = BinaryModel(
    "m",
    "c_svc",
    Kernel("rbf", 0.5),
    np.eye(2),
    np.array([1.0, -1.0]),
    0.0,
    (0, 1),
    (1, 1),
    (-1.0, 0.0),
)
RECIPE = TableRecipe(
    (ColumnRecipe("size", fill=1.0), ColumnRecipe("age", fill=2.0)), "kind", ("red", "blue")
)
NORMALISATION = Normalisation(np.eye(2, dtype=np.float32), np.zeros(2, np.float32))
LOGISTIC = LogisticModel(np.ones((2, 3)), 1.0, 9)
PAIRS = PairErrors((0, 1), np.array([[0, 5], [4, 0]]), np.array([[0, 1], [2, 0]]), None, None, "x")


def calibrated(**points):
    """A calibration whose points have these numbers, and the map "none" if `map` is that."""
    one = DecoderCalibration(points.pop("map", MAP), replace(POINTS, **points))
    return replace(CALIBRATION, decoders={"least-squares": one})


def machine(**parts):
    return replace(CONFIGURATION, machines=replace(CONFIGURATION.machines, **parts))


def as_text(form):
    def write(path, thing):
        with replacing(path) as file:
            file.write(form(thing, path))

    return write


def as_bytes(form):
    def write(path, thing):
        with replacing(path, binary=True) as file:
            file.write(form(thing, path))

    return write


def svm_model(path, parts):
    model, held_out = parts
    with replacing(path) as file:
        file.write(format_svm_model(model, held_out=held_out))


def svm_parts(path):
    with open(path, "rb") as file:
        return read_svm_model(path), held_out_values(file.read())


FOREST = Forest(
    1,
    np.array([0, 1, 2], "<i8"),
    np.array([0, 1], "<i4"),
    np.array([-1, -1], "<i4"),
    np.array([0.25, 0.5]),
    np.array([0, 1], "<i4"),
    np.array([0, 1], "<i4"),
    np.zeros(2, bool),
)
NODE = NodeModel("T", "m", 2, forest=FOREST, held_out=np.array([[0.5, 1.5], [1, 0]], "<f4"))


# writer: (function(path, thing), reader, what can be read, what cannot)
WRITERS = {
    "write_store": (
        lambda path, thing: write_store(path, thing, {"agfmc": "1"}),
        read_store,
        [
            CONFIGURATION,
            replace(CONFIGURATION, calibration=CALIBRATION),
            replace(CONFIGURATION, recipe=RECIPE, normalisation=NORMALISATION),
        ],
        [
            machine(rho=np.array([NAN])),
            machine(sv=np.full((2, 2), INF)),
            machine(kernels=(Kernel("rbf", NAN),)),
            machine(kernels=(Kernel("rbf", -1.0),)),
            replace(CONFIGURATION, tree=changed(TREE, names={0: "two\nlines"})),
            replace(CONFIGURATION, normalisation=Normalisation(np.eye(2), np.array([0, NAN]))),
            replace(CONFIGURATION, recipe=replace(RECIPE, columns=RECIPE.columns[:1])),
            replace(CONFIGURATION, calibration=calibrated(cumulative=np.array([1.000002]))),
            replace(CONFIGURATION, calibration=replace(CALIBRATION, model="0" * 16)),
            replace(
                CONFIGURATION,
                calibration=replace(
                    CALIBRATION,
                    decoders={"least-squares": DecoderCalibration(replace(MAP, floor=NAN))},
                ),
            ),
        ],
    ),
    "format_svm_multiclass": (
        lambda path, thing: export(path, thing, "svm"),
        load,
        [CONFIGURATION],
        [machine(coef=np.array([1.0, NAN]))],
    ),
    "format_ascii_model": (
        lambda path, thing: export(path, thing, "ascii"),
        load,
        [CONFIGURATION],
        [
            machine(coef=np.array([1.0, INF])),
            machine(kernels=(Kernel("polynomial", 1.0, 0.0, 2000),)),
        ],
    ),
    "format_boosted_node": (
        as_text(lambda thing, _: format_boosted_node(thing)),
        read_boosted_node,
        [NODE],
        [
            replace(NODE, branches=3),
            replace(NODE, held_out=np.array([[NAN, 0.0]], "<f4")),
            replace(NODE, forest=replace(FOREST, value=np.array([NAN, 0.5]))),
            replace(NODE, forest=replace(FOREST, left=np.array([7, 1], "<i4"))),
        ],
    ),
    "format_svm_model": (
        svm_model,
        svm_parts,
        [(BINARY, None), (BINARY, [0.5, 2.0])],
        [
            (replace(BINARY, rho=INF), None),
            (replace(BINARY, coef=np.array([1.0, NAN])), None),
            (replace(BINARY, platt=(NAN, 0.0)), None),
            (replace(BINARY, n_sv=(1, 2)), None),
            (replace(BINARY, kernel=Kernel("rbf", NAN)), None),
            (BINARY, [NAN]),
            (replace(BINARY, kernel=Kernel("polynomial", 1.0, 0.0, -1)), None),
        ],
    ),
    "format_logistic_model": (
        as_text(lambda thing, _: format_logistic_model(thing)),
        read_logistic_model,
        [LOGISTIC],
        [
            replace(LOGISTIC, weights=np.full((2, 3), NAN)),
            replace(LOGISTIC, weights=np.ones((1, 3))),
        ],
    ),
    "format_calibration": (
        as_text(format_calibration),
        read_calibration,
        [
            CALIBRATION,
            calibrated(
                map=ProbabilityMap("none"), p_true=np.array([-0.2]), cumulative=np.array([1.2])
            ),
        ],  # estimates may be anything
        [
            calibrated(cumulative=np.array([1.000002])),
            calibrated(p_true=np.array([NAN])),
            calibrated(map=ProbabilityMap("none"), p_true=np.array([INF])),
            replace(CALIBRATION, source="two\nlines"),
            replace(CALIBRATION, counts=(1,)),
        ],
    ),
    "format_recipe": (
        as_text(format_recipe),
        read_recipe,
        [RECIPE],
        [
            replace(RECIPE, columns=RECIPE.columns[:1] * 2),
            replace(RECIPE, classes=("red", "red")),
            replace(RECIPE, columns=(ColumnRecipe("size", fill=NAN),)),
            replace(RECIPE, columns=(ColumnRecipe("w", ("x" * 40_000_000, "y" * 40_000_000)),)),
        ],
    ),
    "write_std": (
        write_std,
        read_std,
        [NORMALISATION],
        [
            Normalisation(np.eye(2), np.array([0, NAN])),
            Normalisation(np.zeros((2, 0), np.float32), NORMALISATION.mean),
        ],
    ),
    "format_pair_errors": (
        as_text(format_pair_errors),
        read_pair_errors,
        [PAIRS],
        [
            replace(PAIRS, errors=np.array([[0, 6], [2, 0]])),
            replace(PAIRS, n=np.zeros((2, 2), int)),
        ],
    ),
    "write_control": (
        write_control,
        read_control,
        [TREE],
        [changed(TREE, names={0: "two\n} lines"})],
    ),
    "control_text": (
        as_text(control_text),
        read_control,
        [TREE],
        [changed(TREE, names={0: "two\n} lines"})],
    ),
    "names_bytes": (
        as_bytes(names_bytes),
        read_names,
        [("red", "blue")],
        [("red", "red"), (" red",), ("two\nlines",)],
    ),
    "groups_bytes": (
        as_bytes(groups_bytes),
        read_groups,
        [["Al", "a day"]],
        [["two\nlines"], ["", "b"], [" b"]],
    ),
    "weights_bytes": (
        as_bytes(weights_bytes),
        read_weights,
        [np.array([1.5])],
        [np.array([NAN]), np.array([1e-60])],
    ),
    "cls_bytes": (as_bytes(cls_bytes), read_cls, [np.array([3])], [np.array([2**31])]),
    "con_bytes": (as_bytes(con_bytes), read_con, [np.array([3.5])], [np.array([NAN])]),
}
# What is no model and nothing that goes with one: points, answers, and text without a reader.
OTHERS = {
    "format_forest",  # a part of models
    "format_points",
    "format_ranked",
    "format_sets",
    "format_validation",
    "format_weights",
    "read_bytes",
    "write_answer_table",
    "write_answers",
    "write_curves",
    "write_predictions",
    "write_table",
    "write_together",
}


def test_all_writers_are_here():
    rooms = "files tables data calibration answers models landmarks learners".split()
    modules = [
        importlib.import_module(f"agfmc.{room}.{module.name}")
        for room in rooms
        for module in pkgutil.iter_modules([f"{agfmc.__path__[0]}/{room}"])
    ]
    names = {
        name
        for module in modules
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and callable(value)
        if not name.startswith("_")
        and (name.startswith(("format_", "write_")) or name.endswith(("_bytes", "control_text")))
    }
    assert names == WRITERS.keys() | OTHERS


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_written_can_be_read_and_nothing_else_is_written(name, folder):
    write, read, good, bad = WRITERS[name]
    for thing in good:
        write("file.wgt", thing)  # a name that says nothing but to the reader of weights
        assert read("file.wgt") is not None
    for path in folder.iterdir():
        path.unlink()
    for number, thing in enumerate(bad):
        with pytest.raises((ModelError, DataError)) as caught:
            write("file", thing)
        assert "\n" not in str(caught.value) and caught.value.status == 1, number
        assert not list(folder.iterdir()), number

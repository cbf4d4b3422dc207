"""A trained configuration, and the models of it that are files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..calibration.types import Calibration
from ..core.errors import ModelError
from ..core.forest import Forest
from ..core.models import FunctionModel, MergedModel
from ..core.provenance import Provenance
from ..core.text import first_words
from ..data.normalisation import JoinedNormalisation, Normalisation
from ..tables.types import TableRecipe
import hashlib
import numpy as np
from ..control.build import to_code

if TYPE_CHECKING:
    from ..control.tree import Tree


@dataclass(frozen=True)
class ModelFiles:
    """Files of binary models that another program reads, in the order of the classifiers."""

    paths: tuple[str, ...]

    features = None
    provenances = ()

    @property
    def count(self) -> int:
        """Number of binary classifiers."""
        return len(self.paths)


@dataclass(frozen=True, eq=False, repr=False)
class Configuration:
    """A trained configuration: a control tree with its binary classifiers.

    Parameters
    ----------
    tree : Tree
        The control tree, with the names of the classes.
    machines : MergedModel, FunctionModel or ModelFiles
        The binary classifiers in the order of the rows of the tree; `FunctionModel`: classifiers
        that exist in memory alone; `ModelFiles`: files that another program reads.
    node_classifiers : mapping, default={}
        The multi-class classifier of each node that has one, by the number of the node.
    normalisation : Normalisation or JoinedNormalisation, default=None
        Applied to points before they are classified; members of an ensemble may have their own.
    made_by : mapping, default={}
        Programs, and their versions, that wrote the model file.
    merged_from : int, default=None
        Number of support vectors before duplicates were merged; None if nothing was merged.
    calibration : Calibration, default=None
        The calibration maps of its probabilities.
    recipe : TableRecipe, default=None
        How points are made from a table like that of the training data.

    Raises
    ------
    ModelError
        If the tree and `machines` have different numbers of classifiers.
    """

    tree: Tree
    machines: MergedModel | FunctionModel | ModelFiles
    node_classifiers: Mapping = field(default_factory=dict)
    normalisation: Normalisation | JoinedNormalisation | None = None
    made_by: Mapping = field(default_factory=dict)
    merged_from: int | None = None
    calibration: Calibration | None = None
    recipe: TableRecipe | None = None

    def __post_init__(self):
        count = len(self.tree.rows)
        if count != self.machines.count:
            raise ModelError(
                f"the control tree has {count} classifiers, the model {self.machines.count}"
            )

    def __repr__(self):
        """Three lines, without the numbers of the classifiers."""
        tree, machines = self.tree, self.machines
        names = [tree.names.get(label, str(label)) for label in tree.classes]
        nodes = f", {len(tree.directs)} multi-class nodes" if tree.directs else ""
        vectors = len(getattr(machines, "sv", ()))
        features = "points" if self.features is None else f"{self.features} features"
        way = "as they are" if self.normalisation is None else "normalised"
        holds = f", {vectors} support vectors" if vectors else ""
        calibrated = "none"
        if self.calibration is not None:
            calibrated = f"{', '.join(self.calibration.decoders)} ({self.calibration.source})"
        return (
            f"<Configuration: {tree.kind} of {len(names)} classes, {first_words(names, 8)}\n"
            f" {machines.count} binary classifiers{nodes}{holds}; {features}, {way}\n"
            f" calibration: {calibrated}>"
        )

    @property
    def features(self) -> int | None:
        """Number of features of the points to classify; None where any number will do."""
        if self.normalisation is not None:
            return self.normalisation.features
        return self.machines.features

    @property
    def takes_missing(self) -> bool:
        """Whether it may have classifiers that take missing values, NaN: functions and trees."""
        has_trees = getattr(self.machines, "forest", None) is not None or bool(self.node_forests)
        return has_trees or isinstance(self.machines, FunctionModel)

    @property
    def node_forests(self) -> dict[int, Forest]:
        """The trees of the nodes of code T, by the number of the node."""
        return {
            number: node.forest
            for number, node in self.node_classifiers.items()
            if node.forest is not None
        }

    @property
    def provenances(self) -> list[Provenance]:
        """The `Provenance` of every classifier that tells one."""
        return [
            *self.machines.provenances,
            *(one.provenance for one in self.node_classifiers.values()),
        ]

    def fits(self, calibration: Calibration) -> bool:
        """Return whether a calibration belongs to its classes and classifiers."""
        learned = calibration.learned
        return (
            calibration.model == self.digest()
            and calibration.classes == self.tree.classes
            and (learned is None or learned.weights.shape[1] == len(self.tree.rows))
        )

    def digest(self) -> str:
        """Sixteen hexadecimal digits of its classes and classifiers, "" for `ModelFiles`.

        They do not depend on the names of the classes nor on the files it was read from.
        """
        machines = self.machines
        tree = self.tree
        if isinstance(machines, ModelFiles):
            return ""
        sides = [[sorted(side) for side in row] for row in tree.sides()]
        branches = {
            number: [sorted(side) for side in tree.branch_labels()[number]]
            for number in tree.directs
        }
        digest = hashlib.sha256(
            repr(
                (
                    sides,
                    branches,
                    tree.labels,
                    *((tree.roots, tree.weights) if tree.is_ensemble else ()),
                )
            ).encode()
        )
        if isinstance(machines, FunctionModel):
            arrays = [machines.a, machines.b]
        else:
            arrays = [machines.rho, machines.a, machines.b, np.diff(machines.indptr)]
        if forest := getattr(machines, "forest", None):
            arrays += [forest.feature, forest.value]
        arrays += [
            getattr(node, name, None)
            for node in self.node_classifiers.values()
            for name in ("weights", "points", "y", "k")
        ]
        for node_forest in self.node_forests.values():
            arrays += [node_forest.feature, node_forest.value]
        for array in arrays:
            if array is not None:
                digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
        return digest.hexdigest()[:16]

    @property
    def lacks_normalisation(self) -> bool:
        """True if points were normalised in training, but the configuration has no normalisation."""
        return self.normalisation is None and any(
            one.normalised is not None for one in self.provenances
        )

    def renamed(self, names: Mapping[int, str]) -> Configuration:
        """A copy with other names of the classes, {label: name}."""
        names = {label: names[label] for label in self.tree.labels if label in names}
        recipe = self.recipe and replace(
            self.recipe,
            classes=tuple(names.get(label, name) for label, name in enumerate(self.recipe.classes)),
        )
        return replace(self, tree=self.tree._replace(names=names), recipe=recipe)

    def as_code(self) -> Configuration:
        """A copy with the coding matrix that its tree stands for."""
        code = replace(self, tree=to_code(self.tree), node_classifiers={})
        if self.calibration is None:
            return code
        return replace(code, calibration=replace(self.calibration, model=code.digest()))

    def save(self, path: str) -> None:
        """Write it as a `.mbm` file: `agfmc.save`."""
        import agfmc

        agfmc.save(path, self)

    def export(self, path: str, form: str) -> None:
        """Write it for other programs: `agfmc.export`."""
        import agfmc

        agfmc.export(path, self, form)

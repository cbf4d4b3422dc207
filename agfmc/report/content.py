"""The contents of the page of a model, as plain data; nothing here knows HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Union

from ..control.tree import Tree
from ..score.nodes import NodeCost
from .svg import Drawing, WIDTH
from .words import cut, interval, LONGEST, number, percent

Cell = Union[str, int, float, tuple[float, float], None]  # of a table; two numbers: an interval


@dataclass(frozen=True)
class Column:
    """A column of a `DataTable`, of the kind "text", "number", "share" (of 1, shown in percent),
    "name" (of several words), "code" (in type of one width), "list" (of names) or "prose"
    (sentences, which text leaves out)."""

    title: str
    kind: str = "text"
    note: str = ""
    digits: int = 4

    def text(self, value: Cell) -> str:
        """The text of a cell."""
        if value is None:
            return ""
        if isinstance(value, str):
            return cut(
                value, LONGEST * {"name": 2, "code": 4, "list": 9, "prose": 6}.get(self.kind, 1)
            )
        if isinstance(value, tuple):
            return interval(value)
        if self.kind == "share":
            return percent(value)
        return number(value, self.digits)


@dataclass(frozen=True)
class TableRow:
    """A row of a `DataTable`: its cells, the positions of the classes that it is about, which are
    highlighted together, and whether it stands out."""

    cells: tuple[Cell, ...]
    classes: tuple[int, ...] = ()
    strong: bool = False


@dataclass(frozen=True)
class DataTable:
    """A table of a page, which a reader may sort, or see on request where it is folded."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    sortable: bool = True
    folded: bool = False


@dataclass(frozen=True)
class Picture:
    """A picture of a page or a file: its shapes, title, what a reader would see in it (summary),
    how to read it (note), and its numbers."""

    drawing: Drawing
    title: str
    summary: str
    note: str = ""
    table: DataTable | None = None

    @property
    def svg(self) -> str:
        """Its markup, in which all text is escaped."""
        return self.drawing.markup(f"{self.title}. {self.summary}.")

    @property
    def wide(self) -> bool:
        """True if the picture takes the whole width of a page."""
        return self.drawing.width > WIDTH


@dataclass(frozen=True)
class DataPart:
    """The data that a page is about, None for what is not known.

    Attributes
    ----------
    source : file or table
    labels : labels (k,) of the classes, ascending
    counts : number (k,) of points of each
    recipe : result of `describe_recipe` for a table
    facts : further (name, value) pairs
    missing : {column: missing cells} of those that have some
    """

    source: str
    points: int | None
    features: int | None
    labels: tuple[int, ...]
    counts: tuple[float, ...] | None = None
    recipe: Mapping | None = None
    facts: tuple[tuple[str, str], ...] = ()
    missing: Mapping[str, int] | None = None


@dataclass(frozen=True)
class ModelPart:
    """The model, or the control file before training, that a page is about. `info` is the
    dictionary of `models.description.describe`, None before training."""

    tree: Tree
    file: str = ""
    info: Mapping | None = None


@dataclass(frozen=True)
class HardPoint:
    """A point whose true class has a small probability.

    Attributes
    ----------
    id : id of its row in the table, or its number from 0
    truth, answer : labels, -1 where it was rejected
    p_truth : probability of the true class
    likely : the most probable (label, probability), largest first
    """

    id: str
    truth: int
    answer: int
    p_truth: float
    likely: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class AnswersPart:
    """Answers with their scores.

    Attributes
    ----------
    scores : result of `score.evaluation.evaluate`
    splits : {column: {"mean", "sd", ...}} over the splits, or None
    hardest : points with the least probability of their true class
    nodes : costs of the nodes of the tree
    warnings : what a reader must know of these scores
    """

    origin: str
    scores: Mapping
    splits: Mapping | None = None
    hardest: tuple[HardPoint, ...] = ()
    nodes: tuple[NodeCost, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReportContent:
    """All that a page shows; missing parts are None or empty.

    Attributes
    ----------
    comparison : as the JSON of compare_control has it, or the result of `api.train_best`
    search : as `agfmc.tune` returns it
    provenance : (name, value) pairs
    steps : (command that repeats it, what it does or "") of each step
    importance : result of `prediction.importance.importance`
    curve : as `experiments.learning_curve.learning_curve` returns it, with some of its keys
    notes : sentences, without their full stops, on what the page or the model lacks
    """

    title: str
    names: Mapping[int, str] = field(default_factory=dict)
    data: DataPart | None = None
    model: ModelPart | None = None
    answers: AnswersPart | None = None
    comparison: Mapping | None = None
    search: Mapping | None = None
    provenance: Sequence[tuple[str, str]] = ()
    steps: Sequence[tuple[str, str]] = ()
    importance: Mapping | None = None
    curve: Mapping | None = None
    notes: Sequence[str] = ()

"""The contents of the page of a model, as plain data; nothing here knows HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..control.tree import Tree
from ..score.nodes import NodeCost
from .svg import Drawing, WIDTH


@dataclass(frozen=True)
class Column:
    """A column of a `DataTable`.

    title: its heading;  kind: "text", "number" (aligned at the right, four digits behind the
    point unless digits says otherwise), "share" (of 1, shown in percent), "name" (of several
    words), "code" (in type of one width) or "prose" (sentences, which are not cut);  note: an
    explanation in one sentence, or "";  digits: behind the point.
    """

    title: str
    kind: str = "text"
    note: str = ""
    digits: int = 4


@dataclass(frozen=True)
class TableRow:
    """A row of a `DataTable`: plain cells, None for nothing; the positions of the classes that it
    is about, which are highlighted together; whether it stands out (the best, the sum)."""

    cells: tuple[str | int | float | None, ...]
    classes: tuple[int, ...] = ()
    strong: bool = False


@dataclass(frozen=True)
class DataTable:
    """A table of a page.

    caption: what it shows, in one sentence;  sortable: a reader may sort it by any column;
    folded: shown on request, as the numbers below a picture are.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    sortable: bool = True
    folded: bool = False


@dataclass(frozen=True)
class Picture:
    """A picture with its numbers as a table, of a page or of a file.

    drawing: its shapes;  title: what it shows;  summary: what a reader would see in it, in words,
    for those who cannot;  note: how to read it;  table: its numbers.
    """

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
        """True where it takes the whole width of a page."""
        return self.drawing.width > WIDTH


@dataclass(frozen=True)
class DataPart:
    """The data that a page is about.

    source: file or table;  points, features: numbers, None where not known;  labels (k,): of the
    classes, ascending;  counts (k,): of points of each class, or None;  recipe: the dictionary
    of `describe_recipe` for a table, or None;  facts: further (name, value) pairs, as the
    weights of the points;  missing: {column: missing cells} of those that have some, None where
    that is not known.
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
    """The model, or the control file before training, that a page is about.

    tree: its control tree;  file: its name, or "";  info: the dictionary of
    `prediction.description.describe`, or None before training.
    """

    tree: Tree
    file: str = ""
    info: Mapping | None = None


@dataclass(frozen=True)
class HardPoint:
    """A point whose true class has a small probability.

    id: of its row in the table, or its number from 0;  truth, answer: labels, answer -1 where it
    was rejected;  p_truth: the probability of the true class;  likely: the most probable
    (label, probability), largest first.
    """

    id: str
    truth: int
    answer: int
    p_truth: float
    likely: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class AnswersPart:
    """Answers with their scores.

    origin: where they come from, in words ("5 parts of 1797 points, each held out once");
    scores: the dictionary of `prediction.evaluation.evaluate`;  splits: {column: {"mean", "sd",
    ...}} over the splits, or None;  hardest: the points with the least probability of their true
    class;  nodes: costs of the nodes of the tree, or ();  warnings: what a reader must know of
    these scores.
    """

    origin: str
    scores: Mapping
    splits: Mapping | None = None
    hardest: tuple[HardPoint, ...] = ()
    nodes: tuple[NodeCost, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """A command that repeats a step of the work; why: what it does, or ""."""

    command: str
    why: str = ""


@dataclass(frozen=True)
class ReportContent:
    """All that a page shows; parts that are not there are None or empty.

    names: {label: name} of the classes;  comparison: what `experiments.comparison.compare`
    returns, with data and options, as compare_control --json writes it; `choice` is added where
    it was made to choose: {"configuration", "decoder", "top": the same of the best row, "gain",
    "error": of the best over the first row, None where that is the best or has no score};
    search: the dictionary that tune_m --json writes;  card: Markdown;  provenance: (name, value)
    pairs: options, seeds, versions, digests of files;  steps: the commands that repeat it.
    """

    title: str
    names: Mapping[int, str] = field(default_factory=dict)
    data: DataPart | None = None
    model: ModelPart | None = None
    answers: AnswersPart | None = None
    comparison: Mapping | None = None
    search: Mapping | None = None
    card: str = ""
    provenance: Sequence[tuple[str, str]] = ()
    steps: Sequence[Step] = ()

"""Pictures of a configuration: its coding matrix, or its tree with the costs of the nodes.

Classes are identified by their positions among the ascending labels (`data-classes`), nodes by
their numbers in the control tree (`data-node`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..control.tree import Leaf, Tree
from ..score.nodes import NodeCost
from .blocks import without_empty
from .content import Column, DataTable, Picture, TableRow
from .svg import cut_to_width, Drawing, pixels, text_width, WIDTH
from .words import class_name, percent

_MEMBERS = 3  # of an ensemble that are drawn
_TALL_ROWS = 600  # of a matrix, which have two pixels at least
_TABLE_ROWS = 400  # of a table
_MOST_VECTORS = 20_000  # cells; more of them are an image
_NAMED_COLUMNS = 60
_BLUE, _ORANGE = (33, 113, 181, 255), (230, 115, 12, 255)
_CLEAR = (0, 0, 0, 0)


def configuration(
    tree: Tree, names: Mapping[int, str], nodes: Sequence[NodeCost] = ()
) -> list[Picture]:
    """The picture of a control tree, of an ensemble those of its first members."""
    return [
        coding_matrix(member, names, title)
        if member.kind == "coding matrix"
        else decision_tree(member, names, nodes, title)
        for member, title in titled_members(tree, _MEMBERS)
    ]


def titled_members(tree: Tree, most: int) -> list[tuple[Tree, str]]:
    """The first members of an ensemble, or the tree itself, with the titles of their pictures."""
    if not tree.is_ensemble:
        return [(tree, "Coding matrix" if tree.kind == "coding matrix" else "Tree of the classes")]
    return [
        (member, f"Member {number} of {len(tree.roots)}, weight {weight:.3g}")
        for number, (member, weight) in enumerate(zip(tree.members[:most], tree.weights), 1)
    ]


def _positions_of_labels(tree):
    return {label: index for index, label in enumerate(tree.classes)}


def _positions(position, *sides):
    return tuple(sorted(position[label] for side in sides for label in side))


def listed(names: Mapping[int, str], labels: Sequence[int], most: int = 12) -> str:
    """Names of classes with commas between them, of many the first."""
    most = len(labels) if len(labels) == most + 1 else most  # one more is as short as to say so
    text = ", ".join(class_name(names, label) for label in labels[:most])
    left = len(labels) - most
    if left <= 0:
        return text
    return f"{text} and {left} other{'s' * (left != 1)}"


# Coding matrices


def coding_matrix(tree: Tree, names: Mapping[int, str], title: str = "Coding matrix") -> Picture:
    """A coding matrix: a column for each class, a row for each binary classifier.

    Blue squares are -1, the left side, orange discs +1, the right side; other cells are 0.
    """
    rows = tree.nodes[0].rows
    m = len(tree.nodes[0].rows)
    k = len(tree.labels)
    drawing = _Matrix(tree, names, rows).drawing
    partial = [len(row.left) + len(row.right) < k for row in rows]
    summary = (
        f"{m} binary classifier{'s' * (m != 1)} of {k} classes"
        + ", each of which leaves classes out" * all(partial)
    )
    note = (
        "A column for each class, a row for each binary classifier. Blue squares: \u22121 "
        "(left), orange discs: +1 (right)" + "; blank: left out" * any(partial) + "."
    )
    return Picture(drawing, title, summary, note, _rows_table(tree, names))


class _Matrix:
    """Places of rows and columns, and the drawing."""

    def __init__(self, tree, names, rows):
        labels = tree.labels
        self.k = len(labels)
        self.m = len(rows)
        position_of = _positions_of_labels(tree)
        self.places = [position_of[label] for label in labels]
        self.called = [class_name(names, label) for label in labels]
        self.named = self.k <= _NAMED_COLUMNS
        if self.named:
            self.wide = max(15, min(22, 600 // self.k))
            head = min(max(map(text_width, self.called)), 160)
        else:
            self.wide = max(1, min(8, 840 // self.k))
            head = 14
        self.tall = self._row_height()
        texts = self._row_texts(rows, names, labels)
        if self.tall >= 14:
            side = min(max(map(text_width, texts)), 150) + 8
        else:
            side = text_width(str(self.m)) + 10
        upright = head > self.wide - 4
        if not upright:
            head = 14
        self.left = math.ceil(side)
        self.top = math.ceil(head + 40)
        self.drawing = Drawing(
            max(self.left + self.k * self.wide + 4, 300), self.top + self.m * self.tall + 6
        )
        self.drawing.key("square", -4, 8, "fill-left", "\u22121, left")
        self.drawing.key("circle", 86, 8, "fill-right", "+1, right")
        self._draw_columns(upright)
        cells = sum(len(row.left) + len(row.right) for row in rows)
        if cells > _MOST_VECTORS or min(self.wide, self.tall) < 2:
            self._draw_image(rows)
        else:
            self._draw_rows(rows)
        self._draw_row_names(texts)
        self.drawing.rect(self.left, self.top, self.k * self.wide, self.m * self.tall, "frame")

    def _row_height(self):
        if self.m <= 40 and self.named:
            return min(20, self.wide)
        if self.m <= _TALL_ROWS:
            return max(2, min(14, self.wide + 2, 560 // self.m))
        return 1200 / self.m

    def _row_texts(self, rows, names, labels):
        texts = [row.text.strip() for row in rows]
        if any(row.is_name for row in rows) or len(set(texts)) < self.m:
            texts = [
                " / ".join(
                    listed(names, [labels[j] for j in side], 1) for side in (row.left, row.right)
                )
                for row in rows
            ]
        if len(set(texts)) < self.m:  # many classes, of which the first tell no rows apart
            return [str(index + 1) for index in range(self.m)]
        return texts

    def _draw_columns(self, upright):
        drawing = self.drawing
        y = self.top - 6
        for index, (name, place) in enumerate(zip(self.called, self.places)):
            x = self.left + index * self.wide
            with drawing.group("" if self.named else name, data_classes=(place,)):
                drawing.rect(x, 24, self.wide, self.top - 24 + self.m * self.tall, "band")
                if self.named and upright:
                    base = x + self.wide / 2 + 4
                    drawing.upright(base, y, name, width=self.top - 34, title=name)
                elif self.named:
                    drawing.text(x + self.wide / 2, y, name, "mid")
        if not self.named:
            words = f"{self.k} classes, from {self.called[0]} to {self.called[-1]}"
            drawing.text(self.left, 40, words, width=max(drawing.width - self.left, 200))

    def _draw_rows(self, rows):
        """A group for each row, with a dashed line for each run of cells of one side."""
        drawing = self.drawing
        wide = self.wide
        tall = self.tall
        if min(wide, tall) >= 8:
            gap = 2
        elif min(wide, tall) >= 4:
            gap = 1
        else:
            gap = 0.5
        disc = min(wide, tall) - gap
        with drawing.group(stroke_width=tall - gap, stroke_dasharray=f"{wide - gap:g} {gap:g}"):
            for index, row in enumerate(rows):
                y = self.top + (index + 0.5) * tall
                lit = ()
                if len(row.left) + len(row.right) < self.k:
                    lit = sorted(self.places[j] for j in (*row.left, *row.right))
                with drawing.group(self._row_words(row, index), data_classes=tuple(lit)):
                    if lit and tall >= 8:
                        drawing.rect(0, y - tall / 2, self.left - 3, tall, "band")
                    drawing.path(self._runs(row.left, y, gap / 2), "left")
                    drawing.path(
                        self._runs(row.right, y, wide / 2),
                        "right disc",
                        stroke_width=disc,
                        stroke_dasharray=f".01 {wide - 0.01:g}",
                    )

    def _runs(self, side, y, offset):
        text = ""
        for _, run in itertools.groupby(enumerate(sorted(side)), lambda pair: pair[1] - pair[0]):
            columns = [at for _, at in run]
            length = len(columns) * self.wide - 2 * offset
            text += (
                f"M{pixels(self.left + columns[0] * self.wide + offset)} {pixels(y)}"
                f"h{pixels(length) if length > 0.05 else '.01'}"
            )
        return text

    def _row_words(self, row, at):
        left, right = ([self.called[j] for j in side] for side in (row.left, row.right))
        if self.m > 150:
            return ""
        if len(left) + len(right) > 40:
            return f"{at + 1}: {len(left)} / {len(right)} classes"
        return f"{at + 1}: {', '.join(left)} / {', '.join(right)}"

    def _draw_image(self, rows):
        cells = np.zeros((self.m, self.k), dtype=np.uint8)
        for line, row in zip(cells, rows):
            line[list(row.left)] = 1
            line[list(row.right)] = 2
        lines = [line.tobytes() for line in cells]
        size = (self.wide, self.tall)
        self.drawing.heat_map(self.left, self.top, size, lines, [_CLEAR, _BLUE, _ORANGE])

    def _draw_row_names(self, texts):
        """The names of the rows, or the numbers of as many as there is room for."""
        shown = list(enumerate(texts))
        if self.tall < 14:
            step = next(
                factor * 10**power
                for power in itertools.count()
                for factor in (1, 2, 5)
                if factor * 10**power >= 16 / self.tall
            )
            numbers = list(range(step - 1, self.m, step))
            if (step - 1) * self.tall >= 14:
                numbers.append(0)
            shown = [(at, str(at + 1)) for at in numbers]
        for at, text in shown:
            y = self.top + (at + 0.5) * self.tall + 4
            self.drawing.text(self.left - 6, y, text, "end small", width=self.left - 8)


def _rows_table(tree, names):
    node = tree.nodes[0]
    labels = tree.labels
    m = len(node.rows)
    rows = []
    position_of = _positions_of_labels(tree)
    for index, row in enumerate(node.rows[:_TABLE_ROWS]):
        left, right = ([labels[j] for j in side] for side in (row.left, row.right))
        rows.append(
            TableRow(
                (index + 1, _options(row), listed(names, left), listed(names, right)),
                _positions(position_of, left, right)
                if len(left) + len(right) < len(labels)
                else (),
            )
        )
    caption = "Classes on the two sides of each binary classifier"
    if m > _TABLE_ROWS:
        caption += f" (the first {_TABLE_ROWS} of {m})"
    columns = (Column("", "number", digits=0), Column("options", "code"), *_SIDES)
    return without_empty(DataTable(caption, columns, tuple(rows)))


def _options(row):
    if row.is_name:
        return ""
    return row.text.strip()


# Trees


_MOST_NAME = 400  # pixels
_MOST_BOXED, _WIDEST_BOX = 3600, 190  # pixels of nodes below each other with texts; of a text


def decision_tree(
    tree: Tree,
    names: Mapping[int, str],
    nodes: Sequence[NodeCost] = (),
    title: str = "Tree of the classes",
    boxes: Mapping[int, str] | None = None,
) -> Picture:
    """A tree with its classes at the right, the side -1 of each node above the side +1.

    Parameters
    ----------
    nodes : sequence, what the nodes cost, by which their discs grow
    boxes : mapping, optional, {number of a node: text at it}
    """
    layout = _Tree(tree, names, {cost.node: cost for cost in nodes}, boxes)
    k = len(tree.labels)
    inner = len(tree.nodes)
    deepest = max(node.depth for node in tree.nodes) + 1
    summary = (
        f"{k} classes below {inner} node{'s' * (inner != 1)}, at most {deepest} "
        f"node{'s' * (deepest != 1)} on the way to a class"
    )
    if any(node.bare for node in tree.nodes):
        note = "At each node, side \u22121 (left, blue) is above side +1 (right, orange)."
    else:
        note = ""
    if nodes:
        note += (
            " The larger the disc, the more the node adds to the log loss; the number is its share."
        )
    return Picture(layout.drawing, title, summary, note.strip(), _nodes_table(tree, names, nodes))


class _Tree:
    """Places of nodes and classes, and the drawing."""

    def __init__(self, tree, names, costs, boxes):
        self.tree, self.names, self.costs = tree, names, costs
        self.labels = tree.branch_labels()
        self.place = _positions_of_labels(tree)
        self.pitch = 15
        if len(tree.labels) <= 60:
            self.pitch = 18
        depth = max(node.depth for node in tree.nodes) + 1
        self.boxes = list(map(_box_text, tree.nodes))
        if boxes is not None and depth * (_WIDEST_BOX + 30) <= _MOST_BOXED:
            for number, text in boxes.items():
                self.boxes[number] = cut_to_width(text, _WIDEST_BOX) or self.boxes[number]
        self.widths = [text_width(text) + 14 if text else 0 for text in self.boxes]
        self.step = max(8, min(46, 480 / depth))
        widest = max(self.widths)
        if widest:
            self.step = max(self.step, min(widest + 30, 220))
        self.top = 26
        self.end = 14 + depth * self.step
        texts = [class_name(names, label) for label in tree.labels]
        name = min(max(map(text_width, texts)), _MOST_NAME)
        self.drawing = Drawing(
            max(self.end + 1.1 * name + 14, 300), self.top + len(texts) * self.pitch + 6
        )
        self.y = self._heights()
        if any(node.bare for node in tree.nodes):
            self.drawing.key("line", 0, 9, "left branch", "\u22121, left")
            self.drawing.key("line", 91, 9, "right branch", "+1, right")
        self._draw_ends(texts)
        self._draw_branches()
        self._draw_nodes()

    def _heights(self):
        """The height of each end, and of each node: the middle of its branches."""
        y = {
            label: self.top + (index + 0.5) * self.pitch
            for index, label in enumerate(self.tree.labels)
        }
        for number, node in reversed(list(enumerate(self.tree.nodes))):
            first, *_, last = (y[_key(child)] for child in node.children)
            y[_key(number)] = (first + last) / 2
        return y

    def _x(self, number):
        return 14 + self.tree.nodes[number].depth * self.step

    def _draw_ends(self, texts):
        wide = self.drawing.width - self.end
        for label, text in zip(self.tree.labels, texts):
            y = self.y[label]
            with self.drawing.group(data_classes=(self.place[label],)):
                self.drawing.rect(self.end + 2, y - self.pitch / 2, wide - 2, self.pitch, "band")
                self.drawing.text(self.end + 6, y + 4, text, width=wide - 8)

    def _draw_branches(self):
        for number, node in enumerate(self.tree.nodes):
            y = self.y[_key(number)]
            x = self._x(number) + self.widths[number]
            looks = ("left branch", "right branch")
            if not node.bare:
                looks = itertools.repeat("grey branch")
            for look, child, labels in zip(looks, node.children, self.labels[number]):
                height = pixels(self.y[_key(child)])
                far = self.end
                if not isinstance(child, Leaf):
                    far = self._x(child)
                bend = f"V{height}"
                if not node.bare:
                    bend = f"L{pixels(min(x + 24, far))} {height}"
                self.drawing.path(
                    f"M{pixels(x)} {pixels(y)}{bend}H{pixels(far)}",
                    look,
                    data_classes=_positions(self.place, labels),
                )

    def _draw_nodes(self):
        losses = {number: cost.log_loss for number, cost in self.costs.items()}
        top = max(losses.values(), default=0) or 1
        total = sum(losses.values()) or 1
        for number, (text, wide) in enumerate(zip(self.boxes, self.widths)):
            x = self._x(number)
            y = self.y[_key(number)]
            with self.drawing.group(
                self._words(number, total),
                data_node=number,
                data_classes=_positions(self.place, *self.labels[number]),
            ):
                if text:
                    self.drawing.rect(x, y - 10, wide, 20, "fill-paper edged mark", rx=4)
                    self.drawing.text(x + 7, y + 4, text)
                    continue
                r = 3.5
                if number in losses:
                    r = 2.5 + (self.pitch / 2 - 3.5) * math.sqrt(max(losses[number], 0) / top)
                if r < 6:  # small ones are hard to point at
                    self.drawing.mark("circle", x, y, "hit", r=7)
                self.drawing.mark("circle", x, y, "fill-ink edge mark", r=r)
                share = losses.get(number, 0) / total
                if share >= 0.03 and self.step >= 36:
                    self.drawing.text(x + r + 3, y + 4, percent(share, 0), "halo small")

    def _words(self, number, total):
        sides = " / ".join(listed(self.names, side, 6) for side in self.labels[number][:4])
        text = f"node {number}: {sides}"
        cost = self.costs.get(number)
        if cost is not None:
            text += (
                f"; {percent(cost.log_loss / total)} of the log loss, "
                f"{percent(cost.error)} of its points on the wrong side, "
                f"{percent(cost.share)} of all points"
            )
        return text


def _key(child):
    """The key of a node or a label among the heights."""
    if isinstance(child, Leaf):
        return child.label
    return "node", child


def _box_text(node):
    if node.direct is not None:
        return cut_to_width(f"{node.direct.learner_letter}: {node.direct.learner.title}", 180)
    if node.bare:
        return ""
    return f"{len(node.rows)} classifiers, {len(node.children)} branches"


def _nodes_table(tree, names, nodes):
    costs = {cost.node: cost for cost in nodes}
    total = sum(cost.log_loss for cost in nodes) or 1
    labels = tree.branch_labels()
    position_of = _positions_of_labels(tree)
    rows = []
    caption = "Nodes of the tree"
    for at, node in enumerate(tree.nodes[:_TABLE_ROWS]):
        sides = [listed(names, side) for side in labels[at]]
        if len(sides) != 2:
            sides = ["", f"{len(sides)} branches: " + " / ".join(sides[:8])]
        if node.direct is not None:
            text = node.direct.options.strip()
        elif node.bare:
            text = _options(node.rows[0])
        else:
            text = f"{len(node.rows)} classifiers"
        cost = costs.get(at)
        if cost is None:
            known = (None,) * 4
        else:
            known = (cost.share, cost.error, cost.log_loss, cost.log_loss / total)
        rows.append(TableRow((at, text, *sides, *known), _positions(position_of, *labels[at])))
    if len(tree.nodes) > _TABLE_ROWS:
        caption += f" (the first {_TABLE_ROWS} of {len(tree.nodes)})"
    return without_empty(
        DataTable(
            caption,
            (
                Column("node", "number", digits=0),
                Column("options", "code"),
                *_SIDES,
                Column("points", "share", "of all points, whose class is below the node"),
                Column("error", "share", "of these points, on the wrong side"),
                Column("log loss", "number", "of the node, as a part of that of all points"),
                Column("share of log loss", "share"),
            ),
            tuple(rows),
        )
    )


_SIDES = Column("\u22121, left", "prose"), Column("+1, right", "prose")


# What nodes cost


_SHOWN_NODES = 12


def node_costs(nodes: Sequence[NodeCost], tree: Tree, names: Mapping[int, str]) -> Picture | None:
    """The nodes that add most to the log loss, with their errors and their classes."""
    if not nodes:
        return None
    total = sum(cost.log_loss for cost in nodes)
    order = sorted(nodes, key=lambda cost: (-cost.log_loss, cost.node))
    shown = order[:_SHOWN_NODES]
    labels = tree.branch_labels()
    position_of = _positions_of_labels(tree)
    pitch = 40
    top = max(cost.log_loss for cost in nodes) or 1
    drawing = Drawing(WIDTH, pitch * len(shown) + 24)
    drawing.text(0, 12, "share of the log loss", "muted")
    drawing.text(WIDTH, 12, "error, of points", "end muted")
    for index, cost in enumerate(shown):
        y = 22 + index * pitch
        title = " / ".join(listed(names, side, 6) for side in labels[cost.node])
        with drawing.group(
            title=f"node {cost.node}: {title}",
            data_node=cost.node,
            data_classes=_positions(position_of, *labels[cost.node]),
        ):
            drawing.rect(0, y - 2, WIDTH, pitch, "band")
            drawing.text(0, y + 12, _short_sides(names, labels[cost.node]))
            if total:
                share = cost.log_loss / total
            else:
                share = 0
            wide = 120 * cost.log_loss / top
            drawing.rect(0, y + 18, max(wide, 1), 13, "fill-left mark")
            drawing.text(wide + 6, y + 29, percent(share))
            drawing.text(WIDTH, y + 29, f"{percent(cost.error)} of {percent(cost.share)}", "end")
    first = shown[0]
    sides = " from ".join(listed(names, side, 4) for side in labels[first.node])
    summary = (
        f"The node that separates {sides} adds most to the log loss "
        f"({percent(first.log_loss / total if total else 0)})"
    )
    note = (
        "The log losses of all nodes sum to that of all points. Error: the share of the "
        "points below a node that are on its wrong side."
    )
    if len(order) > len(shown):
        note += f" The {len(shown)} nodes of {len(order)} that add most."
    return Picture(drawing, "Costs of the nodes", summary, note)


def _short_sides(names, sides):
    texts = [listed(names, side, 6) for side in sides[:2]]
    if len(sides) > 2:
        return cut_to_width(f"{len(sides)} branches: {' / '.join(texts)}", WIDTH)
    room = WIDTH - text_width(" / ")
    if texts:
        half = max(room / 2, *(room - text_width(text) for text in texts))
    else:
        half = room
    return " / ".join(cut_to_width(text, half) for text in texts)

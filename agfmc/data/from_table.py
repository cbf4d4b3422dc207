"""Tables as training data, as points to classify, and as binary files."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager, ExitStack
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import AgfmcNotice, and_more, DataError, one_line, UsageError, warn_user
from ..core.lazy_points import LazyPoints, StoredTable
from ..core.memory import refuse_beyond
from ..core.weights import NO_WEIGHTS, Weights
from ..files.atomic import remove, replacing_all, temporary_file, writing
from ..files.csv import csv_line, csv_lines
from ..files.opening import CutLine
from ..tables.ids import RowIds
from ..tables.hints import columns_that_tell, group_columns
from ..tables.points import class_numbers, fill_missing, filled_recipe, TableEncoder
from ..tables.places import DEGREES, place_columns
from ..tables.reading import columns_called, open_table
from ..tables.recipe_file import format_recipe
from ..tables.roles import column_or_file, column_positions, resolve_roles
from ..tables.stream_rows import LineTable, ObjectTable
from ..tables.survey import survey_classes, survey_table
from ..tables.words import Block, Table
from ..tables.types import ColumnRoles, plain_word, ROW, TableFormat, TableRecipe
from .class_names import names_bytes
from .groups import groups_bytes, place_groups, with_groups, with_groups_of
from .libagf import cls_bytes, VecWriter
from .reading import weights_of
from .types import Dataset, InputFormat, NO_GROUPS
from .weights import single_precision, weights_bytes

# what tables are converted to
CONVERTED = (".vec", ".cls", ".names", ".recipe", ".ids", ".wgt", ".grp")
_LAZY = 1 << 24  # bytes of points above which they stay in a file
_PIECE = 1 << 20  # values at a time
_MOST_IDS = 1 << 20  # that are compared


class TableRows(NamedTuple):
    """Some rows of a table.

    Attributes
    ----------
    x : points (n, d), float32
    y, weights : classes (n,), int32, and weights (n,), None unless requested
    text : cells of the further columns, a list of n for each
    groups : words of the groups, a list of n, None unless requested
    """

    x: np.ndarray
    y: np.ndarray | None
    weights: np.ndarray | None
    text: list
    groups: list | None = None


def encoded_rows(
    table: Table,
    encoder: TableEncoder,
    label: int | None = None,
    weight: int | None = None,
    text: tuple[int, ...] = (),
    unique: tuple[int, ...] = (),
    group: int | None = None,
) -> Iterator[TableRows]:
    """`TableRows` of a table, block by block, with the columns at the positions `label`, `weight`,
    `text`, `group`.

    `unique` are those of the text that together are the id of a row, which no other has. Raises
    `DataError` for cells that the recipe cannot take, with file, line and column.
    """
    seen = RowIds(table, unique)
    classes = {name: number for number, name in enumerate(encoder.recipe.classes)}
    features = encoder.requested
    others = {label: "words", weight: "number", group: "words"}
    others.pop(None, None)
    both = features.keys() & others.keys()
    if both:
        raise UsageError(f"column '{one_line(table.names[min(both)])}' is a feature of the model")
    copied = {
        position: kind for position, kind in features.items() if position in text
    }  # in two kinds
    for block in table.blocks(features | dict.fromkeys(text, "text") | others):
        if unique:
            seen.add(block)
        cells = block
        if copied:
            cells = table.of_text(block, copied)
        x = encoder.points(cells)
        y = weights = groups = None
        if label is not None:
            y = class_numbers(table, block, label, classes, encoder.recipe.key_of)
        if group is not None:
            groups = row_groups(table, block, group)
        if weight is not None:
            weights, bad = single_precision(block[weight])
            if bad.any():
                raise block.error(
                    int(np.argmax(bad)),
                    f"column '{one_line(table.names[weight])}' "
                    "of the weights: expected a number of 0 or more",
                )
        yield TableRows(x, y, weights, [block[position] for position in text], groups)


def row_groups(table: Table, block: Block, position: int) -> list[str]:
    """The words of the groups of a block of rows; `DataError` for a row without one."""
    cells = block[position]
    if (cells.codes < 0).any():
        name = one_line(table.names[position])
        raise block.error(
            int(np.argmin(cells.codes)),
            f"column '{name}' has no group: expected a word in every row",
        )
    words = list(map(plain_word, cells.words))
    return [words[code] for code in cells.codes.tolist()]


def read_table(
    path: Any,
    form: InputFormat,
    recipe: TableRecipe | None = None,
    *,
    lazy: bool = False,
    stdin=None,
) -> Dataset:
    """The `Dataset` of a training table, or of one with the columns of a recipe of training.

    `path` is what `open_table` takes, and a path where points are lazy.

    The weights are those of the column or file of `form.weights`, or of the column of `form.roles`,
    or of the one that the recipe names if it exists, as they stand there, zeros too. The same is
    true of groups.

    Parameters
    ----------
    recipe : TableRecipe, optional, made of this table by default
    lazy : bool, many points are `LazyPoints` in a temporary file, in place of x (n, d) float32
    """
    given = recipe is not None
    with open_table(path, _layout(form, recipe), stdin, again=True) as table:
        form = with_columns(table, form)
        if given:
            form = replace(form, roles=_with_weights(table, form, recipe))
            roles = resolve_roles(table, form.roles)
            rows = 0
        else:
            recipe, rows, roles = _surveyed(table, form)
        weight = group = cells = None
        if form.weights.file is None:
            weight = roles.weight
        if form.groups is None:
            group = roles.group
            if form.roles.group_places is not None:
                cells = place_groups(table, form.roles.group_places)
        encoder = TableEncoder(table, recipe)
        parts = encoded_rows(table, encoder, roles.label, weight, group=group)
        width = len(recipe.features)
        if lazy and 4 * rows * width > _LAZY:
            x, y, w, groups, recipe = _in_a_file(parts, recipe, path)
        else:
            refuse_beyond(4 * rows * width, f"the points, {rows} of {width} features", table.file)
            x, y, w, groups = _in_memory(parts, width)
            if not given:
                recipe = filled_recipe(recipe, x)
                fill_missing(x, recipe)
                _warn_of_tellers(table, columns_that_tell(recipe, x, y))
                if form.groups is None and roles.group is None and cells is None:
                    _warn_of_groups(table, roles, recipe, group_columns(recipe, x, y))
        if given:
            encoder.warn_of_cells()
        elif rows != len(y):
            raise DataError("changed while it was read", file=table.file)
    if cells is not None:
        groups = cells
    if w is None:
        weights = weights_of(path, form, len(y), stdin)
    else:
        weights = Weights(w)
    data = with_groups(Dataset(x, y, recipe.classes, recipe, weights), groups)
    if groups is None:
        return with_groups_of(data, path, form, stdin)
    return data


def with_columns(table: Table, form: InputFormat) -> InputFormat:
    """The format in which weights and groups that columns of the table hold have roles."""
    roles = form.roles
    weights = form.weights
    groups = form.groups
    if weights.file not in (None, NO_WEIGHTS):
        column = column_or_file(table, weights.file, "`weight`")
        if column is not None:
            roles, weights = replace(roles, weight=column), replace(weights, file=None)
    if groups not in (None, NO_GROUPS):
        column = column_or_file(table, groups, "`group`")
        if column is not None:
            roles = replace(roles, group=column)
            groups = None
    return replace(form, roles=roles, weights=weights, groups=groups)


def _layout(form, recipe):
    """The layout of a table whose recipe of training may be given."""
    if recipe is None:
        return form.layout
    return form.layout.for_model(recipe)


def _surveyed(table, form):
    """The `Survey` of a table; its recipe has what the format says, for others of the same making."""
    survey = survey_table(table, form.roles)
    recipe = survey.recipe
    if form.layout != TableFormat():
        recipe = replace(recipe, layout=form.layout)
    if form.roles != ColumnRoles():
        recipe = replace(recipe, roles=form.roles)
    return survey._replace(recipe=recipe)


def _warn_of_tellers(table, columns):
    """Warn of columns, or pairs of them, that tell the class."""
    for names in columns:
        if len(names) == 1:
            what = f"column '{one_line(names[0])}' determines"
            way = "alone: leave it out"
        else:
            what = f"columns '{one_line(names[0])}' and '{one_line(names[1])}' determine"
            way = "together: leave one out"
        table.warn(f"{what} the class of every row {way} (`ignored`) if new data will not have it")


def _warn_of_groups(table, roles, recipe, names):
    """Warn of columns that look like groups: of these names, and of ids that repeat."""
    ids = set()
    rows = 0
    for block in table.blocks(dict.fromkeys(roles.ids, "text")) if roles.ids else ():
        ids.update(zip(*(block[position] for position in roles.ids)))
        rows += block.rows
        if len(ids) > _MOST_IDS:
            break
    if 0 < 2 * len(ids) <= rows:
        names = [*names, table.names[roles.ids[0]]]
    if names:
        name = one_line(names[0])
        warn_user(
            f"{table.file}: column '{name}'{and_more(names)} looks like groups of rows "
            "that are alike, as of patients or days, which make scores too good: with "
            f'`group="{name}"` no split divides them'
        )
    places = place_columns([table.names[position] for position in roles.features])
    pairs = [column for column in recipe.columns if column.pair is not None]
    if places is not None:
        named = f"columns '{one_line(places.first)}' and '{one_line(places.second)}' are"
    elif pairs and all(
        max(map(abs, column.quantiles)) <= limit for column, limit in zip(pairs, DEGREES)
    ):
        named = f"column '{one_line(pairs[0].source)}' has"
    else:
        return
    table.warn(
        f"{named} places: if rows near each other are alike, "
        '`group_places="10km"` keeps them together, in cells of a grid',
        AgfmcNotice,
    )


def _for_features(roles, recipe, **columns):
    """The roles of a table of which the recipe names the columns of features."""
    label = roles.label or recipe.label
    return replace(roles, label=label, ignored=(), categorical=(), **columns)


def _with_weights(table, form, recipe):
    """The roles of a table of which the recipe names the columns: label, weights and groups."""
    columns = {}
    for role, given, what, result in (
        ("weight", form.weights.file, "weights", "all rows count alike"),
        ("group", form.groups, "groups", "rows are split one by one"),
    ):
        columns[role], of_recipe = getattr(form.roles, role), getattr(recipe, role)
        if columns[role] is None and given is None and of_recipe is not None:
            if columns_called(table, [of_recipe]):
                columns[role] = of_recipe
            else:
                warn_user(
                    f"{table.file}: there is no column '{one_line(of_recipe)}', which "
                    f"held {what} in training: {result}"
                )
    roles = _for_features(form.roles, recipe, ids=(), **columns)
    size = recipe.roles and recipe.roles.group_places
    if size is None or form.groups is not None or roles.group or roles.group_places:
        return roles
    if place_columns(table.names) is None and "pair" not in recipe.kinds:
        warn_user(
            f"{table.file}: there are no columns of places, which held groups in training: rows are "
            "split one by one"
        )
        return roles
    return replace(roles, group_places=size)


def _in_memory(parts, width):
    parts = list(parts)
    y, weights, groups = _joined(parts)
    x = np.empty((len(y), width), np.float32)
    first = 0
    parts.reverse()
    while parts:  # memory of a block goes as that of all points comes
        block = parts.pop().x
        x[first : first + len(block)] = block
        first += len(block)
    return x, y, weights, groups


def _joined(parts):
    """Classes (n,), weights (n,) and groups (n,) of all parts, the latter two None without."""
    weights = groups = None
    if parts[0].weights is not None:
        weights = np.concatenate([part.weights for part in parts])
    if parts[0].groups is not None:
        groups = [word for part in parts for word in part.groups]
    return np.concatenate([part.y for part in parts]), weights, groups


def _in_a_file(parts, recipe, path):
    """(LazyPoints, y, weights, groups, recipe) of rows that are written to a temporary file."""
    rows = []
    with temporary_file() as file:
        for part in parts:
            _spool(file, part.x)
            rows.append(part._replace(x=None))
        y, weights, groups = _joined(rows)
        shape = len(y), len(recipe.features)
        stored = StoredTable(file.fileno(), os.fsdecode(path), "<f4", 0, shape)
        x = LazyPoints(stored)
        recipe = filled_recipe(recipe, x)
        for start, block in _filled_blocks(stored, recipe):
            with writing("a temporary file"):
                os.pwrite(file.fileno(), block.tobytes(), 4 * start * shape[1])
        return x, y, weights, groups, recipe


def _spool(file, x):
    with writing("a temporary file"):
        file.write(np.ascontiguousarray(x, "<f4").tobytes())
        file.flush()


def _filled_blocks(stored, recipe):
    """Yield (number of its first row, points) of blocks of points in a file, without gaps."""
    n, width = stored.shape
    step = max(1, _PIECE // width)
    for start in range(0, n, step):
        block = stored.read(start, min(start + step, n)).copy()
        fill_missing(block, recipe)
        yield start, block


def convert_table(
    path: str, form: InputFormat, base: str, recipe: TableRecipe | None = None
) -> tuple[TableRecipe, int, np.ndarray | None]:
    """A table to base.vec, base.cls, base.names and base.recipe, all or none.

    -> its recipe, the number of rows, and those of each class (k,), or None without labels.

    `recipe` is that of training for points to be classified or scored, or None: then it is made of
    this table. base.ids (text) is written where there are columns of ids, base.wgt where there is
    one of weights, base.grp where there is one of groups. Without labels (`form.labels`), which
    needs a recipe, only base.vec and base.ids are. Memory does not grow with the rows.
    """
    given = recipe is not None
    with open_table(path, _layout(form, recipe), again=True) as table, ExitStack() as stack:
        if given:
            roles = _roles_beside(table, form, recipe)
        else:
            recipe, _, roles = _surveyed(table, form)
        by_places = form.roles.group_places is not None
        encoder = TableEncoder(table, recipe)
        has_groups = roles.group is not None or by_places
        has_ends = True, *[form.labels] * 3, roles.ids, roles.weight is not None, has_groups
        ends = list(itertools.compress(CONVERTED, has_ends))
        warn_of_old_files(base, [end for end in CONVERTED[:-2] if end not in ends])
        absent = [base + end for end in CONVERTED[-2:] if end not in ends]
        old = list(filter(os.path.exists, absent))  # training would take them
        for path in old:
            warn_user(f"{path} existed before, and is removed, as it is not of these points")
        before = None
        if old:
            before = functools.partial(list, map(remove, old))
        outputs = replacing_all([base + end for end in ends], binary=True, before=before)
        files = dict(zip(ends, stack.enter_context(outputs)))
        held = stack.enter_context(temporary_file())
        rows = 0
        if roles.ids:
            files[".ids"].write(csv_line([table.names[position] for position in roles.ids]))
        counts = np.zeros(len(recipe.classes), dtype=np.int64)
        for part in encoded_rows(
            table, encoder, roles.label, roles.weight, roles.ids, roles.ids, roles.group
        ):
            _spool(held, part.x)
            if part.y is not None:
                files[".cls"].write(cls_bytes(part.y))
                counts += np.bincount(part.y, minlength=len(counts))
            if roles.ids:
                files[".ids"].write(csv_lines(part.text))
            if part.weights is not None:
                files[".wgt"].write(weights_bytes(part.weights, f"{base}.wgt", rows))
            if part.groups is not None:
                files[".grp"].write(groups_bytes(part.groups, f"{base}.grp"))
            rows += len(part.x)
        if by_places:
            groups = place_groups(table, form.roles.group_places)
            files[".grp"].write(groups_bytes(groups, f"{base}.grp"))
        width = len(recipe.features)
        stored = StoredTable(held.fileno(), "a temporary file", "<f4", 0, (rows, width))
        if not given:
            recipe = filled_recipe(recipe, LazyPoints(stored))
        vec = VecWriter(files[".vec"], width, recipe.keeps_missing)
        for _, block in _filled_blocks(stored, recipe):
            vec.write(block)
        if form.labels:
            files[".names"].write(names_bytes(recipe.classes, f"{base}.names"))
            files[".recipe"].write(format_recipe(recipe, f"{base}.recipe").encode())
        else:
            counts = None
        if given:
            encoder.warn_of_cells()
            encoder.warn_of_others((), (roles.label, roles.weight, roles.group, *roles.ids))
    return recipe, rows, counts


def _roles_beside(table, form, recipe):
    """The `Roles` of a table of which the recipe names the columns of features."""
    given = form.roles
    if form.labels and given.label is None and not columns_called(table, [recipe.label]):
        raise DataError(
            f"lacks the column '{one_line(recipe.label)}' of the classes: `label` "
            "names another one",
            file=table.file,
        )
    absent = [name for name in recipe.ids if name not in columns_called(table, [name])]
    ids = given.ids or recipe.ids
    if absent and not given.ids:
        table.warn(
            f"there is no column '{one_line(absent[0])}', which held ids in training: no ids are "
            "written"
        )
        ids = ()
    return resolve_roles(table, _for_features(given, recipe, ids=ids), form.labels)


def warn_of_old_files(base: str, ends) -> None:
    """Warn of each file base + end that stays beside new points, as it is of others."""
    for end in ends:
        if os.path.exists(base + end):
            warn_user(f"{base}{end} existed before, and is not of these points: remove it")


def table_labels(path: str, form: InputFormat) -> tuple[dict[int, int], dict[int, str]]:
    """({label: samples}, {label: name}) of a training table."""
    with open_table(path, form.layout, again=True) as table:
        names, counts = survey_classes(table, form.roles)
    return counts, dict(enumerate(names))


@dataclass(frozen=True)
class RowsToClassify:
    """The rows of a table without classes, and what tells them apart in answers."""

    heads: tuple[str, ...]
    encoder: TableEncoder
    _copied: tuple[int, ...]
    _unique: tuple[int, ...]
    flagged: bool

    @property
    def table(self) -> Table:
        """The table."""
        return self.encoder.table

    def chunks(self, rows: int, first: int = 1) -> Iterator[tuple[np.ndarray, list]]:
        """Yield (x (n, d) float32, the cells of the heads), `rows` rows at a time or fewer.

        Without ids the heads are numbers, that of the first row is `first`. Behind the cells of the
        heads are the flags of the rows, where these are requested. A row without an answer is NaN.
        """
        for part in encoded_rows(self.table, self.encoder, text=self._copied, unique=self._unique):
            flags = []
            if self.flagged:
                flags = [self.encoder.flags(len(part.x))]
            for start in range(0, len(part.x), rows):
                chosen = slice(start, start + rows)
                x = part.x[chosen]
                cells = [column[chosen] for column in part.text] or [range(first, first + len(x))]
                yield x, [*cells, *(column[chosen] for column in flags)]
                first += len(x)

    def cells(self, data: bytes, first: int) -> list:
        """The cells of the heads of one line that is wrong, empty where they cannot be read."""
        texts = self.table.line_texts(data, self._copied)
        cells = [[text] for text in texts] or [range(first, first + 1)]
        return [*cells, *[[[]]] * self.flagged]

    def warn(self) -> None:
        """Warnings of columns that are not needed, and of cells unlike those of training."""
        recipe = self.encoder.recipe
        names = {recipe.weight, recipe.group, *recipe.ids}
        self.encoder.warn_of_others(names, self._copied)
        self.encoder.warn_of_cells()


@contextmanager
def rows_to_classify(
    path: str,
    form: InputFormat,
    recipe: TableRecipe,
    everything: bool = False,
    strict: bool = False,
    flagged: bool = False,
) -> Iterator[RowsToClassify]:
    """The `RowsToClassify` of a table with the columns of a recipe, in any order, for `with`.

    Its ids are those of `form.roles`, else those of the training table that it has too. Raises
    `DataError` where columns are lacking, and where a row has the id of an earlier one.

    Parameters
    ----------
    everything : bool, all columns are copied, and ids are not compared unless `form.roles` names
        them
    strict : bool, a row that cannot be answered is an error
    flagged : bool, rows have flags
    """
    with open_table(path, form.layout.for_model(recipe)) as table:
        encoder = TableEncoder(table, recipe, "all" if strict else "most")
        yield _rows_of(encoder, form, everything, flagged, form.roles.ids or not everything)


def _rows_of(encoder, form, everything, flagged, compared):
    """The `RowsToClassify` of an open table; `compared`: no id may come twice."""
    table, recipe = encoder.table, encoder.recipe
    there = tuple(columns_called(table, recipe.ids))
    ids = column_positions(table, form.roles.ids or there, "`ids`")
    copied = ids
    if everything:
        copied = tuple(range(len(table.names)))
    heads = tuple(table.names[position] for position in copied) or (ROW,)
    unique = ()
    if compared and (form.roles.ids or len(there) == len(recipe.ids)):
        unique = ids
    return RowsToClassify(heads, encoder, copied, unique, flagged)


def rows_of_lines(
    lines: Iterator,
    form: InputFormat,
    recipe: TableRecipe,
    file: str,
    everything: bool = False,
    flagged: bool = False,
) -> tuple[RowsToClassify, Iterator]:
    """The rows of lines, as of `arriving_lines`, whose ids are not compared, and those lines.

    The first line is the heading, or a JSON object, as all are then; ids are those of `form.roles`,
    else those of training, empty where objects lack them. `everything` and `flagged` are as for
    `rows_to_classify`. `RowsToClassify.table.put` takes lines.
    """
    data, line = next((piece for piece in lines if piece[0].strip(b"\r\n")), (b"", 1))
    text = data.lstrip(b"\r\n")
    layout = form.layout.for_model(recipe)
    rest = (data, line)
    if text.startswith(b"{"):
        names = [column.source for column in recipe.columns]
        names += form.roles.ids or recipe.ids
        table: Table = ObjectTable(list(dict.fromkeys(names)), layout, file)
    elif isinstance(data, CutLine):
        raise DataError(data.message, file=file, line=line)
    else:
        heading, end, behind = text.partition(b"\n")
        table = LineTable(heading + end, layout, file)
        line += data[: len(data) - len(text)].count(b"\n")
        if layout.header:
            rest = (behind, line + 1)
        else:
            rest = (text, line)
    encoder = TableEncoder(table, recipe, "all")
    return _rows_of(encoder, form, everything, flagged, False), itertools.chain([rest], lines)

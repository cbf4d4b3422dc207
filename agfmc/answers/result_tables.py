"""Tables of answers with class names, and the true classes beside them or in another table."""

from __future__ import annotations
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..control.tree import Tree
from ..core.answers import Results
from ..core.errors import AgfmcNotice, and_more, DataError, one_line, UsageError, warn_user
from ..core.weights import NO_WEIGHTS
from ..data.weights import read_weights
from ..files.opening import is_stream
from ..score.evaluation import warn_of_no_probabilities
from ..score.probabilities import probability_of_answers
from ..tables.roles import column_or_file, column_positions, listed_names
from ..tables.survey import ordered_words
from ..tables.words import Words, words_of_cells
from ..tables.types import folded_word, LABEL_NAMES, plain_word, ROW, TableFormat
from .columns import AnswerColumns, open_answers
from .libagf_text import ClassSets
from .results import paths_of_sets, probabilities_only, sets_beside_truth
from .text_table import AGAINST, EXPECTED_COST, FAILED, MARGIN, MOST_PROBABLE, REASONS

_P = "p:"  # the beginning of the names of columns of probabilities
_MOST_CLASSES = 10_000


@dataclass(frozen=True)
class AnswerSource:
    """The tables and columns of answers and true classes.

    Attributes
    ----------
    path : table of the answers
    truth : column of the true classes, there or in the table `data`, by name or number from 1, or
        None for the one named `label`, by default class, label or target, or else the only one with
        the names of the classes
    ids : columns by which the rows are joined, () for those that both have
    before : table of answers whose probabilities are not calibrated, or None
    names : names of the classes in their order, () for that of the columns of probabilities
    weight : column of the weights, in the table of the true classes, or a file of them, or
        `NO_WEIGHTS`, or None
    layout, data_layout : layouts of the tables of answers, and of the table `data`
    fold_case : true classes that differ from one of the answers in case or blanks alone are this one
    """

    path: str
    truth: str | None
    data: str | None = None
    ids: tuple[str, ...] = ()
    predicted: str = "class"
    before: str | None = None
    layout: TableFormat = TableFormat()
    names: tuple[str, ...] = ()
    weight: str | None = None
    label: str | None = None
    data_layout: TableFormat = TableFormat()
    fold_case: bool = False

    def __post_init__(self):
        if self.ids and self.data is None:
            raise UsageError("`ids` joins the answers with the table of `data`")


class _Columns:
    """The columns of a table of answers by what they hold.

    Attributes
    ----------
    predicted : column of the classes
    p : {column: its class} of the probabilities
    winner, sets : columns of the answer's probability and of sets of classes, or None
    others : further columns
    """

    def __init__(self, table, predicted):
        names = table.names
        if predicted not in names:
            raise DataError(
                f"there is no column '{one_line(predicted)}' of answers: a table of "
                "answers comes first, `data` names that of the true classes, and "
                f"`predicted` the column; the columns are {listed_names(names)}",
                file=table.file,
            )
        self.predicted = predicted
        self.p = {name: plain_word(name.removeprefix(_P)) for name in names if name.startswith(_P)}
        if len(set(self.p.values())) < len(self.p):
            raise DataError("two columns hold the probabilities of one class", file=table.file)
        self.winner = None
        if "p" in names and not self.p:
            self.winner = "p"
        # as classify_m writes answers to rows without ids, and behind the class what it says of them
        self.is_numbered = names[:2] == (ROW, predicted)
        # elsewhere columns of these names have another meaning
        start = names.index(predicted)
        whole = (predicted, "p", EXPECTED_COST, MOST_PROBABLE)
        costs = ()
        if names[start : start + 4] == whole:
            costs = whole[2:]
        self.sets = None
        behind = start + 2 + len(costs)
        if names[start : behind + 1] == (predicted, "p", *costs, "set"):
            self.sets = "set"
        explained = ()
        if AGAINST in names and names[names.index(AGAINST) + 1 :][:1] == (MARGIN,):
            explained = AGAINST, REASONS
        self.others = [
            name
            for name in names
            if name not in {predicted, "p", self.sets, *costs, *self.p, *explained}
        ]

    @property
    def kinds(self):
        """{name: kind} for `open_answers`."""
        kinds = {
            self.predicted: "words",
            **dict.fromkeys(self.p, "number"),
            self.winner: "number",
            self.sets: "set",
        }
        return {name: kind for name, kind in kinds.items() if name is not None}


def load_answers(source: AnswerSource, tree: Tree | None = None) -> tuple[Results, tuple[str, ...]]:
    """(`Results`, names of the classes, entry i of class i) of a table of answers.

    Each set of classes has to be a node of `tree`, if that is given. Weights are as they stand
    there, 0 or more. Raises `DataError`, with file and line, for what does not fit together.
    """
    with open_answers(source.path, source.layout) as table:
        columns = _Columns(table, source.predicted)
        if source.data is None:
            others = []
        else:
            others = [_read_truth(source, columns)]
        if source.before is not None:
            others.append(_read_before(source, columns))
        kinds = columns.kinds
        if source.data is None:
            held = _truth_column(table, source, columns), _weight_column(table, source)
            kinds = {
                held[0]: "words",
                **kinds,
                **{name: "number" for name in held[1:] if name is not None},
            }
        answers = table.read({**kinds, **{name: "text" for other in others for name in other.keys}})
    answers = _without_failed(answers, columns)
    other, keys, (column, weight) = _Other(answers, (), held) if source.data is None else others[0]
    words, codes = _complete(other, column)
    order = _order(answers, other, keys)
    weights = _weights(other, weight, source)
    first, answered = _names_of_answers(source, answers, columns)
    if source.fold_case:  # each as the answers spell it
        spelling = _spelling(answered.union(first))
        words = tuple(spelling.get(folded_word(word), word) for word in words)
    truth = Words(words, codes[order])
    if weights is not None:
        weights = weights[order]
    names = _names(first, answered, answers, columns, truth)
    number = {name: index for index, name in enumerate(names)}
    result = _numbered(answers.cells[columns.predicted], number)
    p, winner = _probabilities(answers, columns, number, result)
    results = Results(
        _numbered(truth, number),
        result,
        np.arange(len(names)),
        len(names) if first else None,
        winner,
        p,
        weights,
    )
    if source.before is not None and p is not None:
        other, keys, held = others[-1]
        before = _table_of(other, held, number)[_order(answers, other, keys)]
        warn_of_no_probabilities(before, f"the probabilities in {_name(other)}")
        results = replace(results, before=before)
    if columns.sets is not None:
        results = _with_sets(results, answers, answers.cells[columns.sets], names, tree)
    elif tree is not None:
        raise DataError(
            "has no column 'set' behind the class and p, as `stop` writes it for `control`",
            file=answers.file,
        )
    return results, names


def _without_failed(answers, columns):
    """Answers of which those that could not be given are rejected, with a warning."""
    numbers = [name for name, kind in columns.kinds.items() if kind == "number"]
    predicted = answers.cells[columns.predicted]
    words = np.array([*predicted.words, ""], dtype=object)[predicted.codes]
    empty = (words == "") | (words == FAILED)
    for name in numbers:
        empty &= np.isnan(answers.cells[name])
    count = int(np.count_nonzero(empty))
    if not numbers or not count:
        return answers
    warn_user(
        f"{_name(answers)}: {count} of {len(empty)} rows have no answer: they count as rejected, "
        "with equal probabilities of all classes"
    )
    given = words_of_cells([word or None for word in np.where(empty, "", words).tolist()])
    cells = {**answers.cells, columns.predicted: given}
    if columns.winner is not None:
        share = 1 / max(len(given.words), 1)
        cells[columns.winner] = np.where(empty, share, cells[columns.winner])
    return answers._replace(cells=cells)


def _default_truth(table, names, source, columns):
    """The column of the true classes, one of `names`, where none is named."""
    if source.label is None:
        known = LABEL_NAMES
    else:
        known = (source.label.lower(),)
    alike = [name for name in names if name.removeprefix("input:").lower() in known]
    classes = set(columns.p.values())
    if not (alike or classes or is_stream(source.path)):
        classes = _answered(source, columns)
    if not alike and classes and not is_stream(table.file):
        layout = source.layout
        if source.data is not None:
            layout = source.data_layout
        with open_answers(table.file, layout) as again:
            cells = again.read(dict.fromkeys(names, "words")).cells
        key_of = plain_word
        if source.fold_case:
            key_of = folded_word
        keys = set(map(key_of, classes))
        alike = [
            name
            for name in names
            if cells[name].words and keys.issuperset(map(key_of, cells[name].words))
        ]
        for name in alike[: len(alike) == 1]:
            warn_user(
                f"{table.file}: the true classes are those of column "
                f"'{one_line(name)}', the only one with the names of the classes",
                AgfmcNotice,
            )
    if len(alike) != 1:
        if source.data is None:
            where = ", and `data=TABLE` another table that has it"
        else:
            where = " (`data` is a table, not LIBSVM text)"
        if alike:
            found = f"{listed_names(alike)} could hold them"
        else:
            found = f"found the columns {listed_names(names)}"
        raise UsageError(
            f"{table.file} does not show which column has the true classes: "
            f"`truth=COLUMN` names it{where}; {found}"
        )
    return alike[0]


def _answered(source, columns):
    """The classes that are an answer, or in one set at least."""
    with open_answers(source.path, source.layout) as table:
        cells = table.read(columns.kinds).cells
    classes = set(map(plain_word, cells[columns.predicted].words))
    return classes.union(*cells.get(columns.sets, ()))


class _Other(NamedTuple):
    """Another table of the same rows: its cells, the columns of ids, that or those of interest."""

    table: AnswerColumns
    keys: tuple[str, ...]
    columns: Any


def _column_of_truth(table, source):
    """The column that the source names."""
    return table.names[column_positions(table, (source.truth,), "`truth`")[0]]


def _truth_column(table, source, columns):
    if source.truth is None:
        return _default_truth(table, columns.others, source, columns)
    try:
        name = _column_of_truth(table, source)
    except DataError as error:
        raise DataError(
            f"{error.message}; `data` names another table that has it", file=error.file
        ) from None
    if name == source.predicted and f"input:{name}" in table.names:
        name = f"input:{name}"  # as classify_m names a column of its input
    if name == source.predicted:
        raise UsageError(
            f"column '{one_line(name)}' cannot hold the answers and the truth: "
            "`predicted` names that of the answers, `data` the table of the truth"
        )
    return name


def _weight_column(table, source):
    if source.weight in (None, NO_WEIGHTS):
        return None
    return column_or_file(table, source.weight, "`weight`")


def _weights(table, column, source):
    """The weights (n,) in a column, or else a file, or None; `DataError` for what is no number of
    0 or more."""
    if source.weight in (None, NO_WEIGHTS):
        return None
    if column is None:
        return read_weights(source.weight, len(table.numbers))
    w = _present(table, column)
    for row in np.flatnonzero(~((w >= 0) & (w < np.inf)))[:1].tolist():
        raise table.error(
            row,
            f"column '{one_line(column)}' has the weight {w[row]:g}: expected a "
            "number of 0 or more",
        )
    return w


def _read_truth(source, columns):
    others = columns.others
    with open_answers(source.data, source.data_layout) as table:
        if source.truth is None:
            column = _default_truth(table, table.names, source, columns)
        else:
            column = _column_of_truth(table, source)
        weight = _weight_column(table, source)
        for names, file in (others, source.path), (table.names, table.file):
            for name in source.ids:
                if name not in names or name == column:
                    raise DataError(
                        f"`ids`: there is no column '{one_line(name)}' of ids; the "
                        f"columns are {listed_names(names)}",
                        file=file,
                    )
        keys = source.ids or _keys(others, table, column, weight)
        if not keys and set(others) - {ROW} and not columns.is_numbered:
            raise DataError(
                "has no column that the answers have too, as ids: theirs are "
                f"{listed_names(others)}, and those here {listed_names(table.names)}",
                file=table.file,
            )
        kinds = {column: "words", **dict.fromkeys(keys, "text")}
        if weight is not None:
            kinds[weight] = "number"
        return _Other(table.read(kinds), keys, (column, weight))


def _keys(others, table, *not_keys):
    """The columns that both have; not a `row`, which is a number of the rows of one of them."""
    excluded = ROW, *not_keys
    return tuple(name for name in others if name in table.names and name not in excluded)


def _read_before(source, columns):
    if not columns.p:
        raise UsageError(
            "probabilities before calibration are compared with those after it, and "
            f"{source.path} has no columns {_P}NAME"
        )
    with open_answers(source.before, source.layout) as table:
        before = _Columns(table, source.predicted)
        if set(before.p.values()) != set(columns.p.values()):
            raise DataError(
                f"has the classes {listed_names(list(before.p.values()))}, and not "
                + listed_names(list(columns.p.values())),
                file=table.file,
            )
        keys = source.ids or _keys(columns.others, table)
        kinds = {**dict.fromkeys(before.p, "number"), **dict.fromkeys(keys, "text")}
        return _Other(table.read(kinds), keys, before)


def _complete(table, column):
    """The `Words` of true classes; `DataError` for a row without one."""
    words = table.cells[column]
    missing = np.flatnonzero(words.codes < 0)
    if len(missing):
        raise table.error(
            int(missing[0]),
            f"column '{one_line(column)}' has no class"
            + f" (one of {len(missing)} such rows)" * (len(missing) > 1)
            + ": expected the true class in every row",
        )
    return words


def _order(answers, truth, keys):
    """Rows (n,) of the table of the truth, one for each answer."""
    n = len(answers.numbers)
    other = len(truth.numbers)
    if not keys:
        if n != other:
            raise DataError(
                f"has {n} answers, and {_name(truth)} has {other} rows: expected as "
                "many, or a column of ids that both have",
                file=answers.file,
            )
        return np.arange(n)
    here = _rows_by_id(answers, keys)
    there = _rows_by_id(truth, keys)
    for rows, others, table, what in (
        (here, there, answers, "row"),
        (there, here, truth, "answer"),
    ):
        for absent in (key for key in rows if key not in others):
            raise table.error(
                rows[absent],
                f"there is no {what} of {_shown(keys, absent)} in "
                + _name(truth if table is answers else answers),
            )
    return np.fromiter((there[key] for key in here), np.int64, n)


def _rows_by_id(table, keys):
    """{ids of a row: row} in the order of the rows; `DataError` for ids that stand twice."""
    rows: dict[tuple, int] = {}
    for row, key in enumerate(zip(*(map(str.strip, table.cells[name]) for name in keys))):
        if rows.setdefault(key, row) != row:
            raise table.error(
                row,
                f"{_shown(keys, key)} stands in {table.counted} "
                f"{table.numbers[rows[key]]} already: expected different ids",
            )
    return rows


def _shown(keys, values):
    return ", ".join(
        f"{one_line(name)} '{one_line(value[:60])}'" for name, value in zip(keys, values)
    )


def _name(table):
    if table.file == "-":
        return "standard input"
    return table.file


def _names_of_answers(source, answers, columns):
    """(classes that are named before the answers, in order; set of those among the answers)."""
    first = list(dict.fromkeys([*source.names, *columns.p.values()]))
    answered = {plain_word(word) for word in answers.cells[columns.predicted].words}
    if columns.sets is not None:
        answered = answered.union(*set(answers.cells[columns.sets]))
    return first, answered


def _spelling(names):
    """{what tells a class where case and blanks do not count: its name}."""
    return {folded_word(name): name for name in names}


def _hint_of_spelling(unknown, known):
    """A hint where a class differs from a known one in case or blanks alone, else ""."""
    spelling = _spelling(known)
    for word in unknown:
        if folded_word(word) in spelling:
            return (
                f"; '{one_line(word)}' differs from '{one_line(spelling[folded_word(word)])}' in case "
                "or blanks alone: the recipe, or the model, of training with `fold_case` makes them one"
            )
    return ""


def _names(first, answered, answers, columns, truth):
    """The names of all classes, first those that `_names_of_answers` gives first."""
    true = {plain_word(word) for word in truth.words}
    known = answered.union(first)
    column = f"column '{one_line(columns.predicted)}'"
    if not true & known:
        raise DataError(
            f"no answer is one of the true classes {listed_names(sorted(true))}: "
            "`truth` names another column than theirs?"
            + _hint_of_spelling(ordered_words(true), known),
            file=answers.file,
        )
    strange = ordered_words(answered.difference(first))
    if columns.p and strange:
        raise DataError(
            f"{column} has the class '{one_line(strange[0])}', and there is no column "
            f"'{_P}{one_line(strange[0])}' of its probability",
            file=answers.file,
        )
    names = [*first, *ordered_words((answered | true).difference(first))]
    if len(names) > _MOST_CLASSES:
        raise DataError(
            f"{column} and the truth have {len(names)} different values, and look not like classes",
            file=answers.file,
        )
    unknown = ordered_words(true.difference(columns.p.values() or known))
    if unknown:
        codes = [index for index, word in enumerate(truth.words) if plain_word(word) in unknown]
        count = int(np.isin(truth.codes, codes).sum())
        warn_user(
            f"{_name(answers)}: the true class '{one_line(unknown[0])}'"
            f"{and_more(unknown)} is none of the answers': {count} "
            f"row{'s count' if count > 1 else ' counts'} as wrong"
            + ", with probability 0" * bool(columns.p)
            + _hint_of_spelling(unknown, known)
        )
    return tuple(names)


def _numbered(words: Words, number):
    """Numbers (n,) int32 of the classes, -1 where there is none."""
    return words.spread([number[plain_word(word)] for word in words.words], np.int32(-1))


def _table_of(answers, columns, number):
    """p (n, k) in the columns of probabilities, equal ones in rows without any."""
    empty = np.logical_and.reduce([np.isnan(answers.cells[column]) for column in columns.p])
    p = np.zeros((len(answers.numbers), len(number)))
    for column, name in columns.p.items():
        p[:, number[name]] = _present(answers, column, empty)
    p[empty] = 1 / len(number)
    return p


def _probabilities(answers, columns, number, result):
    """(p (n, k) or None, that of the answer (n,) or None)."""
    p = winner = None
    if columns.p:
        p = _table_of(answers, columns, number)
        winner = probability_of_answers(p, result, np.arange(len(number)))
    elif columns.winner is not None:
        winner = _present(answers, columns.winner)
    return probabilities_only(p, winner, _name(answers))


def _present(table, column, empty=False):
    values = table.cells[column]
    for row in np.flatnonzero(np.isnan(values) & ~np.asarray(empty))[:1].tolist():
        raise table.error(row, f"column '{one_line(column)}' has no number")
    return values


def _with_sets(results, answers: AnswerColumns, sets, names, tree):
    number = {name: index for index, name in enumerate(names)}
    numbered = ClassSets(
        np.array(list(map(len, sets)), dtype=np.int64),
        np.array([number[word] for words in sets for word in words], dtype=np.int64),
    )
    paths = None
    if tree is not None:
        known = {plain_word(tree.names.get(label, str(label))): label for label in tree.labels}
        strange = [name for name in names if name not in known]
        if strange:
            raise DataError(f"the tree has no class '{one_line(strange[0])}'", file=tree.source)
        labels = np.array([known[name] for name in names])
        paths = paths_of_sets(
            ClassSets(numbered.size, labels[numbered.labels]),
            labels[results.truth],
            tree,
            answers.error,
        )
    return replace(results, sets=sets_beside_truth(numbered, results.truth, paths))

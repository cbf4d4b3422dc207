"""Columns of a training table surveyed: what each holds, and the recipe that follows.

The survey goes in four steps: facts of each column are collected, in one pass over the table or
few; the kind of each column is decided, which gives its part of the recipe; problems of all
columns are raised together; what was done, and what may be a mistake, is told.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..core.errors import DataError, one_line, UsageError
from ..core.text import first_words, name_fault
from .dates import expected, odd_words
from .facts import ColumnFacts, float_steps, PairFacts
from .findings import Findings
from .hints import IDENTIFIER
from .number_forms import Fault, is_named_date, is_serial, NumberForm, WAYS
from .places import PairRecipe
from .roles import listed_names, quoted, resolve_roles, Roles
from .words import number_of, Table, with_points
from .types import (
    ColumnRecipe,
    ColumnRoles,
    folded_word,
    LARGEST,
    MOST_LETTERS,
    plain_word,
    size_of_names,
    TableRecipe,
)

_MOST_WORDS = 1000  # of a column that is not `categorical`
_MOST_CLASSES = 10_000
_MANY_CLASSES = 100  # that are whole numbers, if they have gaps
_MANY_WORDS = 30  # of a column: from which on rare ones share a feature
_RARE = 5  # rows that a word needs there
_OTHER = "other"  # the category of rare words
_FEW_ROWS = 20  # in which all values may well be different
_SHORT_YEAR = re.compile(r"\d\d?[-/.]\d\d?[-/.]\d\d(?: .*)?")
_STEPS = 1024  # of single precision, at least, between the least and the greatest number


class Survey(NamedTuple):
    """A recipe that lacks its fills, and what was seen of the table."""

    recipe: TableRecipe
    rows: int
    roles: Roles


def survey_table(table: Table, roles: ColumnRoles) -> Survey:
    """The `Survey` of a training table.

    One notice says which columns are left out, as they are constant, or different in every row, and
    how numbers, words and missing values are taken; warnings say what may be a mistake.  Raises
    `DataErrors` of all columns that cannot be used, each with a row as an example.
    """
    where = resolve_roles(table, roles)
    findings = Findings(table)
    label = ColumnFacts(table.names[where.label], True, True)
    beside = {
        position: ColumnFacts(table.names[position], True, False, decimal=table.decimal)
        for position in (where.weight, where.group)
        if position is not None
    }
    columns, rows = _collect_facts(table, where, {where.label: label, **beside}, findings)
    _check_weights_and_groups(where, beside, findings)
    classes, _ = _decide_classes(label, where.label, roles, findings)
    is_default = roles.missing is None
    if is_default:
        missing = "error"
        if any(facts.missing for facts in columns.values()):
            missing = "indicator"
        roles = replace(roles, missing=missing)
    recipes = {}
    for position, facts in columns.items():
        if isinstance(facts, PairFacts):
            recipe = _decide_pair(facts, position, roles, findings)
        else:
            recipe = _decide_column(facts, position, roles, where.orders.get(position), findings)
        if recipe is not None:
            recipes[position] = recipe
    gaps = [
        position
        for position, facts in columns.items()
        if facts.missing and (position in recipes or findings.has_faults(position))
    ]
    if gaps and roles.missing == "error":
        _refuse_missing(columns, gaps, findings)
    findings.raise_problems()
    if not recipes:
        raise DataError(
            "; ".join(["no column is left to be a feature", *findings.all_done()]), file=table.file
        )
    if gaps and is_default:
        missing = _missing_cells([columns[position] for position in gaps])
        findings.done.append(
            f"{missing} of {rows} rows: an indicator feature for each column marks them (`missing`)"
        )
    features = []
    for recipe in recipes.values():
        if isinstance(recipe, ColumnRecipe):
            features.append(recipe)
        else:
            features += recipe
    name_of = dict(enumerate(table.names))
    recipe = TableRecipe(
        tuple(features),
        label.name,
        classes,
        tuple(name_of[position] for position in where.ids),
        name_of.get(where.weight),
        roles.missing,
        one_line(os.path.basename(table.file)),
        tuple(sorted(table.blanks)),
        name_of.get(where.group),
        fold_case=roles.fold_case or None,
        label_kind=table.kind_of(where.label),
    )
    _check_names(recipe, table)
    findings.kinds = recipe.kinds
    if len(recipes) < len(columns):
        findings.kinds["left out"] = len(columns) - len(recipes)
    findings.tell()
    return Survey(recipe, rows, where)


def survey_classes(table: Table, roles: ColumnRoles) -> tuple[tuple[str, ...], dict[int, int]]:
    """(Names of the classes, {class: rows}) of a training table, of which one column is read."""
    position = resolve_roles(table, roles).label
    label = ColumnFacts(table.names[position], True, True)
    _read_columns(table, {position: label})
    findings = Findings(table)
    names_and_rows = _decide_classes(label, position, roles, findings)
    findings.raise_problems()
    return names_and_rows


# Facts


def _read_columns(table, columns):
    """Give all blocks of the table to the facts of the columns; -> number of rows."""
    rows = 0
    requested = {
        position: "words" if facts.as_words else "either" for position, facts in columns.items()
    }
    for block in table.blocks(requested):
        for position, facts in columns.items():
            facts.add(block, block[position])
        rows += block.rows
    return rows


def _collect_facts(table, where, beside, findings):
    """({position: facts of a feature}, number of rows); `beside`: facts of other columns.

    Where numbers turn out to stand among words, all of the column is read as words; where all of
    these are numbers in one form, or two numbers each, once more by this form.
    """
    declared = {*where.categorical, *where.orders}

    def facts_of(position, as_words, form=None):
        is_declared = position in declared
        facts = ColumnFacts(table.names[position], is_declared, as_words, form, table.decimal)
        facts.is_index = facts.name in table.index
        return facts

    columns = {}
    for position in where.features:
        fault = table.fault_of(position)
        if fault is None:
            columns[position] = facts_of(position, position in declared)
        else:
            findings.add_problem(position, fault)
    rows = _read_columns(table, {**beside, **columns})
    again = {
        position: facts_of(position, True)
        for position, facts in columns.items()
        if facts.is_mixed and facts.numbers
    }
    if again:
        _read_columns(table, again)
        columns.update(again)
    formed = {}
    for position, facts in columns.items():
        form = _decide_form(facts, table.decimal)
        if form is not None:
            formed[position] = facts_of(position, True, form)
            _note_form(facts, form, findings)
        elif facts.first_strange is not None and facts.pairs.holds_pairs and not facts.categorical:
            formed[position] = PairFacts(facts.name)
    if formed:
        _read_columns(table, formed)
        columns.update(formed)
    return columns, rows


def _decide_form(facts, decimal):
    """The `NumberForm` of a column whose cells are no plain numbers, else None."""
    if facts.categorical:
        return None
    if facts.numbers and not facts.words:
        can_be_dates = is_serial(facts.low) and is_serial(facts.high) and facts.low < facts.high
        if can_be_dates and is_named_date(facts.name):
            return NumberForm(serial=True)
    if facts.first_strange is not None and facts.dates.recipe() is None:
        return facts.forms.form(decimal)
    return None


def _note_form(facts, form, findings):
    name = quoted(facts.name)
    if form.unit:
        findings.taken["units left out"].append(f"{name} ({form.unit})")
    if form.thousands:
        findings.taken["marks of thousands"].append(f"{name} (1{form.thousands}000 is 1000)")
    if form.decimal != facts.decimal:
        findings.taken[f"a decimal mark of its own, {form.decimal}"].append(name)
    for limit in form.limits:
        findings.taken["limits are numbers, and a feature tells which these are"].append(
            f"{name} ({limit} in {facts.forms.rows_of(limit)} rows)"
        )
    for word in form.blanks:
        findings.taken["words that mean a missing value"].append(
            f"{quoted(word)} in {name} ({facts.forms.rows_of(word)})"
        )
    if form.serial:
        findings.taken["days of a spreadsheet, taken as dates"].append(name)


def _check_weights_and_groups(where, beside, findings):
    """Problems of the columns of weights and groups, {position: facts}."""
    for position, facts in beside.items():
        if position == where.group and facts.missing:
            text = "has no group: expected a word in every row"
            findings.add_problem(position, text, facts.first_missing)
        elif position == where.weight and (facts.words or facts.low < 0 or facts.high > LARGEST):
            text = "is no weight: expected a number of 0 or more"
            decimal = facts.decimal
            findings.add_fault(position, Fault(lambda cell: not _is_weight(cell, decimal), text))
        elif position == where.weight and facts.missing:
            text = "has no weight: expected a number of 0 or more in every row"
            findings.add_problem(position, text, facts.first_missing)


def _is_weight(cell, decimal):
    weight = number_of(*with_points([cell], decimal))
    return weight is not None and 0 <= weight <= LARGEST


# Classes


def _decide_classes(label, position, roles, findings):
    """(names of the classes, {class: rows}) of the column of the label."""
    given = roles.classes
    if given is not None:
        given = tuple(map(plain_word, given))
    _join_spellings(label, roles.fold_case, findings, given or ())
    words = label.words
    k = len(words)
    if label.missing:
        rows = f"{label.missing} of {label.missing + label.rows} rows"
        text = f"no class, in {rows}: expected a class in every row of training data"
        cell = findings.cell_at(position, label.first_missing)
        if cell:
            text += f"; {quoted(cell)} is a missing value, unless `blanks` names other words"
        findings.add_problem(position, text, label.first_missing)
    if (
        label.endless
        or k > _MOST_CLASSES
        or k > _FEW_ROWS
        and 2 * k > label.rows
        or given is None
        and _is_quantity(words, label.rows)
    ):
        more = "more than " * label.endless
        findings.add_fault(
            position,
            Fault(
                lambda cell: True,
                f"is one of {more}{k} different values, which look like a continuous quantity or "
                "an identifier, not like classes: `label` names another column, and of a quantity "
                "(.dat) float_to_class makes classes",
            ),
        )
        return (), {}
    classes = given
    if given is None:
        classes = tuple(ordered_words(words))
    elif len(set(given)) < len(given):
        raise UsageError("`classes` names a class twice")
    wrong = [word for word in words if name_fault(word)]
    if wrong:
        text = f"cannot be the name of a class: {name_fault(wrong[0])}"
        findings.add_fault(position, Fault(lambda cell: plain_word(cell) == wrong[0], text))
    unnamed = [word for word in words if word not in classes]
    if unnamed:
        text = f"is a class that `classes` does not name: {listed_names(classes)}"
        if len(unnamed) > 1:
            text += f"; nor does it name {listed_names(unnamed[1:])}"
        findings.add_fault(position, Fault(lambda cell: plain_word(cell) == unnamed[0], text))
    absent = [word for word in classes if word not in words]
    if absent:
        findings.add_problem(
            position,
            f"no row is of class {listed_names(absent)}, which `classes` names: there are "
            + listed_names(sorted(words)),
        )
    return classes, {number: words.get(word, 0) for number, word in enumerate(classes)}


def _is_quantity(words, rows):
    """True if many numbers stand in few rows each that have fractions, or, still more, gaps."""
    k = len(words)
    values = list(map(number_of, words))
    if k <= _FEW_ROWS or rows >= 10 * k or None in values:
        return False
    has_gaps = k > _MANY_CLASSES and max(values) - min(values) >= k
    return has_gaps or any(value % 1 for value in values)


def _join_spellings(facts, is_folded, findings, given=()):
    """Make words that differ in case and blanks alone one, or say that they stay different.

    The word is then the most frequent spelling, or the one that is given.
    """
    spellings: dict[str, list[str]] = {}
    for word in facts.words:
        spellings.setdefault(folded_word(word), []).append(word)
    several = [words for words in spellings.values() if len(words) > 1]
    if is_folded:
        joined = {}
        for words in spellings.values():
            usual = min(words, key=lambda word: (word not in given, -facts.words[word], word))
            joined[usual] = sum(facts.words[word] for word in words)
        facts.words = joined
    elif several and not facts.endless:
        count = sum(len(words) - 1 for words in several)
        others = " differs" if count == 1 else "s differ"
        findings.doubts.append(
            f"column {quoted(facts.name)}: {count} word{others} from others in case or blanks "
            f"alone, as {listed_names(sorted(several[0]))} (`fold_case` makes them one)"
        )


# Kinds


def _decide_column(facts, position, roles, order, findings):
    """The `ColumnRecipe` of a feature, None for a column that is left out.

    The first that holds: an order that is given; dates; words; numbers.
    """
    indicator = roles.missing == "indicator" and facts.missing > 0
    date = None
    if not facts.categorical:
        date = facts.dates.recipe()
    if order is not None:
        fill = _fill_of_numbers(facts, position, roles, findings, order)
        return ColumnRecipe(facts.name, None, fill, indicator, order=order)
    if date is not None and (facts.words or facts.form is not None and facts.form.serial):
        findings.done.append(f"column {quoted(facts.name)} has {date.described}")
        fill = _fill_of_numbers(facts, position, roles, findings)
        return ColumnRecipe(facts.name, None, fill, indicator, date, numbers=facts.form)
    if facts.words:
        faults = []
        if not facts.categorical and facts.first_strange is not None:
            faults = _faults_of_dates(facts) or facts.forms.faults()
        if faults:
            for fault in faults:
                findings.add_fault(position, fault)
            return None
        return _decide_words(facts, position, roles, findings)
    return _decide_numbers(facts, position, roles, findings)


def _decide_pair(facts, position, roles, findings):
    """The two `ColumnRecipe`s of a column of pairs of numbers, or None."""
    if all(part.low == part.high for part in facts.parts):
        findings.left_out["constant"].append(facts.name)
        return None
    findings.taken["two numbers in each cell, each of which is a feature"].append(
        quoted(facts.name)
    )
    fill = _fill_of_numbers(facts, position, roles, findings)
    indicator = roles.missing == "indicator" and facts.missing > 0
    recipes = []
    for number, part in enumerate(facts.parts):
        _doubt_numbers(part, findings)
        pair = PairRecipe(facts.name, number)
        recipes.append(ColumnRecipe(part.name, None, fill, indicator, pair=pair))
    return recipes


def _faults_of_dates(facts):
    """The fault of a column most of whose words are dates of one order."""
    order, odd = odd_words(facts.words)
    if not odd:
        return []
    text = (
        f"is not {expected(order)}, as other cells are: `blanks` names words that mean a missing "
        f"value, {WAYS}"
    )
    return [Fault(lambda cell: plain_word(cell) in odd, text)]


def _decide_numbers(facts, position, roles, findings):
    indicator = roles.missing == "indicator" and facts.missing > 0
    shows_missing = indicator or facts.missing > 0 and roles.missing.startswith("value:")
    is_limited = facts.form is not None and facts.form.limits
    if not facts.numbers:
        findings.left_out["empty"].append(facts.name)
        return None
    if facts.low == facts.high and not shows_missing and not is_limited:
        findings.left_out["constant"].append(facts.name)
        return None
    if facts.numbers_the_rows:
        findings.left_out["numbers of the rows"].append(facts.name)
        return None
    if max(-facts.low, facts.high) > LARGEST:
        form = facts.form or NumberForm(decimal=facts.decimal)
        findings.add_fault(
            position,
            Fault(
                lambda cell: abs(form.values([cell])[0, 0]) > LARGEST,
                "is more than single precision holds: use a larger unit, or an empty cell for a "
                "missing value",
            ),
        )
        return None
    _doubt_numbers(facts, findings)
    fill = _fill_of_numbers(facts, position, roles, findings)
    return ColumnRecipe(facts.name, None, fill, indicator, numbers=facts.form)


def _doubt_numbers(facts, findings):
    name = quoted(facts.name)
    has_unit = facts.form is not None and facts.form.unit
    is_named = facts.whole and IDENTIFIER.search(facts.name)
    if not has_unit and (facts.is_whole_and_different or is_named):
        if facts.is_whole_and_different:
            what = "has another whole number in every row"
        else:
            what = "has whole numbers, and is named as identifiers are"
        findings.doubts.append(
            f"column {name} {what}: if it is an identifier, and not a measurement, "
            "`ignored` or `ids` leaves it out"
        )
    if facts.merged and (steps := float_steps(facts.low, facts.high)) < _STEPS:
        findings.doubts.append(
            f"column {name} goes from {facts.low:.12g} to {facts.high:.12g}, where "
            f"single precision has {steps + 1:.0f} numbers, and different cells "
            f"become equal: subtract a constant, as {facts.low:.12g}, from it"
        )
    for number, rows in facts.far_sentinels.items():
        findings.doubts.append(
            f"column {name} has {number:g} in {rows} rows, far from all other numbers: if this "
            f'means a missing value, `blanks="{number:g}"` takes it so'
        )


def _fill_of_numbers(facts, position, roles, findings, order=()):
    """The number in place of a missing one: None without, NaN where it is not known yet."""
    if roles.missing == "keep":
        return None
    if not roles.missing.startswith("value:"):
        return np.nan
    filled = roles.missing.removeprefix("value:")
    if plain_word(filled) in order:
        return float(order.index(plain_word(filled)))
    fill = number_of(filled)
    if fill is not None and abs(fill) > LARGEST:
        raise UsageError(f'`missing="value:{filled}"` is more than single precision holds')
    if fill is None and facts.missing:
        findings.add_problem(
            position,
            f'holds numbers, and `missing="value:{one_line(filled)}"` would fill it with a word: '
            "expected a number, mean, median or indicator",
            facts.first_missing,
        )
    return fill


def _decide_words(facts, position, roles, findings):
    name = quoted(facts.name)
    is_value = roles.missing.startswith("value:")
    indicator = roles.missing == "indicator" and facts.missing > 0
    shows_missing = indicator or facts.missing > 0 and is_value
    is_declared = facts.categorical
    if not is_declared and (
        facts.dates.is_ambiguous or all(map(_SHORT_YEAR.fullmatch, facts.words))
    ):
        findings.doubts.append(
            f"column {name} looks like dates whose order is not clear: dates "
            "are read in the form 2024-05-31"
        )
    _join_spellings(facts, roles.fold_case, findings)
    different = len(facts.words)
    more = "more than " * facts.endless
    if different == 1 and not shows_missing:
        findings.left_out["constant"].append(facts.name)
        return None
    if different > max(_FEW_ROWS, 0.9 * facts.rows) and (facts.endless or not is_declared):
        reason = "a different value in nearly every row"
        if not facts.endless:
            reason += "; `categorical` keeps it, `ids` copies it to answers"
        findings.left_out[reason].append(facts.name)
        return None
    counts, other = _with_rare_words(facts, roles.min_words)
    if other is not None and len(counts) == 1 and not shows_missing:
        findings.left_out[f"no word in {roles.min_words or _RARE} rows or more"].append(facts.name)
        return None
    if facts.endless or len(counts) > _MOST_WORDS and not is_declared:
        text = f"is one of {more}{len(counts)} different words, of which each would be a feature: "
        if not facts.endless:
            text += "`categorical` makes the features, "
        findings.add_fault(
            position, Fault(lambda cell: True, f"{text}`ignored` leaves the column out")
        )
        return None
    if other is not None:
        rare = different - len(counts) + (_OTHER not in facts.words)
        findings.done.append(
            f"{rare} of {different} words of column {name}, in fewer than "
            f"{roles.min_words or _RARE} rows each, share the feature '{_OTHER}' "
            "(`min_words`)"
        )
    elif different >= _MANY_WORDS and not is_declared:
        findings.done.append(
            f"each of the {different} words of column {name} is a feature "
            "(`ignored` leaves the column out; `group` names it if the rows of a word "
            "are alike)"
        )
    if facts.is_mixed:
        word, row = facts.first_strange
        findings.doubts.append(
            f"column {name} has words beside numbers, first {quoted(word)} in "
            f"{findings.place(row)}, and all are taken as words (`blanks` names words that mean a "
            "missing value)"
        )
    categories = set(counts)
    fill = None
    if is_value:
        fill = plain_word(roles.missing.removeprefix("value:"))
        if shows_missing:
            categories.add(fill)
        if fill not in categories:
            fill = None
    elif roles.missing in ("mean", "median"):
        fill = min(counts, key=lambda word: (-counts[word], word))
    return ColumnRecipe(facts.name, tuple(ordered_words(categories)), fill, indicator, other=other)


def _with_rare_words(facts, least):
    """({word: rows}, rare ones under one word; that word, or None where there are none)."""
    if least is None:
        least = 1
        if len(facts.words) >= _MANY_WORDS and not facts.categorical:
            least = _RARE
    frequent = {word: rows for word, rows in facts.words.items() if rows >= least}
    rare = facts.rows - sum(frequent.values())
    if not rare or facts.endless:
        return facts.words, None
    return {**frequent, _OTHER: frequent.get(_OTHER, 0) + rare}, _OTHER


def ordered_words(words) -> list[str]:
    """Words in sorted order, or, where all are numbers, in the order of their values."""
    values = {word: number_of(word) for word in words}
    if None in values.values():
        return sorted(words)
    return sorted(words, key=lambda word: (values[word], word))


# Missing values and names


def _refuse_missing(columns, gaps, findings):
    for position in gaps:
        facts = columns[position]
        several = f", one of {facts.missing}" * (facts.missing > 1)
        findings.add_problem(
            position,
            f'a missing value{several}: `missing="median"`, mean, indicator or value:X fills them, '
            "`ignored` leaves the column out",
            facts.first_missing,
        )


def _missing_cells(columns):
    count = sum(facts.missing for facts in columns)
    shown = first_words([f"{quoted(facts.name)} ({facts.missing})" for facts in columns])
    return f"{count} missing value{'s' * (count > 1)} in column{'s' * (len(columns) > 1)} {shown}"


def _check_names(recipe, table):
    if size_of_names(recipe.columns) > MOST_LETTERS:
        raise DataError(
            "the names of the features, of column and word, are too long: expected "
            "shorter names of columns",
            file=table.file,
        )
    twice, count = Counter(recipe.features).most_common(1)[0]
    if count > 1:
        raise DataError(
            f"two features would be named {quoted(twice)}: expected columns and words that differ",
            file=table.file,
        )

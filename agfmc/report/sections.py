"""The sections of a page in their order, and what is seen first."""

from __future__ import annotations

from dataclasses import replace

from . import chart_importance, charts, structure
from .answers import answer_sections, answer_verdict, score_tiles
from .blocks import (
    beside,
    code,
    facts,
    heading,
    pictures,
    Section,
    table,
    text,
)
from .classes import classes_of
from .content import ReportContent
from .model import classifier_table, column_table, model_facts, recipe_facts
from .trials import estimate_tiles, trial_sections, trial_verdict
from .words import count, cut, plural

_MOST = 60  # binary classifiers in a table
_WIDEST = 400  # rows of other tables
_KINDS = {
    "coding matrix": "a coding matrix",
    "decision tree": "a decision tree",
    "nested": "a tree of coding matrices",
    "ensemble": "an ensemble",
    "direct classifier": "a multi-class classifier",
}


def page_sections(content: ReportContent) -> list[Section]:
    """All sections that there is something for."""
    classes = classes_of(content)
    sections = [
        *answer_sections(content),
        *trial_sections(content),
        _importance(content, classes),
        Section(
            "curve",
            "Learning curve",
            tuple(pictures(*chart_importance.learning_curves(content.curve))),
        ),
        _data(content, classes),
        _configuration(content, classes),
        *_origin(content),
    ]
    return [section for section in sections if section.blocks]


def summary(content: ReportContent) -> tuple[str, str, list[tuple[str, str, str]]]:
    """The verdict in sentences, a sentence about model and data, and the numbers seen first."""
    words = []
    verdict = [*trial_verdict(content)]
    model = content.model
    data = content.data
    tiles = estimate_tiles(content)
    if model is not None:
        kind = model.tree.kind
        classifiers = len(model.tree.rows)
        words.append(
            f"{_KINDS[kind].capitalize()} of {plural(classifiers, 'binary classifier')}"
            if classifiers
            else _KINDS[kind].capitalize()
        )
        words.append(f"for {plural(len(model.tree.classes), 'class', 'es')}")
    if data is not None:
        words.append(f"{'and' if words else 'About'} {_data_words(data)}")
    if content.answers is not None:
        verdict = answer_verdict(content.answers, classes_of(content)) + verdict
        tiles += [
            tile
            for tile in score_tiles(content.answers)
            if not any(other.startswith(tile[0]) for other, *_ in tiles)
        ]
    elif model is not None and not verdict:
        verdict = [
            "This page has no answers to held-out samples, so it cannot say how good the "
            "model is: the page of eval_uc does."
        ]
    verdict += [f"{text[0].upper()}{text[1:]}." for text in content.notes]
    return " ".join(verdict), f"{' '.join(words)}." if words else "", tiles


def _data_words(data):
    sizes = ", ".join(
        plural(how_many, word)
        for how_many, word in ((data.points, "point"), (data.features, "feature"))
        if how_many is not None
    )
    if not data.source:
        if sizes:
            return f"data of {sizes}"
        return plural(len(data.labels), "class", "es")
    return f"the data {cut(data.source, 80)}" + f" ({sizes})" * bool(sizes)


def _importance(content, classes):
    result = content.importance
    return Section(
        "importance",
        "What matters",
        ()
        if result is None
        else tuple(
            pictures(
                chart_importance.importance(result),
                *chart_importance.effects(result, classes.names),
            )
        ),
    )


# -- data ------------------------------------------------------------------------------------------


def _data(content, classes):
    data = content.data
    if data is None:
        return Section("data", "Data", ())
    if data.source:
        pairs = [("source", data.source)]
    else:
        pairs = []
    pairs += [
        (name, count(value))
        for name, value in (("points", data.points), ("features", data.features))
        if value is not None
    ]
    data_facts = facts(
        [
            *pairs,
            ("classes", count(len(data.labels))),
            *([] if data.recipe is None else recipe_facts(data.recipe)),
            *data.facts,
        ]
    )
    if data.counts is None:
        blocks = [data_facts]
    else:
        blocks = beside([data_facts], pictures(charts.class_counts(data, classes.names)))
    if data.recipe is not None:
        columns = column_table(data.recipe, data.missing, together=True)
        caption = (
            "What the columns are, and what a missing cell becomes; columns that differ in their "
            "names alone share a row."
        )
        if len(columns.rows) > _WIDEST:
            caption = (
                f"{_WIDEST} of {count(len(columns.rows))} kinds of columns: the recipe has all of "
                "them."
            )
        shown = replace(columns, caption=caption, rows=columns.rows[:_WIDEST])
        blocks += [heading("Columns of the table"), table(shown)]
    return Section("data", "Data", tuple(blocks))


# -- configuration ---------------------------------------------------------------------------------


def _configuration(content, classes):
    model = content.model
    if model is None:
        return Section("configuration", "Configuration", ())
    if content.answers is None:
        nodes = ()
    else:
        nodes = content.answers.nodes
    drawn = structure.configuration(model.tree, classes.names, nodes)
    facts_of_model = [facts(_model_facts(model))]
    shown = pictures(*drawn)
    small = len(drawn) == 1 and not drawn[0].wide
    if small:
        blocks = beside(facts_of_model, shown)
    else:
        blocks = [*facts_of_model, *shown]
    if model.info is not None:
        if model.info["binary_models"]:
            shown = classifier_table(model.info["binary_models"], classes, _MOST)
            caption = shown.caption or "The binary classifiers, by the classes on their sides."
            blocks.append(table(replace(shown, caption=caption, folded=len(shown.rows) > 12)))
        if model.info["control"]:
            blocks.append(code(model.info["control"], "The tree as a control file"))
    return Section("configuration", "Configuration", tuple(blocks))


def _model_facts(model):
    """The facts of a model, or of a control file before training."""
    tree = model.tree
    if model.info is not None:
        pairs = model_facts(model.info)[:_MOST]
    else:
        pairs = [
            ("configuration", f"{tree.kind}, {plural(len(tree.rows), 'binary classifier')}"),
            ("classes", count(len(tree.classes))),
        ]
        if tree.decoder is not None:
            pairs.append(("decoder", tree.decoder))
    if model.file:
        return [("file", model.file), *pairs]
    return pairs


# -- origin ----------------------------------------------------------------------------------------


def _origin(content):
    lines = []
    for command, why in content.steps:
        lines += [f"# {line}" for line in why.splitlines() if line] + [command]
    return [
        Section(
            "provenance", "Provenance", (facts(content.provenance),) if content.provenance else ()
        ),
        Section(
            "commands",
            "Commands that repeat it",
            (
                text("Run them in the folder of the files, with the version named above."),
                code("\n".join(lines)),
            )
            if lines
            else (),
        ),
    ]

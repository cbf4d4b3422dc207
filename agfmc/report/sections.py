"""The sections of a page in their order, and what is seen first."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping

from ..core.kernels import KERNELS
from ..core.text import member_text
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
    Tile,
    without_empty,
)
from .classes import Classes, classes_of
from .content import Column, DataTable, ReportContent, TableRow
from .trials import estimate_tiles, trial_sections, trial_verdict
from .words import count, cut, joined, plural

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


def summary(content: ReportContent) -> tuple[str, str, list[Tile]]:
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
            if not any(other.title.startswith(tile.title) for other in tiles)
        ]
    elif model is not None and not verdict:
        verdict = [
            "This page has no answers to held-out samples, so it cannot say how good the "
            "model is: the page of eval_uc --report does."
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
            *([] if data.recipe is None else _recipe_facts(data)),
            *data.facts,
        ]
    )
    if data.counts is None:
        blocks = [data_facts]
    else:
        blocks = beside([data_facts], pictures(charts.class_counts(data, classes.names)))
    if data.recipe is not None:
        blocks += _recipe(data.recipe, data.missing)
    return Section("data", "Data", tuple(blocks))


def _recipe_facts(data):
    recipe = data.recipe
    pairs = (
        ("table", None if recipe["source"] == os.path.basename(data.source) else recipe["source"]),
        ("label", recipe["label"]),
        ("missing values", recipe["missing"]),
        ("identifiers", ", ".join(recipe["ids"])),
        ("weights", recipe["weight"]),
        ("column of groups", recipe.get("group")),
    )
    return [(name, value) for name, value in pairs if value]


def _recipe(recipe, cells):
    alike: dict[tuple, list[str]] = {}  # {cells: names of the columns that have them}
    for one in recipe["columns"]:
        words = one["categories"]
        fill = one["fill"]
        dates = one.get("date")
        if isinstance(fill, str):
            missing = fill
        elif fill is not None:
            missing = f"{fill:g}"
        elif one["indicator"]:
            missing = "0"
        elif recipe["missing"] != "keep":
            missing = "not accepted"
        elif words is None:
            missing = "a missing value"
        else:
            missing = "0"
        alike.setdefault(
            (
                "dates"
                if dates
                else "order"
                if "order" in one
                else "number"
                if words is None
                else "words",
                (1 + 2 * len(dates["cycles"] if dates else ()) if words is None else len(words))
                + one["indicator"],
                None if cells is None else cells.get(one["name"], 0),
                missing + ", and an indicator" * one["indicator"],
                " < ".join(one.get("order", ()))
                if words is None
                else joined(words) + (f"; all others are {one['other']}" if "other" in one else ""),
            ),
            [],
        ).append(one["name"])
    rows = [
        TableRow((joined(names), len(names) if len(names) > 1 else None, *properties))
        for properties, names in alike.items()
    ]
    if len(rows) <= _WIDEST:
        left = ""
    else:
        left = f"{_WIDEST} of {count(len(rows))} kinds of columns: the recipe has all of them."
    return [
        heading("Columns of the table"),
        table(
            without_empty(
                DataTable(
                    left
                    or "What the columns are, and what a missing cell becomes; columns that differ in "
                    "their names alone share a row.",
                    (
                        Column("column", "name"),
                        Column("columns", "number"),
                        Column("kind"),
                        Column("features", "number", "of each of them"),
                        Column("missing", "number", "missing cells of each of them"),
                        Column("a missing cell becomes"),
                        Column("categories", "prose"),
                    ),
                    tuple(rows[:_WIDEST]),
                )
            )
        ),
    ]


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
    facts_of_model = [facts(_model_facts(model, classes.names))]
    shown = pictures(*drawn)
    small = len(drawn) == 1 and not drawn[0].wide
    if small:
        blocks = beside(facts_of_model, shown)
    else:
        blocks = [*facts_of_model, *shown]
    if model.info is not None:
        if model.info["binary_models"]:
            blocks.append(table(_classifier_table(model.info["binary_models"], classes)))
        if model.info["control"]:
            blocks.append(code(model.info["control"], "The tree as a control file"))
    return Section("configuration", "Configuration", tuple(blocks))


def _model_facts(model, names):
    info = model.info
    tree = model.tree
    pairs = [
        ("configuration", tree.kind),
        ("binary classifiers", count(len(tree.rows))),
        ("classes", count(len(tree.classes))),
    ]
    if model.file:
        pairs.insert(0, ("file", model.file))
    if info is None:
        return [*pairs, *[("decoder", tree.decoder)] * (tree.decoder is not None)]
    if info["members"]:
        pairs.append(("members", "; ".join(map(member_text, info["members"][:20]))))
    if info["levels"] > 1:
        pairs.append(("levels", count(info["levels"])))
    if info["decoder"]:
        pairs.append(("decoder", info["decoder"]))
    if info["samples"]:
        pairs.append(("points in training", count(sum(info["samples"]))))
    features = count(info["features"])
    if info["normalised"]:
        features += f", normalised by the model to {count(info['features_of_support_vectors'])}"
    pairs.append(("features", features))
    if info["support_vectors"]:
        pairs += [
            (
                "support vectors",
                f"{count(info['support_vectors'])} stored, "
                f"{count(info['coefficients'])} coefficients in all classifiers",
            ),
            ("kernels", _kernels(info["kernels"])),
        ]
    if info.get("trees"):
        pairs.append(
            (
                "trees",
                f"{count(info['trees'])}, of which a point costs "
                f"{count(info['comparisons'])} comparisons at most",
            )
        )
    for direct in info["direct_classifiers"][:20]:
        sides = (
            joined([names.get(label, str(label)) for label in labels], 3)
            for labels in direct["branches"][:4]
        )
        pairs.append((" / ".join(sides), f"{direct['kind']} {direct['options']}".rstrip()))
    return [
        *pairs,
        ("calibration", _calibration(info["calibration"], info["decoder"])),
        *_trained_by(info),
    ]


def _kernels(kernels):
    words = []
    for kernel, times in Counter(tuple(sorted(kernel.items())) for kernel in kernels).items():
        values = dict(kernel)
        used = KERNELS[values["kind"]].parameters
        words.append(
            " ".join([values["kind"], *(f"{name} {values[name]:.6g}" for name in used)])
            + f" ({times} times)" * (times > 1)
        )
    return joined(words)


def _calibration(calibration, decoder):
    if calibration is None:
        return "none: the probabilities are those of the decoder"
    maps = {
        one["decoder"]: one["map"] + (f" {one['temperature']:.4g}" if "temperature" in one else "")
        for one in calibration["decoders"]
    }
    local = maps.pop(decoder, None)
    if local is None:
        words = []
    else:
        words = [f"{local} for the decoder {decoder}"]
    if maps:
        words.append(f"maps for {plural(len(maps), 'other decoder' if words else 'decoder')}")
    return f"{calibration['source']}, {count(sum(calibration['samples']))} points; " + ", ".join(
        words
    )


def _trained_by(info):
    times_of = Counter(one["made_by"].get("options", "unknown") for one in info["binary_models"])
    if not times_of:
        return []
    return [
        (
            "training options",
            "; ".join(
                options if len(times_of) == 1 else f"{options} ({plural(times, 'classifier')})"
                for options, times in times_of.most_common(8)
            )
            + "; \u2026" * (len(times_of) > 8),
        )
    ]


def _classifier_table(models, classes: Classes):
    chosen: list[Mapping] = (
        sorted(models, key=lambda one: -one["support_vectors"])[:_MOST]
        if len(models) > _MOST
        else models
    )
    sizes = [
        name
        for name in ("support vectors", "trees", "comparisons")
        if any(one.get(name.replace(" ", "_")) for one in models)
    ]
    rows = []
    for one in chosen:
        sides = [joined([*map(classes.name, one[side])], 4) for side in ("left", "right")]
        samples = one.get("samples")
        rows.append(
            TableRow(
                (
                    " / ".join(sides),
                    *[one[name.replace(" ", "_")] for name in sizes],
                    None if samples is None else sum(samples),
                ),
                classes.at(*one["left"][:50], *one["right"][:50]),
            )
        )
    if len(rows) < len(models):
        left = (
            f"{len(rows)} of {count(len(models))} binary classifiers, those with the most support "
            "vectors: mbm_info --json has all of them."
        )
    else:
        left = ""
    return DataTable(
        left or "The binary classifiers, by the classes on their sides.",
        (
            Column("classifier", "name", "left, \u22121 / right, +1"),
            *[Column(name, "number") for name in sizes],
            Column("points in training", "number"),
        ),
        tuple(rows),
        folded=len(rows) > 12,
    )


# -- origin ----------------------------------------------------------------------------------------


def _origin(content):
    lines = []
    for step in content.steps:
        lines += [f"# {line}" for line in step.why.splitlines() if line] + [step.command]
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

"""A model, a recipe of tables, and a normalisation, as blocks, of what `models.description` tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..core.kernels import KERNELS
from ..core.provenance import settings_text
from ..core.text import listed, member_kind, member_text
from .blocks import Block, code, facts, table, text, without_empty
from .classes import Classes
from .content import Column, DataTable, TableRow
from .words import count, joined, plural

_SHOWN = 12  # members, names of columns and words in a line


def model_blocks(info: Mapping) -> list[Block]:
    """Blocks of a model on a terminal, of the dictionary of `describe`."""
    recipe = info["recipe"]
    lines = [] if recipe is None else recipe_facts(recipe)
    blocks: list[Block] = [facts(model_facts(info, lines))]
    if info["binary_models"]:
        blocks += [text(""), table(classifier_table(info["binary_models"]))]
    for direct in info["direct_classifiers"]:
        blocks += [text(""), text(f"direct classifier {direct['name']}: {_direct(direct)}")]
    if recipe is not None:
        blocks += [text(""), table(column_table(recipe))]
    if info["control"] is not None:
        blocks += [text(""), text("tree"), code(info["control"])]
    return blocks


def recipe_blocks(info: Mapping) -> list[Block]:
    """Blocks of a recipe, of the dictionary of `describe_recipe`."""
    return [facts(recipe_facts(info)), text(""), table(column_table(info))]


def normalisation_blocks(info: Mapping) -> list[Block]:
    """Blocks of a normalisation, of the dictionary of `describe_normalisation`."""
    features = str(info["features"])
    if info["left_out"]:
        features += f", {len(info['left_out'])} left out: {listed(info['left_out'])}"
    how = "which are mixtures of features" if info["mixed"] else "each feature by itself"
    return [
        facts(
            [
                ("features", features),
                ("normalised", f"to {info['features_after']}, {how}"),
                ("digest", info["digest"]),
            ]
        )
    ]


def model_facts(info: Mapping, recipe: Sequence[tuple] = ()) -> list[tuple[str, str]]:
    """(name, value) pairs on a model; recipe: pairs on its recipe, which stand among them."""
    models = info["binary_models"]
    weights = info.get("weights")
    seen = info.get("seen")
    features = str(info["features"])
    if info["normalised"]:
        features += f", normalised by the model to {info['features_of_support_vectors']}"
    classes = [
        f"{one['label']} {one['name']}" if "name" in one else str(one["label"])
        for one in info["classes"]
    ]
    directs = info["direct_classifiers"]
    sizes = []
    if models or not directs:
        sizes.append(f"{len(models)} binary models")
    pairs = [
        (
            "configuration",
            ", ".join([info["configuration"], *sizes, plural(info["levels"], "level")]),
        ),
        ("classes", f"{len(classes)}: {', '.join(classes)}"),
        *_member_facts(info["members"], models),
        ("decoder", info["decoder"] and f"{info['decoder']}, unless another is chosen"),
        (
            "samples",
            info["samples"]
            and f"{sum(info['samples'])} in training, of the classes "
            + " ".join(map(str, info["samples"])),
        ),
        ("weights", weights and _sums_text(weights)),
        ("  as they were", None if seen == weights else _sums_text(seen)),
        ("groups", info.get("groups") and f"{info['groups']}, which no fold divided"),
        ("features", features),
        *recipe,
    ]
    if info.get("trees"):
        costs = f"a point costs {info['comparisons']} comparisons at most"
        pairs.append(("trees", f"{info['trees']}, of which {costs}"))
    if info["support_vectors"] or models and not info.get("trees"):
        stored = f"{info['support_vectors']} stored, {info['coefficients']} coefficients"
        pairs.append(("support vectors", f"{stored} in the binary models together"))
        for kernel in info["kernels"]:
            names = KERNELS[kernel["kind"]].parameters
            words = [kernel["kind"], *(f"{name} {kernel[name]:g}" for name in names)]
            pairs.append(("kernel", " ".join(words)))
    rows = info["training_rows"]
    pairs.append(("privacy", f"holds {plural(rows, 'row')} of the training data"))
    programs = [f"{program} {version}" for program, version in sorted(info["written_by"].items())]
    pairs += [("written by", ", ".join(programs)), *_calibration_facts(info["calibration"])]
    trained = [*models, *directs]
    settings = Counter(settings_text(model["made_by"]) or "unknown" for model in trained)
    for words, times in settings.items():
        which = "all" if times == len(trained) else f"{times} models"
        pairs.append(("trained by", f"{which}: {words}"))
    return [(name, value) for name, value in pairs if value]


def _sums_text(sums):
    return f"{sum(sums):g}, of the classes " + " ".join(f"{total:.6g}" for total in sums)


def _member_facts(members, models):
    if members is None:
        return
    kinds = Counter(member_kind(one) for one in members)
    words = [f"{times} x {kind}" if times > 1 else kind for kind, times in kinds.items()]
    sizes = f"{len(members)}: {', '.join(words)}"
    if models:
        sizes += " binary models"
    yield "members", sizes
    weights = [one["weight"] for one in members]
    equal = len(set(weights)) == 1
    yield "weights", "equal" if equal else listed([f"{weight:.4g}" for weight in weights])
    for member in members[:_SHOWN]:
        yield "  member", member_text(member)
    different = len({model["name"] for model in models})
    if different < len(models):
        yield (
            "shared",
            f"{len(models) - different} partitions have the binary model of another member: "
            f"{different} different ones",
        )


def _calibration_facts(calibration):
    if calibration is None:
        yield "calibration", "none"
        return
    samples = " ".join(map(str, calibration["samples"]))
    yield "calibration", f"{calibration['source']}, of the classes {samples}"
    for one in calibration["decoders"]:
        if "temperature" in one:
            words = f"temperature {one['temperature']:.4g}"
        else:
            words = one["map"]
        words += f", floor {one['floor']:.4g}"
        if one["points"] is not None:
            words += f", {one['points']} calibration points"
        yield "", f"{one['decoder']}: {words}"
    if calibration["learned"]:
        yield "", "a learned decoder"


def _direct(direct):
    sides = " / ".join(map(listed, direct["branches"]))
    words = f'{direct["kind"]}, "{direct["options"]}", classes {sides}'
    if "trees" in direct:
        words += f", {direct['trees']} trees of {direct['comparisons']} comparisons at most"
    return words


def classifier_table(
    models: Sequence[Mapping], classes: Classes | None = None, most: int | None = None
) -> DataTable:
    """The binary classifiers with their names, or for a page with the names of their `classes`; of
    many those with the most support vectors."""
    chosen = models
    caption = ""
    if most is not None and len(models) > most:
        chosen = sorted(models, key=lambda model: -model["support_vectors"])[:most]
        caption = (
            f"{most} of {count(len(models))} binary classifiers, those with the most support "
            "vectors: the JSON of mbm_info has all of them."
        )
    sizes = [
        name
        for name in ("support_vectors", "trees", "comparisons")
        if any(model.get(name) for model in models)
    ]
    rows = []
    for model in chosen:
        both = [model[side] for side in ("left", "right")]
        if classes is None:
            cells = [model["name"]]
            sides = " / ".join(map(listed, both))
            position = ()
        else:
            cells = []
            sides = " / ".join(joined([*map(classes.name, labels)], 4) for labels in both)
            position = classes.at(*(label for labels in both for label in labels[:50]))
        if not model["probabilities"]:
            sides += "  (no probabilities)"
        rows.append(TableRow((*cells, *(model[name] for name in sizes), sides), position))
    columns = (
        *[Column("binary model", "code")] * (classes is None),
        *(Column(name.replace("_", " "), "number") for name in sizes),
        Column("classes left / right", "list"),
    )
    return DataTable(caption, columns, tuple(rows))


def recipe_facts(info: Mapping) -> list[tuple[str, str]]:
    """(name, value) pairs on the dictionary of `describe_recipe`."""
    layout = info.get("layout") or {}
    kinds = ", ".join(f"{kind} {count}" for kind, count in info["kinds"].items())
    pairs = (
        (
            "table",
            f"{info['source'] or 'unknown'}: {sum(info['kinds'].values())} columns ({kinds}), "
            f"{len(info['features'])} features; missing values: {info['missing']}",
        ),
        (
            "label",
            f"{info['label']}: {len(info['classes'])} classes, {joined(info['classes'], _SHOWN)}",
        ),
        ("identifiers", joined(info["ids"], _SHOWN)),
        ("weights", info["weight"]),
        ("column of groups", info.get("group")),
        ("delimiter", layout.get("delimiter")),
        ("decimal point", layout.get("decimal")),
    )
    return [(name, value) for name, value in pairs if value]


def column_table(
    info: Mapping, missing: Mapping[str, int] | None = None, together: bool = False
) -> DataTable:
    """The columns of a recipe; missing: {name: missing cells}; together: those that differ in their
    names alone share a row."""
    alike: dict[tuple, list[str]] = {}  # {cells: names of the columns that have them}
    for column in info["columns"]:
        name = column["name"]
        source = column.get("pair", {}).get("column", name)
        cells = _column_cells(info, column, None if missing is None else missing.get(source, 0))
        alike.setdefault(cells if together else (*cells, name), []).append(name)
    columns = (
        Column("column", "name"),
        Column("columns", "number"),
        Column("kind"),
        Column("features", "number", "of each of them"),
        Column("missing", "number", "missing cells of each of them"),
        Column("if missing", note="what a missing cell becomes"),
        Column("categories", "list"),
    )
    rows = []
    for (kind, features, lacking, becomes, categories, *_), names in alike.items():
        if len(names) == 1:
            head = (names[0], None)
        else:
            head = (joined(names), len(names))
        # a page says it in words: "error" looks like one there
        becomes = becomes or ("not accepted" if together else "error")
        rows.append(TableRow((*head, kind, features, lacking, becomes, categories)))
    return without_empty(DataTable("", columns, tuple(rows)))


def _column_cells(info, column, missing):
    """(kind, features, missing cells, what a missing cell becomes, categories) of a column."""
    words = column["categories"]
    fill = column["fill"]
    features = 1
    categories = ""
    if "date" in column:
        kind = "dates" if column["date"]["order"].endswith("first") else "times"
        features += 2 * len(column["date"]["cycles"])
        categories = column["date"]["order"]
    elif "order" in column:
        kind = "order"
        categories = " < ".join(column["order"])
    elif "pair" in column:
        kind = "pair"
        categories = f"{('first', 'second')[column['pair']['number']]} number of each cell"
    elif words is None:
        kind = "number"
        if "numbers" in column:
            features += len(column["numbers"]["limits"])
            categories = column["numbers"]["form"]
    else:
        kind = "words"
        features = len(words)
        categories = joined(words, _SHOWN)
        if "other" in column:
            categories += f"; all others are {column['other']}"
    if isinstance(fill, str):
        becomes = fill
    elif fill is not None:
        becomes = f"{fill:g}"
    elif column["indicator"] or words is not None:
        becomes = "0"
    elif info["missing"] == "keep":
        becomes = "missing"
    else:
        return kind, features, missing, "", categories
    if column["indicator"]:
        becomes += ", indicator"
    return kind, features + column["indicator"], missing, becomes, categories

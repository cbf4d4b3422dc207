"""Descriptions of a configuration, a normalisation and a recipe, as plain data and as text."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

import numpy as np

from ..calibration.priors import class_counts
from ..control.build import rename, rename_directs, with_heading
from ..control.tree import changed, Tree
from ..control.write import format_tree
from ..core.errors import ModelError, one_line
from ..core.kernels import KERNELS
from ..core.models import MergedModel
from ..core.provenance import Provenance, settings_text
from ..core.text import listed, member_text
from ..data.normalisation import Normalisation
from ..files.codec import encode
from ..kernels.machine import KernelCounter
from ..tables.types import TableRecipe
from .configuration import Configuration

_LONGEST_NAME = 30  # of a column or a word, in a table
_SHOWN = 12  # of them


def describe(configuration: Configuration) -> dict:
    """A dictionary of plain values: classes, configuration, sizes, kernels, settings."""
    model = configuration.machines
    tree = configuration.tree
    normalisation = configuration.normalisation
    forest = model.forest
    if normalisation is None:
        features = model.sv.shape[1]
    else:
        features = normalisation.features
    return {
        "classes": [
            {"label": label, **({"name": tree.names[label]} if label in tree.names else {})}
            for label in tree.classes
        ],
        **_sizes(configuration),
        **_groups(configuration),
        "configuration": tree.kind,
        "control": format_tree(changed(tree, headings={})) if tree.hierarchical else None,
        "decoder": tree.decoder,
        "members": describe_members(tree, model) if tree.is_ensemble else None,
        "levels": 1 + max(node.depth for node in tree.nodes),
        "binary_models": [
            {
                "name": row.text,
                "left": list(left),
                "right": list(right),
                "support_vectors": int(model.indptr[i + 1] - model.indptr[i]),
                **(
                    {}
                    if forest is None
                    else {
                        "trees": int(np.diff(forest.starts)[i]),
                        "comparisons": int(forest.comparisons[i]),
                    }
                ),
                "kernel": int(model.kernel_of[i]),
                "probabilities": bool(np.isfinite(model.a[i])),
                "made_by": made.to_record(),
                **{
                    name: list(sizes)
                    for name, sizes in (("samples", made.samples), ("weights", made.weights))
                    if sizes
                },
            }
            for i, (row, (left, right), made) in enumerate(
                zip(tree.rows, tree.sides(), model.provenances)
            )
        ],
        "direct_classifiers": [
            {
                "name": direct.name,
                "code": direct.learner_letter,
                "kind": direct.learner.title,
                "options": direct.options,
                "branches": list(map(list, tree.branch_labels()[number])),
                "made_by": configuration.node_classifiers[number].provenance.to_record(),
            }
            for number, direct in tree.directs.items()
        ],
        "kernels": [asdict(kernel) for kernel in model.kernels],
        "features": features,
        "features_of_support_vectors": model.sv.shape[1],
        "normalised": normalisation is not None,
        "support_vectors": len(model.sv),
        "coefficients": int(model.indptr[-1]),
        **(
            {}
            if forest is None
            else {"trees": len(forest.roots), "comparisons": int(forest.comparisons.sum())}
        ),
        "written_by": configuration.made_by,
        "calibration": _calibration(configuration.calibration),
        "recipe": None if configuration.recipe is None else describe_recipe(configuration.recipe),
    }


def describe_members(tree: Tree, model: MergedModel) -> list[dict]:
    """A dictionary of plain values for each member of an ensemble: what it is, its weight in the
    average, and the kernel values and trees that are computed for a point."""
    ends = np.cumsum([0, *(len(member.rows) for member in tree.members)])
    rows = np.arange(model.count)
    queried = (rows >= ends[:-1, None]) & (rows < ends[1:, None])
    if model.count:
        kernels = KernelCounter(model)(queried)
    else:
        kernels = np.zeros(len(queried), int)
    trees = np.diff((model.forest.starts if model.forest else np.zeros_like(model.indptr))[ends])
    return [
        {
            "configuration": member.kind,
            "weight": weight,
            "binary_models": len(member.rows),
            "kernel_values": int(values),
            "trees": int(count),
        }
        for member, weight, values, count in zip(tree.members, tree.weights, kernels, trees)
    ]


def training_tree(configuration: Configuration) -> Tree:
    """Its control tree with the training options in place of the names of its models.

    The tree as it is where a model does not record its options.
    """
    tree = configuration.tree
    options = [made.options for made in configuration.machines.provenances]
    if None in options:
        return tree
    texts = [text.replace("-g 1/d", "-g 0") or " " for text in options]  # 0: the default, too
    tree = rename(tree, texts, quoted=True)
    return with_heading(rename_directs(tree, dict.fromkeys(tree.directs)), "normalisation", None)


def node_shares(configuration: Configuration) -> dict[int, float]:
    """{number of a node: the share of the training samples that its binary classifier had}.

    Of nodes of one classifier in trees whose models know their samples; {} where that at the top
    does not.
    """
    counts = {}
    at = 0
    for number, node in enumerate(configuration.tree.nodes):
        if node.bare:
            samples = configuration.machines.provenances[at].samples
            if samples:
                counts[number] = sum(samples)
        at += len(node.rows)
    whole = counts.get(0)
    if whole:
        return {number: count / whole for number, count in counts.items()}
    return {}


def describe_normalisation(normalisation: Normalisation) -> dict:
    """A dictionary of plain values about its features."""
    matrix = normalisation.matrix
    return {
        "features": len(matrix),
        "features_after": matrix.shape[1],
        "left_out": list(normalisation.dropped),
        "mixed": bool((np.count_nonzero(matrix, axis=0) > 1).any()),
        "digest": normalisation.digest(),
    }


def format_normalisation(info: dict) -> str:
    """The dictionary of `describe_normalisation` as text for people."""
    left_out = info["left_out"]
    lines = [
        (
            "features",
            str(info["features"])
            + (f", {len(left_out)} left out: {listed(left_out)}" if left_out else ""),
        ),
        (
            "normalised",
            f"to {info['features_after']}, "
            + ("which are mixtures of features" if info["mixed"] else "each feature by itself"),
        ),
        ("digest", info["digest"]),
    ]
    return _text(lines)


def describe_recipe(recipe: TableRecipe) -> dict:
    """A dictionary of plain values: all of a recipe, and the names of its features."""
    return {**encode(recipe), "features": list(recipe.features)}


def format_recipe_lines(info: dict) -> str:
    """The dictionary of `describe_recipe` as text for people."""
    return _text([*_recipe_lines(info), "", *_column_lines(info)])


def _recipe_lines(info):
    layout = info.get("layout") or {}
    return [
        (
            "table",
            f"{info['source'] or 'unknown'}: {len(info['columns'])} columns, "
            f"{len(info['features'])} features; missing values: {info['missing']}",
        ),
        ("label", f"{info['label']}: {len(info['classes'])} classes, " + _listed(info["classes"])),
        ("identifiers", _listed(info["ids"]) if info["ids"] else None),
        ("weights", info["weight"]),
        ("column of groups", info.get("group")),
        ("delimiter", layout.get("delimiter")),
        ("decimal point", layout.get("decimal")),
    ]


def _column_lines(info):
    rows = [("column", "kind", "features", "if missing", "categories")]
    for one in info["columns"]:
        words = one["categories"]
        fill = one["fill"]
        dates = one.get("date")
        if isinstance(fill, str):
            becomes = fill
        elif fill is not None:
            becomes = f"{fill:g}"
        elif one["indicator"]:
            becomes = "0"
        elif info["missing"] != "keep":
            becomes = "error"
        elif words is None:
            becomes = "missing"
        else:
            becomes = "0"
        if words is None:
            features = 1 + 2 * len(dates["cycles"] if dates else ())
        else:
            features = len(words)
        rows.append(
            (
                _cut(one["name"]),
                "dates"
                if dates
                else "order"
                if "order" in one
                else "number"
                if words is None
                else "words",
                str(features + one["indicator"]),
                _cut(becomes) + ", indicator" * one["indicator"],
                dates["order"]
                if dates
                else " < ".join(map(_cut, one.get("order", ())))
                if words is None
                else _listed(words)
                + (f"; all others are {_cut(one['other'])}" if "other" in one else ""),
            )
        )
    name, becomes = (max(len(row[at]) for row in rows) for at in (0, 3))
    return [
        f"{row[0]:{name}}  {row[1]:6}  {row[2]:>8}  {row[3]:{becomes}}  {row[4]}".rstrip()
        for row in rows
    ]


def _listed(names):
    """Names that may hold blanks, in one line; of many the first."""
    if len(names) > _SHOWN:
        more = f", ... ({len(names)})"
    else:
        more = ""
    return ", ".join(map(_cut, names[:_SHOWN])) + more


def _cut(name):
    name = one_line(name)
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 3]}..."


def _calibration(calibration):
    """The source, the points and the maps of a calibration; None where there is none."""
    if calibration is None:
        return None
    return {
        "source": calibration.source,
        "samples": list(calibration.counts),
        "decoders": [
            {
                "decoder": key,
                "map": one.map.kind,
                **(
                    {"temperature": 1 / float(one.map.weights)}
                    if one.map.kind == "temperature"
                    else {}
                ),
                "floor": one.map.floor,
                "points": None if one.points is None else len(one.points.label),
            }
            for key, one in calibration.decoders.items()
        ],
        "learned": calibration.learned is not None,
    }


def _sizes(configuration):
    """{"samples": those of each class in training, None if not known}, in the order of the classes.

    Where they had weights, "weights" are their sums, and "seen" those without class weights.
    """
    samples = None
    try:
        samples = list(class_samples(configuration).values())
        sums = [list(class_sums(configuration, seen).values()) for seen in (False, True)]
    except ModelError:
        return {"samples": samples}
    return {
        "samples": samples,
        **({} if sums == [samples, samples] else {"weights": sums[0], "seen": sums[1]}),
    }


def _groups(configuration):
    """{"groups": the largest number of groups that a model was trained on}, {} without groups."""
    numbers = [one.groups for one in configuration.provenances if one.groups is not None]
    if numbers:
        return {"groups": max(numbers)}
    return {}


def format_description(info: dict) -> str:
    """The dictionary of `describe` as text for people."""
    binaries = info["binary_models"]
    recipe = info["recipe"]
    weights = info.get("weights")
    seen = info.get("seen")
    trees = info.get("trees")
    only_trees = trees and not info["support_vectors"]
    lines = [
        (
            "configuration",
            f"{info['configuration']}, {len(binaries)} binary models, "
            f"{info['levels']} level{'s' if info['levels'] > 1 else ''}",
        ),
        (
            "classes",
            f"{len(info['classes'])}: "
            + ", ".join(
                f"{c['label']} {c['name']}" if "name" in c else str(c["label"])
                for c in info["classes"]
            ),
        ),
        *_member_lines(info),
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
        (
            "features",
            str(info["features"])
            + (
                f", normalised by the model to {info['features_of_support_vectors']}"
                if info["normalised"]
                else ""
            ),
        ),
        *([] if recipe is None else _recipe_lines(recipe)),
        (
            "trees",
            f"{info['trees']}, of which a point costs {info['comparisons']} comparisons at most"
            if trees
            else None,
        ),
        (
            "support vectors",
            None
            if only_trees
            else f"{info['support_vectors']} stored, {info['coefficients']} coefficients in the binary "
            "models together",
        ),
        *(
            (
                "kernel",
                " ".join(
                    [
                        kernel["kind"],
                        *(
                            f"{name} {kernel[name]:g}"
                            for name in KERNELS[kernel["kind"]].parameters
                        ),
                    ]
                ),
            )
            for kernel in info["kernels"]
            if not only_trees
        ),
        (
            "written by",
            ", ".join(
                f"{program} {version}" for program, version in sorted(info["written_by"].items())
            )
            or None,
        ),
        *_calibration_lines(info["calibration"]),
    ]
    settings = {}
    for binary in binaries:
        text = settings_text(binary["made_by"]) or "unknown"
        settings.setdefault(text, []).append(binary["name"])
    for text, names in settings.items():
        if len(names) == len(binaries):
            which = "all"
        else:
            which = f"{len(names)} models"
        lines.append(("trained by", f"{which}: {text}"))
    if binaries:
        width = max(12, *(len(binary["name"]) for binary in binaries))
    else:
        width = 0
    if binaries:
        lines += [
            "",
            f"{'binary model':{width}}  "
            f"{'trees' if only_trees else 'support vectors':>15}  classes left / right",
        ]
    for binary in binaries:
        sides = " / ".join(listed(binary[side]) for side in ("left", "right"))
        size = str(binary["support_vectors"])
        if binary.get("trees"):
            size = f"{binary['trees']}{' trees' * (not only_trees)}"
        lines.append(
            f"{binary['name']:{width}}  {size:>15}  {sides}"
            + "  (no probabilities)" * (not binary["probabilities"])
        )
    for direct in info["direct_classifiers"]:
        lines += [
            "",
            f"direct classifier {direct['name']}: {direct['kind']}, "
            f'"{direct["options"]}", classes '
            + " / ".join(listed(labels) for labels in direct["branches"]),
        ]
    if recipe is not None:
        lines += ["", *_column_lines(recipe)]
    if info["control"] is not None:
        lines += ["", "tree"] + [f"  {line}" for line in info["control"].split("\n") if line]
    return _text(lines)


def _text(lines):
    texts = [
        line if isinstance(line, str) else f"{line[0]:18}{line[1]}"
        for line in lines
        if isinstance(line, str) or line[1] is not None
    ]
    return "".join(f"{one_line(text)}\n" for text in texts)  # a stranger's file holds any text


def _sums_text(sums):
    return f"{sum(sums):g}, of the classes " + " ".join(f"{total:.6g}" for total in sums)


def _member_lines(info):
    members = info["members"]
    if members is None:
        return []
    kinds = Counter((one["configuration"], one["binary_models"]) for one in members)
    weights = [one["weight"] for one in members]
    names = [binary["name"] for binary in info["binary_models"]]
    shared = len(names) - len(set(names))
    return [
        (
            "members",
            f"{len(members)}: "
            + ", ".join(
                f"{count} x {kind} of {rows}" if count > 1 else f"{kind} of {rows}"
                for (kind, rows), count in kinds.items()
            )
            + " binary models",
        ),
        (
            "weights",
            "equal" if len(set(weights)) == 1 else listed([f"{weight:.4g}" for weight in weights]),
        ),
        *(("  member", member_text(one)) for one in members[:_SHOWN]),
        (
            "shared",
            f"{shared} partitions have the binary model of another member: "
            f"{len(set(names))} different ones"
            if shared
            else None,
        ),
    ]


def _calibration_lines(calibration):
    if calibration is None:
        return [("calibration", "none")]
    lines = [
        (
            "calibration",
            f"{calibration['source']}, of the classes "
            + " ".join(map(str, calibration["samples"])),
        )
    ]
    for one in calibration["decoders"]:
        if "temperature" not in one:
            text = one["map"]
        else:
            text = f"temperature {one['temperature']:.4g}"
        if one["points"] is None:
            points = ""
        else:
            points = f", {one['points']} calibration points"
        lines.append(("", f"{one['decoder']}: {text}, floor {one['floor']:.4g}{points}"))
    return lines + [("", "a learned decoder")] * calibration["learned"]


def class_samples(configuration: Configuration) -> dict[int, int]:
    """{label: samples in training}, ascending; `ModelError` where not known.

    Each classifier made here tells how many samples it had on either side.
    """
    return _of_classes(configuration, lambda one: one.samples, False)


def class_sums(configuration: Configuration, seen: bool = False) -> dict[int, float]:
    """{label: sum of the weights of its samples}, ascending; their number where none had weights.

    With `seen` they are without class weights. Raises `ModelError` where the models do not record
    them.
    """
    if all(_sums(one, False) is None for _, one in _with_sides(configuration)):
        return {**class_samples(configuration)}
    return _of_classes(configuration, lambda one: _sums(one, seen), True)


def has_class_weights(configuration: Configuration) -> bool:
    """Return True if class weights moved its probabilities from those of the data."""
    return any(one.seen != one.weights for one in configuration.provenances)


def _sums(one, seen):
    if isinstance(one, Provenance):
        made_from = one
    else:
        made_from = one.provenance
    if made_from.weights is None and getattr(one, "w", None) is not None:  # those of neighbours
        if seen:
            return None
        return np.bincount(one.y, one.w, one.branches).tolist()
    if seen:
        return made_from.seen
    return made_from.weights


def _with_sides(configuration):
    """[(labels of the sides or branches, `Provenance` or classifier of a node)]."""
    tree = configuration.tree
    branches = configuration.tree.branch_labels()
    return [
        *zip(tree.sides(), getattr(configuration.machines, "provenances", ())),
        *((branches[number], one) for number, one in configuration.node_classifiers.items()),
    ]


def _of_classes(configuration, sizes_of, weighted):
    tree = configuration.tree
    column = {label: i for i, label in enumerate(tree.classes)}
    totals = [
        ([column[label] for label in labels], size)
        for sides, one in _with_sides(configuration)
        if (several := sizes_of(one)) is not None and len(several) == len(sides)
        for labels, size in zip(sides, several)
    ]
    if totals:
        counts = class_counts(totals, len(column), weighted)
    else:
        counts = None
    if counts is None:
        raise ModelError("the models do not record the number of training samples of each class")
    return dict(zip(tree.classes, counts.tolist()))

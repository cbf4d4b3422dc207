"""Descriptions of a configuration, a normalisation and a recipe, as plain data."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from ..calibration.priors import class_counts
from ..control.build import rename, rename_directs, with_heading
from ..control.tree import changed, Tree
from ..control.write import format_tree
from ..core.errors import ModelError
from ..core.provenance import Provenance
from ..data.normalisation import Normalisation
from ..files.codec import encode
from ..kernels.machine import KernelCounter
from ..tables.types import TableRecipe
from .configuration import Configuration
from .privacy import training_rows


def describe(configuration: Configuration) -> dict:
    """A dictionary of plain values: classes, configuration, sizes, kernels, settings."""
    model = configuration.machines
    tree = configuration.tree
    normalisation = configuration.normalisation
    forest = model.forest
    node_forests = configuration.node_forests
    forests = [*node_forests.values()]
    if forest is not None:
        forests.append(forest)
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
        "members": describe_members(configuration) if tree.is_ensemble else None,
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
                **_trees([node_forests[number]] if number in node_forests else []),
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
        "training_rows": training_rows(configuration),
        **_trees(forests),
        "written_by": configuration.made_by,
        "calibration": _calibration(configuration.calibration),
        "recipe": None if configuration.recipe is None else describe_recipe(configuration.recipe),
    }


def _trees(forests):
    """The numbers of trees and of comparisons in forests, {} where there are none."""
    if not forests:
        return {}
    return {
        "trees": sum(len(forest.roots) for forest in forests),
        "comparisons": sum(int(forest.comparisons.sum()) for forest in forests),
    }


def describe_members(configuration: Configuration) -> list[dict]:
    """A dictionary of plain values for each member of an ensemble: what it is, its weight in the
    average, and the kernel values and trees that are computed for a point."""
    tree = configuration.tree
    model = configuration.machines
    ends = np.cumsum([0, *(len(member.rows) for member in tree.members)])
    rows = np.arange(model.count)
    queried = (rows >= ends[:-1, None]) & (rows < ends[1:, None])
    if model.count:
        kernels = KernelCounter(model)(queried)
    else:
        kernels = np.zeros(len(queried), int)
    trees = np.diff((model.forest.starts if model.forest else np.zeros_like(model.indptr))[ends])
    for number, forest in configuration.node_forests.items():
        trees[np.searchsorted(tree.roots, number, side="right") - 1] += len(forest.roots)
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
    mixed = False
    if not normalisation.keeps_features_apart:
        mixed = bool((np.count_nonzero(normalisation.matrix, axis=0) > 1).any())
    return {
        "features": normalisation.features,
        "features_after": normalisation.features_after,
        "left_out": list(normalisation.dropped),
        "mixed": mixed,
        "digest": normalisation.digest(),
    }


def describe_recipe(recipe: TableRecipe) -> dict:
    """A dictionary of plain values: all of a recipe, the names of its features, the numbers of columns
    of each kind, and the "form" of numbers in words."""
    content = encode(recipe)
    for plain, column in zip(content["columns"], recipe.columns):
        if column.numbers is not None:
            plain["numbers"]["form"] = column.numbers.words
    return {**content, "features": list(recipe.features), "kinds": recipe.kinds}


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

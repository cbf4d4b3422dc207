"""What a trained configuration holds, as plain data and as text."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from ..errors import ModelError, one_line
from ..models import KERNELS
from ..provenance import Provenance
from .priors import class_samples

__all__ = ["describe", "format_description"]


def describe(configuration):
    """A dictionary of plain values: classes, configuration, sizes, kernels, settings."""
    model, tree = configuration.model, configuration.tree
    before = int(model.indptr[-1])
    features = (model.sv.shape[1] if model.normalisation is None
                else model.normalisation.matrix.shape[0])
    return {
        "classes": [{"label": label, **({"name": model.names[label]}
                                        if label in model.names else {})}
                    for label in tree.classes],
        "samples": _samples(configuration),
        "configuration": _kind(tree),
        "control": model.control if tree.hierarchical else None,
        "levels": 1 + max(node.depth for node in tree.nodes),
        "binary_models": [
            {"name": row.text, "left": list(left), "right": list(right),
             "support_vectors": int(model.indptr[i + 1] - model.indptr[i]),
             "kernel": int(model.kernel_of[i]),
             "probabilities": bool(np.isfinite(model.a[i])), 
             "made_by": model.provenances[i].to_line(), **_told(model.provenances[i])}
            for i, (row, (left, right)) in enumerate(zip(tree.rows, tree.sides()))],
        "direct_classifiers": _directs(configuration),
        "kernels": [asdict(kernel) for kernel in model.kernels],
        "features": features,
        "features_of_support_vectors": model.sv.shape[1],
        "normalised": model.normalisation is not None,
        "support_vectors": len(model.sv),
        "coefficients": before,
        "written_by": configuration.made_by,
    }


def _samples(configuration):
    """Samples in training of each class, in the order of the classes; None if not told."""
    model = configuration.model
    try:
        return list(class_samples(configuration.tree, model, model.direct).values())
    except ModelError:
        return None


def _told(provenance):
    """The samples of a binary model in training, left and right, if they are told."""
    return {} if provenance.samples is None else {"samples": list(provenance.samples)}


def _directs(configuration):
    """What each direct classifier is, and what is known of how it was made."""
    tree, models = configuration.tree, iter(configuration.model.direct)
    branches = tree.branch_labels()
    return [{"name": direct.name, "code": direct.code, "kind": direct.learner.title,
             "options": direct.options, "branches": [list(labels) for labels in branches[number]],
             "made_by": "" if direct.learner.is_program else next(models).provenance.to_line()}
            for number, direct in tree.directs.items()]


def _kind(tree):
    if not tree.hierarchical:
        return "direct classifier" if tree.nodes[0].direct else "coding matrix"
    return "decision tree" if all(node.bare for node in tree.nodes) else "nested"


def format_description(info):
    """The dictionary of `describe` as text for people."""
    stored, total = info["support_vectors"], info["coefficients"]
    lines = [
        f"configuration     {info['configuration']}, {len(info['binary_models'])} binary models, "
        f"{info['levels']} level{'s' if info['levels'] > 1 else ''}",
        f"classes           {len(info['classes'])}: " + ", ".join(
            f"{c['label']} {c['name']}" if "name" in c else str(c["label"])
            for c in info["classes"]),
        *([] if info["samples"] is None else
          [f"samples           {sum(info['samples'])} in training, of the classes "
           + " ".join(map(str, info["samples"]))]),
        f"features          {info['features']}" + (
            f", normalised by the model to {info['features_of_support_vectors']}"
            if info["normalised"] else ""),
        f"support vectors   {stored} stored, {total} coefficients in the binary models together",
    ]
    lines += [f"kernel            {_kernel(kernel)}" for kernel in info["kernels"]]
    if info["written_by"]:
        lines.append("written by        " + ", ".join(
            f"{k} {v}" for k, v in sorted(info["written_by"].items())))
    settings = {}
    for binary in info["binary_models"]:
        text = Provenance.from_line(binary["made_by"]).without_identity().to_line()
        settings.setdefault(text or "not told", []).append(binary["name"])
    for text, names in settings.items():
        which = "all" if len(names) == len(info["binary_models"]) else f"{len(names)} models"
        lines.append(f"trained by        {which}: {text}")
    if info["binary_models"]:
        width = max(len(binary["name"]) for binary in info["binary_models"])
        lines += ["", f"{'binary model':{max(width, 12)}}  support vectors  classes left / right"]
    for binary in info["binary_models"]:
        sides = " / ".join(_short(binary[side]) for side in ("left", "right"))
        note = "" if binary["probabilities"] else "  (no probabilities)"
        lines.append(f"{binary['name']:{max(width, 12)}}  {binary['support_vectors']:15d}  "
                     f"{sides}{note}")
    for direct in info["direct_classifiers"]:
        lines += ["", f"direct classifier {direct['name']}: {direct['kind']}, "
                      f"\"{direct['options']}\", classes "
                      + " / ".join(_short(labels) for labels in direct["branches"])]
    if info["control"] is not None:
        lines += ["", "tree"] + [f"  {line}" for line in info["control"].split("\n") if line]
    return "".join(f"{one_line(line)}\n" for line in lines)  # a stranger's model holds any text


def _short(labels):
    text = " ".join(map(str, labels[:12]))
    return f"{text} ... ({len(labels)})" if len(labels) > 12 else text


def _kernel(kernel):
    used = KERNELS[kernel["kind"]].parameters
    return " ".join([kernel["kind"], *(f"{name} {kernel[name]:g}" for name in used)])

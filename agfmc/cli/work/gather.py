"""The parts of a page, made from data, models, results and files."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy

from ...control.tree import Tree
from ...core.answers import Results
from ...core.errors import DataError
from ...core.provenance import libsvm_version, settings_text
from ...core.version import __version__
from ...files.opening import open_input
from ...report.content import AnswersPart, DataPart, HardPoint
from ...score.evaluation import evaluate, ScoreRequest
from ...score.nodes import costs_of_nodes
from ..pages import Page

HARDEST = 20  # points that are shown
_LIKELY = 3  # classes of each of them
_DRAWN = 5 * 10**6  # probabilities in all resamples for intervals: seconds
_RESAMPLES, _FEWEST = 400, 100
_TOP, _FEW_CLASSES = 3, 6  # the K of the top-K accuracy, and from how many classes it tells much
_PIECE = 1 << 20
_SETTINGS = 8  # different ones of the classifiers of a model that are listed


def data_of_model(info: Mapping) -> DataPart:
    """The `DataPart` of what a model, described by `describe`, tells of its training data."""
    recipe = info["recipe"]
    samples = info["samples"]
    facts = []
    if "weights" in info:
        facts.append(("sum of the weights", f"{sum(info['weights']):g}"))
    if "groups" in info:
        facts.append(("groups", str(info["groups"])))
    return DataPart(
        recipe["source"] if recipe else "",
        None if samples is None else sum(samples),
        info["features"],
        tuple(one["label"] for one in info["classes"]),
        None if samples is None else tuple(map(float, samples)),
        recipe,
        tuple(facts),
    )


def report_score_request(
    results: Results, scores: ScoreRequest = ScoreRequest(), resamples: int | None = None
) -> ScoreRequest:
    """The scores for a page: the requested ones, calibration of each class, and intervals.

    `resamples` are those of the intervals, None for as many as take seconds, 100 to 400.
    """
    n = len(results.truth)
    k = len(results.labels)
    if resamples is None:
        size = n * (1 if results.p is None else k)
        resamples = max(min(_RESAMPLES, _DRAWN // max(size, 1)), _FEWEST)
    top = scores.top_accuracy or (_TOP if k >= _FEW_CLASSES and results.p is not None else None)
    return replace(scores, top_accuracy=top, by_class=results.p is not None, intervals=resamples)


def answers_part(
    results: Results,
    origin: str,
    *,
    scores: ScoreRequest = ScoreRequest(),
    bins: int = 10,
    tree: Tree | None = None,
    splits: Mapping | None = None,
    ids: Callable[[Sequence[int]], Mapping[int, str]] | None = None,
) -> AnswersPart:
    """The `AnswersPart` of results with their scores, those of `report_score_request`.

    `tree` is the control tree of the answers, None where there is none for all of them; ids(rows)
    returns {row: id} of some points, by their number from 0.
    """
    hardest = hardest_points(results, ids)
    return AnswersPart(
        origin, evaluate(results, bins, scores), splits, hardest, _costs(results, tree)
    )


def _costs(results, tree):
    if (
        tree is None
        or results.p is None
        or len(tree.nodes) < 2
        or tree.is_ensemble
        or tree.classes != tuple(int(label) for label in results.labels)
    ):
        return ()
    return costs_of_nodes(tree, results.p, results.y, results.weights)


def hardest_points(
    results: Results, ids: Callable | None = None, number: int = HARDEST
) -> tuple[HardPoint, ...]:
    """The points whose true class has the least probability, the least first, each once.

    () without probabilities. `ids` is as for `answers_part`; without it they are rows, from 1.
    """
    if results.p is None:
        return ()
    y = results.y
    of_truth = results.p[np.arange(len(y)), y]
    if results.rows is None:
        rows = np.arange(len(y))
    else:
        rows = results.rows
    chosen: dict[int, int] = {}
    for at in np.argsort(of_truth, kind="stable"):
        chosen.setdefault(int(rows[at]), int(at))  # a point may be held out several times
        if len(chosen) == number:
            break
    if ids is None:
        names = {}
    else:
        names = ids(list(chosen))
    return tuple(
        HardPoint(
            names.get(row, str(row + 1)),
            int(results.truth[at]),
            int(results.result[at]),
            float(of_truth[at]),
            _likely(results, at),
        )
        for row, at in chosen.items()
    )


def _likely(results, at):
    order = np.argsort(-results.p[at], kind="stable")[:_LIKELY]
    return tuple((int(results.labels[j]), float(results.p[at, j])) for j in order)


def relabelled(results: Results, names: Sequence[str], tree: Tree) -> tuple[Results, dict]:
    """(`Results` with the labels of a tree, {label: name}), of results whose labels number `names`.
    Raises `DataError` where the tree has none of the classes."""
    known = {tree.names.get(label, str(label)): label for label in tree.classes}
    if not set(names) & set(known):
        raise DataError(
            "has none of the classes of the answers: it is another model than theirs",
            file=tree.source,
        )
    new = []
    free = max(tree.classes) + 1
    for name in names:
        new.append(known.get(name, free))
        free += name not in known
    label_of = np.array(new)
    order = np.argsort(new, kind="stable")
    present = order[np.isin(order, np.asarray(results.labels))]
    changes = {name: getattr(results, name) for name in ("p", "before")}
    return replace(
        results,
        truth=label_of[results.truth],
        labels=label_of[present],
        result=np.where(results.result < 0, results.result, label_of[results.result]),
        **{
            name: None if p is None else p[:, np.searchsorted(results.labels, present)]
            for name, p in changes.items()
        },
    ), {int(label_of[at]): names[at] for at in order}


def versions() -> list[tuple[str, str]]:
    """(program, version) of this package and what its numbers depend on."""

    return [
        ("agfmc", __version__),
        ("Python", platform.python_version()),
        ("NumPy", np.__version__),
        ("SciPy", scipy.__version__),
        ("LIBSVM", libsvm_version()),
    ]


def settings_of(info: Mapping) -> list[tuple[str, str]]:
    """(name, value) of what a model, described by `describe`, tells of its training."""
    pairs = [
        (
            "written by",
            ", ".join(f"{name} {version}" for name, version in sorted(info["written_by"].items())),
        )
    ]
    lines: dict[str, int] = {}
    for one in [*info["binary_models"], *info["direct_classifiers"]]:
        line = settings_text(one["made_by"]) or "unknown"
        lines[line] = lines.get(line, 0) + 1
    pairs += [
        ("trained by" if len(lines) == 1 else f"trained by, {count} classifiers", line)
        for line, count in list(lines.items())[:_SETTINGS]
    ]
    if len(lines) > _SETTINGS:
        pairs.append(("trained by", f"{len(lines) - _SETTINGS} more settings"))
    calibration = info["calibration"]
    if calibration is not None:
        maps = ", ".join(f"{one['decoder']}: {one['map']}" for one in calibration["decoders"])
        pairs.append(("calibration", f"{calibration['source']}; {maps}"))
    return [(name, value) for name, value in pairs if value]


def file_digests(paths: Iterable[str | None]) -> list[tuple[str, str]]:
    """(sha256 of FILE, digits) of the regular files among these, each once, read by pieces."""
    digests = []
    for path in dict.fromkeys(paths):
        if path is None or path == "-" or not os.path.isfile(path):
            continue
        digest = hashlib.sha256()
        with open_input(path, raw=True) as file:  # the bytes of the file, compressed or not
            while piece := file.read(_PIECE):
                digest.update(piece)
        digests.append((f"sha256 of {os.path.basename(path)}", digest.hexdigest()))
    return digests


def step_of(page: Page, why: str) -> tuple[str, str]:
    """The command of a page, and what it does."""
    return shlex.join(page.command), why


def provenance(
    page: Page, more: Iterable[tuple[str, str]] = (), info: Mapping | None = None
) -> tuple[tuple[str, str], ...]:
    """(name, value) pairs: versions, options, more such pairs, digests of inputs, and the
    training of a model, of which `describe` tells in info."""
    pairs = [*versions(), ("command", page.command[0]), *page.facts, *more]
    if info is not None:
        pairs += [(f"model: {name}", value) for name, value in settings_of(info)]
    return (*pairs, *file_digests(page.inputs))

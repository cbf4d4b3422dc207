"""The learner `trees` and code T of nodes: gradient boosted trees, cross-fitted (`boosting`).

The learner `trees` has two sides; its score is the log-odds of the right one.  Code T tells the
branches of a node apart: a score for each branch, whose softmax are the probabilities.

The file of a model of code T is text: the title `agfmc trees 1`, the lines `classes c`,
`features d` and `points n`, the arrays of a `Forest`, the held-out scores of the samples, float32 in
base64, and what the model was made from (`Provenance`) with its seal.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from ..core.errors import ModelError
from ..core.models import NodeModel
from ..core.points import padded_blocks
from ..core.provenance import Provenance
from ..core.splits import job_seed
from ..core.version import __version__
from ..files.atomic import checked
from ..files.codec import check_seal, sealed
from ..files.number_text import ascii_text
from ..files.opening import read_bytes
from .boosting import Boosting
from .forest_text import COUNT, format_forest, read_forest
from .options import NodeLearner, PlaneLearner
from .points import Solution

_TITLE = "agfmc trees 1"
_MARK = "# agfmc "
_HELD_OUT = f"{_MARK}held out "
_LEAST = {"classes": 2, "features": 1, "points": 2}
_LARGEST_SEED = 2**31  # of LightGBM
_BLOCK = 512  # points whose softmax is taken together; short blocks are padded


@dataclass(frozen=True, repr=False)
class Trees(Boosting, PlaneLearner):
    """Gradient boosted trees of LightGBM as the learner of binary classifiers.

    Parameters
    ----------
    n_estimators : int, default=1000
        Rounds of boosting at most.
    learning_rate : float, default=0.08
        Factor of the contribution of each tree.
    num_leaves : int, default=15
        Leaves of a tree at most.
    min_child_samples : int, default=5
        Samples of a leaf at least.
    early_stopping_rounds : int, default=25
        Rounds without improvement after which training stops; 0: no early stopping.
    extra_trees : bool, default=False
        One random threshold for each feature and node, in place of the best one (P. Geurts,
        D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006).
    n_boosters : int, default=5
        Folds that the samples are dealt into, each of which stops one booster.
    weights : pairs or dict, default=()
        Factors of the weights of the sides, 0 left and 1 right: ((0, 2.0),).
    """

    weights: tuple = ()

    name = svm_type = "trees"
    uses_distances = False
    gives_probabilities = allows_nan = uses_seed = holds_out = True
    keeps_sparse = False

    def seeded(self, seed: int) -> Trees:
        """These options with another seed."""
        return self.changed(seed=seed)

    def identity(self, job) -> tuple:
        """Library, options and seed."""
        return self.made_by(), self.canonical(), self.seed

    def solve(self, packed, rows, side, w=None, groups=None) -> Solution:
        """The `Solution` of the boosters, a `Forest` whose value is the log-odds of the right side.

        Of the points `packed`, NaN is a missing value; each of the `groups` (l,) is held out as a
        whole. Raises `DataError` if LightGBM refuses the problem.
        """
        side = np.asarray(side)
        for number, factor in self.weights:
            if w is None:
                w = np.ones(len(side))
            w = np.where(side == number, factor * w, w)
        # the order of the samples depends on which side comes first in the data
        order = np.argsort(rows)
        forest, held_out = self.cross_fit(
            packed[rows[order]], side[order], 1, _of(w, order), _of(groups, order)
        )
        values = np.empty(len(rows))
        values[order] = held_out[:, 0]
        return Solution(
            None,
            np.empty(0),
            0.0,
            (1, 0),
            (0, 0),
            np.empty((0, packed.shape[1])),
            forest,
            held_out=values,
        )


def _of(values, order):
    if values is None:
        return None
    return values[order]


@dataclass(frozen=True, repr=False)
class BoostedNodeOptions(Boosting, NodeLearner):
    """Options of boosted trees of all branches of a node."""

    n_boosters: int = 3

    recognised_by = "seal"
    allows_nan = True

    def identity(self, job) -> tuple:
        """The letter, the library, and the options as the user wrote them."""
        return "T", self.made_by(), job.text, job.seed

    def fit(self, job, problem) -> NodeModel:
        """The `NodeModel` of a `NodeProblem`."""
        part = problem.samples
        branches = len(job.sides)
        seeded = self.changed(seed=job_seed(job.seed, job.labels, ()) % _LARGEST_SEED)
        forest, held_out = seeded.cross_fit(
            problem.x[part.rows], part.side, branches, problem.weights, problem.groups
        )
        provenance = Provenance(
            __version__,
            self.made_by(),
            options=self.canonical(),
            seed=job.seed,
            normalised=problem.normalised,
        ).with_samples(
            np.bincount(part.side, minlength=branches), job.sides, problem.sums, problem.groups
        )
        return NodeModel(
            "T",
            job.name,
            branches,
            provenance,
            forest=forest,
            held_out=held_out.astype("<f4"),
        )

    def write(self, job, problem, streams):
        """Write the model as text, sealed where the problem has an origin."""
        text = format_boosted_node(self.fit(job, problem))
        if problem.origin is not None:
            text = sealed(text, problem.origin)
        streams[0].write(text.encode())

    def read(self, name, branches) -> NodeModel:
        """The `NodeModel` in the file of that name."""
        model = read_boosted_node(name)
        if model.branches != branches:
            raise ModelError(
                f"is a model of {model.branches} classes, and the classifier "
                f"has {branches} branches",
                file=name,
            )
        return model

    def held_out_probabilities(self, job, problem, model, rows):
        """p (c, branches) of points in those rows, samples by boosters that have not seen them."""
        samples = problem.samples.rows
        if model.held_out is None or len(model.held_out) != len(samples):
            return super().held_out_probabilities(job, problem, model, rows)
        p = self.classifier(model).probabilities(problem.x[rows])
        places = np.searchsorted(samples, rows).clip(0, len(samples) - 1)
        is_sample = samples[places] == rows
        p[is_sample] = _softmax(model.held_out[places[is_sample]])
        return p

    @staticmethod
    def classifier(model):
        """The classifier of a model."""
        return _BoostedNode(model)


class _BoostedNode:
    """A trained node, ready to classify."""

    def __init__(self, model):
        self._forest = model.forest
        self._scores = range(model.branches)

    def probabilities(self, x):
        """p (n, c) of points x (n, d); the bits of a point do not depend on the others."""
        return _softmax(self._forest.values(np.asarray(x), self._scores).T)


def _softmax(scores):
    """p (n, c) of scores (n, c), in blocks of one size: vector instructions round the last points
    of a block in another way."""
    result = np.empty(scores.shape)
    for part, block in padded_blocks(scores, _BLOCK):
        result[part] = softmax(block.T, axis=0)[:, : part.stop - part.start].T
    return result


def format_boosted_node(model: NodeModel) -> str:
    """The text of a `NodeModel` of code T, which is `checked`."""
    values = np.asarray(model.held_out, dtype="<f4")
    lines = [
        _TITLE,
        f"classes {model.branches}",
        f"features {model.features}",
        f"points {len(values)}",
        *format_forest(model.forest),
        f"{_HELD_OUT}{base64.b64encode(values.tobytes()).decode()}",
        f"{_MARK}{model.provenance.to_line()}",
    ]
    return checked(
        "\n".join(lines) + "\n", lambda text: read_boosted_node(model.name, text.encode())
    )


def read_boosted_node(path, raw=None) -> NodeModel:
    """Read the text file of a `NodeModel` of code T; raw: its bytes, if read already.

    Raises `ModelError` with the line of whatever is invalid.
    """
    if raw is None:
        raw = read_bytes(path)
    check_seal(raw, path)

    def fail(message, line=None):
        return ModelError(message, file=path, line=line)

    lines = ascii_text(raw, "a model of boosted trees", fail).splitlines()
    if not lines or lines[0] != _TITLE:
        raise fail(f"expected '{_TITLE}', found '{(lines or [''])[0][:40]}'", 1)
    if not raw.endswith(b"\n"):
        raise fail("truncated: the last line is not complete", len(lines))
    sizes = []
    for number, (key, least) in enumerate(_LEAST.items(), 2):
        line = lines[number - 1] if number <= len(lines) else ""
        match = re.fullmatch(rf"{key} (\d{{1,9}})", line)
        if match is None or int(match[1]) < least:
            raise fail(
                f"expected '{key}' and a whole number from {least} up, found '{line[:40]}'", number
            )
        sizes.append(int(match[1]))
    branches, features, points = sizes
    head = len(_LEAST) + 1
    held_out = None
    provenance = Provenance()
    end = len(lines)
    for number, line in enumerate(lines[head:], head + 1):
        if line.startswith(_HELD_OUT):
            held_out = _held_out_scores(line, points, branches)
            if held_out is None:
                raise fail(f"the held-out scores are not {points} times {branches} numbers", number)
            end = number - 1
            break
    for number, line in enumerate(lines[end + (held_out is not None) :], end + 2):
        if not line.startswith(_MARK) or provenance:
            raise fail(f"expected the end of the file, found '{line[:30]}'", number)
        provenance = Provenance.from_line(line[len(_MARK) :])
    if held_out is None:
        raise fail("the held-out scores are missing", len(lines))
    if end - head != COUNT:
        raise fail(f"expected {COUNT} lines of trees, found {end - head}", end)
    forest = read_forest(lines[head:end], features, branches, path, head)
    return NodeModel("T", path, branches, provenance, forest=forest, held_out=held_out)


def _held_out_scores(line, points, branches):
    """Scores (points, branches), or None where they are not that."""
    try:
        data = base64.b64decode(line[len(_HELD_OUT) :], validate=True)
    except binascii.Error:
        return None
    if len(data) != 4 * points * branches:
        return None
    scores = np.frombuffer(data, "<f4").reshape(points, branches)
    if not np.isfinite(scores).all():
        return None
    return scores

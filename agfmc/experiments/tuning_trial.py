"""Training options tried on a split: for a whole configuration, or for each binary problem."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np

from ..control.build import check_classes, rename, resolve_options
from ..errors import AgfmcError
from ..prediction.evaluation import evaluate, Results
from ..executors.threads import run_tasks
from ..kernel.machine import decision_values
from ..score.scores import SCORES
from ..learners.protocol import Job, parse_options, rows_by_class
from .candidates import decoders_of
from .result_cache import are_numbers, key_of
from .binary_problems import binary_model, problem_key, train_missing
from .trial import evaluated

__all__ = ["Problems", "Whole", "open_rows", "with_options"]


def open_rows(tree):
    """For each row of `tree`, True where the options of the command line would be its own."""
    default = object()
    return [text is default for text in resolve_options(tree, default)]


def with_options(tree, texts):
    """`tree` with options for its open rows: one text for all, or one for each row of `tree`."""
    texts = [texts] * len(tree.rows) if isinstance(texts, str) else texts
    return rename(tree, [text if is_open else row.text for row, text, is_open in
                         zip(tree.rows, texts, open_rows(tree))], quoted=True)


class _Fixed(NamedTuple):
    """A `Candidate` whose tree is laid out already."""

    tree: object
    wanted: tuple | None
    name: str = ""

    def tree_for(self, x, y, names):
        """Its tree."""
        return self.tree


class Whole:
    """One search, in which all open rows of a configuration have the same options.

    tree: for all of the data;  candidate: lays out the trees of the training parts.
    """

    def __init__(self, candidate, tree, settings, ledger):
        self._candidate, self._settings, self._ledger = candidate, settings, ledger
        self._trees = {}
        self.decoder = decoders_of(tree, candidate.wanted)[0].name
        self.jobs = sum(open_rows(tree))  # binary problems of a trial

    def score(self, stage, items, progress):
        """The scores {name: number or None}, or the error, of each of `items` (0, options).

        The options may be a text, or a tuple of texts for the rows.
        """
        name = stage.name
        if name not in self._trees:
            self._trees[name] = self._candidate.tree_for(stage.x, stage.y, stage.names)
        trials = [_Fixed(with_options(self._trees[name], text), self._candidate.wanted)
                  for _, text in items]
        outcomes = evaluated(stage, trials, self._settings, self._ledger, first=True,
                             progress=progress)
        return [outcome.scores if outcome.error is None else outcome.error
                for outcome in outcomes]


class Problems:
    """A search for each different binary problem among the open rows of a tree.

    sides: (left, right) labels of each problem;  rows: the rows of `tree` that it stands in.
    """

    jobs = 1

    def __init__(self, tree, settings, ledger):
        self._tree, self._settings, self._ledger = tree, settings, ledger
        rows = {}
        for number, (sides, is_open) in enumerate(zip(tree.sides(), open_rows(tree))):
            if is_open:
                key = tuple(tuple(sorted(side)) for side in sides)
                rows.setdefault(key, []).append(number)
        self.sides, self.rows = list(rows), list(rows.values())

    def _job(self, number, text):
        row = self._tree.rows[self.rows[number][0]]
        return Job(f"m-{self.rows[number][0]:02d}", self.sides[number], parse_options(text), text,
                   self._settings.seed, self._tree.place(row))

    def score(self, stage, items, progress):
        """The scores, or the error, of each of `items` (problem, options)."""
        check_classes(self._tree, stage.counts, "the data")
        jobs = [self._job(*item) for item in items]
        keys = [problem_key(stage.digest, job, self._settings.loo) for job in jobs]
        test = key_of("test", stage.digest, stage.test_x, stage.test_y)
        places = [key_of("sides", key, test) for key in keys]
        scores = [_read(self._ledger.get(place)) for place in places]
        missing = [i for i, known in enumerate(scores) if known is None]
        trained = train_missing({keys[i]: jobs[i] for i in missing}, stage.x, stage.y,
                                self._settings.training, ledger=self._ledger, progress=progress)
        rows_of = rows_by_class(stage.test_y)

        def answer(i):
            result = trained[keys[i]]
            return result if isinstance(result, AgfmcError) else \
                _scored(jobs[i], result, stage, rows_of)

        for i, result in run_tasks(answer, missing, self._settings.workers):
            scores[i] = result
            if not isinstance(result, AgfmcError):
                self._ledger.put(places[i], json.dumps(result).encode())
        self._ledger.flush()
        return scores


def _read(data):
    try:
        scores = None if data is None else json.loads(data)
    except (ValueError, RecursionError):
        return None
    good = isinstance(scores, dict) and set(scores) == set(SCORES) and are_numbers(
        *(score for score in scores.values() if score is not None), finite=False)
    return scores if good else None


def _scored(job, trained, stage, rows_of):
    """The scores of one binary classifier on the test points of its classes; None without any."""
    empty = np.empty(0, dtype=np.int64)
    left, right = (np.concatenate([rows_of.get(label, empty) for label in labels])
                   for labels in job.sides)
    if not len(left) + len(right):
        return dict.fromkeys(SCORES)
    model = binary_model(job, trained, stage.x)
    a, b = model.scale
    f = decision_values(model.kernel, model.sv, model.coef, model.rho,
                        stage.test_x[np.concatenate([left, right])])
    p = 0.5 * (1.0 + np.tanh(a * f + b))  # of the right side
    p = np.column_stack([1.0 - p, p])
    truth = np.repeat([0, 1], [len(left), len(right)])
    scores = evaluate(Results(truth, (a * f + b >= 0).astype(np.int64), np.array([0, 1]), 2,
                              p.max(axis=1), p))
    return {name: None if scores[name] is None or scores[name] != scores[name]
            else float(scores[name]) for name in SCORES}


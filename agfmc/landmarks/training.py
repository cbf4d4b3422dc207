"""Training of classifiers that share landmarks: sums over all points once, then a solution each.

The learner is `nystrom`: `landmarks.learner` has the formulas, `sums` the sums.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from ..core.errors import AgfmcError, DataError, warn_user
from ..core.models import BinaryModel
from ..core.provenance import Provenance
from ..core.splits import job_seed, of_rows
from ..core.version import __version__
from ..data.types import Dataset
from ..learners.platt import fit_sigmoid
from ..learners.protocol import Fitted
from .features import MEGABYTE
from .learner import Ridge, RidgeSearch
from .sums import factors_of, Group, SEARCHED, Sums, Work

# So many sets of classes have a lambda each, or as many as take so many multiplications to solve;
# of more, some choose a common one: with it, others had a squared error that was higher than with
# their own by .5 % on average (letter, 1000 landmarks), and by 2 % at most.
_SEPARATE, _CHEAP, _SAMPLED = 8, 1e10, 8
_TRIALS = 7  # values of lambda that are tried, about
# Leverages of many sets are estimated in so many random directions where a set has so many times
# as many points: in fewer, they are computed as fast.
_DIRECTIONS, _FEW = 128, 4
_JOINED = 2048  # their points are taken at a time, about
_STEPS = 100_000  # of progress


class _LeftOut:
    """Features of the points that are left out, some stored where they serve again."""

    def __init__(self, group, megabytes):
        self._group = group
        self._stored = {}
        self._room = megabytes * MEGABYTE
        self._all = (
            len(group.sets) > 1
            or sum(len(part) for parts in group.left_out.values() for part in parts) <= SEARCHED
        )

    def __call__(self, block, step=1):
        """phi (p, n) of every step-th point of a block, of `Group.blocks_of`."""
        if len(block) > 1 and self._group.groups is None:
            return np.concatenate([self((part,), step) for part in block], axis=1)
        phi = self._stored.get((block, step))
        if phi is None:
            phi = self._group.problem.features(self._group.rows_of(block, step))
            if (self._all or step > 1) and phi.nbytes <= self._room:
                self._room -= phi.nbytes
                self._stored[block, step] = phi
        return phi

    def forget(self):
        """Make room: features with a step are of no more use."""
        for key in [key for key in list(self._stored) if key[1] > 1]:
            phi = self._stored.pop(key, None)  # another thread may do the same
            self._room += 0 if phi is None else phi.nbytes


class _Set:
    """The classifiers of a group that have the same points on their two sides together.

    `one` is ((label, factor of its points), ...), `grams` of these points, as `Ridge` takes them.
    """

    def __init__(self, group, one, grams, sums):
        self.blocks = group.blocks_of([label for label, _ in one])
        self.count = sum(len(group.rows_of(block)) for block in self.blocks)
        self.number = {sides: index for index, sides in enumerate(group.sets[one])}
        factors = np.array([factor for _, factor in one])
        self._labels = np.array([label for label, _ in one])
        self._factor, self._group = factors, group
        s = np.stack([sums.total[label] for label, _ in one]) * factors[:, None]
        n = np.array([sums.weight[label] for label, _ in one]) * factors
        self._targets = np.full((len(self.number), len(one)), -1.0)  # of classifiers and classes
        for row, (_, right) in zip(self._targets, self.number):
            row[np.searchsorted(self._labels, right)] = 1.0
        self._grams = grams
        self._total = s.sum(axis=0)
        self._weight = float(n.sum())
        self._difference = (self._targets @ s).T
        self._balance = self._targets @ n / self._weight

    def solve(self, ridge, signs=None):
        """A `Ridge`, and v (p, m) and b (m,) of its classifiers."""
        made = Ridge(self._grams, self._total, self._weight, ridge)
        if signs is not None and self.count > _FEW * signs.shape[1]:
            made.estimate_leverages(signs)
        return made, *made.solve(self._difference, self._balance)

    def values(self, solution, block, phi, step=1):
        """Decision values (m, n) of every step-th point of a block when each is left out, or all
        of its group."""
        t, w = self._of_points(block, step)
        ridge, v, b = solution
        f = v.T @ phi + b[:, None]
        groups = of_rows(self._group.groups, self._group.rows_of(block))
        return ridge.leave_out(t, f, phi, w, groups)

    def squared_error(self, solution, block, phi, step):
        """(sum of squared errors, sum of weights) of every step-th point that is left out."""
        t, w = self._of_points(block, step)
        left = self.values(solution, block, phi, step) - t
        return float(np.sum(left**2 @ w)), float(len(left) * w.sum())

    def _of_points(self, block, step):
        """Targets (m, n) and weights (n,) of every step-th point of a block."""
        problem = self._group.problem
        rows = self._group.rows_of(block, step)
        column = np.searchsorted(self._labels, problem.y[rows])
        return self._targets[:, column], self._factor[column] * problem.w[rows]


def _joined(blocks, count):
    """Blocks of the parts of so many blocks each, whose products are faster."""
    return [
        tuple(part for block in blocks[start : start + count] for part in block)
        for start in range(0, len(blocks), count)
    ]


def train_shared(jobs, data: Dataset, settings, progress, requested) -> Iterator:
    """Train jobs whose learner shares landmarks; yields `Fitted` in their order by groups.

    The arguments are those of `fit`.
    """
    groups = {}
    for job in jobs:
        groups.setdefault((job.options, job.together), []).append(job)
    for number, members in enumerate(groups.values()):
        report = None
        if progress is not None:
            report = lambda share, before=number: progress(
                round(_STEPS * (before + share)), _STEPS * len(groups)
            )
        group = Group(members, data, settings.kernel_megabytes, requested)
        yield from _Trainer(group, settings, report, requested).fit()


class _Trainer:
    """The training of one group."""

    def __init__(self, group, settings, progress, requested):
        self._group, self._requested = group, requested
        self._work = Work(group, settings, progress)
        self._sums = Sums(group, self._work, settings.kernel_megabytes)
        self._features = _LeftOut(group, settings.kernel_megabytes)
        self._normalised = settings.normalised
        self._ridge = group.options.alpha
        self._signs = None
        if group.dropped and group.options.n_landmarks is not None:  # so many are requested
            warn_user(
                f"{' '.join(group.jobs[0].text.split())}: {group.dropped} of "
                f"{group.options.n_landmarks} landmarks are left out, as they depend on "
                "the others within rounding"
            )

    def fit(self):
        group = self._group
        jobs = {}
        for job in group.jobs:
            jobs.setdefault(factors_of(group.options, job.sides), []).append(job)
        self._work.plan(len(jobs))
        p = len(group.problem.landmarks)
        if len(group.sets) > max(_SEPARATE, _CHEAP / p**3):
            generator = np.random.Generator(
                np.random.PCG64(job_seed(group.seed, group.labels, ("leverages",)))
            )
            self._signs = np.sign(generator.random((p, _DIRECTIONS)) - 0.5)
            if self._ridge is None:
                self._ridge = self._common_ridge()
        for sets, gram_of in self._sums.passes(jobs):
            for _, results in self._work.each(functools.partial(self._solve, gram_of, jobs), sets):
                for fitted, converged in results:
                    if not converged:
                        warn_user(
                            f"'{fitted.job.name}': the fit of its probabilities did not converge"
                        )
                    self._work.check()
                    yield fitted

    def _common_ridge(self):
        """The lambda of all sets: the one with the least error over some of them."""
        sets = sorted(self._group.sets)
        sample = [sets[round(i)] for i in np.linspace(0, len(sets) - 1, _SAMPLED)]
        self._work.plan(_TRIALS * len(sample))
        search = self._search()
        trials = 0
        while search.trial is not None:
            errors = []
            trials += 1
            for now, gram_of in self._sums.passes(sample):
                errors += [
                    error
                    for _, error in self._work.each(
                        lambda one, _: self._error(
                            self._set(one, gram_of), search.trial, map, SEARCHED // _SAMPLED
                        ),
                        now,
                    )
                ]
            search.record(sum(errors))
        self._features.forget()
        self._work.plan((trials - _TRIALS) * len(sample))
        return search.best

    def _search(self):
        group = self._group
        return RidgeSearch(group.problem.landmarks.scale * group.mean_weight, group.least)

    def _set(self, one, gram_of):
        return _Set(self._group, one, gram_of(one), self._sums)

    def _error(self, the_set, ridge, spread, points=SEARCHED):
        try:
            solution = the_set.solve(ridge)
        except DataError:
            return float("inf")
        step = max(1, -(-the_set.count // points))
        blocks = the_set.blocks
        if self._group.groups is not None:  # which are left out as a whole
            step, blocks = 1, blocks[::step]
        elif points < SEARCHED:  # a few of each class make one product
            blocks = _joined(blocks, len(blocks))
        parts = list(
            spread(
                lambda block: the_set.squared_error(
                    solution, block, self._features(block, step), step
                ),
                blocks,
            )
        )
        return sum(error for error, _ in parts) / sum(weight for _, weight in parts)

    def _solve(self, gram_of, jobs, one, spread):
        """[(`Fitted`, the fit of its probabilities converged)] of the jobs of one set."""
        the_set = self._set(one, gram_of)
        ridge = self._ridge
        if ridge is None:
            search = self._search()
            while search.trial is not None:
                search.record(self._error(the_set, search.trial, spread))
            ridge = search.best
            self._features.forget()
        try:
            solution = the_set.solve(ridge, self._signs)
        except AgfmcError as error:
            return [
                (Fitted(job, job.place.error(type(error), f"{job.title}: {error.message}")), True)
                for job in jobs[one]
            ]
        blocks = the_set.blocks
        if self._signs is not None and self._group.groups is None:
            blocks = _joined(blocks, max(1, _JOINED * len(blocks) // the_set.count))
        values = np.concatenate(
            list(
                spread(lambda block: the_set.values(solution, block, self._features(block)), blocks)
            ),
            axis=1,
        )
        rows = np.concatenate(list(map(self._group.rows_of, blocks)))
        order = np.argsort(rows)
        beta = self._group.problem.landmarks.coefficients(solution[1])
        finish = functools.partial(self._finished, ridge, rows[order])
        return list(
            spread(
                lambda job: finish(
                    job,
                    beta[:, the_set.number[job.sides]],
                    solution[2][the_set.number[job.sides]],
                    values[the_set.number[job.sides]][order],
                ),
                jobs[one],
            )
        )

    def _finished(self, ridge, rows, job, beta, intercept, values):
        """(`Fitted`, converged) of one job; values (n,): of the points in `rows`, ascending."""
        group = self._group
        features = group.problem.x.shape[1]
        side = np.isin(group.problem.y[rows], job.sides[1])
        counts = [int(sum(group.counts[label] for label in part)) for part in job.sides]
        # targets of all points: those of a sample would hold back the probabilities
        totals = [sum(group.totals[label] for label in part) for part in reversed(job.sides)]
        w = group.weights and group.weights.w[rows]
        a, b, converged = fit_sigmoid(values, side, totals, w)
        if a > 0:  # where points tell nothing, each is nearer to the other side when it is left out
            a, b, converged = fit_sigmoid(np.zeros_like(values), side, totals, w)
        options = job.options.changed(alpha=ridge, n_landmarks=len(group.rows))
        sums = None, None
        if group.weights is not None:
            sums = group.weights.of_totals(group.totals, job.sides)
        provenance = Provenance(
            __version__,
            options=options.canonical(),
            features=features,
            probabilities="leave-one-out",
            seed=job.seed,
            left_out=len(rows),
            normalised=self._normalised,
        ).with_samples(counts, job.sides, sums, of_rows(group.groups, rows))
        model = BinaryModel(
            job.name,
            job.options.svm_type,
            job.options.kernel_for(features),
            group.problem.landmarks.z,
            np.ascontiguousarray(beta),
            -float(intercept),
            (1, 0),
            (len(group.rows), 0),
            (a, b),
            provenance,
            features,
        )
        fitted = Fitted(job, model, group.rows)
        if self._requested.sides:
            a, b = model.scale
            fitted = fitted._replace(side=side.astype(np.int8), held_out=a * values + b >= 0)
        if self._requested.chosen is not None:
            fitted = fitted._replace(values=values[self._requested.chosen[rows]].astype(np.float32))
        return fitted, converged

"""The search for the best configuration: every family is scored, the promising ones are tuned,
and averages of the best are tried.

An entry is trained once, on all rows or a sample of them, and scored by the answers to its own
training points, each as if it had not been there: by leaving out single samples, by folds, or by
cross-fitting, as the learner holds samples out.  Averages are made of these answers, and cost
nothing: members are chosen one after the other, with replacement (R. Caruana, A. Niculescu-Mizil,
G. Crew and A. Ksikes, "Ensemble selection from libraries of models", ICML 2004).  An average is
taken where it is better by members that other points have chosen.

The clock is kept by what entries are expected to take, which is measured as the search goes.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated

import numpy as np

from ..control.build import joined, with_heading
from ..control.tree import Tree
from ..control.write import format_tree
from ..core.answers import Results
from ..core.errors import AgfmcError, JobsFailed
from ..core.probabilities import REJECTED, standard_error
from ..core.splits import stratified_folds, stratified_sample
from ..data.weights import chosen_rows
from ..decode.costs import cheapest
from ..executors.threads import available_cores
from ..files.result_store import from_record, result_key, to_record
from ..learners.protocol import plan_jobs
from ..score.evaluation import compared_scores
from ..score.rows import ALL_SCORES
from ..training.run import TimeUp
from .experiment import Experiment, Part, PreparedSplit, SplitPlan
from .families import families_for, Family
from .pooling import losses
from .racing import race, Tuner, without_repeated_warnings
from .search import Axis, scale_exponent, SearchSpace
from .trial import Outcome, run_trial
from .tuning import WholeConfiguration

_ROWS = 5000  # that the search uses, at most
_MEMBERS = 5  # of an average, at most, each as often as it is chosen
_KEPT = 20  # entries whose answers are kept for averages
_FEWEST_KEPT = 3  # however many probabilities these are: an average needs some to choose from
_CELLS = 400_000  # probabilities that are kept, about, where that leaves enough entries
_SCALED_CELLS = 400_000  # probabilities that a factor of their logarithms is fitted to, about
_TUNED = 4  # families that are tuned
_RESAMPLES = 200  # of the points, for the error of a score that is no mean
_FOLDS = 5  # of the points, for the estimate of an average
_SCALES = np.exp(np.linspace(np.log(0.2), np.log(4.0), 61))  # of log probabilities
_MARGIN = 1.3  # times the expected seconds of the last training
_LEAST_RESERVED = 0.5  # seconds for it
_GRACE = 2.5  # seconds beyond the limit, or the begin of the search, for a first score
_LARGEST = 0.6  # of the time that is left, which one entry may be expected to take
# The same while others wait to be tuned: an entry that takes more is tried after them. On nursery,
# slowed to half, trees of trees took what tuning needed: log loss .091, and .066 with this.
_LARGEST_FIRST = 1 / 3
_RESERVED = 0.5  # of the time, up to which two more members have their last training reserved
_FIRST_SLICE = 0.25  # of the time that is left, for tuning one family
_NEAR = 1.0  # standard errors: options of a kernel that are scored as entries
# Exponents of 2 of C. Beyond the last one LIBSVM takes long, and the values of samples that are left
# out by the formula are too good (diamonds with C = 65536: log loss .654, and .715 on new rows).
_COSTS = Axis(-1.0, 9.0, 2.0, most=11.0)
_GAIN = 2e-4  # of the loss, by which a round of tuning must be better, or it is the last


@dataclass(eq=False)
class Entry:
    """A family with options, trained and scored.

    Attributes
    ----------
    tree : control tree for all rows
    p : probabilities (n, k), float32, of the points of the search, each held out; None where only
        the score is kept
    scale : factor of the logarithms of p that suits the points
    score : of the answers with that factor
    train_s : core seconds of the training
    clock_s : seconds on the clock of the training, with all that else runs on the machine
    answer_us : core microseconds of the answer to one row by a model of all rows, or None
    """

    family: Family
    options: str
    tree: Tree
    p: np.ndarray | None
    scale: float
    score: float
    train_s: float
    clock_s: float
    answer_us: float | None = None

    @property
    def words(self) -> str:
        """Family and options."""
        return words_of(self.family, self.options)


@dataclass(frozen=True, eq=False)
class _HeldOutAnswers:
    """The answers of a training to points that are held out, p (n, k), its core seconds, and those of
    the answers where they are timed."""

    p: Annotated[np.ndarray, "<f4", 2]
    train_s: float
    classify_s: float | None


@dataclass(frozen=True)
class Choice:
    """The choice of a search.

    Attributes
    ----------
    tree : control tree for the training on all rows
    members : tuple of (Entry, weight), one for a single configuration
    score : of the choice on the points of the search
    expected : seconds on the clock of the training on all rows
    estimate : {score, error, points, options, how}: what to expect of new data
    """

    tree: Tree
    members: tuple
    score: float
    expected: float
    estimate: dict

    @property
    def name(self) -> str:
        """The name in tables and messages."""
        if len(self.members) == 1:
            return self.members[0][0].family.name
        return f"average of {len(self.members)}"


@dataclass(eq=False)
class BestSearch:
    """The search in an `Experiment`.

    Attributes
    ----------
    by : name of the score
    deadline : on the clock of `time.monotonic`, of search and last training
    average : True for an average, False for a single configuration, None for what the scores say
    answer_time : microseconds of a core for the answer to one row, at most, or None
    entries : all that were scored
    left_out : {name of a family: why it has no score, or words of an entry: why it cannot be chosen}
    """

    experiment: Experiment
    by: str
    deadline: float
    average: bool | None = None
    answer_time: float | None = None
    progress: object = None
    entries: list = field(default_factory=list)
    left_out: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)

    def __post_init__(self):
        experiment = self.experiment
        rows = stratified_sample(
            experiment.data.y, _ROWS, experiment.plan.seed, groups=experiment.data.groups
        )
        data = experiment.data
        if len(rows) < len(data.y):
            data = chosen_rows(data, rows)
        self._sample = replace(
            experiment,
            data=data,
            plan=SplitPlan(seed=experiment.plan.seed, left_out=True),
            calibrated=(False,),
            timed=self.answer_time is not None,
            # the formula that leaves out single samples flatters large C: it is good enough for a
            # race among options of one kernel, and not for the choice among families
            settings=replace(experiment.settings, platt="cv"),
        )
        self._split: PreparedSplit | None = None
        workers = experiment.settings.workers
        self._cores = workers if isinstance(workers, int) and workers else available_cores()
        self._start = time.monotonic()
        self._speed = 1.0  # seconds on the clock by those that are expected
        self._scale_s = 0.0  # seconds of `best_scale`
        self._prepare_s = 0.0  # seconds of the normalisation
        self._growth = len(experiment.data.y) / len(data.y)

    # -- the rounds --------------------------------------------------------------------------------

    def run(self, learners=None, kernels=None) -> Choice:
        """Score, tune and average; -> the `Choice`.

        Raises
        ------
        JobsFailed : where the limits were not enough for any family
        DataError : where a class has too few samples
        """
        data = self._sample.data
        has_nan = bool(np.isnan(data.x).any())
        given = len(data.counts), len(self.experiment.data.y), learners, kernels
        families = families_for(*given, has_nan)
        if has_nan:
            for family in families_for(*given):
                if family not in families:
                    self.left_out[family.name] = "takes no missing values"
        begin = time.monotonic()
        self._split = self._sample.prepared(Part(0))
        self._prepare_s = self._growth * (time.monotonic() - begin)
        with without_repeated_warnings(), warnings.catch_warnings():
            self._start = time.monotonic()
            later = self._score_families(families, _LARGEST_FIRST)
            if not self.entries:
                raise JobsFailed(
                    "the limits are too narrow for any configuration of these data: "
                    + "; ".join(f"{name}: {why}" for name, why in self.left_out.items())
                )
            self._tune_families()
            scored = len(self.entries)
            self._score_families(later, _LARGEST)
            if len(self.entries) > scored:
                self._tune_families()
        return self._choose()

    def _score_families(self, families, largest):
        """Score every family with its first options, the cheapest first, as far as time allows.

        Parameters
        ----------
        families : list of Family
        largest : part of the time that is left, which one family may be expected to take once
            another one has a score

        Returns
        -------
        list of Family : those that were not tried
        """
        failure = None
        not_tried = []
        for family in sorted(families, key=self._expected_seconds):
            seconds = self._speed * self._expected_seconds(family)
            last = seconds * self._growth_of(family)
            left = self.deadline - time.monotonic()
            # what could not be trained on all rows afterwards would be scored for nothing
            is_useless = self.entries and seconds + _MARGIN * last > left
            part = largest if self.entries else _LARGEST
            if is_useless or seconds > part * self._remaining():
                text = f"about {max(seconds, 1):.0f} s"
                if last > seconds:
                    text += f", and {max(last, 1):.0f} s for all rows"
                self.left_out[family.name] = f"not tried ({text})"
                not_tried.append(family)
                continue
            try:
                # without a score there is no model: the first one is not interrupted
                until = self._end() if self.entries else math.inf
                self._score(family, family.first_options, until)
                self.left_out.pop(family.name, None)
            except AgfmcError as error:
                failure = error
                self.left_out[family.name] = str(error)
            except TimeUp:
                self.left_out[family.name] = "the time limit ended its training"
        if failure is not None and not self.entries:
            raise failure
        return not_tried

    def _tune_families(self):
        """Tune the most promising families in turns, as long as that makes anything better."""
        refine = 1
        before = self._best_score()
        while self._remaining() > 0:
            families = self._ranked_families()[:_TUNED]
            is_finished = True
            for place, family in enumerate(families):
                left = self._remaining()
                if left <= 0:
                    return
                seconds = left * max(_FIRST_SLICE, 1 / (len(families) - place + 1))
                if self._tune(family, refine, time.monotonic() + seconds):
                    is_finished = False
            score = self._best_score()
            sign = ALL_SCORES[self.by].sign
            if is_finished or refine > 1 and sign * (score - before) < _GAIN:
                return
            before = score
            refine += 1

    def _tune(self, family, refine, until):
        """Try more options of a family until then; -> whether more could be tried afterwards."""
        if not family.kernel:
            for words in family.others:
                options = family.options_of(words)
                if self._is_known(family, options):
                    continue
                first = self._best_of(family)
                if first.clock_s > until - time.monotonic():
                    return True
                try:
                    self._score(family, options, until)
                except AgfmcError as error:
                    self.left_out[words_of(family, options)] = str(error)
                except TimeUp:
                    return True
            return False
        try:
            texts = self._race(family, refine, until)
        except (AgfmcError, TimeUp):
            return False
        for text in texts:
            if not self._is_known(family, text):
                try:
                    self._score(family, text, self._end())
                except (AgfmcError, TimeUp):
                    return False
        return True

    def _is_known(self, family, options):
        """True if the options, maybe in other words, have a score, or are left out."""
        tried = [entry.options for entry in self.entries if entry.family is family]
        learners = map(family.learner_of, tried)
        return family.learner_of(options) in learners or words_of(family, options) in self.left_out

    def _race(self, family, refine, until):
        """The best options of a kernel that a race finds until then, two at most."""
        settings = replace(
            self._sample.settings,
            options=family.first_options,
            platt=self.experiment.settings.platt,
        )
        experiment = replace(self._sample, settings=settings, along_cost=True)
        candidate = family.open_candidate(experiment)
        whole = WholeConfiguration(candidate, candidate.tree, experiment)
        tuner = Tuner(experiment, self.by, until, self.progress)
        space = SearchSpace((family.kernel,))
        if family.learner == "svm":
            space = space._replace(log2c=_COSTS)
        space = space.for_options(whole.searched)
        x = self._split.data.x
        grids = space.grids(scale_exponent(x), {family.kernel: scale_exponent(x, family.kernel)})
        return race(tuner, whole, grids, refine, [Part(0)]).near(self.by, _NEAR, 2)

    # -- entries -----------------------------------------------------------------------------------

    def _score(self, family, options, until):
        """Train a family with options, and add its `Entry`.  Raises its error, and `TimeUp`."""
        candidate = family.candidate(self._sample, options)
        clock = time.monotonic()
        answers = self._answers(family, candidate, until)
        # of an earlier run the results are there at once
        clock_s = max(answers.train_s / self._cores, time.monotonic() - clock)
        p = answers.p
        begin = time.monotonic()
        scale, score = self.best_scale(p)
        self._scale_s = time.monotonic() - begin
        entry = Entry(family, options, candidate.tree, p, scale, score, answers.train_s, clock_s)
        if self.answer_time is not None:
            entry.answer_us = 1e6 * answers.classify_s / len(p)
            if family.stores_points:
                entry.answer_us *= self._growth
        if self._answers_in_time([entry]):
            self.entries.append(entry)
        else:
            title = ALL_SCORES[self.by].title
            self.left_out[entry.words] = (
                f"{title} {entry.score:.4f}, but the answer to a row takes {entry.answer_us:.0f} "
                f"microseconds, more than {self.answer_time:g}"
            )
        expected = self._expected_seconds(family)
        if family.first_options == options and expected > 0.05:
            self._speed = (self._speed * clock_s / expected) ** 0.5
        self._forget()

    def _answers(self, family, candidate, until):
        """The `_HeldOutAnswers` of a candidate, which the cache may have."""
        cache = self._sample.cache
        settings = self._sample.settings
        jobs = plan_jobs(candidate.tree, "m", "", settings.seed)
        key = result_key(
            "entry 1",
            self._split.test_digest,
            format_tree(candidate.tree),
            [job.options.identity(job) for job in jobs],
            settings.platt,
            settings.seed,
            self._sample.calibration,
            self._sample.timed,
        )
        shape = len(self._truth), len(self._labels)

        def checked(answers):
            return answers if answers.p.shape == shape else None

        answers = from_record(_HeldOutAnswers, cache.get(key), checked)
        if answers is None:
            answers = self._train(family, candidate, until)
            cache.put(key, to_record(answers))
        return answers

    def _train(self, family, candidate, until):
        start = time.process_time()
        begin = time.monotonic()

        def follow(done, total, *words):
            if self.progress is not None:
                self.progress(done, max(total, 1), family.name)
            end = time.monotonic()
            if done and not family.scheme:  # fits of equal length, none of which can be interrupted
                end = begin + (end - begin) * total / done
            if end > until:
                raise TimeUp

        (outcome,) = run_trial(
            self._split, [candidate], self._sample, first=True, keep=True, progress=follow
        )
        if outcome.error is not None:
            raise outcome.error
        results = outcome.results
        if results.p is None:
            raise JobsFailed(f"{family.name} gives no probabilities")
        seconds = max(outcome.train_s, time.process_time() - start)
        return _HeldOutAnswers(results.p.astype(np.float32), seconds, outcome.classify_s)

    def _forget(self):
        """Keep the answers of the best entries alone."""
        for entry in self._ranked()[self._kept :]:
            entry.p = None

    @property
    def _kept(self):
        """The number of entries whose answers are kept: the choice takes time for each number."""
        cells = len(self._truth) * len(self._labels)
        return min(_KEPT, max(_FEWEST_KEPT, _CELLS // cells))

    def _ranked(self):
        sign = ALL_SCORES[self.by].sign
        return sorted(self.entries, key=lambda one: -sign * one.score)

    def _ranked_families(self):
        return list(dict.fromkeys(one.family for one in self._ranked()))

    def _best_of(self, family):
        return next(one for one in self._ranked() if one.family is family)

    def _best_score(self):
        return self._ranked()[0].score

    # -- scores ------------------------------------------------------------------------------------

    @property
    def _truth(self):
        return self._split.test.y

    def best_scale(self, p: np.ndarray, rows=slice(None)) -> tuple[float, float]:
        """The factor of the logarithms of p (n, k) with the least log loss, and the score with it."""
        truth = np.searchsorted(self._labels, self._truth[rows])
        log_p = np.log(np.clip(p[rows], 1e-12, 1.0), dtype=np.float64)
        w = self._weights(rows)
        own = log_p[np.arange(len(truth)), truth]

        def loss(scale, step=1):
            scaled = scale * log_p[::step]
            highest = scaled.max(axis=1)
            whole = highest + np.log(np.exp(scaled - highest[:, None]).sum(axis=1))
            return float(w[::step] @ (whole - scale * own[::step]) / w[::step].sum())

        # one number needs few points: with a thousand classes the choice would take a minute
        scale = _least(partial(loss, step=math.ceil(log_p.size / _SCALED_CELLS)))
        if self.by == "log_loss":
            return scale, loss(scale)
        return scale, self.score_of(tempered(p[rows], scale), rows)

    def score_of(self, p: np.ndarray, rows=slice(None)) -> float:
        """The score of answers with probabilities p (n, k) to some of the points."""
        results = self.results_of(p, rows)
        return compared_scores(results)[self.by]

    def results_of(self, p: np.ndarray, rows=slice(None)) -> Results:
        """The `Results` of probabilities p (n, k) of some of the points."""
        labels = self._labels
        costs = self.experiment.costs
        if costs is None:
            answer = labels[p.argmax(axis=1)]
            winner = p.max(axis=1)
        else:
            column = cheapest(p, costs)[0]
            answer = np.where(column < len(labels), labels[column % len(labels)], REJECTED)
            winner = p[np.arange(len(p)), column % len(labels)]
        test = self._split.test
        weights = self._split.test_weights
        return Results(
            self._truth[rows],
            answer,
            labels,
            len(labels),
            winner,
            p,
            costs=costs,
            weights=None if weights is None else weights[rows],
            groups=None if test.groups is None else test.groups[rows],
        )

    def scores_alone(self) -> dict:
        """The scores of answers that know the shares of the classes and nothing else."""
        truth = np.searchsorted(self._labels, self._truth)
        totals = np.bincount(truth, self._weights())
        return compared_scores(self.results_of(np.tile(totals / totals.sum(), (len(truth), 1))))

    @property
    def _labels(self):
        return np.unique(self._sample.data.y)

    def _weights(self, rows=slice(None)):
        weights = self._split.test_weights
        if weights is None:
            weights = np.ones(len(self._truth))
        return weights[rows]

    # -- the choice --------------------------------------------------------------------------------

    def _choose(self):
        entries = [one for one in self._ranked() if one.p is not None and self._fits([one])]
        if not entries:
            possible = [one for one in self.entries if one.p is not None]
            entries = [min(possible, key=lambda one: self.expected([one]))]
        alone = [(entries[0], 1)]
        score = entries[0].score
        averaged, single = self._judged(entries)
        sign = ALL_SCORES[self.by].sign
        members = alone
        if self.average is not False:
            counts, best = self.select(entries)
            several = [(entry, count) for entry, count in zip(entries, counts) if count]
            is_better = sign * (self.score_of(averaged) - self.score_of(single)) > 0
            if (
                len(several) > 1
                and (self.average or is_better)
                and self._fits([entry for entry, _ in several])
            ):
                members = several
                score = best
        if self.average and members is alone:
            self.notes.append("no average could be made: the best configuration is trained alone")
        judged = single if members is alone else averaged
        total = sum(count for _, count in members)
        return Choice(
            self._tree_of(members),
            tuple((entry, count / total) for entry, count in members),
            score,
            self.expected([entry for entry, _ in members]),
            self._estimate(judged, len(entries)),
        )

    def _estimate(self, p, options):
        """The estimate for new data, of answers p (n, k) by choices that other points have made."""
        outcome = Outcome.of(self.results_of(p))
        values = losses(self.by, [outcome])
        if values is None:
            error = self._bootstrap_error(p)
        else:
            error = standard_error(values, self._split.test_weights, self._split.test.groups)
        words = "training points, each answered as if it had not been there"
        if self._split.test.groups is not None:
            words += ", with its group"
        if options > 1:
            words += f", by the best of {options} on other points"
        return {
            "score": self.score_of(p),
            "error": float(error),
            "points": len(p),
            "options": options,
            "how": words,
        }

    def _bootstrap_error(self, p):
        generator = np.random.default_rng(self.experiment.plan.seed)
        rows = np.arange(len(p))
        values = [
            self.score_of(p[drawn], drawn)
            for drawn in (generator.choice(rows, len(rows)) for _ in range(_RESAMPLES))
        ]
        return np.std(values, ddof=1)

    def select(self, entries: Sequence[Entry], rows=slice(None)) -> tuple[list[int], float]:
        """The number of times that each entry is a member of the best average, and its score."""
        sign = ALL_SCORES[self.by].sign
        counts = [0] * len(entries)
        total = 0.0
        best = None
        for number in range(1, _MEMBERS + 1):
            members = [entry for entry, count in zip(entries, counts) if count]
            scores = [
                self.best_scale((total + entry.p.astype(np.float64)) / number, rows)[1]
                if entry in members or self._answers_in_time([*members, entry])
                else -sign * np.inf
                for entry in entries
            ]
            chosen = int(np.argmax(sign * np.array(scores)))
            if best is not None and sign * (scores[chosen] - best[1]) <= 0:
                break
            counts[chosen] += 1
            total = total + entries[chosen].p.astype(np.float64)
            best = list(counts), scores[chosen]
        return best

    def _judged(self, entries):
        """Answers (n, k) of the best average and of the best single entry, where each point is
        answered by a choice that the other parts of the points have made."""
        test = self._split.test
        fold = stratified_folds(self._truth, self.experiment.plan.seed, _FOLDS, test.groups)
        averaged = np.empty(entries[0].p.shape)
        single = np.empty_like(averaged)
        sign = ALL_SCORES[self.by].sign
        for number in range(int(fold.max()) + 1):
            others = np.flatnonzero(fold != number)
            out = np.flatnonzero(fold == number)
            if self.average is not False:
                counts, _ = self.select(entries, others)
                parts = [count * entry.p for count, entry in zip(counts, entries) if count]
                p = sum(parts) / sum(counts)
                averaged[out] = tempered(p[out], self.best_scale(p, others)[0])
            scores = [self.best_scale(entry.p, others) for entry in entries]
            best = max(range(len(entries)), key=lambda at: sign * scores[at][1])
            single[out] = tempered(entries[best].p[out], scores[best][0])
        return averaged, single

    def _tree_of(self, members):
        tree = joined([entry.tree for entry, _ in members])
        counts = [count for _, count in members]
        if len(set(counts)) > 1:
            weights = np.repeat(
                np.array(counts) / sum(counts),
                [len(entry.tree.members) if entry.tree.is_ensemble else 1 for entry, _ in members],
            )
            own = np.concatenate(
                [entry.tree.weights if entry.tree.is_ensemble else [1.0] for entry, _ in members]
            )
            tree = with_heading(tree, "weights", " ".join(map(repr, (weights * own).tolist())))
        return tree

    # -- time --------------------------------------------------------------------------------------

    def _expected_seconds(self, family):
        data = self._sample.data
        return family.seconds(len(data.y), data.x.shape[1], len(data.counts))

    def _growth_of(self, family):
        """The time of a training on all rows by that of one on the rows of the search."""
        x = self._sample.data.x
        rows = len(self.experiment.data.y)
        whole = family.seconds(rows, x.shape[1], len(self._sample.data.counts))
        return whole / self._expected_seconds(family)

    def expected(self, entries: Sequence[Entry]) -> float:
        """About how many seconds on the clock the training of these on all rows takes."""
        return sum(entry.clock_s * self._growth_of(entry.family) for entry in entries)

    def _fits(self, entries):
        """True if there is time for the training of these on all rows."""
        left = self.deadline - time.monotonic()
        return self.expected(entries) < max(left, _LEAST_RESERVED)

    def _answers_in_time(self, entries):
        """True if all of these together answer a row within the limit."""
        return self.answer_time is None or (
            sum(entry.answer_us for entry in entries) <= self.answer_time
        )

    def _end(self):
        """The end of the search: the last training needs the rest."""
        if not self.entries:
            return max(self.deadline, self._start) + _GRACE
        # in each of the folds, and for all, every entry is scaled with every number of members
        entries = min(len(self.entries), self._kept)
        choice = (_FOLDS + 1) * (_MEMBERS + 1) * entries * self._scale_s
        reserved = self._reserved() + choice + 2 * self._prepare_s
        return self.deadline - max(_LEAST_RESERVED, reserved)

    def _reserved(self):
        """Seconds for the last training: of the best that can be trained on all rows, and of two
        more where the time is long enough for several."""
        time_s = self.deadline - self._start
        each = [_MARGIN * self.expected([entry]) for entry in self._ranked()]
        first = next((seconds for seconds in each if seconds < time_s), min(each))
        total = first
        count = 1
        for seconds in each[each.index(first) + 1 :]:
            if count < 3 and total + seconds < _RESERVED * time_s:
                total += seconds
                count += 1
        return total

    def _remaining(self):
        return self._end() - time.monotonic()

    def result(self, choice: Choice) -> dict:
        """Plain values on all that was tried, and on the choice."""
        data = self._sample.data
        return {
            "by": self.by,
            "points": len(self._truth),
            "classes": len(data.counts),
            "rows": len(self.experiment.data.y),
            "entries": [
                {
                    "configuration": entry.family.name,
                    "options": entry.options,
                    "score": entry.score,
                    "train_s": entry.train_s,
                }
                for entry in self._ranked()
            ],
            "left_out": dict(self.left_out),
            "choice": {
                "configuration": choice.name,
                "score": choice.score,
                "members": [
                    {
                        "configuration": entry.family.name,
                        "options": entry.options,
                        "weight": weight,
                        "score": entry.score,
                    }
                    for entry, weight in choice.members
                ],
            },
            "estimate": choice.estimate,
            "alone": self.scores_alone(),
            "notes": self.notes,
        }


def words_of(family: Family, options: str) -> str:
    """A family and its options in messages."""
    return f"{family.name} {options}".rstrip()


def tempered(p: np.ndarray, scale: float) -> np.ndarray:
    """Probabilities (n, k) that are proportional to powers of p."""
    scaled = scale * np.log(np.clip(p, 1e-12, 1.0), dtype=np.float64)
    scaled -= scaled.max(axis=1, keepdims=True)
    np.exp(scaled, out=scaled)
    return scaled / scaled.sum(axis=1, keepdims=True)


def _least(function):
    """The place of the minimum among `_SCALES`, by golden section between its neighbours."""
    low, high = 0, len(_SCALES) - 1
    known = {}

    def value(place):
        if place not in known:
            known[place] = function(_SCALES[place])
        return known[place]

    while high - low > 2:
        third = (high - low) // 3
        left, right = low + third, high - third
        if value(left) < value(right):
            high = right
        else:
            low = left
    return float(_SCALES[min(range(low, high + 1), key=value)])

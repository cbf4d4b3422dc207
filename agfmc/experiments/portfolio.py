"""A portfolio: contenders with several learners, tuned, judged by the same points, and averaged.

Each stage searches options for its contenders on a sample of the data, and judges what was found
on splits that took no part in the search, as far as there are enough points.  The best few go on
to the next stage: more rows, then finer steps.  An average of the best of different kinds is chosen
in place of the single best where it is better by more than one standard error.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..control.build import joined, with_options
from ..control.tree import Tree
from ..control.write import format_tree
from ..core.errors import AgfmcError, AgfmcNotice, JobsFailed, UsageError, warn_user
from ..core.probabilities import mean, standard_error
from ..core.splits import stratified_sample
from ..data.weights import chosen_rows
from ..learners.protocol import parse_options
from ..score.rows import ALL_SCORES
from ..training.run import TimeUp
from .candidates import Candidate, decoders_for, scheme_candidate
from .comparison import table_of
from .experiment import Experiment, Part
from .pooling import (
    corrected,
    gain_over,
    joined as joined_outcomes,
    joined_forecasts,
    losses,
    pooled,
)
from .racing import COMPARED, first_parts, gap_of, HOPELESS, race, Tuner
from .search import Axis, SearchSpace
from .trial import run_trial
from .tuning import prepare_tuning, WholeConfiguration

LARGE = 20_000  # rows; of more, time and memory of support vector machines are too large
_SAMPLES = 500, 1500, 5000, 12_500  # rows of the stages, where there are more
_FINER = 2, 3  # how often steps are halved in the stages after these
_SCREENS = 2  # parts that search, and as many that judge, on the smallest sample
_SURVIVORS = 3  # contenders of the stages after the first
_BEHIND = 3.0  # standard errors of the difference to the best: others are judged no further
_LEAST_GAIN = 5e-5  # of an average, which else is one of its members by another name
_SEARCHING = 0.6  # of the time of a stage with several contenders
_ENDS = 0.25, 0.6, 0.75  # of the limit: of the first, the second and later stages, at the latest
# Seconds, at least, of a binary classifier that shares no work with others, and of each of its rows;
# and the share of the limit, or the seconds, that one training of all may take: a search has many.
_EACH, _EACH_ROW = 2.5e-3, 2e-5
_ONCE, _SHORT = 0.2, 1.0
_MARGIN = 1.3  # times the expected seconds of the last training


class Contender(NamedTuple):
    """A configuration to be tried: its learner, a scheme, and the options that it begins with."""

    learner: str
    scheme: str
    options: str

    @property
    def kernel(self) -> str | None:
        """The kernel, None for trees."""
        if self.learner == "trees":
            return None
        return self.options.split()[-1]

    @property
    def name(self) -> str:
        """The name in tables."""
        return f"{self.scheme} {self.options.replace('-t ', '').removeprefix('learner=')}"


CONTENDERS = (
    Contender("svm", "one-vs-one", "-t rbf"),
    Contender("svm", "one-vs-one", "-t laplacian"),
    Contender("nystrom", "one-vs-rest", "learner=nystrom -t rbf"),
    Contender("nystrom", "one-vs-rest", "learner=nystrom -t laplacian"),
    Contender("trees", "one-vs-one", "learner=trees"),
    Contender("svm", "adjacent", "-t rbf"),
    Contender("svm", "one-vs-rest", "-t rbf"),
    Contender("svm", "one-vs-rest", "-t laplacian"),
    Contender("trees", "one-vs-rest", "learner=trees"),
    Contender("trees", "ensemble", "learner=trees"),
)
LEARNERS = tuple(dict.fromkeys(contender.learner for contender in CONTENDERS))
KERNELS = tuple(dict.fromkeys(filter(None, (contender.kernel for contender in CONTENDERS))))


def check_names(learners: Sequence[str] | None, kernels: Sequence[str] | None) -> None:
    """`UsageError` for a name that is not among the `LEARNERS` or `KERNELS`."""
    for what, words, known in (("learners", learners, LEARNERS), ("kernels", kernels, KERNELS)):
        for word in words or ():
            if word not in known:
                raise UsageError(f"`{what}`: expected some of {', '.join(known)}, found '{word}'")


def contenders_for(
    classes: int,
    rows: int,
    learners: Sequence[str] | None = None,
    kernels: Sequence[str] = KERNELS,
    has_nan: bool = False,
) -> list[Contender]:
    """The `CONTENDERS` for so many classes and rows.

    learners: the only ones, of `LEARNERS`; by default nystrom, support vector machines where there
    are not too many rows for them, and trees where LightGBM is installed;  kernels: the only ones
    of learners with kernels;  has_nan: learners that take missing values alone.  `UsageError` for
    other names, and where none is left.
    """
    check_names(learners, kernels)
    if learners is None:
        if rows > LARGE:
            learners = ["nystrom"]
        else:
            learners = ["svm", "nystrom"]
        try:
            parse_options("learner=trees").made_by()
            learners.append("trees")
        except UsageError:
            warn_user(
                "boosted trees are not tried, because LightGBM is not installed "
                "(pip install 'agfmc[trees]')",
                AgfmcNotice,
            )
    suited = [
        one
        for one in CONTENDERS
        if one.learner in learners
        and one.kernel in (None, *kernels)
        and (not has_nan or parse_options(one.options).allows_nan)
    ]
    if not suited:
        raise UsageError(
            'no contender suits these data: `missing="keep"` is for trees, which need '
            "LightGBM (pip install 'agfmc[trees]')"
            if has_nan
            else f'`learners="{",".join(learners)}"`: nothing suits these data'
        )
    if classes < 3:  # there is one partition alone
        return list({one[::2]: one for one in reversed(suited)}.values())[::-1]
    return [one for one in suited if classes > 3 or one.scheme != "adjacent"]


def _least_seconds(contender, classes, rows):
    """The seconds, at least, of a training of a contender; 0 where classifiers share the work."""
    if contender.learner == "nystrom":
        return 0.0
    pairs = classes * (classes - 1) / 2
    if contender.scheme == "one-vs-one":
        classifiers = pairs
    else:
        classifiers = classes
    # one-vs-one trains with each row k - 1 times, one-vs-rest k times
    return _EACH * classifiers + _EACH_ROW * classes * rows


@dataclass(eq=False)
class Entry:
    """A contender in a stage, or the average of several.

    candidate: with its tuned control tree;  scored: its `Outcome`s on the splits;  members: the
    entries of an average;  options: the `Outcome`s of the best options on the splits of the search;
    spent: seconds on the clock for the search and the trials;  behind: standard errors of the
    difference to the best where it was so far behind that it was judged no further, else 0.
    """

    contender: Contender | None
    candidate: Candidate
    scored: list = field(default_factory=list)
    members: tuple = ()
    options: list = field(default_factory=list)
    spent: float = 0.0
    behind: float = 0.0

    @property
    def seconds(self) -> float:
        """Core seconds of one training."""
        return float(np.mean([outcome.train_s for outcome in self.scored]))

    def measured(self, by: str) -> dict:
        """The score, and what training and answers take, as far as there is a trial."""
        if not self.scored:
            return dict.fromkeys(("score", "train_s", "classify_us", "kernel_values"))
        points = sum(len(outcome.results.truth) for outcome in self.scored)
        values = [outcome.kernel_values for outcome in self.scored]
        if None in values:
            kernel_values = None
        else:
            kernel_values = float(np.mean(values))
        return {
            "score": pooled(by, self.scored),
            "train_s": self.seconds,
            "classify_us": 1e6 * sum(outcome.classify_s for outcome in self.scored) / points,
            "kernel_values": kernel_values,
        }

    @property
    def kind(self) -> tuple:
        """Learner and kernel: an average has one member of each kind."""
        return self.contender.learner, self.contender.options


class Chosen(NamedTuple):
    """The choice of a portfolio: what is to be trained, and the account of the search.

    tree: for training on all rows;  member_weights: "held-out" for an average of contenders, whose
    weights are learned, else None: members of one contender differ by chance alone;  seconds:
    expected for the training on all rows, or None;  result: plain values, those of `table_of` where
    anything was scored, and `contenders`, what became of each in each stage; `choice`, the one that
    is trained; `estimate`, for new data, as `report.trials.estimate_words` takes it; the last two are
    None where nothing was scored in time; `members` of the averages; `curve`, the log losses of the
    best contender of each stage, as a `learning_curve` has them; `notes`, sentences on what the
    time limit has left as it was.
    """

    tree: Tree
    member_weights: str | None
    seconds: float | None
    result: dict


@dataclass(eq=False)
class Portfolio:
    """The search of a portfolio in an `Experiment` with one division into parts.

    by: name of the score;  start, limit: on the clock of `time.monotonic`, and seconds;
    tried: plain values on each contender of each stage, what it took, and what became of it;
    cores: for the last training;  ensemble: True for an average, False for a single contender,
    None for what the scores say;  best: {contender: its best options so far};  seconds: {contender:
    core seconds of a training, for each row};  curve: {training samples: log loss of the best
    contender of their last stage, as a `learning_curve` has it};  cut: {contender: what its options
    are, as the time limit ended the search for them}.
    """

    experiment: Experiment
    by: str
    start: float
    limit: float
    cores: int = 1
    ensemble: bool | None = None
    progress: object = None

    best: dict = field(default_factory=dict)
    tried: list = field(default_factory=list)
    seconds: dict = field(default_factory=dict)
    curve: dict = field(default_factory=dict)
    cut: dict = field(default_factory=dict)

    def search(self, learners=None, kernels=None) -> Chosen:
        """`run` the `contenders_for` the data of the experiment; `DataError` for small classes."""
        data = self.experiment.data
        self.experiment.check_splits()
        has_nan = data.recipe is not None and data.recipe.keeps_missing
        return self.run(
            contenders_for(
                len(data.counts),
                len(data.y),
                learners,
                kernels or KERNELS,
                has_nan or bool(np.isnan(data.x).any()),
            )
        )

    def run(self, contenders: Sequence[Contender]) -> Chosen:
        """Try, tune and judge contenders in stages; -> what is to be trained.

        Raises the error of the first contender where none can be trained.
        """
        rows, contenders = len(self.experiment.data.y), self.fitting(contenders)
        sizes = [size for size in _SAMPLES if size < rows]
        sizes += [rows] * (rows <= _SAMPLES[-1])
        stages = [(size, 1) for size in sizes] + [(sizes[-1], finer) for finer in _FINER]
        last = entries = None
        controls = set()
        for number, (size, refine) in enumerate(stages):
            share = _ENDS[min(number + (len(stages) == 1 + len(_FINER)), len(_ENDS) - 1)]
            if len(contenders) == 1 and number:
                share = _ENDS[-1]
            if number and self._left(_ENDS[-1]) <= 0:
                break
            stage = _Stage(
                self, size, refine, self.start + share * self.limit, size < sizes[-1] and not number
            )
            tuned = stage.entries(contenders)
            if not tuned:
                self._record(stage, [], [])
                break
            last, entries = stage, tuned
            before = controls
            controls = {format_tree(entry.candidate.tree) for entry in entries}
            if refine > 1 and controls <= before:
                break
            contenders = [one.contender for one in _best_of_kinds(entries)]
            self._record(stage, entries, contenders)
        if last is None:
            return self._untried(contenders[0])
        return self._choose(last, entries)

    def fitting(self, contenders: Sequence[Contender]) -> list[Contender]:
        """The contenders that the limit leaves time for, or else the cheapest ones.

        Of many classes, nothing would be known of one-vs-one when the time is over. A notice names
        those that are left out.
        """
        data = self.experiment.data
        rows = min(len(data.y), _SAMPLES[0])
        seconds = {one: _least_seconds(one, len(data.counts), rows) for one in contenders}
        limit = max(_ONCE * self.limit, _SHORT, min(seconds.values()))
        left_out = [one.name for one in contenders if seconds[one] > limit]
        if left_out:
            warn_user(
                f"{len(data.counts)} classes are too many to try these within the time limit: "
                f"{', '.join(left_out)}",
                AgfmcNotice,
            )
        return [one for one in contenders if seconds[one] <= limit]

    def _record(self, stage, entries, survivors):
        """Add to `tried` what became of the contenders of a stage; entries: those with all scores,
        the best first."""
        lost = None
        if entries and entries[0].scored:
            scored = entries[0].scored
            lost = losses("log_loss", scored)
        if lost is not None:
            w = joined_outcomes(scored, "weights")
            samples = round(stage.training_rows)
            self.curve[samples] = {
                "samples": samples,
                "score": mean(lost, w),
                "error": standard_error(lost, w, joined_outcomes(scored, "groups")),
            }
        for entry in stage.all:
            outcome = "no score within the time limit"
            if entry in entries:
                outcome = "dropped"
                if entry.contender in survivors:
                    outcome = "kept"
                if entry.contender in self.cut:
                    outcome += ", search unfinished"
            elif entry.behind:
                outcome = f"{entry.behind:.1f} standard errors behind the best"
            self.tried.append(
                {
                    "configuration": entry.candidate.name,
                    "rows": stage.rows_used,
                    "seconds": entry.spent,
                    **entry.measured(self.by),
                    "outcome": outcome,
                }
            )

    def _left(self, share):
        return self.start + share * self.limit - time.monotonic()

    def expected(self, entry: Entry, stage) -> float:
        """About the seconds for training an entry on all rows, of those on a training part."""
        factor = len(self.experiment.data.y) / stage.training_rows
        return (
            sum(
                one.seconds * factor ** (2 if one.contender.learner == "svm" else 1)
                for one in entry.members or [entry]
            )
            / self.cores
        )

    def _in_time(self, entries, stage):
        """The entries whose training can be expected to end in time; the fastest, if none can."""
        left = self._left(1.0)
        return [one for one in entries if _MARGIN * self.expected(one, stage) < left] or [
            min(entries, key=lambda one: self.expected(one, stage))
        ]

    def _untried(self, contender):
        (candidate,) = _candidates(self.experiment, [contender])
        return Chosen(
            with_options(candidate.tree, contender.options),
            None,
            None,
            {
                "contenders": self.tried,
                "estimate": None,
                "choice": None,
                "curve": list(self.curve.values()),
                "notes": [
                    f"the time limit ended the search: the configuration is {contender.name} with "
                    "default options, as there was no time to compare it"
                ],
            },
        )

    def _choose(self, stage, entries):
        """The `Chosen` of the entries of the last stage, the best first."""
        singles = [one for one in entries if len(one.scored) == stage.done]
        possible = self._in_time(singles, stage)
        first = possible[0]
        averages = []
        if self.ensemble is not False:
            averages = self._in_time([first, *stage.averages(possible)], stage)
            averages = [one for one in averages if one.members]
        judged = [first, *(one for one in singles if one is not first), *averages]
        chosen = first
        gain = error = None
        top = stage.best([first, *averages])
        if self.ensemble and averages:
            chosen = top = stage.best(averages)
        elif top is not first:
            gain, error = gain_over(self.by, top.scored, first.scored, stage.judge.plan)
            if gain > max(error, _LEAST_GAIN):
                chosen = top
            else:
                chosen = first
        if self.ensemble and not averages:
            warn_user(
                "no average of several contenders could be scored in time: the single best "
                "one is taken"
            )
        estimate = stage.estimate(chosen, judged)
        result = table_of(
            stage.judge,
            [(one.candidate.name, one.scored[0].decoder) for one in judged],
            [one.scored for one in judged],
            self.by,
            first.candidate.name,
        )
        row, best = (
            next(row for row in result["rows"] if row["configuration"] == one.candidate.name)
            for one in (chosen, top)
        )
        result |= {
            "contenders": self.tried,
            "estimate": estimate,
            "choice": {
                "configuration": row["configuration"],
                "decoder": row["decoder"],
                "top": {name: best[name] for name in ("configuration", "decoder")},
                "gain": gain,
                "error": error,
            },
            "members": {
                one.candidate.name: [member.candidate.name for member in one.members]
                for one in averages
            },
            "curve": list(self.curve.values()),
            "notes": [
                f"the time limit ended the search: the options of {one.candidate.name} are "
                f"{self.cut[one.contender]}; give two or three times as long (`time_limit`)"
                for one in chosen.members or [chosen]
                if one.contender in self.cut
            ],
        }
        return Chosen(
            chosen.candidate.tree,
            "held-out" if chosen.members else None,
            self.expected(chosen, stage),
            result,
        )


class _Stage:
    """One stage: a sample of so many rows, how often steps are halved, and the time of its end.

    screens: another stage follows, on more rows, and this one needs to be no more than fair.
    """

    def __init__(self, portfolio, size, refine, end, screens=False):
        self._screens = screens
        self._portfolio, self._refine, self._end = portfolio, refine, end
        experiment = portfolio.experiment
        plan = portfolio.experiment.plan
        rows = stratified_sample(experiment.data.y, size, plan.seed, groups=experiment.data.groups)
        self._experiment = replace(
            experiment,
            data=experiment.data
            if len(rows) == len(experiment.data.y)
            else chosen_rows(experiment.data, rows),
        )
        if screens:
            self._search = [Part(number) for number in range(_SCREENS)]
        else:
            self._search = first_parts(self._experiment)
        self._all = len(self._search) == plan.count
        self._judges = range(
            0 if self._all else len(self._search), 2 * _SCREENS if screens else plan.count
        )
        self.done = 0
        self._splits = []
        self._until = end
        self.all = []

    @property
    def rows_used(self):
        return len(self._experiment.data.y)

    @property
    def training_rows(self):
        return self.rows_used * (1 - self._experiment.plan.held_out)

    @property
    def judge(self):
        """The experiment with the splits that are judged."""
        only = range(self._judges.start, self._judges.start + (self.done or len(self._judges)))
        return replace(self._experiment, plan=self._experiment.plan._replace(only=only))

    def estimate(self, chosen, judged):
        """The estimate for new data of one of the judged entries."""
        by = self._portfolio.by
        seed = self._experiment.plan.seed
        tried = [
            outcomes[: self.done]
            for one in judged
            for outcomes in one.options
            if self._all and len(outcomes) >= self.done
        ] + [one.scored for one in judged]
        rows = np.concatenate([split.rows for split in self._splits])
        estimate = corrected(by, tried, seed, rows=rows).words
        best = max(tried, key=lambda one: ALL_SCORES[by].sign * pooled(by, one))
        # as much worse as the best of all that were tried is on points that did not choose it
        estimate["score"] += pooled(by, chosen.scored) - pooled(by, best)
        if by == "log_loss":
            estimate["error"] = max(estimate["error"], _error_by_forecasts(chosen.scored))
        how = self.judge.plan.description + " in whole groups, as rows of new groups" * (
            self._experiment.data.groups is not None
        )
        if not self._all:
            how += ", which took no part in the search for options"
        if len(tried) > 1:
            how += f", corrected for the choice among {len(tried)} that were scored on these points"
        return {**estimate, "how": how}

    def entries(self, contenders):
        """The `Entry`s of contenders, judged, the best first; none where there was no time."""
        start = time.monotonic()
        entries = []
        for number, (contender, candidate) in enumerate(
            zip(contenders, _candidates(self._experiment, contenders))
        ):
            now = time.monotonic()
            if entries and (now > self._end or not self._has_time_for(contender)):
                self.all.append(Entry(contender, candidate))
                continue
            until = start + _SEARCHING * (self._end - start)
            searches = {one[::2] for one in contenders[number:] if one.kernel}
            tree, options = self._tuned(
                contender, candidate, now + max(until - now, 0.0) / max(len(searches), 1)
            )
            entries.append(
                Entry(
                    contender,
                    replace(candidate, tree=tree),
                    options=options,
                    spent=time.monotonic() - now,
                )
            )
        self.all += entries
        return self._judged(entries)

    def _has_time_for(self, contender):
        """False where its trials are expected to take most of the time: they would have no end."""
        portfolio = self._portfolio
        seconds = portfolio.seconds.get(contender, 0.0) * self.training_rows * len(self._judges)
        return seconds / portfolio.cores < _SEARCHING * (self._end - time.monotonic())

    def _tuned(self, contender, candidate, deadline):
        """The control tree with the best options that a race finds until the deadline, and the
        outcomes of all that are near."""
        best = self._portfolio.best
        cut = self._portfolio.cut
        kernel = contender.kernel
        # the best options with another scheme are nearly the best with this one
        kin = next((one for one in best if one[::2] == contender[::2]), contender)
        options = best.get(contender, best.get(kin, contender.options))
        if kin in cut and contender not in best:
            cut[contender] = cut[kin]
        tree = with_options(candidate.tree, options)
        if kernel is None or self._screens and options != contender.options:
            return tree, []
        settings = replace(self._experiment.settings, options=options)
        task = prepare_tuning(replace(self._experiment, settings=settings), candidate)
        experiment = replace(task.experiment, along_cost=True)
        whole = WholeConfiguration(candidate, task.tree, experiment)
        tuner = Tuner(experiment, self._portfolio.by, deadline, self._portfolio.progress)
        space = SearchSpace((kernel,))
        if kin in best:  # around the best
            point = whole.searched.point(task.features)
            space = space._replace(
                **{
                    name: Axis(value - 2, value + 2, 2)
                    for name in ("log2c", "log2g")
                    if (value := getattr(point, name)) is not None
                }
            )
        elif self._screens and kernel == "rbf":
            space = space._replace(
                log2g=Axis(task.scale - 2, task.scale + 2, 2),
                log2c=None if contender.learner == "nystrom" else Axis(1, 7, 3),
            )
        grids = space.for_options(whole.searched).grids(task.scale, task.scales)
        state = race(tuner, whole, grids, self._refine, self._search)
        if tuner.complete:
            cut.pop(contender, None)
        elif kin not in best:
            cut[contender] = (
                "defaults"
                if state.best is None
                else f"the best of {len(state.tried)} that were tried"
            )
        if (
            state.best is None
            or kin in best
            and any(part.rows is not None for part in state.outcomes.get(state.best, ()))
        ):
            return tree, []  # with the options so far, which more points have chosen
        best[contender] = state.best
        near = [state.outcomes[text] for text in state.near(self._portfolio.by, HOPELESS, COMPARED)]
        return with_options(candidate.tree, state.best), [
            list(parts.values()) for parts in near if set(parts) <= set(self._search)
        ]

    def _judged(self, entries):
        """The entries with their scores, the best first; those far behind have fewer."""
        alive, error = entries, None
        for split in self.judge.splits():
            scored = {}
            for entry in alive:
                now = time.monotonic()
                # on the first split others follow that may be faster
                if self.done:
                    self._until = self._end
                else:
                    self._until = now + (self._end - now) / 2
                try:
                    (outcome,) = run_trial(
                        split,
                        [entry.candidate],
                        self._experiment,
                        first=True,
                        progress=self._follow,
                    )
                except TimeUp:
                    continue
                finally:
                    entry.spent += time.monotonic() - now
                if outcome.error is None and outcome.scores[self._portfolio.by] is not None:
                    scored[entry] = outcome
                else:
                    error = outcome.error or JobsFailed(
                        f"no probabilities: {entry.candidate.name} has no such score"
                    )
            if not self.done and not scored and error is not None:
                raise error
            if not scored or self.done and len(scored) < len(alive):
                break  # time is over
            for entry, outcome in scored.items():
                entry.scored.append(outcome)
                self._portfolio.seconds[entry.contender] = outcome.train_s / self.training_rows
            self.done += 1
            self._splits.append(split)
            alive = self._near(list(scored))
        if self.done:
            return self._ranked([one for one in alive if len(one.scored) == self.done])
        return []

    def _follow(self, done, total, *words):
        portfolio = self._portfolio
        if portfolio.progress is not None:
            portfolio.progress(done, max(total, 1), *words)
        if time.monotonic() > self._until:
            raise TimeUp

    def _ranked(self, entries):
        sign = ALL_SCORES[self._portfolio.by].sign
        return sorted(entries, key=lambda one: -sign * pooled(self._portfolio.by, one.scored))

    def best(self, entries):
        """The best of judged entries, the first on ties."""
        return self._ranked(entries)[0]

    def _near(self, entries):
        """The entries, the best first, but for those clearly behind it: by several standard errors
        of the difference, and by one that the best would have if its probabilities were right."""
        ranked = self._ranked(entries)
        by = self._portfolio.by
        if losses(by, ranked[0].scored) is None:
            return ranked[: 2 * _SURVIVORS]
        best = ranked[0].scored
        if by == "log_loss":
            least = _error_by_forecasts(best)
        else:
            least = 0.0
        for one in ranked[2:]:
            gap = gap_of(by, one.scored, best)
            lost = pooled(by, one.scored) - pooled(by, best)
            if gap > _BEHIND and abs(lost) > least:
                one.behind = gap
            else:
                one.behind = 0.0
        return [one for one in ranked if not one.behind]

    def averages(self, entries):
        """Judged entries for the averages of the best two, and three, of different kinds."""
        best = _best_of_kinds(entries)
        averages = []
        experiment = replace(
            self._experiment, settings=replace(self._experiment.settings, member_weights="held-out")
        )
        for count in range(2, len(best) + 1):
            members = tuple(best[:count])
            tree = joined([one.candidate.tree for one in members])
            entry = Entry(None, _candidate(f"average of {count}", tree), members=members)
            try:
                for split in self._splits:
                    (outcome,) = run_trial(
                        split,
                        [entry.candidate],
                        experiment,
                        first=True,
                        progress=self._follow_average,
                    )
                    if outcome.error is not None:
                        raise outcome.error
                    entry.scored.append(outcome)
            except (AgfmcError, TimeUp):
                continue
            averages.append(entry)
        return averages

    def _follow_average(self, *_):
        if self._portfolio._left(1.0) <= 0:
            raise TimeUp


def _error_by_forecasts(outcomes):
    """The standard error of the log loss of outcomes if their probabilities are right.

    The losses themselves tell less where errors are rare and cost much: of a few hundred points
    none may be among the worst.  A loss is -log p with the probability p of the answer, about
    -log(1 - p) otherwise, so that its variance is p (1 - p) log(p / (1 - p))^2.
    """
    p = np.clip(joined_forecasts(outcomes)[2].astype(float), 1e-9, 1 - 1e-9)
    w = joined_outcomes(outcomes, "weights")
    if w is None:
        w = np.ones(len(p))
    variance = p * (1 - p) * np.log(p / (1 - p)) ** 2
    return float(np.sqrt(w**2 @ variance) / w.sum())


def _best_of_kinds(entries):
    """The best of each kind, of the first kinds of the ranked entries."""
    kinds = {}
    for one in entries:
        kinds.setdefault(one.kind, one)
    return list(kinds.values())[:_SURVIVORS]


def _candidates(experiment, contenders):
    """Yield the `Candidate` of each contender, with the control tree for all of the data."""
    for contender in contenders:
        scheme = scheme_candidate(contender.scheme, seed=experiment.settings.seed)
        settings = replace(experiment.settings, options=contender.options)
        tree = replace(experiment, settings=settings).design_of(scheme)[0].tree
        yield _candidate(contender.name, tree)


def _candidate(name, tree):
    """The `Candidate` of a control tree with the decoder that suits it."""
    return Candidate(name, tree, None, (decoders_for(tree)[0].name,))

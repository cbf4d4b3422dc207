"""The search for training options: as a race, or with every point on all splits.

The data are divided once, as the plan of an `Experiment` says.  A race scores the whole grid on
the first part, or as few as hold out enough points, with a small sample of the points for
training.  Options near the best go up to larger and larger samples, where the neighbours of the
best join them, and at the end to the whole training part, where steps are halved as long as that
separates options.  The few that do not differ clearly from the best there meet on the next part,
and two of them on the others, which so decide between these alone.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from ..core.errors import AgfmcError, UsageError, warn_user
from ..core.kernels import kernel_word, KERNELS
from ..score.rows import ALL_SCORES
from ..training.run import TimeUp
from .experiment import Experiment, Part, PreparedSplit
from .pooling import losses, mean_loss, pooled, summary, zero_probability
from .search import Search

# points for training, at least, on the lowest level: of all, and of each class on average
_LEAST, _LEAST_OF_CLASS = 300, 50
_GROWTH = 4  # of the sample from level to level
_HELD_OUT = 300  # points that choose, at least
_NEAR = 2.0  # standard errors of the difference to the best
_CLEARLY = 1.0  # the same, by which a kernel that LIBSVM does not have must be better
_COSTLY = {kernel_word(name) for name, kind in KERNELS.items() if not kind.in_libsvm}
_SURVIVORS = 4  # at most
_FINALISTS = 6, 2  # at most, on the first and on further parts that had no say
HOPELESS, COMPARED = 6.0, 30  # standard errors; options with outcomes, at most
_TOGETHER = 24  # classifiers that are trained side by side, so that all cores are busy to the end
# warnings about each of thousands of fits, or about each split once more
_REPEATED = (
    ".* against .* has . sample",
    "features? .* constant",
    ".* leaving out single samples",
    ".*(not|failed to) converge",
)


@dataclass(eq=False)
class SearchState:
    """A search, and all options that were tried in it.

    Attributes
    ----------
    given : options that there were before
    sign : 1 where larger scores are better, else -1
    search : `Search` of the level that is reached
    tried : {options: the last result of `Tuner.summary`}
    level : {options: the last level they were tried on}
    texts : {`Point`: options}
    depth : {options: (level, number of parts)} of those that could be trained
    outcomes : {options: {`Part`: `Outcome`}} of the best of these
    judges : parts that had no say in the choice of the last options, or had it in that alone
    final : options that `settle` chose, or None
    """

    given: str
    sign: int
    search: Search | None = None
    tried: dict = field(default_factory=dict)
    level: dict = field(default_factory=dict)
    texts: dict = field(default_factory=dict)
    depth: dict = field(default_factory=dict)
    outcomes: dict = field(default_factory=dict)
    judges: list = field(default_factory=list)
    final: str | None = None

    def summary(self, text):
        """The summary of options that were tried, or None."""
        result = self.tried.get(text)
        if isinstance(result, dict):
            return result
        return None

    @property
    def ranked(self) -> list[str]:
        """The options that were scored most thoroughly, the best first.

        Of those that tie, first the ones given, then in the order of `Search.preference`; before
        all the `final` ones.
        """
        deepest = max(self.depth.values(), default=None)
        order = {text: self.search.preference(point) for point, text in self.texts.items()}
        return sorted(
            (text for text, depth in self.depth.items() if depth == deepest),
            key=lambda text: (
                text != self.final,
                -self.sign * self.tried[text]["pooled"],
                text != self.given,
                order.get(text, ()),
            ),
        )

    @property
    def best(self):
        """The best options; None where none were scored but those given."""
        if self.depth.keys().isdisjoint(self.texts.values()):
            return None
        return self.ranked[0]

    def record(self, text: str, results: dict, level: int, scored) -> None:
        """Keep `Outcome`s or errors {`Part`: result} of options; scored: their summary."""
        self.tried[text], self.level[text] = scored, level
        self.depth.pop(text, None)
        if isinstance(scored, dict):
            self.outcomes[text] = results
            self.depth[text] = level, len(results)
            if len(self.outcomes) > 2 * COMPARED:  # of a million points these are large
                self.outcomes = {
                    best: self.outcomes[best]
                    for best in self.ranked[:COMPARED]
                    if best in self.outcomes
                }

    def gap(self, by: str, text: str, other: str) -> float:
        """The loss of options beside others on the same points, in standard errors.

        0 for a score that is no mean over the points;  infinite where they were not scored as
        thoroughly, or are so much worse that their outcomes were not stored.
        """
        if text not in self.outcomes or self.depth.get(text) != self.depth.get(other):
            return math.inf
        return gap_of(by, *(list(self.outcomes[options].values()) for options in (text, other)))

    def settle(self, by: str) -> None:
        """Choose the best options with a kernel of LIBSVM, whose answers take less time, unless
        those with another one are clearly better; where kernels of both kinds are searched."""
        ranked = self.ranked
        other = next((text for text in ranked if not _is_costly(text)), None)
        if (
            other is not None
            and not all(map(_is_costly, self.texts.values()))
            and 0 < self.gap(by, other, ranked[0]) <= _CLEARLY
        ):
            self.final = other

    def near(self, by: str, errors: float, most: int) -> list[str]:
        """At most so many of the `ranked`, those within `errors` standard errors of the best; of
        several with the same score the first.

        Of two or more, one has a kernel of LIBSVM, if any of those has that the search tried.
        """
        near = []
        seen = set()
        for text in self.ranked:
            score = self.tried[text]["pooled"]
            if score not in seen and (not near or self.gap(by, text, near[0]) <= errors):
                near.append(text)
            seen.add(score)
        if most > 1 and all(map(_is_costly, near[:most])):
            fast = [
                text
                for text in near[most - 1 :]
                if text in self.texts.values() and not _is_costly(text)
            ]
            near[most - 1 :] = fast or near[most - 1 :]
        return near[:most]

    def is_flat(self, by: str, points: Sequence) -> bool:
        """True if the scores of the first of `points` and of the others do not differ clearly."""
        texts = [self.texts[point] for point in points]
        if texts[0] not in self.outcomes:  # the best of a kernel that is far behind
            return True
        if losses(by, list(self.outcomes[texts[0]].values())) is None:
            return False
        return all(
            abs(self.gap(by, text, texts[0])) <= _NEAR for text in texts[1:] if text in self.depth
        )

    @property
    def border(self):
        """Limits that the best options lie on (`Search.border`); [] for the options given."""
        points = [point for point, text in self.texts.items() if text == self.best]
        if points and self.best != self.given:
            return self.search.border(points[0])
        return []


def gap_of(by: str, outcomes: list, others: list) -> float:
    """`SearchState.gap` of outcomes to others on the same parts."""
    lost = mean_loss(by, outcomes, others)
    if lost is None:
        return 0.0
    loss, error = lost
    if error > 0:
        return loss / error
    if loss:
        return math.copysign(math.inf, loss)
    return 0.0


@dataclass(eq=False)
class Tuner:
    """Scores of options on `Part`s of an `Experiment`, until the time limit.

    Attributes
    ----------
    deadline : on the clock of `time.monotonic`, or None
    progress : as for `compare`, with words for what is being tried
    complete : False after the time limit was reached
    done, total : work done, and all work, about, of which `reused` was of an earlier run
    best : the best so far, in words
    begun : {`Part`: `Outcome` or error} for each of the options that were tried last
    held_out : {`Part`: rows of its test points}
    """

    experiment: Experiment
    by: str
    deadline: float | None = None
    progress: object = None
    complete: bool = True
    done: float = 0.0
    reused: float = 0.0
    total: float = 1.0
    best: str = ""
    begun: list = field(default_factory=list)
    held_out: dict = field(default_factory=dict)
    _split: tuple[Part, PreparedSplit] | None = None

    @property
    def parts(self) -> list[Part]:
        """All splits."""
        return [Part(number) for number in range(self.experiment.plan.count)]

    def work(self, parts) -> float:
        """The work of one trial on each of these parts: about as large as its training."""
        return sum(self.experiment.training_size(part) ** 1.5 for part in parts)

    def trials(self, task, texts, parts) -> list[dict]:
        """For each of the options, {part: `Outcome` or error}.  Raises `TimeUp` at the time limit."""
        self.begun = results = [{} for _ in texts]
        for part in parts:
            self._check_time()
            work = self.work([part]) * len(texts)
            steps = []

            def follow(done, whole, part=part, work=work, steps=steps):
                steps.append(done)
                self._report(self._words(texts, part), work * done / max(whole, 1))
                self._check_time()

            if self._split is None or self._split[0] != part:
                self._split = part, self.experiment.prepared(part)
                self.held_out[part] = self._split[1].rows
                self._check_time()
            for outcome, result in zip(task.score(self._split[1], texts, follow), results):
                result[part] = outcome
            self.done += work
            if not steps:
                self.reused += work  # of an earlier run: no measure of the time needed
        return results

    def _report(self, words, more=0.0):
        if self.progress is not None:
            here = self.done - self.reused + more
            self.progress(round(here), round(max(self.total - self.reused, here, 1)), words)

    def _words(self, texts, part):
        if part.rows is not None:
            rows = f", {part.rows} points"
        else:
            rows = ""
        if len(texts) > 1:
            more = f" and {len(texts) - 1} more"
        else:
            more = ""
        if self.experiment.plan.left_out:
            where = ""
        else:
            where = f", part {part.number + 1}"
        return f"{self.best and f'best {self.best}; '}{texts[0]}{more}{rows}{where}"

    def _check_time(self):
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise TimeUp

    def summary(self, results: dict):
        """The `summary` of the scores on parts, with their numbers and about how many rows were
        trained on, or an error."""
        outcomes = list(results.values())
        error = _first_error(outcomes)
        if error is not None:
            return error
        values = [outcome.scores[self.by] for outcome in outcomes]
        sound = [
            outcome
            for outcome, value in zip(outcomes, values)
            if value is not None and math.isfinite(value)
        ]
        if not sound:
            raise UsageError(
                f"the decoder gives no {ALL_SCORES[self.by].title}: choose another "
                "score with `by`, or another decoder with `decoder`"
            )
        return {
            **summary([outcome.scores[self.by] for outcome in sound], pooled(self.by, sound)),
            "values": values,
            "zero_probability": zero_probability(sound),
            "rows": next(iter(results)).rows,
            "parts": [part.number + 1 for part in results],
        }

    def summaries(self, task, text, parts):
        """{name of a score: summary or None} of options, None with a warning where they cannot be
        trained, and at the time limit."""
        try:
            outcomes = list(self.trials(task, [text], parts)[0].values())
            error = _first_error(outcomes)
        except TimeUp:
            error = "time limit reached"
        if error is None:
            return scores_of(outcomes)
        warn_user(f"the result is written, and not scored: {error}")
        return None


def _first_error(outcomes):
    return next((outcome for outcome in outcomes if isinstance(outcome, AgfmcError)), None)


def scores_of(outcomes: list) -> dict:
    """{name of a score: summary or None} of the `Outcome`s on several parts."""
    return {
        name: None
        if any(outcome.scores[name] is None for outcome in outcomes)
        else summary([outcome.scores[name] for outcome in outcomes], pooled(name, outcomes))
        for name in outcomes[0].scores
    }


def first_parts(experiment: Experiment) -> list[Part]:
    """The splits that choose: as few as hold out enough points, or all where the others would hold
    out too few to judge."""
    plan = experiment.plan
    held_out = plan.held_out * len(experiment.data.y)
    count = math.ceil(_HELD_OUT / max(held_out, 1))
    if (plan.count - count - 1) * held_out < _HELD_OUT:
        count = plan.count
    return [Part(number) for number in range(count)]


def race(
    tuner: Tuner,
    task,
    grids: list,
    refine: int,
    parts: Sequence[Part] | None = None,
    rest: Sequence[Part] = (),
) -> SearchState:
    """Search `grids` for the options of a `task`, as `tuning.WholeConfiguration`.

    The step is halved `refine` times at most. `parts` choose in a race, None where each point is
    scored on all splits; the finalists meet on `rest`. At the time limit it ends, and
    `tuner.complete` is False.
    """
    if parts is None:
        levels = [tuner.parts]
    else:
        levels = _levels(tuner.experiment, parts)
    state = SearchState(task.searched.given, ALL_SCORES[tuner.by].sign)
    with without_repeated_warnings():
        try:
            for number, level in enumerate(levels):
                ahead = [*levels[number + 1 :], *([rest] if rest else [])]
                later = sum(map(tuner.work, ahead)) * _SURVIVORS
                last = number == len(levels) - 1
                if last:
                    steps = refine
                else:
                    steps = 0
                if parts is None:
                    state.search = Search(grids, steps, state.sign)
                else:
                    state.search = _search_of_level(tuner.by, state, grids, number, steps)
                _rounds(tuner, task, state, (number, level), later, last)
            _finals(tuner, task, state, len(levels) - 1, rest)
        except TimeUp:
            tuner.complete = False
    state.settle(tuner.by)
    return state


def _is_costly(text):
    """True if training options have a kernel that LIBSVM does not have."""
    words = text.split()
    return "-t" in words and words[words.index("-t") + 1] in _COSTLY


def _levels(experiment, parts):
    rows = max(_LEAST, _LEAST_OF_CLASS * len(np.unique(experiment.data.y)))
    size = experiment.training_size(parts[0])
    levels = [list(parts)]
    while rows * 2 < size:  # or it is nearly the whole
        levels.insert(-1, [part._replace(rows=rows) for part in parts])
        rows *= _GROWTH
    return levels


def _search_of_level(by, state, grids, number, refine):
    def is_behind(point):
        best = state.best
        text = state.texts[point]
        return best is not None and best != text and state.gap(by, text, best) > _NEAR

    points_of = {text: point for point, text in reversed(state.texts.items())}
    if number:
        start = [points_of[text] for text in state.near(by, _NEAR, _SURVIVORS) if text in points_of]
    else:
        start = []
    return Search(
        grids,
        refine,
        state.sign,
        start or None,
        is_behind=is_behind,
        is_flat=lambda points: state.is_flat(by, points),
    )


def _finals(tuner, task, state, level, rest):
    """Score the finalists on parts that had no say: on the first of them some, then few, which have
    the others as their judges."""
    for most, parts in zip(_FINALISTS, (rest[:1], rest[1:])):
        if parts:
            texts = state.near(tuner.by, _NEAR, most)
        else:
            texts = []
        for done, part in enumerate(parts):
            tuner.total = tuner.done + len(texts) * tuner.work(parts[done:])
            for text, result in zip(texts, tuner.trials(task, texts, [part])):
                results = {**state.outcomes[text], **result}
                state.record(text, results, level, tuner.summary(results))
        state.judges = list(parts) or state.judges


def _rounds(tuner, task, state, level, later, last):
    """Score what the search proposes at a level (its number, its parts), and the options given:
    first or, above the lowest level, after the best of the level below, but for those that a level
    has shown to be hopeless where another level follows."""
    given = (
        last
        or state.given not in state.depth
        or state.best is None
        or state.gap(tuner.by, state.given, state.best) <= HOPELESS
    )
    if level[0] == 0:
        _score(tuner, task, state, [None], level, later)
        given = False
    while points := state.search.next_points():
        for batch in _batches(points, task.jobs):
            _score(tuner, task, state, batch, level, later)
            if given:
                _score(tuner, task, state, [None], level, later)
                given = False


def _batches(points, jobs):
    """Points with the same kernel and gamma together: they share kernel values."""

    def kernel(point):
        return point[:4]

    order = {}
    for point in points:
        order.setdefault(kernel(point), len(order))
    batch = []
    for _, group in groupby(sorted(points, key=lambda point: order[kernel(point)]), kernel):
        batch += group
        if len(batch) * jobs >= _TOGETHER:
            yield batch
            batch = []
    if batch:
        yield batch


def _score(tuner, task, state, batch, level, later):
    """Score points of a search, None for the options given, that the level has not scored yet."""
    depth, parts = level
    texts = [state.given if point is None else point.text(task.searched.fixed) for point in batch]
    fresh = [text for text in texts if state.level.get(text, -1) < depth]
    missing = max(state.search.expected - len(state.search.scores), 0)
    tuner.total = tuner.done + later + max(missing, len(fresh)) * tuner.work(parts)
    if fresh:
        try:
            tuner.trials(task, fresh, parts)
        except TimeUp:
            if state.best is None:
                _record_begun(tuner, state, dict(zip(texts, batch)), fresh, depth)
            raise
        for text, results in zip(fresh, tuner.begun):
            state.record(text, results, depth, tuner.summary(results))
    for point, text in zip(batch, texts):
        if point is not None:
            state.texts[point] = text
            scored = state.summary(text)
            state.search.record(point, None if scored is None else scored["pooled"])
    if (best := state.best) is not None:
        tuner.best = f"{best}: " + f"{state.tried[best]['pooled']:.4f}".removeprefix("0")


def _record_begun(tuner, state, points, fresh, level):
    """Compare the first options of a search with those given on the parts that both have."""
    begun = {text: results for text, results in zip(fresh, tuner.begun) if results}
    given = state.outcomes.get(state.given)
    if begun and given:
        begun[state.given] = {part: given[part] for part in next(iter(begun.values()))}
        for text, results in begun.items():
            state.record(text, results, level, tuner.summary(results))
        state.texts |= {point: text for text, point in points.items() if point is not None}


@contextmanager
def without_repeated_warnings():
    """Without warnings that would come for each of thousands of fits, or for each split."""
    with warnings.catch_warnings():
        for pattern in _REPEATED:
            warnings.filterwarnings("ignore", pattern)
        yield

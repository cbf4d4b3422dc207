"""Is it still true? Martingales that grow where new rows are not as the calibration points were.

Each row has a score, one minus the probability of its true class or, where that is unknown, of its
answer.  Its conformal p value is the share of scores, of the calibration points and of all rows so
far, that are no smaller: for exchangeable rows p values are independent and uniform.  The power
martingale is the product of e p^(e - 1) over the rows (V. Vovk, I. Nouretdinov and A. Gammerman,
"Testing exchangeability on-line", ICML 2003); here it is the mean of those of several exponents e,
and of those of 1 - p, which grow where rows become easier (mixtures: V. Fedorova and others,
"Plug-in martingales for testing exchangeability on-line", ICML 2012).

Of up to 50 classes each has such a martingale too, of p values of "the row is of this class", which
grows where its share changes.  Scores have half of the chance of a false alarm, and the classes
share the other half: the value is the largest martingale divided by two, or by twice the number of
classes.  By Ville's inequality it exceeds 100 at any time with probability .01 at most.

Scores are counted in bins between quantiles of those of the calibration points, so that the state
of a long stream is small; ties are broken at random, and p values stay exactly uniform.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..calibration.types import CalibrationPoints
from ..core.answers import Answers
from ..core.errors import DataError, UsageError, warn_user
from ..files.atomic import replacing
from ..files.codec import Sidecar
from ..files.opening import read_bytes

ALARM = 100.0  # of the value: reached by chance in one stream of a hundred at most
_EXPONENTS = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99])
_BINS = 256  # of scores
_MOST_CLASSES = 50  # whose shares are watched
_CELLS = 1 << 20  # numbers of one array at a time
_SAVED_ROWS = 10_000  # after which a state is written
_TRACE = 256  # values that are kept for a picture: every second one goes where there are more
_LARGEST_FILE = 1 << 20  # bytes of a state


@dataclass(eq=False)
class MonitorState:
    """What a monitor has seen, as it is stored.

    Attributes
    ----------
    model : digest of the classifiers
    decoder : key of the decoder's calibration
    by_truth : scores and classes are the true ones, else those of the answers
    seed : seed of the numbers that break ties
    rows : number of rows so far
    edges : limits (b - 1,) of the bins of scores, ascending
    counts : scores (b,) in each bin, of calibration points and rows
    classes : rows (k,) of each class whose share is watched, of calibration points too where these
        are true classes; empty for too many classes
    logs : natural logarithms (1 + k, 2, e) of the martingales of the scores and of each class, of
        p and 1 - p, with each exponent
    largest, largest_row : log10 of the largest value so far, and its row, from 1
    alarm : the row that brought it to `ALARM`, 0 for none
    step : rows between two values of the trace
    trace : log10 of the value after each `step` rows
    """

    model: Annotated[str, "[0-9a-f]{16}"]
    decoder: Annotated[str, "[a-z0-9:+ -]{1,121}"]
    by_truth: bool
    seed: Annotated[int, range(2**64)]
    rows: Annotated[int, range(2**53)]
    edges: Annotated[np.ndarray, "<f8", 1]
    counts: Annotated[np.ndarray, "<i8", 1]
    classes: Annotated[np.ndarray, "<i8", 1]
    logs: Annotated[np.ndarray, "<f8", 3]
    largest: float
    largest_row: Annotated[int, range(2**53)]
    alarm: Annotated[int, range(2**53)]
    step: Annotated[int, range(1, 2**53)]
    trace: Annotated[np.ndarray, "<f8", 1]


def _check(state, fail):
    if (
        len(state.counts) != len(state.edges) + 1
        or len(state.classes) > _MOST_CLASSES
        or min(state.counts.min(initial=0), state.classes.min(initial=0)) < 0
        or np.any(np.diff(state.edges) <= 0)
        or state.logs.shape != (1 + len(state.classes), 2, len(_EXPONENTS))
        or len(state.trace) != state.rows // state.step
        or len(state.trace) > _TRACE
        or max(state.alarm, state.largest_row) > state.rows
    ):
        raise fail("holds a state whose parts do not fit together")


_STATE = Sidecar("agfmc monitor", MonitorState, _check, DataError, most=_LARGEST_FILE)


class Monitor:
    """Watches whether rows are still as the calibration points were.

    `Classifier.monitor` makes one.

    Attributes
    ----------
    state : MonitorState
        What it has seen.
    """

    def __init__(self, state: MonitorState, labels: np.ndarray):
        self.state = state
        self._labels = labels
        self._saved = state.rows

    @property
    def value(self) -> float:
        """The value now: around 1 or smaller while rows are as they were, else large."""
        return float(_as_number(_largest_log10(self.state.logs[None]))[0])

    @property
    def largest(self) -> float:
        """The largest value so far."""
        return float(_as_number(self.state.largest))

    def add(self, answers: Answers, truth: np.ndarray | None = None) -> np.ndarray:
        """Take the answers to the next rows.

        Parameters
        ----------
        answers : Answers
            Those of the classifier, with the probabilities of all classes where truth is given.
        truth : array of shape (n,), default=None
            Labels of the true classes; rows with others, such as -1, are left out.

        Returns
        -------
        ndarray
            The value after each row that was taken.

        Raises
        ------
        UsageError
            If truth is given to a monitor of answers, or none to one of true classes.
        """
        if (truth is not None) is not self.state.by_truth:
            raise UsageError(
                "the monitor is of true classes: `truth` has them"
                if self.state.by_truth
                else "the monitor is of answers, whose true classes it does not take"
            )
        if truth is None:
            answered = np.isfinite(answers.winner)  # others had no data
            scores = 1.0 - answers.winner[answered]
            labels = answers.classes[answered]
        else:
            known = np.flatnonzero(np.isin(truth, self._labels))
            known = known[np.isfinite(answers.columns[known, 0])]
            labels = np.asarray(truth)[known]
            scores = 1.0 - answers.columns[known, np.searchsorted(self._labels, labels)]
        classes = np.searchsorted(self._labels, labels)
        classes[~np.isin(labels, self._labels)] = -1  # rejected: of none of them
        state = self.state
        widest = max(len(state.counts), 2 * (1 + len(state.classes)) * len(_EXPONENTS))
        step = max(1, _CELLS // widest)
        parts = [
            self._add(scores[i : i + step], classes[i : i + step])
            for i in range(0, len(scores), step)
        ]
        return _as_number(np.concatenate([np.zeros(0), *parts]))

    def _add(self, scores, classes):
        """Take scores and class numbers (n,); -> log10 of the value after each."""
        state = self.state
        generator = np.random.PCG64([state.seed, 0])
        generator.advance(state.rows)  # a row has the same number in blocks of any size
        ties = np.random.Generator(generator).random(len(scores))
        p = np.column_stack(
            [self._score_p_values(scores, ties), self._class_p_values(classes, ties)]
        )
        sides = np.stack([p, 1.0 - p], axis=2)
        steps = np.log(_EXPONENTS) + (_EXPONENTS - 1.0) * np.log(sides)[..., None]
        # from the state on, so that sums are the same in blocks of any size
        logs = np.cumsum(np.concatenate([state.logs[None], steps]), axis=0)[1:]
        values = _largest_log10(logs)
        state.logs = logs[-1]
        first = state.rows
        state.rows += len(p)
        top = int(np.argmax(values))
        if values[top] > state.largest:
            state.largest, state.largest_row = float(values[top]), first + top + 1
        above = np.flatnonzero(values >= np.log10(ALARM))
        if len(above) and not state.alarm:
            state.alarm = first + int(above[0]) + 1
        self._trace(values, first)
        return values

    def _score_p_values(self, scores, ties):
        """p values (n,) of the next scores, each among all before it and itself."""
        state = self.state
        rows = np.arange(len(scores))
        bins = np.searchsorted(state.edges, scores, side="left")
        own = np.zeros((len(scores), len(state.counts)), dtype=np.int64)
        own[rows, bins] = 1
        counts = state.counts + np.cumsum(own, axis=0)
        state.counts = counts[-1]
        no_smaller = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]
        equal = counts[rows, bins]
        return _smoothed(no_smaller[rows, bins] - equal, equal, no_smaller[:, 0], ties)

    def _class_p_values(self, classes, ties):
        """p values (n, k) of "the row is of this class", each among all rows before and this one."""
        state = self.state
        own = classes[:, None] == np.arange(len(state.classes))
        before = state.classes.sum()
        counts = state.classes + np.cumsum(own, axis=0)
        state.classes = counts[-1]
        rows = before + np.arange(1, len(classes) + 1)[:, None]
        larger = np.where(own, 0, counts)
        return _smoothed(larger, np.where(own, counts, rows - counts), rows, ties[:, None])

    def _trace(self, values, first):
        state = self.state
        rows = np.arange(first + 1, first + len(values) + 1)
        state.trace = np.concatenate([state.trace, values[rows % state.step == 0]])
        while len(state.trace) > _TRACE:
            state.trace = state.trace[1::2].copy()
            state.step *= 2

    def warn(self, before: int, file: str = "") -> None:
        """Warn of an alarm that came after the first `before` rows."""
        if self.state.alarm > before:
            warn_user(
                f"{file + ': ' if file else ''}rows are not as the calibration points were: at row "
                f"{self.state.alarm} the monitor reached {ALARM:g}, as happens by chance in 1 % of "
                "streams at most; probabilities and guarantees need a new calibration"
            )

    def watch(self, answers: Iterable[tuple], file: str, path: str | None) -> Iterator[tuple]:
        """Yield pairs of `Answers` and others, which are taken; warn of an alarm, and write the state
        to `path` now and then, if there is one."""
        for block, *others in answers:
            before = self.state.rows
            self.add(block)
            self.warn(before, file)
            if path is not None and self.state.rows - self._saved >= _SAVED_ROWS:
                self.save(path)
            yield (block, *others)

    def save(self, path: str) -> None:
        """Write the state to a file, whole or not at all."""
        with replacing(path) as file:
            file.write(_STATE.format(self.state, path))
        self._saved = self.state.rows


def read_state(path: str) -> MonitorState:
    """The state in a file; `DataError` for any other."""
    return _STATE.read(
        read_bytes(path, most=_LARGEST_FILE, expected="the state of a monitor"), path
    )


def monitored(state: MonitorState) -> dict:
    """A state in plain values: `rows`, the `largest` value and the row `at` which it came, the row
    of the `alarm` or None, and the `trace`, (row, log10 of the value) pairs."""
    return {
        "rows": state.rows,
        "largest": float(_as_number(state.largest)),
        "at": state.largest_row,
        "alarm": state.alarm or None,
        "trace": [[(i + 1) * state.step, value] for i, value in enumerate(state.trace.tolist())],
    }


def load_state(path: str, model: str, decoder: str) -> MonitorState:
    """The state in a file, of the same model and decoder; `DataError` else."""
    state = read_state(path)
    if state.model != model or state.decoder != decoder:
        raise DataError(
            "is of another model or decoder: give another file, or remove this one", file=path
        )
    return state


def new_state(
    points: CalibrationPoints,
    labels: np.ndarray,
    model: str,
    decoder: str,
    by_truth: bool,
    seed: int,
    apart: bool = True,
) -> MonitorState:
    """The state of a monitor of classes, labels (k,), that has seen calibration points alone.

    Points that the model was trained with are not `apart`: only rows are compared with each other,
    as held-out values of training points are not exchangeable with answers of the whole model.
    """
    scores = 1.0 - (points.p_true if by_truth else points.p_largest)
    # limits lie between two scores, so that equal ones are in one bin
    distinct = np.unique(scores)
    edges = (distinct[1:] + distinct[:-1]) / 2
    if len(edges) >= _BINS:
        at = np.searchsorted(distinct, np.quantile(scores, np.arange(1, _BINS) / _BINS))
        edges = edges[np.unique(np.minimum(at, len(edges) - 1))]
    counts = np.zeros(len(edges) + 1, dtype=np.int64)
    k = len(labels) if len(labels) <= _MOST_CLASSES else 0
    classes = np.zeros(k, dtype=np.int64)
    if apart:
        np.add.at(counts, np.searchsorted(edges, scores, side="left"), 1)
        if by_truth and k:
            np.add.at(classes, np.searchsorted(labels, points.label), 1)
    return MonitorState(
        model,
        decoder,
        by_truth,
        seed,
        rows=0,
        edges=edges,
        counts=counts,
        classes=classes,
        logs=np.zeros((1 + k, 2, len(_EXPONENTS))),
        largest=0.0,
        largest_row=0,
        alarm=0,
        step=1,
        trace=np.zeros(0),
    )


def _smoothed(larger, equal, total, ties):
    """p values: the larger ones, and a random part of the equal ones, itself among them."""
    # the numbers of ties are multiples of 2^-53: so no p value is 0 or 1
    return np.clip((larger + ties * equal) / total, 2.0**-53, 1 - 2.0**-53)


def _largest_log10(logs):
    """log10 of the values (n,) of martingales with natural logarithms (n, 1 + k, 2, e)."""
    n, channels = logs.shape[:2]
    flat = logs.reshape(n, channels, -1)
    top = flat.max(axis=2)
    means = top + np.log(np.mean(np.exp(flat - top[..., None]), axis=2))
    shares = np.full(channels, 2.0 * max(channels - 1, 1))
    shares[0] = 1.0 if channels == 1 else 2.0
    return (means - np.log(shares)).max(axis=1) / np.log(10.0)


def _as_number(log10):
    return 10.0 ** np.minimum(log10, 300.0)  # larger ones would be infinite

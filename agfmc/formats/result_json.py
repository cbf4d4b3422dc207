"""Results of experiments in JSON, as `compare_control --json` and `tune_m --json` write them.

What is read has the keys and kinds of values that these commands write, and no others; numbers that
are not finite were written as null.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..control.learners import PARAMETERS
from ..control.tree import MAX_LABEL
from ..errors import DataError, one_line
from .inputs import read_bytes
from .strict_json import strict_json

__all__ = ["read_comparison", "read_search"]

_MOST_BYTES = 16 * 2**20
_MOST = 100_000  # entries of a list
_LARGEST = 1e150  # whose square is a number still
_WHOLE = 2**53
_EXPONENT = 1000  # of 2
_TIMES = ("design_s", "train_s", "classify_s")


class _Wrong(Exception):
    """A value that is none of what was expected: the place, and what was."""


class _Kind(NamedTuple):
    """A kind of values: take(value, place) -> the value, or `_Wrong`; maybe: the key may lack;
    other: null stands for it."""

    take: Callable[[Any, str], Any]
    maybe: bool = False
    other: bool = False

    def __call__(self, value, place):
        return None if self.other and value is None else self.take(value, place)

    @property
    def or_null(self):
        """The same, or null."""
        return self._replace(other=True)

    @property
    def if_there(self):
        """The same, in a key that may lack."""
        return self._replace(maybe=True)


def _wrong(what, value, place):
    shown = one_line(json.dumps(value))
    return _Wrong(f"{place + ': ' if place else ''}expected {what}, found "
                  f"{shown if len(shown) <= 40 else shown[:37] + '...'}")


def _plain(kinds, what, fits=lambda value: True):
    def take(value, place):
        if type(value) not in kinds or not fits(value):
            raise _wrong(what, value, place)
        return value
    return _Kind(take)


def _readable(text):
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # half a character
        return False
    return True


_TEXT = _plain((str,), "text", _readable)
_FLAG = _plain((bool,), "true or false")
_COUNT = _plain((int,), "a whole number", lambda value: 0 <= value <= _WHOLE)
_LABEL = _plain((int,), "a class label", lambda value: 0 <= value <= MAX_LABEL)
_NUMBER = _plain((int, float), "a number", lambda value: abs(value) <= _LARGEST)
_POWER = _plain((int, float), "an exponent of 2", lambda value: abs(value) <= _EXPONENT)


def _list(kind):
    def take(value, place):
        if type(value) is not list or len(value) > _MOST:
            raise _wrong(f"a list of at most {_MOST}", value, place)
        return [kind(one, f"{place}[{number}]") for number, one in enumerate(value)]
    return _Kind(take)


def _interval(value, place):
    if type(value) is not list or len(value) != 2:
        raise _wrong("a list of two bounds", value, place)
    return [_NUMBER(bound, f"{place}[{number}]") for number, bound in enumerate(value)]


_INTERVAL = _Kind(_interval)


def _record(**kinds):
    def take(value, place):
        if type(value) is not dict:
            raise _wrong("an object", value, place)
        found = {}
        for key, kind in kinds.items():
            if key in value:
                found[key] = kind(value[key], f"{place}.{key}" if place else key)
            elif not kind.maybe:
                raise _Wrong(f"{f'{place}: ' if place else ''}there is no '{key}'")
        return found
    return _Kind(take)


def _score(scores):
    return _plain((str,), f"a score ({', '.join(scores)})", lambda value: value in scores)


def _rows_of(failed, sound):
    """Records with an error, or with results."""
    def take(value, place):
        return (failed if type(value) is dict and "error" in value else sound)(value, place)
    return _Kind(take)


_SUMMARY = _record(pooled=_NUMBER.or_null, mean=_NUMBER.or_null, sd=_NUMBER.or_null,
                   values=_list(_NUMBER.or_null))
_ESTIMATE = _record(score=_NUMBER.or_null, error=_NUMBER.or_null, points=_COUNT, options=_COUNT,
                    effective=_NUMBER.or_null.if_there, how=_TEXT)
_WORDS = {"costs": _TEXT.if_there, "features": _TEXT.if_there, "weights": _TEXT.if_there}


def _comparison(scores, maybe):
    columns = dict.fromkeys((*_TIMES, *scores), _SUMMARY.or_null) | dict.fromkeys(
        maybe, _SUMMARY.or_null.if_there)
    scores = (*scores, *maybe)
    one = {"configuration": _TEXT, "decoder": _TEXT}
    difference = _record(pooled=_NUMBER.or_null, mean=_NUMBER.or_null, sd=_NUMBER.or_null,
                         p_value=_NUMBER.or_null, interval=_INTERVAL.or_null.if_there)
    columns |= dict.fromkeys(("queried", "kernel_values"), _SUMMARY.or_null.if_there)
    row = _rows_of(_record(**one, error=_TEXT), _record(
        **one, **columns, classifiers=_COUNT, calibrated=_FLAG, zero_probability=_COUNT.or_null,
        best=_list(_TEXT),
        difference=_record(**dict.fromkeys(scores, difference.if_there)).or_null))
    search = _record(configuration=_TEXT, split=_TEXT, options=_TEXT, tried=_COUNT,
                     searched=_NUMBER.or_null, estimate=_ESTIMATE.or_null, complete=_FLAG,
                     seconds=_NUMBER)
    return _scored(_record(
        data=_TEXT, options=_TEXT, **_WORDS, points=_COUNT, classes=_COUNT, splits=_COUNT,
        trials=_COUNT, plan=_TEXT, by=_score(scores), left_out=_COUNT.or_null,
        calibrated=_list(_FLAG), mcnemar=_FLAG, against=_record(**one).or_null,
        rows=_list(row), tuned=_record(by=_score(scores), search=_TEXT, plan=_TEXT,
                                       untuned=_list(_TEXT), searches=_list(search)).if_there))


def _scored(kind):
    """Comparisons all of whose rows have the score that decides."""
    def take(value, place):
        found = kind(value, place)
        for number, row in enumerate(found["rows"]):
            if "error" not in row and found["by"] not in row:
                raise _Wrong(f"rows[{number}]: there is no '{found['by']}'")
        return found
    return _Kind(take)


def _search(scores, maybe):
    whole = {"options": _TEXT, "kernel": _TEXT.or_null, "degree": _COUNT.or_null,
             "coef0": _NUMBER.or_null, "log2g": _POWER.or_null, "log2c": _POWER.or_null,
             **{name: _POWER.or_null.if_there for name in PARAMETERS
                if name not in ("log2g", "log2c")},
             "score": _NUMBER.or_null, "sd": _NUMBER.or_null, "values": _list(_NUMBER.or_null)}
    point = _rows_of(_record(**whole, error=_TEXT), _record(
        **whole, mean=_NUMBER.or_null, zero_probability=_COUNT.or_null, rows=_COUNT.or_null,
        parts=_list(_COUNT)))
    tried = {"points": _list(point), "best": _COUNT.or_null, "given": _COUNT.or_null,
             "border": _list(_TEXT)}
    told = _record(**dict.fromkeys(scores, _SUMMARY.or_null),
                   **dict.fromkeys(maybe, _SUMMARY.or_null.if_there))
    scores = (*scores, *maybe)
    either = {"tried": _COUNT, "estimate": _ESTIMATE.or_null}
    head = {"control": _TEXT, "data": _TEXT, **_WORDS, "by": _score(scores), "plan": _TEXT,
            "search": _TEXT, "decoder": _TEXT, "complete": _FLAG, "left_out": _COUNT.or_null,
            **either}
    whole_of = {"whole": _record(given=told.if_there, common=told.if_there,
                                 tuned=told.if_there).or_null.if_there}
    common = _placed(_record(**tried, **either, scores=told.or_null))
    together = _placed(_record(**head, **tried, **whole_of, scores=told.or_null))
    part = _placed(_record(left=_list(_LABEL), right=_list(_LABEL), rows=_list(_COUNT), **tried))
    apart = _record(**head, **whole_of, partitions=_list(part), common=common.if_there,
                    own=_FLAG.if_there)

    def take(value, place):
        return (apart if type(value) is dict and "partitions" in value else together)(value, place)
    return _Kind(take)


def _placed(kind):
    """Records whose best and given are places among their points."""
    def take(value, place):
        found = kind(value, place)
        for key in ("best", "given"):
            if found[key] is not None and found[key] >= len(found["points"]):
                raise _Wrong(f"{f'{place}.' if place else ''}{key}: expected the place of one of "
                             f"the {len(found['points'])} points, found {found[key]}")
        if found["best"] is not None and found["points"][found["best"]]["score"] is None:
            raise _Wrong(f"{f'{place}.' if place else ''}best: expected a point with a score")
        return found
    return _Kind(take)


def read_comparison(path, scores: Iterable[str], maybe: Iterable[str] = (), stdin=None) -> dict:
    """The comparison that `compare_control --json` wrote, as a dictionary.

    scores: names of those that each row has, or null in their place;  maybe: of others.  Raises
    `DataError`, which names the place, for anything else.
    """
    return _read(path, _comparison(tuple(scores), tuple(maybe)), "compare_control --json", stdin)


def read_search(path, scores: Iterable[str], maybe: Iterable[str] = (), stdin=None) -> dict:
    """The search that `tune_m --json FILE` wrote, likewise."""
    return _read(path, _search(tuple(scores), tuple(maybe)), "tune_m --json FILE", stdin)


def _read(path, kind, command, stdin):
    raw = read_bytes(path, stdin, most=_MOST_BYTES, expected=f"what {command} writes")
    try:
        found = strict_json(raw)
    except json.JSONDecodeError as error:
        raise DataError(f"expected JSON, as {command} writes it: {error.msg}", file=path,
                        line=error.lineno) from None
    except (ValueError, RecursionError):
        raise DataError(f"expected JSON, as {command} writes it: it holds something else",
                        file=path) from None
    try:
        return kind(found, "")
    except _Wrong as error:
        raise DataError(f"expected what {command} writes: {error}", file=path) from None

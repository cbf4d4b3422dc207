"""Results of experiments in JSON, as `compare_control --json` and `tune_m --json` write them.

What is read has the keys and kinds of values that these commands write, and no others; numbers that
are not finite were written as null.  An expected value is the name of a plain kind, a list of one
item, a dictionary, or a function that chooses among these by the value; a kind in a tuple may be
null, and a key that ends in ? may be missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from ..control.learners import PARAMETERS
from ..control.tree import MAX_LABEL
from ..core.errors import DataError, one_line
from ..core.version import RESULTS
from ..files.codec import strict_json
from ..files.opening import read_bytes

_MOST_BYTES = 16 * 2**20
_MOST = 100_000  # entries of a list
_NUMBER, _NUMBERS = ("number",), [("number",)]
_SUMMARY = ({"pooled": _NUMBER, "mean": _NUMBER, "sd": _NUMBER, "values": _NUMBERS},)
_ESTIMATE = (
    {
        "score": _NUMBER,
        "error": _NUMBER,
        "points": "count",
        "options": "count",
        "effective?": _NUMBER,
        "how": "text",
    },
)
_WORDS = {"version?": "version", "costs?": "text", "features?": "text", "weights?": "text"}
_PLAIN = {  # name: (types, what is expected, whether a value of these fits)
    "text": (
        (str,),
        "text",
        lambda value: value == value.encode("utf-8", "ignore").decode(),
    ),  # no half characters
    "flag": ((bool,), "true or false", lambda value: True),
    "count": ((int,), "a whole number", lambda value: 0 <= value <= 2**53),
    "version": ((int,), f"version {RESULTS}", lambda value: value == RESULTS),
    "label": ((int,), "a class label", lambda value: 0 <= value <= MAX_LABEL),
    # whose square is a number still
    "number": ((int, float), "a number", lambda value: abs(value) <= 1e150),
    "power": ((int, float), "an exponent of 2", lambda value: abs(value) <= 1000),
    "bounds": ((list,), "a list of two bounds", lambda value: len(value) == 2),
}


class _OneOf(tuple):
    """Words of which a value is one."""


class _Wrong(Exception):
    """A value that is none of what was expected: the place, and what was."""


def _wrong(path, what, value):
    shown = one_line(json.dumps(value))
    raise _Wrong(
        f"{path + ': ' if path else ''}expected {what}, found "
        f"{shown if len(shown) <= 40 else shown[:37] + '...'}"
    )


def _checked(kind, value, path=""):
    """The value with its known keys; `_Wrong` unless it is of a kind."""
    if callable(kind):
        kind = kind(value)
    if isinstance(kind, _OneOf):
        if type(value) is not str or value not in kind:
            _wrong(path, f"a score ({', '.join(kind)})", value)
        return value
    if isinstance(kind, tuple):
        return None if value is None else _checked(kind[0], value, path)
    if isinstance(kind, str):
        types, what, fits = _PLAIN[kind]
        if type(value) not in types or not fits(value):
            _wrong(path, what, value)
        return _checked(["number"], value, path) if kind == "bounds" else value
    if isinstance(kind, list):
        if type(value) is not list or len(value) > _MOST:
            _wrong(path, f"a list of at most {_MOST}", value)
        return [_checked(kind[0], item, f"{path}[{index}]") for index, item in enumerate(value)]
    if type(value) is not dict:
        _wrong(path, "an object", value)
    known = {}
    for name, inner in kind.items():
        key = name.removesuffix("?")
        if key in value:
            known[key] = _checked(inner, value[key], f"{path}.{key}" if path else key)
        elif key == name:
            raise _Wrong(f"{path + ': ' if path else ''}there is no '{key}'")
    return known


def _failed_or(failed, sound):
    return lambda value: failed if type(value) is dict and "error" in value else sound


def _comparison(scores, maybe):
    every = _OneOf((*scores, *maybe))
    name = {"configuration": "text", "decoder": "text"}
    difference = {
        "pooled": _NUMBER,
        "mean": _NUMBER,
        "sd": _NUMBER,
        "p_value": _NUMBER,
        "interval?": ("bounds",),
    }
    row = {
        **name,
        **dict.fromkeys(("design_s", "train_s", "classify_s", *scores), _SUMMARY),
        **dict.fromkeys((f"{key}?" for key in (*maybe, "queried", "kernel_values")), _SUMMARY),
        "classifiers": "count",
        "calibrated": "flag",
        "zero_probability": ("count",),
        "best": ["text"],
        "difference": ({f"{score}?": difference for score in every},),
    }
    search = {
        "configuration": "text",
        "split": "text",
        "options": "text",
        "tried": "count",
        "searched": _NUMBER,
        "estimate": _ESTIMATE,
        "complete": "flag",
        "seconds": "number",
    }
    return {
        "data": "text",
        "options": "text",
        **_WORDS,
        "points": "count",
        "classes": "count",
        "splits": "count",
        "trials": "count",
        "plan": "text",
        "by": every,
        "left_out": ("count",),
        "calibrated": ["flag"],
        "mcnemar": "flag",
        "against": (name,),
        "rows": [_failed_or({**name, "error": "text"}, row)],
        "tuned?": {
            "by": every,
            "search": "text",
            "plan": "text",
            "untuned": ["text"],
            "searches": [search],
        },
    }


def _search(scores, maybe):
    options = {
        "options": "text",
        "kernel": ("text",),
        "degree": ("count",),
        "coef0": _NUMBER,
        "log2g": ("power",),
        "log2c": ("power",),
        **{f"{name}?": ("power",) for name in PARAMETERS if name not in ("log2g", "log2c")},
        "score": _NUMBER,
        "sd": _NUMBER,
        "values": _NUMBERS,
    }
    tried = {
        "points": [
            _failed_or(
                {**options, "error": "text"},
                {
                    **options,
                    "mean": _NUMBER,
                    "zero_probability": ("count",),
                    "rows": ("count",),
                    "parts": ["count"],
                },
            )
        ],
        "best": ("count",),
        "given": ("count",),
        "border": ["text"],
    }
    summaries = {**dict.fromkeys(scores, _SUMMARY), **{f"{name}?": _SUMMARY for name in maybe}}
    total = {"tried": "count", "estimate": _ESTIMATE}
    head = {
        "control": "text",
        "data": "text",
        **_WORDS,
        "by": _OneOf((*scores, *maybe)),
        "plan": "text",
        "search": "text",
        "decoder": "text",
        "complete": "flag",
        "left_out": ("count",),
        **total,
        "whole?": ({"given?": summaries, "common?": summaries, "tuned?": summaries},),
    }
    together = {**head, **tried, "scores": (summaries,)}
    parted = {
        **head,
        "own?": "flag",
        "common?": {**tried, **total, "scores": (summaries,)},
        "partitions": [{"left": ["label"], "right": ["label"], "rows": ["count"], **tried}],
    }
    return lambda value: parted if type(value) is dict and "partitions" in value else together


def read_comparison(path, scores: Iterable[str], maybe: Iterable[str] = (), stdin=None) -> dict:
    """The comparison that `compare_control --json` wrote, as a dictionary.

    Each row has the names in `scores`, or null in their place, and may have those in `maybe`.
    Raises `DataError`, with the place, for anything else.
    """

    def check(result):
        for index, row in enumerate(result["rows"]):
            if "error" not in row and result["by"] not in row:
                raise _Wrong(f"rows[{index}]: there is no '{result['by']}'")

    return _read(
        path, _comparison(tuple(scores), tuple(maybe)), "compare_control --json", stdin, check
    )


def read_search(path, scores: Iterable[str], maybe: Iterable[str] = (), stdin=None) -> dict:
    """The search that `tune_m --json FILE` wrote, likewise."""

    def check(result):
        for prefix, part in (
            ("", result),
            ("common.", result.get("common")),
            *((f"partitions[{i}].", one) for i, one in enumerate(result.get("partitions", ()))),
        ):
            points = (part or {}).get("points")
            for key in ("best", "given") if points is not None else ():
                if part[key] is not None and part[key] >= len(points):
                    raise _Wrong(
                        f"{prefix}{key}: expected the place of one of the {len(points)} "
                        f"points, found {part[key]}"
                    )
            if points and part["best"] is not None and points[part["best"]]["score"] is None:
                raise _Wrong(f"{prefix}best: expected a point with a score")

    return _read(path, _search(tuple(scores), tuple(maybe)), "tune_m --json FILE", stdin, check)


def _read(path, kind, command, stdin, check):
    raw = read_bytes(path, stdin, most=_MOST_BYTES, expected=f"what {command} writes")
    try:
        result = _checked(kind, strict_json(raw))
        check(result)
    except json.JSONDecodeError as error:
        raise DataError(
            f"expected JSON, as {command} writes it: {error.msg}", file=path, line=error.lineno
        ) from None
    except (ValueError, RecursionError):
        raise DataError(
            f"expected JSON, as {command} writes it: it holds something else", file=path
        ) from None
    except _Wrong as error:
        raise DataError(f"expected what {command} writes: {error}", file=path) from None
    return result

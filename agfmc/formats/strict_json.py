"""JSON from files that anybody may have written."""

import json

__all__ = ["strict_json"]


def strict_json(raw: bytes):
    """The value of JSON in UTF-8; `ValueError` or `RecursionError` where it is none.

    Refused too: a key that stands twice, NaN and infinity, and whole numbers of more than 20
    digits, as those of hundreds of thousands take minutes.
    """
    return json.loads(raw.decode("utf-8"), object_pairs_hook=_object, parse_int=_whole,
                      parse_constant=_refused)


def _object(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _whole(text):
    return int(text) if len(text) <= 20 else _refused(text)


def _refused(text):
    raise ValueError(text)

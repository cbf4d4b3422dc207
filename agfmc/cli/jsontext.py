"""Scores as JSON, which has no word for what is not a number."""

from __future__ import annotations

__all__ = ["json_text"]


def json_text(value):
    """`value` as a JSON text with a line break at its end; NaN and infinity become null."""
    import json

    return json.dumps(_finite(value), indent=1) + "\n"


def _finite(value):
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and value - value != 0.0 else value

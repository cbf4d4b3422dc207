"""Probabilities and classes as text, in libAGF's layout.

Each point is a line: k times ` %9.6f`, then `% 4d` the class.  Numbers
between -9.999999 and 9.999999 are turned into digits for a whole block at
once; where rounding is too close to call, or numbers are larger, Python's
own formatting decides, so that the text is always the same.
"""

from __future__ import annotations

import numpy as np

__all__ = ["format_points"]

# A number is seven characters, blank, sign, digit, point and three decimals, then three more.
_CELL = np.dtype([("head", "V7"), ("tail", "V3")])
_HEADS = np.frombuffer("".join(f" {sign}{i // 1000}.{i % 1000:03d}" for sign in " -"
                               for i in range(10000)).encode(), dtype="V7")
_TAILS = np.frombuffer("".join(f"{i:03d}" for i in range(1000)).encode(), dtype="V3")


def format_points(values, classes=None):
    """Lines of text, as bytes: values (n, c) float64, classes (n,) whole numbers or None."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.abs(values) * 1e6
        whole = np.rint(scaled)
        near = np.abs(np.abs(scaled - whole) - 0.5) < 1e-6
        plain = not np.any(near | ~(whole < 1e7))
    if not plain:
        return _by_python(values, classes)
    n, c = values.shape
    tail = _class_text(classes, n)
    out = np.empty((n, c * _CELL.itemsize + tail.shape[1] + 1), dtype=np.uint8)
    cells = np.empty((n, c), dtype=_CELL)
    millionths = whole.astype(np.int32)
    head = millionths // 1000
    millionths -= 1000 * head
    head += 10000 * np.signbit(values)
    cells["head"] = _HEADS[head]
    cells["tail"] = _TAILS[millionths]
    out[:, :c * _CELL.itemsize] = cells.view(np.uint8).reshape(n, c * _CELL.itemsize)
    out[:, c * _CELL.itemsize:-1] = tail
    out[:, -1] = 10
    return _without_padding(out, tail)


def _class_text(classes, n):
    """`% 4d` of every class, (n, w) bytes, padded at the left with NUL where widths differ."""
    if classes is None:
        return np.empty((n, 0), dtype=np.uint8)
    labels, inverse = np.unique(classes, return_inverse=True)
    texts = ["% 4d" % label for label in labels.tolist()]
    width = max((len(text) for text in texts), default=0)
    table = np.frombuffer("".join(text.rjust(width, "\0") for text in texts).encode(),
                          dtype=np.uint8).reshape(len(texts), width)
    return table[inverse.ravel()]


def _without_padding(out, tail):
    text = out.tobytes()
    return text.replace(b"\0", b"") if (tail == 0).any() else text


def _by_python(values, classes):
    line = " %9.6f" * values.shape[1]
    if classes is None:
        return "".join([line % tuple(row) + "\n" for row in values.tolist()]).encode()
    line += "%s\n"
    texts = {label: "% 4d" % label for label in np.unique(classes).tolist()}
    return "".join([line % (*row, texts[label]) for row, label in
                    zip(values.tolist(), classes.tolist())]).encode()

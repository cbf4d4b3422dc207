"""Probabilities and classes as text, in libAGF's layout.

Each point is a line: k times ` %9.6f`, then `% 4d` the class.  Numbers
between -9.999999 and 9.999999 are turned into digits for a whole block at
once; where rounding is too close to call, or numbers are larger, Python's
own formatting decides, so that the text is always the same.
"""

from __future__ import annotations

import numpy as np

__all__ = ["format_points"]

_CELL = 10  # characters of a number: blank, sign, digit, point, six decimals


def _tables():
    """The first six characters of a number (2000,), signs one after the other, and the last
    four (10000,); each as one integer of eight or four bytes."""
    numbers = np.arange(10000)
    digits = np.stack([numbers // 10**place % 10 for place in (3, 2, 1, 0)], axis=1) + 48
    head = np.zeros((2, 1000, 8), dtype=np.uint8)
    head[..., 0] = 32
    head[:, :, 1] = [[32], [45]]
    head[..., 2] = digits[:1000, 1]
    head[..., 3] = 46
    head[..., 4:6] = digits[:1000, 2:]
    tail = digits.astype(np.uint8)
    return head.reshape(2000, 8).view(np.uint64)[:, 0], tail.view(np.uint32)[:, 0]


_HEADS, _TAILS = _tables()


def format_points(values, classes=None):
    """Lines of text, as bytes: values (n, c) float64, classes (n,) whole numbers or None."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.abs(values) * 1e6
        whole = np.rint(scaled)
        # The product is rounded, but never to the other side of a tie: only on it is there doubt.
        tied = np.abs(scaled - whole) == 0.5
        plain = values.size > 0 and not np.any(tied | ~(whole < 1e7))
    if not plain:
        return _by_python(values, classes)
    n, c = values.shape
    tail = _class_text(classes, n)
    out = np.empty((n, c * _CELL + tail.shape[1] + 1), dtype=np.uint8)
    millionths = whole.astype(np.int32)
    head = millionths // 10000
    millionths -= 10000 * head
    head += 1000 * np.signbit(values)
    # a head is written with two bytes more, which its tail then covers
    _cells(out, c, 0, np.uint64)[...] = _HEADS[head]
    _cells(out, c, 6, np.uint32)[...] = _TAILS[millionths]
    out[:, c * _CELL:-1] = tail
    out[:, -1] = 10
    return _without_padding(out, tail)


def _cells(out, c, offset, dtype):
    """The bytes from `offset` on of each of the c numbers in the lines `out`, as integers."""
    return np.ndarray((len(out), c), dtype, out, offset, (out.shape[1], _CELL))


def _class_text(classes, n):
    """`% 4d` of every class, (n, w) bytes, padded at the left with NUL where widths differ."""
    if classes is None:
        return np.empty((n, 0), dtype=np.uint8)
    labels = sorted(set(classes.tolist()))
    texts = ["% 4d" % label for label in labels]
    width = max((len(text) for text in texts), default=0)
    table = np.frombuffer("".join(text.rjust(width, "\0") for text in texts).encode(),
                          dtype=np.uint8).reshape(len(texts), width)
    return table[np.searchsorted(labels, classes)]


def _without_padding(out, tail):
    text = out.tobytes()
    return text.replace(b"\0", b"") if (tail == 0).any() else text


def _by_python(values, classes):
    line = " %9.6f" * values.shape[1]
    if classes is None:
        return "".join([line % tuple(row) + "\n" for row in values.tolist()]).encode()
    line += "%s\n"
    texts = {label: "% 4d" % label for label in set(classes.tolist())}
    return "".join([line % (*row, texts[label]) for row, label in
                    zip(values.tolist(), classes.tolist())]).encode()

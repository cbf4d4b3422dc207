"""What data are that are not of the format expected, and what to do: words for messages."""

from __future__ import annotations

import re

import numpy as np

from .numbers import CONTROL

__all__ = ["LABELS", "POINTS", "SCALE", "VALUES", "foreign_line", "is_text"]

# What was expected where there is text, {} being its name.
POINTS = "points (.vec); LIBSVM text is read with -M, LVQ text with -A"
SCALE = "a normalisation (.std), as -n writes it; a file of svm-scale is for `svm-scale -r {} data`"
LABELS = "binary labels (.cls): `svmout2agf {} base` makes base.cls of one label in each line, " \
         "svm2agf of LIBSVM text, lvq2agf of LVQ text"
VALUES = "binary numbers, float32 (.con, .dat): svm2agf -L and lvq2agf -L make base.dat of text " \
         "with numbers in the place of labels"
_SURE = 16  # numbers that are text, though no newline ends it
_ENTRY = re.compile(rb"\d+:\S")
_PARTITION = re.compile(rb"""\s*(?:"[^"]*"\s*|[^\s"]+\s+)(?:\d+\s+)+/\s*\d+(?:\s+\d+)*\s*;""")
_LINE = 1 << 12  # bytes of a line that tell what it is


def is_text(data, floats=False):
    """Whether bytes where labels, or float32 numbers, are expected are text.

    All of them must be text in UTF-8, and they end in a newline, or are no whole numbers
    of four bytes, or are sixteen labels, or sixteen different float32 numbers.  Real ones are
    not like that: a label of four bytes of text is above 150 million (0x09090909 is the
    least), a float32 whose last byte is a newline is below 1e-30, and other bytes are in
    every whole float32 below 2^16 and in nine of ten of all.
    """
    if not data or CONTROL.search(data):
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    if data.endswith((b"\n", b"\r")) or len(data) % 4:
        return True
    words = np.frombuffer(data, np.uint32)
    return len(np.unique(words) if floats else words) >= _SURE


def foreign_line(line):
    """What the bytes of a line of text look like, and what can be read; "" for nothing special."""
    line = line[:_LINE].split(b"#")[0]
    words = line.split()
    if any(_ENTRY.match(word) for word in words[1:]):
        return "it looks like LIBSVM text (-M, svm2agf)"
    if _PARTITION.match(line):
        return "it looks like a control file, not like data"
    for mark, quoted, name in ((b",", ",", "commas"), (b";", "';'", "semicolons")):
        pieces = line.count(mark)  # and not the commas of decimal fractions
        if pieces and (len(words) == 1 or pieces > len(words) or
                       any(word.endswith(mark) for word in words)):
            return (f"it looks like a table with {name}: what can be read is LIBSVM text, `label "
                    "index:value ...`, or LVQ text, values and last the label with blanks between: "
                    f"`tail -n +2 FILE | tr {quoted} ' ' | lvq2agf -H - base` makes it binary, "
                    "where the first line holds headings and the last column the label")
    return ""

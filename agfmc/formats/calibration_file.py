"""Text file of a calibration, beside a control file, read with every check.

    agfmc calibration 1
    model 1b0c7fa2d9e86435                 the classifiers that it belongs to
    classes 0 1 2                          labels, ascending
    source 150 points by folds             what it was fitted to
    counts 50 50 50                        points of each class
    decoder least-squares                  a block for each decoder:
    map temperature                        none, temperature, vector or matrix
    # T = 0.8                              for people: lines like this one are not read
    weights 1.25                           1/T; k numbers of a vector map; k lines of k
    intercept 0 0                          of a vector or matrix map
    floor 0.003
    points 3                               that many lines, or no such line:
    0 0.998                                class, its probability: it was the answer; or
    1 0.2 0.95 0.75 0                      class, its probability, cumulative, largest, right or not
    learned 21                             or no such block; number of classifiers
    intercept 0.1 -0.2 0
    weights 1 2 ...                        a line for each class
    end
    # made by agfmc 0.3.0; made from ...; sum ...

Every number reads back bit for bit: a threshold that is one of these probabilities is met by
a point with the same one.
"""

import os
import re

import numpy as np

from .._version import __version__
from ..errors import DataError, ModelError
from ..models import (Calibration, CalibrationPoints, DecoderCalibration, LearnedDecoder,
                      MAP_KINDS, ProbabilityMap)
from .consistency import check_calibration, checked
from .inputs import open_input, read_bytes, SMALL_TEXT
from .seal import check_seal, sealed
from .text import numbers

__all__ = ["calibration_of", "check_calibration_output", "format_calibration", "read_calibration"]

_TITLE = "agfmc calibration 1"
_WHOLE = re.compile("[0-9]{1,15}", re.ASCII)


def calibration_of(path):
    """The name of the calibration beside a control file; `-` where there is no file."""
    return path if path == "-" else f"{path}.cal"


def check_calibration_output(path):
    """Raise `DataError` where a calibration would take the place of a file that is none."""
    if os.path.isfile(path):
        with open_input(path) as file:
            known = file.read(len(_TITLE) - 1) == _TITLE[:-1].encode()
        if not known:
            raise DataError("is no calibration, and the name is that of the calibration: expected "
                            "another name of control-out, or this file elsewhere", file=path)


def format_calibration(calibration, path=None):
    """The text of a `Calibration`, which is `checked`; each number reads back bit for bit."""
    checked(calibration, lambda one: check_calibration(one, ModelError), path)
    lines = [_TITLE, f"model {calibration.model}", _line("classes", calibration.classes),
             f"source {calibration.source}", _line("counts", calibration.counts)]
    for key, one in calibration.decoders.items():
        lines += [f"decoder {key}", *_map_lines(one.map)]
        if one.points is not None:
            lines += [f"points {len(one.points.label)}", *_point_lines(one.points)]
    learned = calibration.learned
    if learned is not None:
        lines += [f"learned {learned.weights.shape[1]}", _line("intercept", learned.intercept),
                  *(_line("weights", row) for row in learned.weights)]
    lines += ["end", f"# made by agfmc {__version__}"]
    return sealed("\n".join(lines), calibration.model)


def _line(word, values):
    """A key word with its numbers, in full."""
    return " ".join([word, *map(repr, np.asarray(values).tolist())])


def _map_lines(found):
    lines = [f"map {found.kind}"]
    if found.kind == "none":
        return lines
    if found.kind == "temperature":
        lines.append(f"# T = {1 / float(found.weights):.6g}")
    lines += [_line("weights", row) for row in np.atleast_2d(found.weights)]
    if found.kind != "temperature":
        lines.append(_line("intercept", found.intercept))
    return [*lines, f"floor {float(found.floor)!r}"]


def _point_lines(points):
    """A line for each calibration point; two numbers where the others follow from them."""
    plain = points.right & (points.p_true == points.cumulative) & \
        (points.p_true == points.p_largest)
    columns = (points.label, points.p_true, points.cumulative, points.p_largest, points.right,
               plain)
    return [f"{label} {p!r}" if short else f"{label} {p!r} {cumulative!r} {largest!r} {right:d}"
            for label, p, cumulative, largest, right, short in
            zip(*(np.asarray(column).tolist() for column in columns))]


def read_calibration(path):
    """Read the text file of a `Calibration`.

    Raises `ModelError` with the line of whatever is invalid.
    """
    # there is a line for each point, so that the size on the disk is the limit
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    raw = read_bytes(path, most=max(size, SMALL_TEXT),
                     expected="a calibration, and a larger one without compression")
    check_seal(raw, path)
    return _Reader(raw, path).calibration()


class _Reader:
    """The lines of a file, taken one after the other; memory is asked for only for what is there.

    All methods raise `ModelError` with the line.
    """

    def __init__(self, raw, path):
        self._path = path
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            self._at = raw[:error.start].count(b"\n") + 1
            raise self._fail("expected a calibration as text, found other bytes") from None
        self._lines = text.replace("\r\n", "\n").split("\n")
        self._at = 1  # lines taken
        if self._lines[0].split() != _TITLE.split():
            if self._lines[0].split()[:2] == _TITLE.split()[:2]:
                raise self._fail("expected version 1 of this format, found "
                                 f"'{self._lines[0][:40]}'")
            found = "bytes that are no text" if not self._lines[0].isprintable() else \
                f"'{self._lines[0][:40]}'" if text.strip() else "an empty file"
            raise self._fail(f"expected '{_TITLE}', found {found}")

    def _fail(self, message):
        return ModelError(message, file=self._path, line=self._at)

    def calibration(self):
        """The `Calibration`, which is all that the file holds."""
        model, = self._words("model", 1)
        classes = self._whole("classes")
        source = self._text("source")
        counts = self._whole("counts", len(classes))
        decoders, learned = {}, None
        while (word := self._next_word()) == "decoder":
            key = self._text("decoder")
            if key in decoders:
                raise self._fail(f"the decoder '{key[:40]}' occurs a second time")
            decoders[key] = self._decoder(key, len(classes))
        if word == "learned":
            learned = self._learned(len(classes))
        self._words("end", 0)
        self._pass_comments()
        if self._at < len(self._lines) and (len(self._lines) - self._at > 1 or self._lines[-1]):
            self._at += 1
            raise self._fail("expected the end of the file, found "
                             f"'{self._lines[self._at - 1][:40]}'")
        calibration = Calibration(model, classes, source, counts, decoders, learned)
        self._at = len(self._lines) - 1
        check_calibration(calibration, self._fail)
        return calibration

    def _decoder(self, key, k):
        """The map of a decoder and its points."""
        columns = 2 if key.split()[:1] == ["recursive"] else k
        kind, = self._words("map", 1)
        if kind not in MAP_KINDS:
            raise self._fail(f"expected one of {', '.join(MAP_KINDS)}, found '{kind[:40]}'")
        found = ProbabilityMap("none")
        if kind != "none":
            if kind == "matrix":
                weights = np.array([self._numbers("weights", columns) for _ in range(columns)])
            else:
                weights = self._numbers("weights", 1 if kind == "temperature" else columns)
            intercept = np.zeros(columns)
            if kind == "temperature":
                weights = weights.reshape(())
            else:
                intercept = self._numbers("intercept", columns)
            found = ProbabilityMap(kind, weights, intercept,
                                   float(self._numbers("floor", 1)[0]))
        points = self._points() if self._next_word() == "points" else None
        return DecoderCalibration(found, points)

    def _learned(self, k):
        m, = self._whole("learned", 1)
        intercept = self._numbers("intercept", k)
        return LearnedDecoder(np.array([self._numbers("weights", m) for _ in range(k)]), intercept)

    def _points(self):
        """Calibration points; the table is made once all of its lines were seen."""
        n, = self._whole("points", 1)
        if n > len(self._lines) - self._at:
            raise self._fail(f"truncated: expected {n} points, found "
                             f"{len(self._lines) - self._at} lines")
        lines = [line.split() for line in self._lines[self._at:self._at + n]]
        width = np.array([len(words) for words in lines], dtype=np.int64)
        table = np.full((n, 5), np.nan)
        for count in (2, 5):
            which = np.flatnonzero(width == count)
            found = _numbers([word for i in which for word in lines[i]])
            if found is None:  # the slow way tells which line it is
                for i in which:
                    if (row := _numbers(lines[i])) is not None:
                        table[i, :count] = row
            else:
                table[which, :count] = found.reshape(-1, count)
        plain = width == 2
        table[plain, 2] = table[plain, 3] = table[plain, 1]
        table[plain, 4] = 1
        label = table[:, 0]
        right = np.isfinite(table).all(axis=1) & (label == np.rint(label)) & (label >= 0) & \
            (label < 2**31) & np.isin(table[:, 4], (0, 1))
        if not right.all():
            self._at += int(np.argmin(right)) + 1
            raise self._fail("expected a class and its probability, or these and the cumulative "
                             "and the largest probability and 0 or 1, found "
                             f"'{self._lines[self._at - 1][:40]}'")
        self._at += n
        return CalibrationPoints(label.astype(np.int32), *(
            table[:, i].copy() for i in (1, 2, 3)), table[:, 4] == 1)

    def _pass_comments(self):
        while self._at < len(self._lines) and self._lines[self._at].startswith("#"):
            self._at += 1

    def _next_word(self):
        """The key word of the next line."""
        self._pass_comments()
        words = self._lines[self._at].split(None, 1) if self._at < len(self._lines) else ()
        return words[0] if words else ""

    def _text(self, key):
        """The text behind the key word of the next line."""
        word = self._next_word()
        if not word and self._at >= len(self._lines) - 1:
            raise self._fail(f"truncated: expected '{key}', found the end of the file")
        self._at += 1
        line = self._lines[self._at - 1]
        if word != key:
            raise self._fail(f"expected '{key}', found '{line[:40]}'")
        return line.strip()[len(key):].strip()

    def _words(self, key, count):
        words = self._text(key).split()
        if len(words) != count:
            raise self._fail(f"'{key}': expected {count} value{'s' * (count != 1)}, found "
                             f"{len(words)}")
        return words

    def _whole(self, key, count=None):
        """Whole numbers behind a key word, `count` or any number but none."""
        words = self._text(key).split() if count is None else self._words(key, count)
        if not words or not all(_WHOLE.fullmatch(word) for word in words):
            raise self._fail(f"'{key}': expected whole numbers, found '{' '.join(words)[:40]}'")
        return tuple(map(int, words))

    def _numbers(self, key, count):
        """The `count` finite numbers (count,) behind a key word."""
        words = self._words(key, count)
        found = _numbers(words)
        if found is None:
            raise self._fail(f"'{key}': expected finite numbers, found '{' '.join(words)[:40]}'")
        return found


def _numbers(words):
    """The finite numbers that these words are, float64; None if one is not."""
    return numbers(np.frombuffer(" ".join(words).encode(), np.uint8), len(words))

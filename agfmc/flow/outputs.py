"""Data sets to files or to standard output, in any format, all complete before any appears."""

from __future__ import annotations

import os
import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ..errors import AgfmcWarning, DataError, UsageError
from ..formats.files import replacing_all
from ..formats.lvq import lvq_lines
from ..formats.names import names_bytes
from ..formats.svmwriter import check_words, svm_lines
from ..formats.vectors import VecWriter, cls_bytes, con_bytes

__all__ = ["Form", "refuse_pipe", "write_together"]


@dataclass(frozen=True)
class Form:
    """How data stand in files.

    kind: "binary" (a base name of .vec, .cls or .dat, .names), "svm" or "lvq" (a
    file of text);  header: LVQ text begins with its number of features;  full:
    LIBSVM text with its zeros.
    """

    kind: str = "binary"
    header: bool = True
    full: bool = False


def refuse_pipe(names, form, labels):
    """UsageError where `-` is among the names of binary data with labels."""
    if form.kind == "binary" and labels and "-" in names:
        raise UsageError("binary data with labels are several files and cannot go through a pipe "
                         "(text can, and points without labels)")


def write_together(outputs, extra=None, form=Form(), stdout=None):
    """Datasets {base or file: Dataset} and {path: bytes or table}, all or none.

    Ordinates, a y of floats, go to base.dat, labels to base.cls.  `-` is `stdout`,
    a binary stream, which is written before the files appear.  Raises DataError for
    what cannot be written or would not be read back.
    """
    refuse_pipe([name for name, data in outputs.items() if data.y is not None], form, True)
    files = {}
    for name, data in outputs.items():
        files.update(_binary(name, data) if form.kind == "binary" else _text(name, data, form))
    files.update(extra or {})
    with ExitStack() as stack:
        named = [path for path in files if path != "-"]
        opened = dict(zip(named, stack.enter_context(replacing_all(named, binary=True))))
        for path in named:
            _write(opened[path], files[path])
        if "-" in files:
            for path in named:
                opened[path].flush()
            _write(_Stream(stdout), files["-"])
            stdout.flush()


class _Stream:
    """A stream that takes all it is given, under the name that errors use."""

    name = "standard output"

    def __init__(self, file):
        self._file = file

    def write(self, data):
        data = memoryview(data)
        while len(data):  # without a buffer a stream may take a part
            data = data[self._file.write(data):]


def _binary(base, data):
    """{path: content} of binary data."""
    if base == "-":
        return {"-": data.x}
    if data.y is not None and data.names is None and os.path.exists(f"{base}.names"):
        warnings.warn(f"{base}.names was there before: its names now stand for these labels",
                      AgfmcWarning, stacklevel=4)
    files = {f"{base}.vec": data.x}
    if data.y is not None and data.y.dtype.kind == "f":
        files[f"{base}.dat"] = con_bytes(data.y, f"{base}.dat")
    elif data.y is not None:
        files[f"{base}.cls"] = cls_bytes(data.y, f"{base}.cls")
    if data.names is not None:
        files[f"{base}.names"] = names_bytes(data.names, f"{base}.names")
    if f"{base}.cls" not in files and os.path.exists(f"{base}.cls"):
        warnings.warn(f"{base}.cls was there before, and stands beside these points now",
                      AgfmcWarning, stacklevel=4)
    return files


def _text(path, data, form):
    """{path: lines} of data as text."""
    where = "standard output" if path == "-" else path
    finite = np.isfinite(data.x).all(axis=1)
    if not finite.all():
        raise DataError(f"row {int(np.argmin(finite))} (from 0) has NaN or infinity", file=where)
    if data.names is not None:
        check_words(data.y, data.names, where)
    if form.kind == "svm":
        return {path: svm_lines(data.x, data.y, data.names, form.full)}
    return {path: lvq_lines(data.x, data.y, form.header, data.names)}


def _write(file, content):
    if isinstance(content, bytes):
        file.write(content)
    elif isinstance(content, np.ndarray):
        writer = VecWriter(file, content.shape[1])
        step = max(1, 2**22 // content.shape[1])
        for start in range(0, len(content), step):
            writer.write(content[start:start + step])
    else:
        while text := "".join(islice(content, 512)):
            file.write(text.encode("utf-8", "surrogateescape"))

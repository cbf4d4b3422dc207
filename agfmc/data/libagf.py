"""The binary data files: `.vec`, `.cls`, `.con`, `.dat`, `.std`, all little-endian.

`.vec`: int32 D, then n x D float32 row by row; n follows from the size.
`.cls`: one int32 per sample.  `.con`, `.dat`: one float32 per sample.
`.std`: a `.vec` with header D2 + 1 and D1 rows; the first D2 columns are the
matrix M, the last is the mean, and x' = (x - mean) M."""

import os
from contextlib import ExitStack

import numpy as np

from ..core.errors import DataError
from ..core.lazy_points import LazyPoints, StoredTable
from ..core.memory import memory_limit, within_memory
from ..files.atomic import checked, replacing
from ..files.number_text import foreign_start, is_text, LABELS, POINTS, SCALE, VALUES
from ..files.opening import open_input, read_bytes
from .normalisation import Normalisation

FLOAT = np.dtype("<f4")
LABEL = np.dtype("<i4")
_CHUNK = 1 << 28  # bytes of rows at once, but for a single row
_MOST = 1 << 26  # features of a row that is gathered from a pipe
_PIECE = 1 << 22  # bytes read from a pipe at once: a header that lies costs no more than this


class VecReader:
    """A `.vec` file or pipe (`-`), read in chunks; a context manager.

    `d` is known at once; `n` is None for a pipe. Iterating gives float32 arrays of at most `rows`
    rows, with NaN only if `missing`. `expected` names what should be there where it is text.
    """

    def __init__(self, path, rows=4096, stdin=None, expected=POINTS, missing=False):
        self._missing = missing
        with ExitStack() as stack:
            self._file = stack.enter_context(open_input(path, stdin, raw=True))
            self.name = self._file.name
            self.rows = rows
            self.d, self.n = self._header(expected)
            self._stack = stack.pop_all()

    def _header(self, expected):
        header = self._file.read(4)
        d = int.from_bytes(header, "little", signed=True)
        size = self._file.regular_size()
        n, rest = (None, 0) if size is None or d <= 0 else divmod(size - 4, 4 * d)
        problem = None
        if len(header) < 4:
            problem = "is too short for a .vec file: it has no header"
        elif d <= 0:
            problem = f"is not a .vec file: its header says {d} features"
        elif size is None and d > _MOST:
            problem = (
                f"is not a .vec file: its header says {d} features, and from a pipe "
                f"{_MOST} are the most"
            )
        elif rest:
            problem = (
                f"is damaged or not a .vec file: {size} bytes are not a header and whole "
                f"rows of {d} features"
            )
        elif n == 0:
            problem = "has no rows"
        if problem is None:
            self.rows = max(1, min(int(self.rows), _CHUNK // (4 * d)))
            return d, n
        if other := foreign_start(header, self.name):
            problem = f"is not a .vec file; {other}"
        elif header and header.isascii() and is_text(header + b"\n"):  # d > 150 million
            problem = f"looks like text, expected {expected.format(self.name)}"
        raise DataError(problem, file=self.name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._stack.__exit__(*error)

    def __iter__(self):
        width = 4 * self.d
        done = 0
        while data := self._read(self.rows * width):
            if len(data) % width:
                raise DataError(
                    f"ends in the middle of row {done + len(data) // width}", file=self.name
                )
            chunk = np.frombuffer(data, FLOAT).reshape(-1, self.d).astype(np.float32, copy=False)
            _refuse_nonfinite(chunk, self.name, done, self._missing)
            done += len(chunk)
            yield chunk
        if done == 0:
            raise DataError("has no rows", file=self.name)
        if self.n is not None and done != self.n:
            raise DataError("changed while it was read", file=self.name)

    def _read(self, size):
        data = bytearray()
        while len(data) < size and (piece := self._file.read(min(_PIECE, size - len(data)))):
            data += piece
        return data


def read_vec(path, mmap=False, stdin=None, expected=POINTS, missing=False):
    """All points of a `.vec` file as (n, d) float32; expected, missing: as for VecReader.

    With `mmap` a file is mapped, read-only, instead of read.  Raises DataError as
    VecReader does, and for more than fits in memory.
    """
    limit = memory_limit()
    with VecReader(path, stdin=stdin, expected=expected, missing=missing) as reader:
        if reader.n is None:
            return np.concatenate(list(within_memory(reader, reader.name)))
        if mmap:
            x = np.memmap(path, FLOAT, "r", offset=4, shape=(reader.n, reader.d))
        elif 4 * reader.n * reader.d > limit:
            raise DataError(f"cannot read: larger than {limit / 2**30:.3g} GiB", file=reader.name)
        else:
            x = np.empty((reader.n, reader.d), FLOAT)
            if reader._file.readinto(memoryview(x).cast("B")) != x.nbytes:
                raise DataError("changed while it was read", file=reader.name)
    _refuse_nonfinite(x, reader.name, missing=missing)
    if mmap:
        return x
    return x.astype(np.float32, copy=False)


def open_vec(path, missing=False):
    """All points of a `.vec` file, which stay there, as `LazyPoints`; DataError as of read_vec."""
    with VecReader(path) as reader:
        x = LazyPoints(
            StoredTable(reader._file.fileno(), reader.name, FLOAT, 4, (reader.n, reader.d), path)
        )
    _refuse_nonfinite(x, reader.name, missing=missing)
    return x


class VecWriter:
    """Writes a `.vec` in chunks to an open binary file (see `files.replacing`).

    With `missing` values may be NaN.
    """

    def __init__(self, file, d, missing=False):
        if not 0 < d < 2**31:
            raise DataError(f"cannot write {d} features", file=getattr(file, "name", None))
        self.n, self._file, self._missing = 0, file, missing
        file.write(int(d).to_bytes(4, "little"))

    def write(self, x):
        """Append x (rows, d); DataError for a value that float32 cannot hold."""
        self._file.write(_float_bytes(x, self._file.name, self.n, self._missing))
        self.n += len(x)


def write_table(file, x):
    """Write x (n, d) as a `.vec` to an open binary file; DataError as for `VecWriter`."""
    writer = VecWriter(file, x.shape[1])
    step = max(1, _PIECE // x.shape[1])
    for start in range(0, len(x), step):
        writer.write(x[start : start + step])


def read_cls(path, n=None, negative=False, stdin=None):
    """The labels of a `.cls` file as (n,) int32.

    Raises DataError for an empty file, one that is not whole labels or is text, one whose
    length is not `n` (the rows of the points beside it) and, unless `negative`,
    for a label below 0.
    """
    y = read_column(path, LABEL, n, stdin, "labels", LABELS).astype(np.int32, copy=False)
    if not negative:
        refuse_negative(y, path)
    return y


def refuse_negative(y, path, where=""):
    """DataError with the row of the first label below 0; where: they are not allowed."""
    if len(y) and y.min() < 0:
        row = int(np.argmax(y < 0))
        raise DataError(
            f"row {row + 1} has label {y[row]}: labels are whole numbers from 0"
            f"{where} (svm2agf -U and agf_preprocess -U number the classes anew)",
            file=path,
        )


def read_con(path, n=None, stdin=None):
    """The numbers of a `.con` or `.dat` file as (n,) float32; checks as in `read_cls`."""
    values = read_column(path, FLOAT, n, stdin, "values", VALUES).astype(np.float32, copy=False)
    _refuse_nonfinite(values[:, None], path)
    return values


def read_column(path, dtype, n, stdin, what, expected):
    """The n numbers of a file that holds nothing else, or all for None.

    For messages, `what` names the numbers, and `expected` what should be there where it is text,
    with {} for the file.
    """
    data = bytearray(
        read_bytes(  # writable, as every other reader's arrays are
            path,
            stdin,
            raw=True,
            most=None if n is None else max(_PIECE, dtype.itemsize * n),
            expected="" if n is None else f"the {what} of {n} points",
        )
    )
    if str(path).endswith(".gz") and (other := foreign_start(bytes(data[:4]), path)):
        raise DataError(f"expected {what} in binary; {other}", file=path)
    if is_text(data, floats=dtype is FLOAT):
        raise DataError(f"looks like text, expected {expected.format(path)}", file=path)
    if len(data) % dtype.itemsize:
        raise DataError(
            f"is damaged: {len(data)} bytes are not whole {what} of {dtype.itemsize} bytes",
            file=path,
        )
    values = np.frombuffer(data, dtype)
    check_count(values, n, what, path)
    return values


def check_count(values, n, what, path):
    """DataError for no numbers at all, and for other than n where that is not None."""
    if not len(values):
        raise DataError(f"has no {what}", file=path)
    if n is not None and len(values) != n:
        raise DataError(f"has {len(values)} {what}, but there are {n} points", file=path)


def cls_bytes(y, path=None, start=0):
    """Labels (n,) as the bytes of a `.cls` file; DataError for one outside int32."""
    y = np.asarray(y)
    if y.dtype.kind not in "iub" and not np.array_equal(y, np.rint(y)):
        raise DataError("labels must be whole numbers", file=path)
    if y.size and (y.min() < -(2**31) or y.max() >= 2**31):
        row = start + int(np.argmax((y < -(2**31)) | (y >= 2**31))) + 1
        raise DataError(f"the label of row {row} does not fit 32 bits", file=path)
    return y.astype(LABEL).tobytes()


def con_bytes(values, path=None, start=0):
    """Numbers (n,) as the bytes of a `.con` or `.dat` file; DataError for NaN, infinity."""
    return _float_bytes(np.asarray(values)[:, None], path, start)


def read_std(path):
    """The Normalisation in a `.std` file; features with a row of zeros count as dropped."""
    table = _check_map(read_vec(path, expected=SCALE), path)
    matrix = np.ascontiguousarray(table[:, :-1])
    mean = np.ascontiguousarray(table[:, -1])
    dropped = tuple(int(j) for j in np.flatnonzero(~matrix.any(axis=1)))
    return Normalisation(matrix, mean, dropped)


def _check_map(table, path=None):
    """The table of a `.std` file, if it leaves features; the numbers are the matter of `.vec`."""
    if table.shape[1] < 2 or not len(table):
        raise DataError("is not a .std file: it leaves no features", file=path)
    return table


def holds_map(path):
    """True if a file holds the table of a `.std` file, whatever its name, unless that is of data."""
    if not os.path.isfile(path) or path.endswith((".vec", ".cls", ".dat", ".con")):
        return False
    try:
        with VecReader(path) as reader:
            return 1 < reader.d < 1 << 24  # what is larger is text
    except DataError:
        return False


def write_std(path, normalisation, before=None):
    """Write a Normalisation as a `.std` file; `before` is as for `replacing`."""
    rows = std_rows(normalisation, path)
    with replacing(path, binary=True, before=before) as file:
        write_table(file, rows)


def std_rows(normalisation, path=None):
    """The rows of the `.std` file of a Normalisation, which are `checked`."""
    return checked(np.column_stack([normalisation.matrix, normalisation.mean]), _check_map, path)


def _float_bytes(x, path, start, missing=False):
    with np.errstate(over="ignore", invalid="ignore"):
        out = x.astype(FLOAT)
    _refuse_nonfinite(out, path, start, missing)
    return out.tobytes()


def _refuse_nonfinite(x, path, start=0, missing=False):
    """DataError with the row of the first NaN or infinity in x (n, d).

    With `missing` NaN is allowed.
    """
    step = max(1, _PIECE // x.shape[1])
    for begin in range(0, len(x), step):
        block = x[begin : begin + step]
        if missing:
            good = ~np.isinf(block)
        else:
            good = np.isfinite(block)
        if not good.all():
            row, column = np.unravel_index(int(np.argmin(good)), good.shape)
            value = x[begin + row][column]
            if np.isnan(value):
                what = "NaN"
            else:
                what = "an infinite or too large value"
            where = f"row {start + begin + row + 1}"
            if x.shape[1] > 1:
                where = f"feature {column} (from 0) of {where}"
            raise DataError(f"{where} is {what}", file=path)

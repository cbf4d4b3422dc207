"""The call of LIBSVM and LIBLINEAR: points as they take them, and the result of a learner.

Also what is common to the calls of their copies in scikit-learn, which heed weights of samples.
"""

import ctypes
import functools
import importlib.util
import os
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..core.errors import DataError, is_shortage, needed_library, UsageError
from ..core.points import is_sparse

TOO_LARGE = (
    "training gave NaN or infinity: the {} of these points are too large; normalise the "
    "data or choose other options"
)

_NODE = np.dtype(
    {
        "names": ["index", "value"],
        "formats": [np.int32, np.float64],
        "offsets": [0, 8],
        "itemsize": 16,
    }
)


@dataclass(frozen=True, eq=False)
class Solution:
    """A trained classifier f(x) = sum coef K(x, v) - rho.

    The v are points of the data, x[rows[sv]], or other `vectors` (s, d) of the learner, and `sv` is
    None then. `sv` (l,) numbers of the support vectors among the problem's rows, those of the first
    label first; `coef` (l,); f > 0 speaks for `labels[0]`; `n_sv` counts the vectors of both
    labels. `function` computes f (n,) of points (n, d) in place of all this, or None.
    `converged` is False where training stopped at a limit of iterations. `held_out` (l,) are the
    decision values of the samples, each held out, of a learner that makes them itself.
    """

    sv: np.ndarray | None
    coef: np.ndarray
    rho: float
    labels: tuple
    n_sv: tuple
    vectors: np.ndarray | None = None
    function: Callable[[np.ndarray], np.ndarray] | None = None
    converged: bool = True
    held_out: np.ndarray | None = None

    @classmethod
    def plane(cls, w, intercept, labels):
        """The machine f(x) = w.x + intercept: one vector w (d,), and a linear kernel."""
        return cls(None, np.ones(1), -float(intercept), labels, (1, 0), w[None, :])

    @classmethod
    def of_function(cls, function, features):
        """The function of points of so many features, which speaks for the right side."""
        return cls(None, np.empty(0), 0.0, (1, 0), (0, 0), np.empty((0, features)), function)

    def points(self, x, rows):
        """The v (l, d); x (n, d): all points, rows: of the problem."""
        if self.vectors is None:
            return x[rows[self.sv]]
        return self.vectors


class Nodes:
    """Training points x (n, d) packed once in the libraries' own layout, zeros left out.

    x is an array or `SparsePoints`. Every binary problem points at its rows; nothing is copied
    again. `bias` is the value of one feature more, the same for all points, or None; `rows` are the
    only points that are packed, or None for all.
    """

    precomputed = False

    def __init__(self, x, bias=None, rows=None):
        self.features = x.shape[1]
        self.bias = bias
        length = len(x)
        if rows is not None:
            x = x[rows]
        more = 1 if bias is None else 2  # nodes that close a row
        if is_sparse(x):
            counts = x.counts
        else:
            counts = np.concatenate([(x[block] != 0).sum(axis=1) for block in _blocks(x)])
        starts = np.zeros(len(counts) + 1, dtype=np.int64)
        np.cumsum(counts + more, out=starts[1:])
        self._nodes = np.empty(int(starts[-1]), dtype=_NODE)
        for block in _blocks(x):
            part = self._nodes[starts[block.start] : starts[min(block.stop, len(counts))]]
            of_row, columns, values = _entries(x, block)
            at = np.arange(len(of_row)) + more * of_row  # closing nodes of the rows before it
            part["index"] = -1
            part["value"] = 0.0
            part["index"][at] = columns + 1
            part["value"][at] = values
        if bias is not None:
            self._nodes["index"][starts[1:] - 2] = self.features + 1
            self._nodes["value"][starts[1:] - 2] = bias
        pointers = (self._nodes.ctypes.data + 16 * starts[:-1]).astype(np.uintp)
        if rows is None:
            self._pointers = pointers
        else:
            self._pointers = np.zeros(length, dtype=np.uintp)
            self._pointers[rows] = pointers

    def pointers(self, rows):
        """Addresses of those rows, as the libraries take them."""
        return np.ascontiguousarray(self._pointers[rows])


def _blocks(x):
    width = x.shape[1]
    if is_sparse(x):
        width = 1 + int(x.counts.mean())
    step = max(1, 2**20 // width)
    return [slice(start, start + step) for start in range(0, x.shape[0], step)]


def _entries(x, block):
    """(row in the block, column, value) of what is not zero there, in its order."""
    if is_sparse(x):
        return x[block].entries()
    part = np.asarray(x[block], dtype=np.float64)
    rows, columns = np.nonzero(part)
    return rows, columns, part[rows, columns]


def shared_object(package):
    """Path of the shared object of libsvm-official or liblinear-official, or None.

    The package itself is not imported.
    """
    spec = importlib.util.find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in sorted(Path(folder).glob("clib*")):
            if path.suffix in (".so", ".pyd", ".dll", ".dylib"):
                return str(path)
    return None


class CLibrary:
    """LIBSVM or LIBLINEAR, which release the interpreter's lock: threads train side by side.

    Parameters
    ----------
    name : str, of its shared object, in capitals in messages
    oldest : int, number of the first version that serves
    missing : str, message where no such version is installed
    functions : sequence, names of those that train, check parameters, free a model and set where
        words go
    structures : of a model, a problem and a parameter
    others : sequence, files to try after that of the Python package; the first that serves is
        `path`
    """

    def __init__(self, name, oldest, missing, functions, structures, others=()):
        for self.path in filter(None, (shared_object(name), *others)):
            try:
                self.loaded = ctypes.CDLL(self.path)
                self.version = ctypes.c_int.in_dll(self.loaded, f"{name}_version").value
            except (OSError, ValueError) as error:  # no such file, or not this library
                if is_shortage(error):
                    raise ImportError(str(error)) from error
                continue
            if self.version >= oldest:
                break
        else:
            raise UsageError(missing)
        model, problem, parameter = structures
        self._train, self._check, self._free, set_print = (
            getattr(self.loaded, function) for function in functions
        )
        self._train.restype = ctypes.POINTER(model)
        self._check.restype = ctypes.c_char_p
        self._train.argtypes = self._check.argtypes = [
            ctypes.POINTER(problem),
            ctypes.POINTER(parameter),
        ]
        self._free.restype = set_print.restype = None
        self._free.argtypes = [ctypes.POINTER(ctypes.POINTER(model))]
        set_print.argtypes = [ctypes.c_void_p]
        try:  # any function that takes a string and does nothing with it
            self._silence = ctypes.CDLL(None).strlen
        except (AttributeError, OSError, TypeError):
            self._silence = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(lambda text: None)
        set_print(ctypes.cast(self._silence, ctypes.c_void_p))

    def refusal(self, problem, parameter):
        """Why the library refuses a problem, or ""."""
        return (self._check(ctypes.byref(problem), ctypes.byref(parameter)) or b"").decode()

    @contextmanager
    def trained(self, problem, parameter):
        """The contents of the model, which is freed when the block ends."""
        model = self._train(ctypes.byref(problem), ctypes.byref(parameter))
        try:
            yield model.contents
        finally:
            self._free(ctypes.byref(model))


class CLearner:
    """Base of the learners of LIBSVM and LIBLINEAR.

    Where the library's own release cannot train, as it knows no weights of points, its copy in
    scikit-learn does.
    """

    has_weights = False
    feature = None  # the value of one more, or None

    def weighted(self):
        """The learner of the copy in scikit-learn."""
        return self.changed(has_weights=True)

    @property
    def by_sklearn(self):
        """True where the copy in scikit-learn trains."""
        return self.has_weights

    @property
    def packing(self):
        """The key of the points as `pack` gives them: those of both libraries without one more."""
        if self.by_sklearn:
            return "points"
        if self.feature is None:
            return "nodes"
        return "nodes", self.feature

    def pack(self, x, rows=None):
        """`Nodes` of the points x (n, d), or the points as they are."""
        if self.by_sklearn:
            return x
        return Nodes(x, self.feature, rows)


class _CookieFunctions(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("read", "write", "seek", "close")]


class CatchWords:
    """A context manager that collects, in a list, what C code of this thread writes to `stderr`.

    The variable of the C library is exchanged, not descriptor 2: Python's own messages, those of
    other programs, and, passed on, of other threads go where they went.  Only the GNU C library
    allows that; elsewhere nothing is caught.
    """

    _lock, _blocks, _words = threading.Lock(), 0, threading.local()

    def __enter__(self):
        words = self._words.caught = []
        self._exchange(1)
        return words

    def __exit__(self, *error):
        self._exchange(-1)
        self._words.caught = None

    @classmethod
    def _exchange(cls, change):
        stream = cls._stream()
        if stream is None:
            return
        variable, before, ours, _ = stream
        with cls._lock:
            cls._blocks += change
            if cls._blocks:
                variable.value = ours
            else:
                variable.value = before

    @classmethod
    def _write(cls, cookie, text, size):
        caught = getattr(cls._words, "caught", None)
        if caught is None:
            os.write(2, ctypes.string_at(text, size))
        else:
            caught.append(ctypes.string_at(text, size))
        return size

    @classmethod
    @functools.cache
    def _stream(cls):
        """The variable, its value before and ours, and what must live as long; or None."""
        try:
            c = ctypes.CDLL(None)
            if not hasattr(c, "gnu_get_libc_version"):  # others keep the variable read-only
                return None
            variable = ctypes.c_void_p.in_dll(c, "stderr")
            kind = ctypes.CFUNCTYPE(
                ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t
            )
            write = kind(cls._write)
            c.fopencookie.restype = ctypes.c_void_p
            c.fopencookie.argtypes = [ctypes.c_void_p, ctypes.c_char_p, _CookieFunctions]
            functions = _CookieFunctions(write=ctypes.cast(write, ctypes.c_void_p))
            ours = c.fopencookie(None, b"w", functions)
            c.setvbuf.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
            c.setvbuf(ours, None, 2, 0)  # without a buffer: the thread that writes calls us
        except (AttributeError, OSError, TypeError, ValueError):
            return None
        if ours:
            return (variable, variable.value, ours, write)
        return None


def weight_fields(weights):
    """The fields of a parameter for weights of the sides ((side, factor), ...)."""
    sides = [side for side, _ in weights]
    factors = [factor for _, factor in weights]
    return {
        "nr_weight": len(weights),
        "weight_label": (ctypes.c_int * len(weights))(*sides),
        "weight": (ctypes.c_double * len(weights))(*factors),
    }


def side_factors(side, weights):
    """The factor (l,) of each sample's side (l,), 0 or 1; weights: ((side, factor), ...)."""
    factors = dict(weights)
    return np.where(side == 0, factors.get(0, 1.0), factors.get(1, 1.0))


def sklearn_version(purpose="weights of points need") -> str:
    """The version of scikit-learn; `UsageError` where it is not installed."""
    with needed_library(f"{purpose} scikit-learn: pip install 'agfmc[sklearn]'"):
        import sklearn
    return sklearn.__version__


def sklearn_fit(machine, x, side, w, weights, why_not):
    """`side[0]` and the machine of scikit-learn, fitted to points x (l, d) of two sides (l,).

    f > 0 speaks for the second label there. `w` (l,) are weights, None for 1, and `weights` ((side,
    factor), ...); why_not(error) is the message of the `DataError` where it refuses the problem.
    """
    if is_sparse(x):
        from scipy.sparse import csr_matrix

        csr = x.csr  # indices of 32 bits are what it takes
        x = csr_matrix(
            (csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int32)), shape=csr.shape
        )
    else:
        x = np.ascontiguousarray(x, dtype=np.float64)
    first = int(side[0])
    factors = side_factors(side, weights)
    try:
        machine.fit(
            x,
            (side != first).astype(np.float64),
            sample_weight=factors if w is None else factors * w,
        )
    except ValueError as error:
        raise DataError(why_not(error)) from None
    return first, machine

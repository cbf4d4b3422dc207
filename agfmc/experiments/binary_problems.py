"""The binary problems of many configurations on one training set, each trained once."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, replace

import numpy as np

from .._version import __version__
from ..errors import AgfmcError
from ..training.fit import fit, TrainingSettings
from ..models import BinaryModel, Dataset
from .result_cache import are_numbers, key_of

__all__ = ["Trained", "binary_model", "problem_key", "train_missing"]


@dataclass(frozen=True, eq=False)
class Trained:
    """A binary classifier by the rows (l,) of the training part that are its support vectors.

    coef (l,), rho, labels, n_sv, platt: as in `BinaryModel`;  seconds: of a core that its
    training took;  vectors (l, d): of a learner that makes its own, and rows is empty then.
    """

    rows: np.ndarray
    coef: np.ndarray
    rho: float
    labels: tuple
    n_sv: tuple
    platt: tuple
    seconds: float
    vectors: np.ndarray | None = None

    def to_bytes(self) -> bytes:
        """A form that `from_bytes` reads: a line of JSON, then the arrays."""
        shape = None if self.vectors is None else self.vectors.shape
        head = json.dumps([len(self.rows), self.rho, self.labels, self.n_sv, self.platt,
                           self.seconds, shape]).encode()
        parts = [self.rows.astype("<i8"), self.coef.astype("<f8")]
        if shape is not None:
            parts.append(self.vectors.astype("<f8"))
        return b"".join([struct.pack("<I", len(head)), head, *(a.tobytes() for a in parts)])

    @classmethod
    def from_bytes(cls, data: bytes, n: int) -> Trained | None:
        """The classifier in `data` on n training points, or None where it cannot be one."""
        try:
            (size,) = struct.unpack_from("<I", data)
            count, rho, labels, n_sv, platt, seconds, shape = json.loads(data[4:4 + size])
            own, d = (0, 0) if shape is None else shape
            n_sv, platt = tuple(n_sv), tuple(platt)
            if not are_numbers(rho, seconds, *platt) or len(platt) != 2 or len(n_sv) != 2 or \
                    labels not in ([0, 1], [1, 0]) or not all(
                        type(size) is int and 0 <= size < 2**48
                        for size in (count, own, d, *n_sv)) or sum(n_sv) != (own or count):
                return None
            at = 4 + size + 8 * count
            if len(data) != at + 8 * ((own or count) + own * d) or own and count:
                return None
            rows = np.frombuffer(data, "<i8", count, 4 + size)
            if count and not 0 <= rows.min() <= rows.max() < n:
                return None
            coef = np.frombuffer(data, "<f8", own or count, at)
            vectors = None if shape is None else \
                np.frombuffer(data, "<f8", own * d, at + 8 * own).reshape(own, d)
            if not np.isfinite(coef).all() or own and not np.isfinite(vectors).all():
                return None
            return cls(rows, coef, rho, tuple(labels), n_sv, platt, seconds, vectors)
        except (ValueError, TypeError, RecursionError, struct.error):
            return None


def problem_key(digest: str, job, loo: bool = False) -> str:
    """The key of a binary problem: equal partitions with equal options are one problem.

    digest: of the training part, as `key_of` makes it.
    """
    return key_of("binary", __version__, job.options.made_by(), digest, *job.sides,
                  job.options.canonical(), job.seed, loo)


def train_missing(problems: dict, x: np.ndarray, y: np.ndarray, settings: TrainingSettings, cache,
                  progress=None) -> dict:
    """{key: `Trained`, or the error of its learner} of the problems {key: job}.

    x (n, d), y (n,): the training part.  What `cache` has is not trained again, and it
    gets what is trained.  progress(done, total): in units that grow with the work of what
    was missing.  A problem that its learner refuses does not stop the others.
    """
    results, missing = {}, {}
    for key, job in problems.items():
        data = cache.get(key)
        trained = None if data is None else Trained.from_bytes(data, len(y))
        if trained is None:
            missing[key] = job
        else:
            results[key] = trained
    if not missing:
        return results
    counts = Dataset(x, y).counts
    work = {key: sum(counts[label] for label in job.labels) ** 2
            for key, job in missing.items()}
    done = 0
    keys = _readable_names(missing)
    jobs = [replace(missing[key], name=name) for name, key in keys.items()]
    for fitted in fit(jobs, x, y, settings):
        key, model, rows = keys[fitted.job.name], fitted.model, fitted.rows
        if isinstance(model, AgfmcError):
            results[key] = model
        else:
            own = rows is None
            results[key] = Trained(np.empty(0, dtype=np.int64) if own else rows, model.coef,
                                   model.rho, model.labels, model.n_sv, model.platt,
                                   fitted.seconds, model.sv if own else None)
            cache.put(key, results[key].to_bytes())
        done += work[key]
        if progress is not None:
            progress(done, sum(work.values()))
    return results


def _readable_names(problems):
    """{name: key}: names for the messages about problems of many configurations, all different."""
    names = {}
    for key, job in problems.items():
        text = " / ".join(" ".join(map(str, side[:8])) + (" ..." if len(side) > 8 else "")
                          for side in job.sides)
        name, number = text, 1
        while name in names:
            number += 1
            name = f"{text} ({number})"
        names[name] = key
    return names


def binary_model(job, trained: Trained, x: np.ndarray) -> BinaryModel:
    """The `BinaryModel` of a job; x (n, d): the training part."""
    sv = x[trained.rows] if trained.vectors is None else trained.vectors
    return BinaryModel(job.name, job.options.svm_type, job.options.kernel_for(x.shape[1]),
                       np.asarray(sv, dtype=np.float64), trained.coef, trained.rho,
                       trained.labels, trained.n_sv, trained.platt, "", x.shape[1])

"""multi_borders without its command line: training, and model files written as they finish.

Long work that ends when its time is up.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ..errors import AgfmcError
from ..executors.threads import available_cores, Background, start_threads
from ..formats.atomic import read_bytes, remove, replacing
from ..formats.libsvm_model import format_svm_model, RowText
from ..formats.seal import sealed
from ..formats.vectors import write_std
from ..prediction.direct import train_direct
from .fit import fit
from .kernel_tables import MEGABYTES
from .resume import is_normalisation

__all__ = ["Outcome", "TimeUp", "save_normalisation", "train", "train_directs", "until"]

def save_normalisation(work, control_out=None):
    """Write the normalisation that was fitted to the training data, if one was.

    control_out: control file of an earlier run, which goes if it had another one.
    """
    if work.fitted:
        same = control_out is None or is_normalisation(work.norm_file, work.normalisation)
        write_std(work.norm_file, work.normalisation,
                  None if same else partial(remove, control_out))


class Outcome(NamedTuple):
    """done: models that are there, kept ones too;  errors: in job order;  stopped: by the time."""

    done: int = 0
    errors: tuple = ()
    stopped: bool = False


def train(work, workers, progress=None, control_out=None, held_out=None, kernel_memory=None, *,
          kept=frozenset(), deadline=None):
    """Train the jobs of `work` and write each model as it is finished; -> `Outcome`.

    The files appear whole or not at all, and do not depend on `workers` (threads, 0:
    one for each core; or an executor).  progress: called with (done, all, words, how
    much was done before).
    control_out: control file of an earlier run; it goes as soon as a model of that run
    is replaced by another one, as it would name a mixture of both.  held_out,
    kernel_memory (None: the default): as for `fit`.  kept: names of jobs whose models
    are there, from `finished`;  deadline: on `time.monotonic`, after which nothing new is
    begun; what is running then is left behind.
    """
    jobs = [job for job in work.jobs if job.name not in kept]
    before = len(work.jobs) - len(jobs)
    if before:
        save_normalisation(work, control_out)
    if not jobs:
        return Outcome(before)
    text = RowText(work.data.x if work.raw is None else work.raw)
    failures, models, stopped = {}, 0, False

    def tell(done, total):
        if progress is not None:
            earlier = total * before // len(jobs)
            progress(earlier + done, earlier + total,
                     f"{before + models} of {len(work.jobs)} classifiers", earlier)
        if deadline is not None and time.monotonic() >= deadline:
            raise TimeUp

    with Background() as background:
        results = fit(jobs, work.data.x, work.data.y, workers or available_cores(), tell,
                      work.normalisation, held_out, loo=work.loo,
                      kernel_memory=MEGABYTES if kernel_memory is None else kernel_memory)
        try:
            for job, result, rows in until(results, deadline):
                if isinstance(result, AgfmcError):
                    failures[job.name] = result
                    continue
                if before + models == 0:
                    save_normalisation(work, control_out)
                models += 1
                if work.raw is not None:
                    result = _with_raw_vectors(result, work.raw[rows])
                lines = None if rows is None else [text(row) for row in rows.tolist()]
                model = sealed(format_svm_model(result, lines), work.origins(job))
                background(_write, work.place(job.name), model, control_out)
        except TimeUp:
            stopped = models + len(failures) < len(jobs)
    errors = tuple(failures[job.name] for job in jobs if job.name in failures)
    return Outcome(before + models, errors, stopped)


def _write(path, text, control_out):
    """Write a model; when it is about to replace another one, the control file of that goes.

    Each time, and not the first time only: another run may have written it meanwhile.
    """
    before = None
    if control_out is not None and _holds_another(path, text):
        before = partial(remove, control_out)
    with replacing(path, before=before) as file:
        file.write(text)


def train_directs(work, progress=None, control_out=None, convert=None, text="svm", *,
                  kept=frozenset(), deadline=None):
    """Train the direct classifiers of `work`, one after the other; -> `Outcome`.

    control_out: control file of an earlier run, which goes before one of its
    models is replaced; convert, text: as for `train_direct`;  progress, kept, deadline:
    as for `train`, but that one which is running at the deadline comes to its end.
    """
    before = sum(job.name in kept for job in work.directs)
    if before and not work.jobs:
        save_normalisation(work, control_out)
    done = before
    for job in work.directs:
        if job.name in kept:
            continue
        if deadline is not None and time.monotonic() >= deadline:
            return Outcome(done, stopped=True)
        replaces = None
        if control_out is not None and any(os.path.isfile(work.place(file)) for file in job.files):
            replaces = partial(remove, control_out)
        train_direct(replace(job, name=work.place(job.name)), work.data.x, work.data.y,
                     work.normalisation, convert, text,
                     work.origins(job) if job.code == "L" else None, replaces)
        done += 1
        if done == 1 and not work.jobs:
            save_normalisation(work, control_out)
        if progress is not None:
            progress(done, len(work.directs), f"{done} of {len(work.directs)} direct classifiers",
                     before)
    return Outcome(done)


def _with_raw_vectors(model, sv):
    """`model` with its support vectors as they were before the normalisation."""
    return replace(model, sv=sv, features=sv.shape[1],
                   provenance=model.provenance.with_raw_vectors(sv.shape[1]))


def _holds_another(path, text):
    """True where there is a file with other contents."""
    return os.path.isfile(path) and read_bytes(path) != text.encode()


class TimeUp(Exception):
    """The time limit has come."""


def until(items, deadline, clock=time.monotonic):
    """Yield from the generator `items`, and raise `TimeUp` at the deadline; None: never.

    deadline: on `clock`.  The generator runs in a thread of its own, which is left behind
    at the deadline, as nothing can end a task in the middle; it is closed as soon as it
    yields again.
    """
    if deadline is None:
        yield from items
        return
    ready = queue.Queue(2)
    over = threading.Event()

    def run():
        end = None  # of the items
        try:
            for item in items:
                ready.put((item, None))
                if over.is_set() or clock() >= deadline:
                    end = TimeUp()
                    break
        except BaseException as error:
            end = error
        finally:
            items.close()
        ready.put((None, end or StopIteration()))

    try:
        if clock() >= deadline:
            raise TimeUp
        if not start_threads(1, run):
            for item in items:
                yield item
                if clock() >= deadline:
                    raise TimeUp
            return
        while True:
            try:
                item, end = ready.get(timeout=max(0.0, deadline - clock()))
            except queue.Empty:
                raise TimeUp from None
            if isinstance(end, StopIteration):
                return
            if end is not None:
                raise end
            yield item
    finally:
        over.set()
        while not ready.empty():  # makes room, so that the thread can end
            ready.get_nowait()

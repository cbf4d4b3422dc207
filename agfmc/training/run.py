"""A run of training: model files written as they are finished, and recognised by a later run.

A run continues from the files of a previous one: a model stays where training would write it
again, byte for byte.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container, Mapping
from concurrent.futures import wait
from contextlib import contextmanager, ExitStack
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from ..core.errors import AgfmcError, DataError, is_shortage, JobsFailed
from ..core.models import HeldOut
from ..data.libagf import read_std, write_std
from ..data.libsvm import row_texts
from ..executors.threads import Background, Threads
from ..files.atomic import remove, replacing, replacing_all, temporary_file, writing
from ..files.codec import seal_of, sealed
from ..files.opening import read_bytes
from ..learners.protocol import NodeProblem, read_node
from ..models.libsvm import format_svm_model, held_out_values
from . import driver
from .external import train_external
from .fit import fit, HeldOutRequest
from .held_out import gather_held_out

_SMALL = 1 << 28  # bytes of support vectors that stay in memory until the end


@contextmanager
def _damage_ignored():
    """Within the block a file that cannot be read counts as another one, which training replaces:
    it fails where it cannot be written either. Not so where memory or open files are short."""
    try:
        yield
    except (AgfmcError, OSError) as error:
        if is_shortage(error):
            raise


def finished(plan):
    """Names of the jobs of `plan` whose model needs no training: its seal is of the same origin."""
    names = set()
    for job in plan.jobs:
        if job.options.recognised_by != "seal":
            continue
        path = plan.path_of(job.name)
        with _damage_ignored():
            if os.path.isfile(path) and seal_of(read_bytes(path)) == plan.origins(job):
                names.add(job.name)
    return names


def replaced(plan):
    """The first job of the finished `plan` whose file another run has replaced, or None.

    Or the file of the normalisation.  What is not recognised is not checked.
    """
    unchanged = finished(plan)
    for job in plan.jobs:
        way = job.options.recognised_by
        if (
            way == "seal"
            and job.name not in unchanged
            or way == "contents"
            and not _holds_contents(plan, job)
        ):
            return job.name
    if (
        not plan.settings.fits_normalisation
        or os.path.exists(plan.norm_file)
        and not os.path.isfile(plan.norm_file)
    ):
        return None  # a pipe is not read again
    if _is_normalisation(plan):
        return None
    return plan.norm_file


class _Comparison:
    """A stream that compares what is written to it with a file."""

    def __init__(self, file):
        self.name = file.name
        self._file = file

    def write(self, data):
        """Raise `DataError` where the file does not go on with these bytes."""
        if self._file.read(len(data)) != data:
            raise DataError("has other contents", file=self.name)


def _holds_contents(plan, job):
    paths = [plan.path_of(file) for file in job.files]
    if not all(map(os.path.isfile, paths)):
        return False
    with _damage_ignored(), ExitStack() as stack:
        files = [stack.enter_context(open(path, "rb")) for path in paths]
        job.options.write(job, _problem(plan, job), list(map(_Comparison, files)))
        return not any(file.read(1) for file in files)
    return False


def _is_normalisation(plan):
    with _damage_ignored():
        return (
            os.path.isfile(plan.norm_file)
            and read_std(plan.norm_file).digest() == plan.settings.normalisation.digest()
        )
    return False


def save_normalisation(plan, control_out=None):
    """Write the normalisation that was fitted to the training data, if one was.

    `control_out` is the control file of a previous run, removed if that had another normalisation.
    """
    if plan.settings.fits_normalisation:
        same = control_out is None or _is_normalisation(plan)
        write_std(
            plan.norm_file,
            plan.settings.normalisation,
            None if same else partial(remove, control_out),
        )


def train(
    plan,
    progress: Callable | None = None,
    finished: Container[str] = (),
    *,
    control_out: str | None = None,
    deadline: float | None = None,
    held_out: Callable | None = None,
    workers=None,
) -> ModelFolder:
    """Train the jobs of `plan` and write each model as it is finished.

    Parameters
    ----------
    progress : function, optional, called with (done, all, words, how much was done before)
    finished : names of the jobs of a previous run that need no training, from `finished`
    control_out : control file of that run, or None: it is removed as soon as a model of that run is
        replaced by another one, as it would name a mixture of both
    deadline : float, optional
        On `time.monotonic`, after which nothing new is begun; a binary classifier that is running
        then is abandoned, a node is finished.
    held_out : function, optional, called with each `Fitted`, which then holds where its samples
        were sent when they were held out
    workers : int or Executor, optional, None for those of the plan's settings
    """
    folder = ModelFolder(plan, finished, control_out, held_out)
    if plan.trainer is None:
        _train_binary(folder, progress, deadline, workers)
    else:
        train_external(plan, progress, control_out, partial(save_normalisation, plan, control_out))
        folder.done = len(plan.binary)
    _train_nodes(folder, progress, deadline)
    return folder


class ModelFolder:
    """The model files of a `Plan` as a store: what has the seal of its origin is there.

    Attributes
    ----------
    done : number of finished models, those of a previous run too
    errors : errors in job order
    stopped : the time stopped the run
    trained : {name: `Fitted`} of models with calibration points, as far as they are small: their
        files need not be read again
    settled : {name: options}, with what training has chosen, of models whose learner shares its
        work
    """

    several = False
    smaller: Mapping = MappingProxyType({})

    def __init__(self, plan, finished, control_out, held_out):
        self.plan = plan
        self.finished = finished
        self.control_out = control_out
        self.held_out = held_out
        self.background = None
        self._text = row_texts(plan.data.x if plan.raw is None else plan.raw)
        self._size = 0
        self.done = sum(job.name in finished for job in plan.binary)
        self.errors = ()
        self.stopped = False
        self.trained = {}
        self.settled = {}

    def get(self, job):
        """True for a finished job."""
        return job.name in self.finished or None

    def put(self, fitted):
        """Write a model in the background."""
        plan = self.plan
        job, model, rows = fitted[:3]
        if self.held_out is not None:
            self.held_out(fitted)
        if not self.finished and not self.done:
            save_normalisation(plan, self.control_out)
        self.done += 1
        self._size += model.coef.nbytes if job.options.uses_shared_landmarks else model.sv.nbytes
        if job.options.uses_shared_landmarks:  # whose vectors are the same
            self.settled[job.name] = model.provenance.options
        if plan.raw is not None:
            features = plan.raw.shape[1]
            model = replace(
                model,
                sv=plan.raw[rows],
                features=features,
                provenance=replace(model.provenance, features=features, vectors="raw"),
            )
        elif fitted.values is not None and self._size <= _SMALL:
            self.trained[job.name] = fitted
        lines = None if rows is None else [self._text(row) for row in rows.tolist()]
        self.background(
            _write,
            plan.path_of(job.name),
            sealed(format_svm_model(model, lines, fitted.values), plan.origins(job)),
            self.control_out,
        )
        return True


def _train_binary(folder, progress, deadline, workers):
    plan = folder.plan
    before = folder.done
    left = len(plan.binary) - before
    if before:
        save_normalisation(plan, folder.control_out)
    if not left:
        return
    settings = plan.settings
    if workers is not None:
        settings = replace(settings, workers=workers)
    failures = {}

    def tell(done, total):
        if progress is not None:
            part = total * before // left
            progress(
                part + done,
                part + total,
                f"{folder.done} of {len(plan.binary)} classifiers",
                part,
            )
        if deadline is not None and time.monotonic() >= deadline:
            raise TimeUp

    with Background() as folder.background:
        results = driver.train(
            plan.binary,
            plan.data,
            settings,
            folder,
            requested=HeldOutRequest.of(
                len(plan.data.y), plan.calibration_rows, folder.held_out is not None
            ),
            progress=tell,
            way=lambda *args: until(fit(*args), deadline),
        )
        try:
            for job, result in results:
                if isinstance(result, AgfmcError):
                    failures[job.name] = result
        except TimeUp:
            folder.stopped = folder.done + len(failures) < len(plan.binary)
    folder.errors = tuple(failures[job.name] for job in plan.binary if job.name in failures)


def held_out_of(plan, trained: Mapping = MappingProxyType({})) -> HeldOut | None:
    """The `HeldOut` of the calibration points of a finished `plan`, or None.

    `trained` is that of its `ModelFolder`; other values are in the model files.
    """
    rows = plan.calibration_rows
    if rows is None:
        return None
    jobs = {job.name: job for job in plan.binary}
    values = {
        name: trained[name].values
        if name in trained
        else held_out_values(read_bytes(plan.path_of(name)), name)
        for name in jobs
    }
    of_rows = [jobs[row.text] for row in plan.tree.rows]
    branches = plan.tree.branch_labels()
    nodes = {
        number: read_node(node, len(branches[number]), plan.path_of(node.name))
        for number, node in plan.tree.directs.items()
    }
    return gather_held_out(
        plan.tree,
        [*of_rows, *plan.nodes],
        [values[job.name] for job in of_rows],
        (plan.data, nodes),
        rows,
        plan.settings,
    )


def _write(path, text, control_out):
    """Write a model; when it is about to replace another one, the control file of that is removed.

    Each time, and not the first time only: another run may have written it meanwhile.
    """
    before = None
    if control_out is not None and os.path.isfile(path) and read_bytes(path) != text.encode():
        before = partial(remove, control_out)
    with replacing(path, before=before) as file:
        file.write(text)


def _train_nodes(folder, progress, deadline):
    plan = folder.plan
    control_out = folder.control_out
    nodes = plan.nodes
    done = before = sum(job.name in folder.finished for job in nodes)
    folder.done += before
    if before and not plan.binary:
        save_normalisation(plan, control_out)
    for job in nodes:
        if job.name in folder.finished:
            continue
        if deadline is not None and time.monotonic() >= deadline:
            folder.stopped = True
            return
        convert = None
        if plan.trainer is not None and job.options.is_program:
            convert = plan.trainer.convert
        try:
            paths = [plan.path_of(file) for file in job.files]
            ends = None
            if control_out is not None and any(map(os.path.isfile, paths)):
                ends = partial(remove, control_out)
            for path in map(plan.path_of, job.options.stale_files(job.name)):
                if os.path.exists(path):
                    if ends is not None:
                        ends()
                    remove(path)
            write_node(job, _problem(plan, job), paths, ends, convert)
        except AgfmcError as error:
            raise job.place.error(JobsFailed, f"'{plan.path_of(job.name)}': {error}") from error
        done += 1
        folder.done += 1
        if done == 1 and not plan.binary:
            save_normalisation(plan, control_out)
        if progress is not None:
            progress(done, len(nodes), f"{done} of {len(nodes)} multi-class nodes", before)


def _problem(plan, job):
    origin = None
    if job.options.recognised_by == "seal":
        origin = plan.origins(job)
    return NodeProblem.of(plan.data, job, plan.settings.normalised, origin=origin, text=plan.text)


def write_node(job, problem, paths, before=None, convert=None):
    """Train one node on a `NodeProblem` and write its files to `paths`, all or none.

    `before` is as for `replacing`; the file goes through `convert`, a `Command`, if there is one.
    """
    with ExitStack() as stack:
        if convert is None:
            streams = stack.enter_context(replacing_all(paths, binary=True, before=before))
            job.options.write(job, problem, streams)
            return
        source = stack.enter_context(temporary_file())
        with writing("a temporary file"):
            job.options.write(job, problem, [source])
            source.flush()
        source.seek(0)
        target = stack.enter_context(replacing(paths[0], binary=True, before=before))
        convert.run(stdin=source, stdout=target)


class TimeUp(Exception):
    """The time limit has come."""


def until(items, deadline, clock=time.monotonic):
    """Yield from the generator `items`, and raise `TimeUp` at the deadline on `clock`, or never.

    The generator runs in its own thread, which is abandoned at the deadline, as nothing can end a
    task in the middle; it is closed as soon as it yields again.
    """
    if deadline is None:
        yield from items
        return
    thread = Threads(1)
    end = object()
    try:
        while clock() < deadline:
            future = thread.submit(next, items, end)
            if not wait([future], max(0.0, deadline - clock())).done:
                break
            item = future.result()
            if item is end:
                return
            yield item
        raise TimeUp
    finally:
        thread.submit(lambda: items.close())
        thread.shutdown(wait=False)

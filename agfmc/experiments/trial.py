"""One split: every configuration trained on one part of the data and scored on the other."""

from __future__ import annotations

import json
import time
import warnings
import zlib
from dataclasses import dataclass, field, replace

import numpy as np

from .._version import __version__
from ..collate.merge import assemble
from ..control.build import check_classes
from ..control.write import format_tree
from ..errors import AgfmcError, AgfmcWarning, DataError
from ..prediction.evaluation import evaluate, Results
from ..executors.threads import run_tasks
from ..prediction.classifier import Classifier
from ..models import Normalisation
from ..prepare.normalise import fit_normalisation
from ..score.brier import probability
from ..score.scores import SCORES
from ..learners.protocol import plan_jobs
from ..training.fit import TrainingSettings
from ..training.memory import fit_nodes
from .candidates import decoders_of
from .result_cache import are_numbers, key_of
from .binary_problems import binary_model, problem_key, train_missing

__all__ = ["Answered", "Outcome", "Settings", "Stage", "evaluated", "prepared"]


@dataclass(frozen=True)
class Settings:
    """What is common to all configurations.

    options: training options where a control file has `""`;  seed;  scale, nsv: normalise
    with statistics of each training part;  normalisation: a given one, in their place;
    loo: probabilities from leaving out single samples;  workers;  kernel_memory: megabytes.
    """

    options: str = ""
    seed: int = 1
    scale: bool = False
    nsv: int | None = None
    normalisation: Normalisation | None = None
    loo: bool = False
    workers: int = 1
    kernel_memory: int = 512

    @property
    def training(self):
        """The `TrainingSettings` of points that are normalised already."""
        return TrainingSettings(seed=self.seed, loo=self.loo, workers=self.workers,
                                kernel_memory=self.kernel_memory)

    def normalised(self, train, *others):
        """The points of a training part, and other points, normalised alike; float64."""
        normalisation = self.normalisation
        if self.scale or self.nsv is not None:
            with warnings.catch_warnings():
                # not one for each split
                warnings.simplefilter("ignore", AgfmcWarning)
                normalisation = fit_normalisation(train, scale=self.scale, nsv=self.nsv)
            if normalisation.dropped:
                warnings.warn("features that are constant in a training part are left out there",
                              AgfmcWarning, stacklevel=3)
        if normalisation is None:
            return tuple(np.asarray(part, dtype=np.float64) for part in (train, *others))
        return tuple(normalisation.apply(part) for part in (train, *others))


@dataclass(frozen=True, eq=False)
class Stage:
    """A split with its points: x (n, d), y (n,) of the training part, and of the test part.

    digest: of the training part;  names: {label: name};  rows: of the test part in the data.
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    test_x: np.ndarray
    test_y: np.ndarray
    rows: np.ndarray
    names: dict
    digest: str

    @property
    def counts(self):
        """{label: samples} of the training part."""
        labels, counts = np.unique(self.y, return_counts=True)
        return dict(zip(labels.tolist(), counts.tolist()))


def prepared(split, data, settings):
    """The `Stage` of a `Split` of a `Dataset`.

    Raises `DataError` where a class has fewer than two samples in the training part.
    """
    _check_training_part(split, data.y)
    x, test = settings.normalised(data.x[split.train], data.x[split.test])
    y = data.y[split.train]
    return Stage(split.name, x, y, test, data.y[split.test], split.test,
                 dict(enumerate(data.names or ())), key_of("points", x, y))


def _check_training_part(split, y):
    labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    there = np.bincount(codes[split.train], minlength=len(labels))
    few = np.flatnonzero(there < 2)
    if len(few):
        least = 1 + int(counts[few].max())
        more = f" (and {len(few) - 1} more classes)" if len(few) > 1 else ""
        raise DataError(f"class {labels[few[0]]}{more}, of "
                        f"{counts[few[0]]} sample{'' if counts[few[0]] == 1 else 's'}, has "
                        f"{there[few[0]]} in the training part of {split.name}: expected at least "
                        f"2; --min-class {least} leaves out the classes with fewer than {least} "
                        "samples")


@dataclass(frozen=True, eq=False)
class Answered:
    """What a classifier says of the test part.

    classes (n,), confidence (n,): as in `Answers`;  p (n, k): all probabilities, or None;
    winner (n,): the winner's probability, or None;  labels: all classes, ascending;
    seconds: of a core.
    """

    classes: np.ndarray
    confidence: np.ndarray
    p: np.ndarray | None
    winner: np.ndarray | None
    labels: tuple
    seconds: float

    def scores(self, truth):
        """The dictionary of `evaluate`."""
        return evaluate(Results(truth, self.classes, np.array(self.labels), len(self.labels),
                                self.winner, self.p))


@dataclass(frozen=True, eq=False)
class Outcome:
    """One configuration with one decoder on one split.

    candidate: its number;  decoder: a name;  classifiers: how many binary ones;  train_s,
    classify_s: seconds of a core;  scores: {name: number or None}, those of `SCORES`;
    classes (n,): what was answered;  answered: more of it, where it was asked for;
    resumed: it is of an earlier run;  error: in place of all that.
    """

    candidate: int
    decoder: str
    classifiers: int = 0
    train_s: float = 0.0
    classify_s: float = 0.0
    scores: dict = field(default_factory=dict)
    classes: np.ndarray | None = None
    answered: Answered | None = None
    resumed: bool = False
    error: AgfmcError | None = None

    def to_bytes(self):
        """Times, scores and classes, as `from_bytes` reads them."""
        head = [self.classifiers, self.train_s, self.classify_s, self.scores]
        return json.dumps(head).encode() + b"\n" + zlib.compress(self.classes.astype("<i4"))

    @classmethod
    def from_bytes(cls, candidate, decoder, data, n):
        """The outcome in `data` on n test points, or None where it cannot be one."""
        try:
            head, _, packed = data.partition(b"\n")
            classifiers, train, classify, scores = json.loads(head)
            unpacker = zlib.decompressobj()
            plain = unpacker.decompress(packed, 4 * n + 1)
            if not unpacker.eof or len(plain) != 4 * n or set(scores) != set(SCORES) or \
                    not are_numbers(classifiers, train, classify) or not are_numbers(
                        *(score for score in scores.values() if score is not None), finite=False):
                return None
            return cls(candidate, decoder, classifiers, train, classify, scores,
                       np.frombuffer(plain, "<i4"), resumed=True)
        except (ValueError, TypeError, AttributeError, RecursionError, zlib.error):
            return None


@dataclass(frozen=True, eq=False)
class _Laid:
    """A candidate laid out for one training part: its tree, jobs, keys and decoders."""

    number: int
    tree: object
    jobs: list
    keys: list
    decoders: tuple

    def outcome_key(self, decoder, test):
        """Of the outcome with one decoder; test: digest of the test part."""
        return key_of("outcome", __version__, decoder, self.keys, format_tree(self.tree), test)


def _laid(number, candidate, stage, settings):
    tree = candidate.tree_for(stage.x, stage.y, stage.names)
    check_classes(tree, stage.counts, "the training part")
    jobs = plan_jobs(tree, "m", settings.options, settings.seed)
    keys = [problem_key(stage.digest, job, settings.loo) for job in jobs if job.is_binary]
    return _Laid(number, tree, jobs, keys, decoders_of(tree, candidate.wanted))


def evaluated(stage, candidates, settings, ledger, *, progress=None, keep=False,
              first=False):
    """The `Outcome`s of `candidates` with their decoders on one `Stage`, in their order.

    What `ledger` has is not done again.  progress(done, total): in units of work;
    keep: the outcomes hold what was answered;  first: of each candidate's decoders the
    first alone.  A binary problem that fails ends its
    configurations alone; their outcomes hold the error.  Raises the errors of the layout.
    """
    laid = [_laid(number, candidate, stage, settings)
            for number, candidate in enumerate(candidates)]
    if first:
        laid = [replace(plan, decoders=plan.decoders[:1]) for plan in laid]
    test = key_of("test", stage.digest, stage.test_x, stage.test_y)
    outcomes = {}
    for plan in [] if keep else laid:
        for decoder in plan.decoders:
            data = ledger.get(plan.outcome_key(decoder, test))
            if data is not None:
                outcomes[plan.number, decoder.name] = Outcome.from_bytes(
                    plan.number, decoder.name, data, len(stage.test_y))
    open_plans = [plan for plan in laid if any(
        outcomes.get((plan.number, decoder.name)) is None for decoder in plan.decoders)]
    problems = {key: job for plan in open_plans for key, job in zip(plan.keys, plan.jobs)}
    trained = train_missing(problems, stage.x, stage.y, settings.training, ledger=ledger,
                            progress=progress)
    for plan in open_plans:
        for outcome in _tried(plan, stage, trained, settings, keep):
            outcomes[plan.number, outcome.decoder] = outcome
            if outcome.error is None and not keep:
                decoder = next(d for d in plan.decoders if d.name == outcome.decoder)
                ledger.put(plan.outcome_key(decoder, test), outcome.to_bytes())
    ledger.flush()
    return [outcomes[plan.number, decoder.name] for plan in laid for decoder in plan.decoders]


def _tried(plan, stage, trained, settings, keep):
    """The outcomes of one configuration whose binary problems are trained."""
    parts = [trained[key] for key in plan.keys]
    failure = next((part for part in parts if isinstance(part, AgfmcError)), None)
    if failure is None:
        try:
            configuration, seconds = _configuration(plan, stage, parts)
        except AgfmcError as error:
            failure = error
    if failure is not None:
        yield from (Outcome(plan.number, decoder.name, error=failure) for decoder in plan.decoders)
        return
    for decoder in plan.decoders:
        try:
            answered = _answers(configuration, decoder, stage.test_x, settings.workers)
        except AgfmcError as error:
            yield Outcome(plan.number, decoder.name, error=error)
            continue
        scores = answered.scores(stage.test_y)
        yield Outcome(plan.number, decoder.name, len(plan.keys), seconds, answered.seconds,
                      {name: scores[name] for name in SCORES}, answered.classes,
                      answered if keep else None)


def _configuration(plan, stage, parts):
    """The trained `Configuration`, and the seconds of a core that it took."""
    seconds = sum(part.seconds for part in parts)
    models = [binary_model(job, part, stage.x) for job, part in zip(plan.jobs, parts)]
    start = time.thread_time()
    nodes = fit_nodes(plan.tree, plan.jobs, stage.x, stage.y)
    seconds += time.thread_time() - start
    return assemble(plan.tree, models, nodes), seconds


def _answers(configuration, decoder, x, workers):
    classifier = Classifier(configuration, decoder)

    def ask(chunk):
        start = time.thread_time()
        answers = classifier(chunk)
        return answers, time.thread_time() - start

    step = classifier.rows
    answers, seconds = zip(*(result for _, result in run_tasks(
        ask, (x[at:at + step] for at in range(0, len(x), step)), workers)))
    classes, confidence = (np.concatenate([getattr(part, name) for part in answers])
                           for name in ("classes", "confidence"))
    labels = configuration.tree.classes
    votes = classifier.decoding.decoder.gives == "votes"
    p = None
    if classifier.all_classes and not votes:
        p = np.concatenate([part.columns for part in answers])
    winner = None if votes else probability(confidence, len(labels)) if p is None else p.max(axis=1)
    return Answered(classes, confidence, p, winner, labels, float(sum(seconds)))

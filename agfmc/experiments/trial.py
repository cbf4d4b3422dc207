"""Trials: candidates trained on one part of the data and scored on the other."""

from __future__ import annotations

import json
import time
import zlib
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from .._version import __version__
from ..collate.merge import assemble
from ..control.build import check_classes
from ..control.tree import Tree
from ..control.write import format_tree
from ..errors import AgfmcError
from ..executors.threads import run_tasks
from ..learners.protocol import plan_jobs
from ..prediction.classifier import Classifier
from ..prediction.decoding import decoders_of
from ..prediction.evaluation import evaluate, Results
from ..score.probabilities import probability
from ..score.scores import SCORES
from ..training.fit import TrainingSettings
from ..training.memory import fit_nodes
from .binary_problems import binary_model, problem_key, train_missing
from .experiment import PreparedSplit
from .result_cache import are_numbers, key_of

__all__ = ["COLUMNS", "Outcome", "are_scores", "run_trial"]

# What is measured of each configuration: {name: (head of its column, title in a list)}.
COLUMNS = {"train_s": ("train s", "training, seconds"),
           "classify_s": ("test s", "classification, seconds"),
           **{name: (score.head, score.short) for name, score in SCORES.items()}}


def are_scores(value) -> bool:
    """True if `value` is a dictionary {name of `SCORES`: number or None}."""
    return isinstance(value, dict) and set(value) == set(SCORES) and are_numbers(
        *(score for score in value.values() if score is not None), finite=False)


@dataclass(frozen=True, eq=False)
class Outcome:
    """One configuration with one decoder on one split.

    candidate: its number;  decoder: a name;  classifiers: number of binary ones;  train_s,
    classify_s: seconds of a core;  scores: {name: number or None}, those of `SCORES`;
    classes (n,): labels of the test points;  results: `Results`, and confidence (n,), where
    they were to be kept;  resumed: it is of an earlier run;  error: in place of all that.
    """

    candidate: int
    decoder: str
    classifiers: int = 0
    train_s: float = 0.0
    classify_s: float = 0.0
    scores: dict = field(default_factory=dict)
    classes: np.ndarray | None = None
    results: Results | None = None
    confidence: np.ndarray | None = None
    resumed: bool = False
    error: AgfmcError | None = None

    def value(self, column: str) -> float | None:
        """The number, or None, in one of `COLUMNS`."""
        return self.scores[column] if column in SCORES else getattr(self, column)

    def to_bytes(self) -> bytes:
        """Times, scores and classes, as `from_bytes` reads them."""
        head = [self.classifiers, self.train_s, self.classify_s, self.scores]
        return json.dumps(head).encode() + b"\n" + zlib.compress(self.classes.astype("<i4"))

    @classmethod
    def from_bytes(cls, candidate: int, decoder: str, data: bytes, n: int) -> Outcome | None:
        """The outcome in `data` on n test points, or None where it cannot be one."""
        try:
            head, _, packed = data.partition(b"\n")
            classifiers, train, classify, scores = json.loads(head)
            unpacker = zlib.decompressobj()
            plain = unpacker.decompress(packed, 4 * n + 1)
            if not unpacker.eof or len(plain) != 4 * n or not are_scores(scores) or \
                    not are_numbers(classifiers, train, classify):
                return None
            return cls(candidate, decoder, classifiers, train, classify, scores,
                       np.frombuffer(plain, "<i4"), resumed=True)
        except (ValueError, TypeError, AttributeError, RecursionError, zlib.error):
            return None


@dataclass(frozen=True, eq=False)
class LaidOutCandidate:
    """A candidate laid out for one training part: its tree, jobs and decoders.

    jobs: the binary ones come first;  keys: of the binary problems in a result cache.
    """

    number: int
    tree: Tree
    jobs: list
    keys: list
    decoders: tuple

    @cached_property
    def text(self):
        """The control text."""
        return format_tree(self.tree)

    def outcome_key(self, decoder, split):
        """The key of the `Outcome` with one decoder."""
        return key_of("outcome", __version__, decoder, self.keys, self.text, split.test_digest)


def _lay_out(number, candidate, split, settings):
    tree = candidate.tree_for(split.x, split.y, split.names)
    check_classes(tree, split.counts, "the training part")
    jobs = plan_jobs(tree, "m", settings.options, settings.seed)
    keys = [problem_key(split.digest, job, settings.loo) for job in jobs if job.is_binary]
    return LaidOutCandidate(number, tree, jobs, keys, decoders_of(tree, candidate.wanted))


def run_trial(split: PreparedSplit, candidates: list, settings: TrainingSettings, cache, *,
              progress=None, keep: bool = False, first: bool = False) -> list[Outcome]:
    """The `Outcome`s of `candidates` with their decoders on one `PreparedSplit`, in their order.

    What `cache` has is not done again.  progress(done, total): in units of work;
    keep: the outcomes hold results and confidence;  first: of each candidate's decoders the
    first alone.  A binary problem that fails ends its configurations alone; their outcomes
    hold the error.  Raises the errors of the layout.
    """
    laid_out = [_lay_out(number, candidate, split, settings)
                for number, candidate in enumerate(candidates)]
    if first:
        laid_out = [replace(candidate, decoders=candidate.decoders[:1]) for candidate in laid_out]
    outcomes = {}
    for candidate in [] if keep else laid_out:
        for decoder in candidate.decoders:
            data = cache.get(candidate.outcome_key(decoder, split))
            if data is not None:
                outcomes[candidate.number, decoder] = Outcome.from_bytes(
                    candidate.number, decoder.name, data, len(split.test_y))
    missing = [candidate for candidate in laid_out if any(
        outcomes.get((candidate.number, decoder)) is None for decoder in candidate.decoders)]
    problems = {key: job for candidate in missing for key, job in
                zip(candidate.keys, candidate.jobs)}
    trained = train_missing(problems, split.x, split.y, settings, cache, progress)
    for candidate in missing:
        for decoder, outcome in _outcomes(candidate, split, trained, settings.workers):
            if outcome.error is None and not keep:
                outcome = replace(outcome, results=None, confidence=None)
                cache.put(candidate.outcome_key(decoder, split), outcome.to_bytes())
            outcomes[candidate.number, decoder] = outcome
    cache.flush()
    return [outcomes[candidate.number, decoder] for candidate in laid_out
            for decoder in candidate.decoders]


def _outcomes(candidate, split, trained, workers):
    """Yield (decoder, `Outcome`) of a candidate whose binary problems are trained."""
    parts = [trained[key] for key in candidate.keys]
    failure = next((part for part in parts if isinstance(part, AgfmcError)), None)
    if failure is None:
        try:
            configuration, train_s = _configuration(candidate, split, parts)
        except AgfmcError as error:
            failure = error
    for decoder in candidate.decoders:
        try:
            if failure is not None:
                raise failure
            results, confidence, classify_s = _classify(configuration, decoder, split, workers)
        except AgfmcError as error:
            yield decoder, Outcome(candidate.number, decoder.name, error=error)
            continue
        scores = evaluate(results)
        yield decoder, Outcome(candidate.number, decoder.name, len(candidate.keys), train_s,
                               classify_s, {name: scores[name] for name in SCORES},
                               results.result, results, confidence)


def _configuration(candidate, split, parts):
    """The trained `Configuration`, and the seconds of a core that it took."""
    seconds = sum(part.seconds for part in parts)
    models = [binary_model(job, part, split.x) for job, part in zip(candidate.jobs, parts)]
    start = time.thread_time()
    nodes = fit_nodes(candidate.tree, candidate.jobs, split.x, split.y)
    seconds += time.thread_time() - start
    return assemble(candidate.tree, models, nodes), seconds


def _classify(configuration, decoder, split, workers):
    """(`Results` on the test part, confidence (n,), seconds of a core)."""
    classifier = Classifier(configuration, decoder)

    def classify(chunk):
        start = time.thread_time()
        answers = classifier(chunk)
        return answers, time.thread_time() - start

    x, step = split.test_x, classifier.rows
    answers, seconds = zip(*(result for _, result in run_tasks(
        classify, (x[at:at + step] for at in range(0, len(x), step)), workers)))
    classes, confidence = (np.concatenate([getattr(part, name) for part in answers])
                           for name in ("classes", "confidence"))
    labels = np.array(configuration.tree.classes)
    votes = classifier.decoding.decoder.gives == "votes"
    p = winner = None
    if classifier.all_classes and not votes:
        p = np.concatenate([part.columns for part in answers])
        winner = p.max(axis=1)
    elif not votes:
        winner = probability(confidence, len(labels))
    return Results(split.test_y, classes, labels, len(labels), winner, p), confidence, \
        float(sum(seconds))

"""Trials: candidates trained on one part of the data and scored on the other."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..answers.types import Summary
from ..control.build import check_classes
from ..control.tree import changed, Tree
from ..control.write import format_tree
from ..core.costs import CostMatrix
from ..core.errors import AgfmcError, UsageError
from ..core.probabilities import probability, REJECTED
from ..core.version import __version__
from ..data.types import Dataset
from ..executors.threads import run_tasks
from ..files.result_store import are_numbers, key_of, Record, shuffled_for
from ..kernels.machine import KernelCounter
from ..learners.program_classifiers import Execution
from ..learners.protocol import distinct, plan_jobs
from ..models.merge import assemble
from ..prediction.calibrate import fit_calibration, HeldOutValues
from ..prediction.classifier import Classifier
from ..score.evaluation import compared_scores, Results
from ..score.probabilities import probability_of_answers
from ..score.rows import ALL_SCORES, SCORES, UNCALIBRATED
from ..training.held_out import gather_held_out
from ..training.in_memory import fit_nodes
from .binary_problems import binary_model, problem_key, smaller_costs, train_missing
from .candidates import decoders_for
from .experiment import Experiment, PreparedSplit, run_on_workers
from .pooling import forecasts


def are_scores(value, names=SCORES) -> bool:
    """True if `value` is a dictionary {name of a score: number or None} of these names."""
    return isinstance(value, dict) and set(value) == set(names) and are_numbers(
        *(score for score in value.values() if score is not None), finite=False)


@dataclass(frozen=True, eq=False)
class Outcome:
    """One configuration with one decoder on one split, or its error.

    train_s, classify_s: seconds of a core, the second None where leave-one-out values are decoded;
    truth, classes (n,): labels of the test points, true and answered;  forecasts (3, n): as the
    function of that name has them;  results, confidence (n,): where they were to be kept;  resumed:
    it is of an earlier run;  design_s: of the layout, before the training;  paid (n,): the cost of
    each answer, or None;  queried, kernel_values: as in `COST_PER_POINT`,
    the second None where some
    classifier is no kernel machine.
    """

    candidate: int
    decoder: str
    classifiers: int = 0
    train_s: float = 0.0
    classify_s: float | None = 0.0
    scores: dict = field(default_factory=dict)
    truth: np.ndarray | None = None
    classes: np.ndarray | None = None
    forecasts: np.ndarray | None = None
    results: Results | None = None
    confidence: np.ndarray | None = None
    calibrated: bool = False
    resumed: bool = False
    error: AgfmcError | None = None
    design_s: float = 0.0
    paid: np.ndarray | None = None
    weights: np.ndarray | None = None
    queried: float = 0.0
    kernel_values: float | None = None

    @classmethod
    def of(cls, results: Results, **fields) -> Outcome:
        """The outcome with the scores of `Results`; fields: the others."""
        return cls(**fields, scores=compared_scores(results), truth=results.truth,
                   classes=results.result, forecasts=forecasts(results), paid=results.paid,
                   weights=results.weights)

    def value(self, column: str) -> float | None:
        """The number, or None, in one of `COLUMNS` or `COST_PER_POINT`."""
        return self.scores[column] if column in ALL_SCORES else getattr(self, column)

    def to_record(self) -> Record:
        """What `from_record` is not given: neither design_s nor what the test points are."""
        head = [self.classifiers, self.train_s, self.classify_s, self.scores, self.calibrated,
                self.queried, self.kernel_values]
        return Record(head, {"classes": self.classes.astype("<i4"),
                             "forecasts": self.forecasts.astype("<f4")})

    @classmethod
    def from_record(cls, candidate: int, decoder: str, record: Record | None, truth: np.ndarray,
                    labels: np.ndarray, costs: CostMatrix | None = None,
                    weights: np.ndarray | None = None) -> Outcome | None:
        """The outcome in a record on test points of classes `truth` (n,), or None where it cannot
        be one.

        labels (k,): of all classes;  costs: of the answers, or None;  weights (n,): of the
        points, or None.
        """
        try:
            classifiers, train, classify, scores, calibrated, queried, kernel_values = record.head
            classes = record.array("classes", "<i4", len(truth))
            numbers = record.array("forecasts", "<f4", 3, len(truth), finite=False)
            if not are_scores(scores, SCORES if costs is None else ALL_SCORES) or \
                    not are_numbers(classifiers, train, queried, *(
                        number for number in (classify, kernel_values) if number is not None)) or \
                    type(calibrated) is not bool or np.isinf(numbers).any() or \
                    not np.isin(classes, [REJECTED, *labels]).all():
                return None
            paid = Results(truth, classes, labels, costs=costs).paid
            return cls(candidate, decoder, classifiers, train, classify, scores, truth, classes,
                       numbers, calibrated=calibrated, resumed=True, paid=paid, weights=weights,
                       queried=queried, kernel_values=kernel_values)
        except (ValueError, TypeError, AttributeError, UsageError):
            return None


@dataclass(frozen=True, eq=False)
class LaidOutCandidate:
    """A candidate laid out for one training part: its jobs, binary ones first, keys of the binary
    problems in a result cache, and {name of a row: `Decoding`}."""

    number: int
    tree: Tree
    jobs: list
    keys: list
    decoders: dict
    design_s: float

    def with_first_decoder(self):
        """The same with its first decoder alone, calibrated or not, or both."""
        first = next(iter(self.decoders.values())).name
        return replace(self, decoders={name: decoder for name, decoder in self.decoders.items()
                                       if decoder.name == first})

    @cached_property
    def text(self):
        """The control text; what its headings say, but for weights, is in jobs and decoders."""
        headings = self.tree.headings
        return format_tree(changed(self.tree, headings={
            word: headings[word] for word in headings if word == "weights"}))

    def outcome_key(self, name, split, experiment, smaller):
        """The key of the `Outcome` with one decoder; smaller: of `smaller_costs`."""
        return key_of("outcome 5", __version__, self.decoders[name], experiment.costs, self.keys,
                      self.text,
                      split.test_digest, experiment.calibration, experiment.quick_maps,
                      experiment.settings.seed, [smaller[key] for key in self.keys])


def _lay_out(number, candidate, split, experiment):
    settings = experiment.settings
    tree, design_s = split.design_of(candidate, experiment)
    check_classes(tree, split.counts, "the training part")
    jobs = plan_jobs(tree, "m", settings.options, settings.seed)
    keys = [problem_key(split, job, experiment) for job in jobs if job.is_binary]
    decoders = decoders_for(tree, candidate.wanted, experiment.calibrated,
                            experiment.least_calibration)
    decoders = [replace(decoder, costs=experiment.costs) if decoder.takes_costs(tree) else decoder
                for decoder in decoders]
    return LaidOutCandidate(number, tree, jobs, keys, {
        decoder.name + UNCALIBRATED * (not decoder.calibrated and True in experiment.calibrated):
        decoder for decoder in decoders}, design_s)


def run_trial(split: PreparedSplit, candidates: list, experiment: Experiment, *,
              progress=None, keep: bool = False, first: bool = False) -> list[Outcome]:
    """The `Outcome`s of `candidates` with their decoders on one `PreparedSplit`, in their order.

    progress(done, total): in units of work;  keep: the outcomes hold results and confidence;
    first: of each candidate's decoders the first alone.  A binary problem that fails ends its
    configurations alone; their outcomes hold the error.  Raises the errors of the layout.
    """
    cache = experiment.cache
    laid_out = []
    for number, candidate in enumerate(candidates):
        laid_out.append(_lay_out(number, candidate, split, experiment))
        if progress is not None and candidate.made_of_data:  # a search may take long
            progress(0, 1)
    if first:
        laid_out = [candidate.with_first_decoder() for candidate in laid_out]
    outcomes, labels = {}, np.unique(split.y)
    problems = {key: job for candidate in laid_out for key, job in
                zip(candidate.keys, candidate.jobs)}
    smaller = smaller_costs(problems, experiment)

    def lacks_some(candidate):
        """Take from the cache what it has of a candidate; true where that is not everything."""
        for decoder in [] if keep else candidate.decoders:
            record = cache.get(candidate.outcome_key(decoder, split, experiment, smaller))
            if record is not None:
                outcomes[candidate.number, decoder] = Outcome.from_record(
                    candidate.number, decoder, record, split.test_y, labels, experiment.costs,
                    split.test_weights)
        return any(outcomes.get((candidate.number, decoder)) is None
                   for decoder in candidate.decoders)

    missing = list(filter(lacks_some, laid_out))
    count = len(missing)
    trained = train_missing(problems, split, experiment, progress,
                            {key for candidate in missing for key in candidate.keys})
    if cache.several:  # each is looked for again before it is begun
        missing = filter(lacks_some, shuffled_for(cache, missing))
    for candidate, made in _scored(missing, count, trained, split, experiment, keep):
        for outcome in made:
            if outcome.error is None and not keep:
                cache.put(candidate.outcome_key(outcome.decoder, split, experiment, smaller),
                          outcome.to_record())
            outcomes[candidate.number, outcome.decoder] = outcome
    return [replace(outcomes[candidate.number, decoder], design_s=candidate.design_s)
            for candidate in laid_out for decoder in candidate.decoders]


def _scored(candidates, count, trained, split, experiment, keep):
    """Yield (candidate, its `Outcome`s) of trained candidates, `count` at most."""
    workers = experiment.settings.workers
    items = ((candidate, [trained[key] for key in candidate.keys], keep)
             for candidate in candidates)
    if isinstance(workers, int):
        together = max(min(workers, count), 1)
        made = run_tasks(lambda item: _outcomes(split, experiment, item, workers // together),
                         items, together)
    else:
        made = run_on_workers(_outcomes, experiment, split, items,
                              name=lambda item: f"scores of configuration {item[0].number + 1}")
    for (candidate, _, _), outcomes in made:
        if isinstance(outcomes, AgfmcError):
            outcomes = [Outcome(candidate.number, name, error=outcomes)
                        for name in candidate.decoders]
        yield candidate, outcomes


def _outcomes(split, experiment, item, workers=1):
    """The `Outcome`s of (a candidate, its binary classifiers, whether to keep the `Results`)."""
    candidate, parts, keep = item
    made, failure = [], next((part for part in parts if isinstance(part, AgfmcError)), None)
    if failure is None:
        try:
            configuration, held_out, train_s, map_s = _configuration(
                candidate, split, parts, experiment)
            # planes and multi-class nodes compute no kernel values, but cost something too
            counter = None if any(job.options.own_vectors for job in candidate.jobs) else \
                KernelCounter(configuration.machines)
        except AgfmcError as error:
            failure = error
    for name, decoder in candidate.decoders.items():
        try:
            if failure is not None:
                raise failure
            results, confidence, classify_s, asked = _classify(
                configuration, decoder, split, held_out if split.left_out else workers, counter)
            results = replace(results, costs=experiment.costs, weights=split.test_weights)
            calibration, key = configuration.calibration, decoder.calibration_key(candidate.tree)
            calibrated = decoder.calibrated and calibration is not None and \
                key in calibration.decoders
            outcome = Outcome.of(
                results, candidate=candidate.number, decoder=name,
                classifiers=sum(job.is_binary for job in distinct(candidate.jobs)),
                train_s=train_s + (map_s[key] if calibrated else 0.0), classify_s=classify_s,
                calibrated=calibrated, queried=asked.queried / asked.points,
                kernel_values=asked.kernels / asked.points if counter else None)
            made.append(replace(outcome, results=results, confidence=confidence) if keep
                        else outcome)
        except AgfmcError as error:
            made.append(Outcome(candidate.number, name, error=error))
    return made


def _configuration(candidate, split, parts, experiment):
    """The trained `Configuration`, its `HeldOut` or None, the seconds of a core that it took, and
    {key: seconds} of the calibration of each decoder."""
    if not experiment.quick_maps:
        import scipy.optimize  # the maps need it, and to load it is no part of their time

        del scipy
    tree, jobs = candidate.tree, candidate.jobs
    seconds = sum(part.seconds for part in {id(part): part for part in parts}.values())
    shared: dict = {}
    models = [binary_model(job, part, split.x, shared) for job, part in zip(jobs, parts)]
    start = time.thread_time()
    data = Dataset(split.x, split.y, weights=split.weights)
    nodes = fit_nodes(tree, jobs, data)
    trained = time.thread_time() - start
    configuration = assemble(tree, models, nodes)
    maps, map_s = [], {}
    rows = split.calibration_rows(experiment)
    wanted = {decoder.calibration_key(tree): decoder for decoder in candidate.decoders.values()
              if decoder.calibrated}
    held_out = None
    if split.left_out or rows is not None and set(wanted) != {None}:
        held_out = gather_held_out(tree, jobs, [part.values for part in parts],
                                   (data, nodes), rows, experiment.settings)
    # to fit a learned decoder is no part of the time of the others
    for keys in (wanted.keys() - {None, "learned"}, wanted.keys() & {"learned"}):
        start = time.thread_time()
        if keys and held_out is not None:
            maps.append(fit_calibration(configuration, held_out, [wanted[key] for key in keys],
                                        experiment.quick_maps))
        map_s |= dict.fromkeys(keys, time.thread_time() - start)
    if maps:
        configuration = replace(configuration, calibration=replace(
            maps[-1], decoders={key: one for part in maps for key, one in part.decoders.items()}))
    return configuration, held_out, seconds + trained, map_s


def _classify(configuration, decoder, split, means, counter):
    """(`Results` on the test part, confidence (n,), seconds, `Summary` of what was asked).

    means: a number of workers, or the `HeldOut` of a test part that is left out, without seconds.
    """
    values = HeldOutValues(configuration, means) if split.left_out else None
    classifier = Classifier(configuration, decoder, Execution(counting=True), values)
    asked = Summary()

    def classify(chunk):
        start = time.thread_time()
        answers = classifier(chunk)
        return answers, time.thread_time() - start

    x, step = split.test_x, classifier.rows
    chunks = (x[at:at + step] if values is None else values.load(at, min(at + step, len(x)))
              for at in range(0, len(x), step))
    # values are those of the chunk that was taken last: one after the other
    answers, seconds = zip(*(result for _, result in run_tasks(
        classify, chunks, means if values is None else 1)))
    for part in answers:
        asked.add(part, counter)
    classes, confidence = (np.concatenate([getattr(part, name) for part in answers])
                           for name in ("classes", "confidence"))
    labels = np.array(configuration.tree.classes)
    votes = classifier.decoding.decoder.gives == "votes"
    p = winner = None
    if classifier.all_classes and not votes:
        p = np.concatenate([part.columns for part in answers])
        winner = p.max(axis=1) if decoder.costs is None else \
            probability_of_answers(p, classes, labels)
    elif not votes:
        winner = probability(confidence, len(labels))
    return Results(split.test_y, classes, labels, len(labels), winner, p), confidence, \
        float(sum(seconds)) if values is None else None, asked

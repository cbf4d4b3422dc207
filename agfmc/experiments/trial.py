"""Trials: candidates trained on one part of the data and scored on the other."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated

import numpy as np

from ..control.build import check_classes
from ..control.tree import changed, Tree
from ..control.write import format_tree
from ..core.answers import Results, Summary
from ..core.errors import AgfmcError
from ..core.probabilities import probability, REJECTED
from ..executors.threads import run_tasks
from ..files.result_store import from_record, Record, result_key, to_record
from ..kernels.machine import KernelCounter
from ..learners.protocol import distinct, plan_jobs
from ..models.merge import assemble
from ..prediction.calibrate import fit_calibration
from ..prediction.classifier import Classifier
from ..prediction.known_points import HeldOutValues
from ..prediction.member_weights import with_learned_weights
from ..score.evaluation import compared_scores
from ..score.probabilities import probability_of_answers
from ..score.rows import ALL_SCORES, SCORES, UNCALIBRATED
from ..training.driver import shuffled_for
from ..training.held_out import gather_held_out
from ..training.in_memory import fit_nodes
from .binary_problems import binary_model, problem_key, smaller_costs, train_missing
from .candidates import decoders_for
from .experiment import Experiment, PreparedSplit, run_on_workers
from .pooling import FORECASTS, forecasts


_DERIVED = {"stored": False}
_TIMED = 200  # points whose answers are timed
_PASSES = 3  # over these, of which the shortest counts: others have waited for something else


@dataclass(frozen=True, eq=False)
class Outcome:
    """One configuration with one decoder on one split, or its error.

    Attributes
    ----------
    train_s, classify_s : seconds of a core, the second None where leave-one-out values are decoded,
        unless the experiment is `timed`
    classes : labels (n,) of the answers: what is stored of the results
    forecasts : (FORECASTS, n), as the function of that name returns them
    results : `Results` on the test points, with probabilities where they are requested
    confidence : (n,) where it is requested
    resumed : the outcome is of an earlier run
    design_s : seconds of the layout, before the training
    queried, kernel_values : as in `COST_PER_POINT`, the second None where some classifier is no
        kernel machine
    """

    candidate: int = field(default=0, metadata=_DERIVED)
    decoder: str = field(default="", metadata=_DERIVED)
    classifiers: int = 0
    train_s: float = 0.0
    classify_s: float | None = 0.0
    scores: Mapping[str, float | None] = field(default_factory=dict)
    classes: Annotated[np.ndarray | None, "<i4", 1] = None
    forecasts: Annotated[np.ndarray | None, "<f4", 2, "NaN"] = None
    results: Results | None = field(default=None, metadata=_DERIVED)
    confidence: np.ndarray | None = field(default=None, metadata=_DERIVED)
    calibrated: bool = False
    resumed: bool = field(default=False, metadata=_DERIVED)
    error: AgfmcError | None = field(default=None, metadata=_DERIVED)
    design_s: float = field(default=0.0, metadata=_DERIVED)
    queried: float = 0.0
    kernel_values: float | None = None

    @classmethod
    def of(cls, results: Results, keep: bool = False, **fields) -> Outcome:
        """The outcome with the scores of `Results`, whose probabilities go unless `keep`; fields: the
        others."""
        return cls(
            **fields,
            scores=compared_scores(results),
            classes=results.result,
            forecasts=forecasts(results),
            results=results if keep else replace(results, p=None, winner=None),
        )

    def value(self, column: str) -> float | None:
        """The number, or None, in one of `COLUMNS` or `COST_PER_POINT`."""
        if column in ALL_SCORES:
            return self.scores[column]
        return getattr(self, column)

    @classmethod
    def from_record(
        cls,
        candidate: int,
        decoder: str,
        record: Record | None,
        results: Results,
    ) -> Outcome | None:
        """The outcome in a record on the test points of `results`, which lack the answers, or None
        if it has none."""
        n = len(results.truth)
        names = SCORES if results.costs is None else ALL_SCORES

        def completed(stored):
            sound = (
                stored.scores.keys() == names.keys()
                and stored.classes.shape == (n,)
                and stored.forecasts.shape == (FORECASTS, n)
                and np.isin(stored.classes, [REJECTED, *results.labels]).all()
                and not np.isinf(stored.forecasts).any()
            )
            if sound:
                answered = replace(results, result=stored.classes)
                answered.paid  # raises where points were rejected, and that has no cost
                return replace(
                    stored, candidate=candidate, decoder=decoder, results=answered, resumed=True
                )
            return None

        return from_record(cls, record, completed)


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

    @cached_property
    def text(self):
        """The control text; what its headings say, but for weights, is in jobs and decoders."""
        headings = self.tree.headings
        return format_tree(
            changed(
                self.tree, headings={word: headings[word] for word in headings if word == "weights"}
            )
        )

    def outcome_key(self, name, split, experiment, smaller):
        """The key of the `Outcome` with one decoder; smaller: of `smaller_costs`."""
        return result_key(
            "outcome 6",
            self.decoders[name],
            experiment.costs,
            self.keys,
            self.text,
            split.test_digest,
            experiment.calibration,
            experiment.quick_maps,
            experiment.settings.seed,
            [smaller[key] for key in self.keys],
        )


def _lay_out(number, candidate, split, experiment, first):
    settings = experiment.settings
    tree, design_s = split.design_of(candidate, experiment)
    check_classes(tree, split.data.counts, "the training part", names=experiment.data.name_of)
    jobs = plan_jobs(tree, "m", settings.options, settings.seed)
    keys = [problem_key(split, job, experiment) for job in jobs if job.is_binary]
    decoders = decoders_for(
        tree, candidate.decoders, experiment.calibrated, experiment.least_calibration
    )
    if first:  # calibrated or not, or both
        decoders = [decoder for decoder in decoders if decoder.name == decoders[0].name]
    decoders = [
        replace(decoder, costs=experiment.costs) if decoder.takes_costs(tree) else decoder
        for decoder in decoders
    ]
    return LaidOutCandidate(
        number,
        tree,
        jobs,
        keys,
        {
            decoder.name
            + UNCALIBRATED * (not decoder.calibrated and True in experiment.calibrated): decoder
            for decoder in decoders
        },
        design_s,
    )


def run_trial(
    split: PreparedSplit,
    candidates: list,
    experiment: Experiment,
    *,
    progress=None,
    keep: bool = False,
    first: bool = False,
) -> list[Outcome]:
    """The `Outcome`s of `candidates` with their decoders on one `PreparedSplit`, in their order.

    progress(done, total) is in units of work. With `keep` the outcomes hold results and confidence;
    with `first` only the first decoder of each candidate is tried. A binary problem that fails ends
    its configurations alone; their outcomes hold the error. Raises the errors of the layout.
    """
    cache = experiment.cache
    laid_out = []
    for number, candidate in enumerate(candidates):
        laid_out.append(_lay_out(number, candidate, split, experiment, first))
        if progress is not None and candidate.made_of_data:  # a search may take long
            progress(0, 1)
    outcomes = {}
    unanswered = Results(
        split.test.y,
        split.test.y[:0],
        np.unique(split.data.y),
        costs=experiment.costs,
        weights=split.test_weights,
        groups=split.test.groups,
    )
    problems = {
        key: job for candidate in laid_out for key, job in zip(candidate.keys, candidate.jobs)
    }
    smaller = smaller_costs(problems, experiment)

    def lacks_some(candidate):
        """Take from the cache what it has of a candidate; true where that is not everything."""
        for decoder in [] if keep else candidate.decoders:
            record = cache.get(candidate.outcome_key(decoder, split, experiment, smaller))
            if record is not None:
                outcomes[candidate.number, decoder] = Outcome.from_record(
                    candidate.number,
                    decoder,
                    record,
                    unanswered,
                )
        return any(
            outcomes.get((candidate.number, decoder)) is None for decoder in candidate.decoders
        )

    missing = list(filter(lacks_some, laid_out))
    together = len(missing)
    trained = train_missing(
        problems,
        split,
        experiment,
        progress,
        {key for candidate in missing for key in candidate.keys},
    )
    if cache.several:  # each is looked for again before it is begun
        missing = filter(lacks_some, shuffled_for(cache, missing))
    follow = None
    if not problems and len(laid_out) == 1:  # of several the fits are no common measure
        follow = progress
    for candidate, made in _scored(missing, together, trained, split, experiment, keep, follow):
        for outcome in made:
            if outcome.error is None and not keep:
                cache.put(
                    candidate.outcome_key(outcome.decoder, split, experiment, smaller),
                    to_record(outcome),
                )
            outcomes[candidate.number, outcome.decoder] = outcome
    return [
        replace(outcomes[candidate.number, decoder], design_s=candidate.design_s)
        for candidate in laid_out
        for decoder in candidate.decoders
    ]


def _scored(candidates, together, trained, split, experiment, keep, progress):
    workers = experiment.settings.workers
    items = (
        (candidate, [trained[key] for key in candidate.keys], keep) for candidate in candidates
    )
    if isinstance(workers, int):
        together = max(min(workers, together), 1)
        made = run_tasks(
            lambda item: _outcomes(split, experiment, item, workers // together, progress),
            items,
            together,
        )
    else:
        made = run_on_workers(
            _outcomes,
            experiment,
            split,
            items,
            name=lambda item: f"scores of configuration {item[0].number + 1}",
        )
    for (candidate, _, _), outcomes in made:
        if isinstance(outcomes, AgfmcError):
            outcomes = _failed(candidate, outcomes)
        yield candidate, outcomes


def _failed(candidate, error):
    return [Outcome(candidate.number, name, error=error) for name in candidate.decoders]


def _outcomes(split, experiment, item, workers=1, progress=None):
    """The `Outcome`s of (a candidate, its binary classifiers, whether to keep the `Results`)."""
    candidate, trained, keep = item
    try:
        for classifier in trained:
            if isinstance(classifier, AgfmcError):
                raise classifier
        configuration, held_out, train_s, map_s = _configuration(
            candidate, split, trained, experiment, progress
        )
    except AgfmcError as error:
        return _failed(candidate, error)
    # planes and multi-class nodes compute no kernel values, but cost something too
    if any(job.options.stores_vectors for job in candidate.jobs):
        counter = None
    else:
        counter = KernelCounter(configuration.machines)
    count = sum(job.is_binary for job in distinct(candidate.jobs))
    outcomes = []
    for name, decoder in candidate.decoders.items():
        try:
            results, confidence, classify_s, queries = _classify(
                configuration, decoder, split, held_out if split.left_out else workers, counter
            )
            if split.left_out and experiment.timed:
                classify_s = _answer_seconds(configuration, decoder, split.test.x)
            results = replace(
                results,
                costs=experiment.costs,
                weights=split.test_weights,
                groups=split.test.groups,
            )
            calibration = configuration.calibration
            key = decoder.calibration_key(candidate.tree)
            calibrated = (
                decoder.calibrated and calibration is not None and key in calibration.decoders
            )
            outcome = Outcome.of(
                results,
                keep,
                candidate=candidate.number,
                decoder=name,
                classifiers=count,
                train_s=train_s + (map_s[key] if calibrated else 0.0),
                classify_s=classify_s,
                calibrated=calibrated,
                confidence=confidence if keep else None,
                queried=queries.queried / queries.points,
                kernel_values=queries.kernels / queries.points if counter else None,
            )
            outcomes.append(outcome)
        except AgfmcError as error:
            outcomes.append(Outcome(candidate.number, name, error=error))
    return outcomes


def _configuration(candidate, split, trained, experiment, progress):
    """The trained `Configuration`, its `HeldOut` or None, the seconds of a core that it took, and
    {key: seconds} of the calibration of each decoder."""
    tree = candidate.tree
    jobs = candidate.jobs
    shared = {}
    seconds = sum({id(part): part.seconds for part in trained}.values())
    models = [binary_model(job, part, split.data.x, shared) for job, part in zip(jobs, trained)]
    start = time.thread_time()
    nodes = fit_nodes(tree, jobs, split.data)
    seconds += time.thread_time() - start
    configuration = assemble(tree, models, nodes)
    maps = []
    map_s = {}
    held_out = None
    rows = split.calibration_rows(experiment)
    decoders = {
        decoder.calibration_key(tree): decoder
        for decoder in candidate.decoders.values()
        if decoder.calibrated
    }
    if split.left_out or rows is not None and set(decoders) != {None}:
        held_out = gather_held_out(
            tree,
            jobs,
            [part.values for part in trained],
            (split.data, nodes),
            rows,
            experiment.settings,
            progress,
        )
    if experiment.settings.member_weights and tree.is_ensemble and held_out is not None:
        weighed = with_learned_weights(configuration, held_out)
        if weighed[0].tree.is_ensemble:  # else one has all of the weight, and equal ones are tried
            configuration, held_out = weighed
    # to fit a learned decoder is no part of the time of the others
    for keys in (decoders.keys() - {None, "learned"}, decoders.keys() & {"learned"}):
        start = time.thread_time()
        if keys and held_out is not None:
            maps.append(
                fit_calibration(
                    configuration, held_out, [decoders[key] for key in keys], experiment.quick_maps
                )
            )
        map_s |= dict.fromkeys(keys, time.thread_time() - start)
    if maps:
        configuration = replace(
            configuration,
            calibration=replace(
                maps[-1], decoders={key: one for part in maps for key, one in part.decoders.items()}
            ),
        )
    return configuration, held_out, seconds, map_s


def _answer_seconds(configuration, decoder, x):
    """Seconds of a core for the answers to points x (n, d), measured on some of them."""
    classifier = Classifier(configuration, decoder)
    points = x[:_TIMED]
    passes = []
    for _ in range(_PASSES):
        start = time.thread_time()
        classifier(points)
        passes.append(time.thread_time() - start)
    return min(passes) * len(x) / len(points)


def _classify(configuration, decoder, split, means, counter):
    """(`Results` on the test part, confidence (n,), seconds, `Summary` of the queries).

    `means` is a number of workers, or the `HeldOut` of a test part that is left out, without
    seconds.
    """
    if split.left_out:
        values = HeldOutValues(configuration, means)
    else:
        values = None
    classifier = Classifier(configuration, replace(decoder, counting=True), values)
    queries = Summary()

    def classify(chunk):
        start = time.thread_time()
        answers = classifier(chunk)
        return answers, time.thread_time() - start

    x = split.test.x
    step = classifier.rows
    chunks = (
        x[at : at + step] if values is None else values.load(at, min(at + step, len(x)))
        for at in range(0, len(x), step)
    )
    # values are those of the chunk that was taken last: one after the other
    answers, seconds = zip(
        *(result for _, result in run_tasks(classify, chunks, means if values is None else 1))
    )
    for part in answers:
        queries.add(part, counter)
    classes, confidence = (
        np.concatenate([getattr(part, name) for part in answers])
        for name in ("classes", "confidence")
    )
    labels = np.array(configuration.tree.classes)
    p = winner = None
    if classifier.decoding.decoder.gives != "votes":
        if classifier.all_classes:
            p = np.concatenate([part.columns for part in answers])
            if decoder.costs is None:
                winner = p.max(axis=1)
            else:
                winner = probability_of_answers(p, classes, labels)
        else:
            winner = probability(confidence, len(labels))
    return (
        Results(split.test.y, classes, labels, len(labels), winner, p),
        confidence,
        float(sum(seconds)) if values is None else None,
        queries,
    )

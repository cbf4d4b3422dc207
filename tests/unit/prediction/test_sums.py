"""Probabilities sum to 1 by every decoder, way through a tree and calibration, or are scores."""

from dataclasses import replace

import numpy as np
import pytest

from agfmc.answers.tables import answer_table
from agfmc.control.parse import parse
from agfmc.core.errors import AgfmcError
from agfmc.decode.methods import METHODS
from agfmc.prediction.calibrate import fit_calibration
from agfmc.prediction.classifier import Classifier
from agfmc.prediction.decoding import Decoding, TREE_MODES
from agfmc.training.fit import TrainingSettings
from agfmc.training.in_memory import train_configuration

Y = np.repeat([0, 1, 2, 3], 25)
X = np.random.default_rng(5).normal(size=(100, 2)) + 2 * np.array(
    [[0, 0], [1, 0], [0, 1], [1, 1]]
).repeat(25, axis=0)
PAIRS = '"" 0 / 1; "" 0 / 2; "" 0 / 3; "" 1 / 2; "" 1 / 3; "" 2 / 3; {3 1 0 2}'
REST = '"" 0 / 1 2 3; "" 1 / 0 2 3; "" 2 / 0 1 3; "" 3 / 0 1 2; {2 0 3 1}'
CODE = '"" 0 1 / 2 3; "" 0 / 1 3; "" 1 2 / 0 3; "" 3 / 2; {0 1 2 3}'
NESTED = '"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 "" {1 2} 3}'
NESTED_REST = '"" 0 / 1 2; "" 1 / 0 2; "" 2 / 0 1; {0 "" {1 2} 3}'
TEXTS = {
    "pairs": PAIRS,
    "rest": REST,
    "code": CODE,
    "nested": NESTED,
    "nested rest": NESTED_REST,
    "tree": '"" {"" {0 1} "" {2 3}}',
    "average of rest": f"{REST} {REST}",
    "average of different": f'{NESTED_REST} {REST} "" {{"" {{0 1}} "" {{2 3}}}}',
}
# Coding matrices alone whose estimates are printed as they are, with free signs and sums
ESTIMATES = {
    (name, method) for name in ("rest", "code") for method in ("inverse", "unconstrained")
} | {("pairs", "unconstrained")}
FITTED: dict = {}


def fitted(name):
    """The configuration with maps of all decoders that it can have; each is trained once."""
    if name not in FITTED:
        configuration, held_out = train_configuration(
            parse(TEXTS[name]), X, Y, TrainingSettings("-c 1 -g .5")
        )
        decodings = [
            Decoding(method.name, mode)
            for mode in TREE_MODES
            for method in METHODS
            if not (mode == "flat" and configuration.tree.directs)
        ]
        calibration = fit_calibration(configuration, held_out, decodings)
        FITTED[name] = replace(configuration, calibration=calibration)
    return FITTED[name]


@pytest.mark.filterwarnings("ignore::agfmc.core.errors.AgfmcWarning")  # of unsuited codes
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("name", TEXTS)
def test_rows_of_probabilities_sum_to_one(name, method):
    configuration, points = fitted(name), 3 * X
    ways = [(tree, calibrated) for tree in TREE_MODES for calibrated in (True, False)]
    for tree, calibrated in ways:
        decoding = Decoding(method.name, tree, calibrated=calibrated)
        try:
            classifier = Classifier(configuration, decoding)
        except AgfmcError:  # a decoder of other configurations
            continue
        if not classifier.all_classes:
            continue
        columns = classifier(points).columns
        heads = answer_table(classifier, classifier.names, (), ".csv").text.names
        names_scores = not any(head.startswith("p:") for head in heads)
        if method.gives == "votes":
            assert names_scores
            continue
        if tree in ("recursive", "path"):  # which say nothing of a coding matrix
            # a calibration map makes probabilities of estimates
            assert names_scores == (not calibrated and (name, method.name) in ESTIMATES)
        if not names_scores:
            check_sums(columns)
        check_sums(classifier.probabilities(points))


def check_sums(p):
    assert p.min() >= 0 and p.max() <= 1 + 1e-12
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-9)

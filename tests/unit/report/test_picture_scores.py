"""Scores, searches, simulations, weights and losses in files: what is drawn, without overlaps."""

import re
import numpy as np
import pytest

from agfmc.core.answers import Results
from agfmc.experiments.simulation import SimulationPlan, simulations
from agfmc.report import chart_scores, chart_simulation
from agfmc.score.evaluation import ScoreRequest, evaluate


@pytest.fixture
def saved(monkeypatch, shown):
    """A function: (module, call) -> the `Shown` figure that it would write."""

    def saved(module, call):
        found = []
        monkeypatch.setattr(
            module,
            "save",
            lambda path, title, pictures: found.append(shown(*pictures, title=title)),
        )
        call()
        assert not found[0].clashes()
        return found[0]

    return saved


def scores_of(k, names=None, rejected=False, weights=None):
    draw = np.random.default_rng(2)
    y = np.repeat(np.arange(k), 30)
    p = np.exp(draw.normal(size=(len(y), k)))
    p[np.arange(len(y)), y] *= 8
    p /= p.sum(axis=1, keepdims=True)
    answers = np.where(draw.random(len(y)) < 0.1 * rejected, -1, p.argmax(axis=1))
    return evaluate(
        Results(y, answers, np.arange(k), k, p.max(axis=1), p, weights=weights),
        10,
        ScoreRequest(by_class=True),
    )


@pytest.mark.parametrize(
    "k, names, rejected",
    [
        (2, None, False),
        (10, {i: f"a class with a long name {i}" for i in range(10)}, True),
        pytest.param(26, {i: chr(65 + i) for i in range(26)}, False, marks=pytest.mark.long),
        pytest.param(300, None, True, marks=pytest.mark.long),
    ],
)
def test_scores(saved, k, names, rejected):
    result = scores_of(k, names, rejected)
    figure = saved(chart_scores, lambda: chart_scores.draw_scores("", result, names, "da$t$a"))
    head = f"da$t$a: {30 * k} points, {k} classes"
    assert any(
        text.startswith(head) and f"accuracy {result['accuracy']:.4f}" in text
        for text in figure.texts
    )
    assert {"Reliability", "Risk and coverage", "Map of the contingency table"} <= set(figure.texts)
    assert any(text.startswith("all classes, ECE") for text in figure.texts)
    assert ("rejected" in figure.texts) == (rejected and k == 10)


def test_without_probabilities_there_is_only_the_table(saved):
    y = np.array([0, 0, 1, 2])
    result = evaluate(Results(y, np.array([0, 1, 1, 2]), np.arange(3), 3), 10)
    figure = saved(chart_scores, lambda: chart_scores.draw_scores("", result))
    assert "Map of the contingency table" in figure.texts and "Reliability" not in figure.texts


def point(c, g, score, kernel="rbf"):
    return {
        "options": f"-c {c} -g {g}",
        "kernel": kernel,
        "degree": 2,
        "coef0": 0.0,
        "log2c": c,
        "log2g": g,
        "score": score,
        "sd": 0.05,
        "rows": None,
        "parts": [1, 2],
    }


@pytest.mark.parametrize("complete", [True, False])
def test_searches(saved, complete):
    points = [point(c, g, 0.5 + c / 10) for c in (0, 2) for g in (-2, 0)]
    points += [point(c, None, 0.4, "linear") for c in (0, 2)] + [point(0, 9, None)]
    result = {"points": points, "best": 3, "by": "log_loss", "complete": complete, "data": "d"}
    figure = saved(chart_scores, lambda: chart_scores.draw_search("", result))
    assert (
        "best: -c 2 -g 0, log loss 0.7000 \u00b1 0.0500; 7 sets of options tried, d" in figure.texts
    ) == complete
    assert {"Search: rbf", "Search: linear", "failed"} <= set(figure.texts)
    assert any("stopped at the time limit" in text for text in figure.texts) != complete


def test_a_single_set_of_options_is_named(saved):
    result = {"points": [point(1, 2, 0.5)], "best": 0, "by": "accuracy"}
    assert len(saved(chart_scores, lambda: chart_scores.draw_search("", result)).texts) == 1


def test_simulations(saved):
    rows = simulations(SimulationPlan([4, 8], [0.2, 0.3], ["1log", "3"], 3, 300, 1))
    figure = saved(chart_simulation, lambda: chart_simulation.draw("", rows, 3))
    assert {"error probability 0.2", "POLL l = log\u2082 k + TOP-3", "POLL l = 3", "DDAG"} <= set(
        figure.texts
    )
    drawing = chart_simulation.simulation_pictures(rows, 3)[0].drawing
    assert len(re.findall(r'class="\w+ bar"', drawing.elements())) == 7 * 2

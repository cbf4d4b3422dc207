"""Comparisons of configurations in files: what is drawn, and labels that keep apart."""

import random

import pytest

from agfmc.report import chart_scores as module


CONFIGURATIONS = [
    "one-vs-one",
    "one-vs-rest",
    "tree",
    "emp. tree",
    "orthogonal",
    "adjacent",
    "random",
    "exhaustive",
    "plans/my_$own$.mbc",
    "b\u00e4lanced <x>",
]


def row(configuration, decoder, cost, score, sd=None, difference=None, **others):
    def value(mean):
        return {"pooled": mean, "sd": sd}

    return {
        "configuration": configuration,
        "decoder": decoder,
        "classifiers": 3,
        "queried": value(2.0),
        "kernel_values": cost and value(cost),
        "accuracy": value(score),
        "log_loss": value(1 - score),
        "difference": difference,
        **others,
    }


def paired(mean, interval=None, score="accuracy"):
    return {score: {"pooled": mean, "mean": mean, "sd": 0.1, "p_value": 0.5, "interval": interval}}


def crowd(n, seed, spread):
    rng = random.Random(seed)
    return [
        row(
            CONFIGURATIONS[i % 10],
            ["lsq", "votes", "ddag"][i // 10 % 3],
            10 ** rng.gauss(2, spread),
            0.9 + rng.gauss(0, 0.01),
            0.004,
        )
        for i in range(n)
    ]


@pytest.fixture
def drawn(monkeypatch, shown):
    """A function: (rows, score, reference) -> the `Shown` figure."""

    def drawn(rows, by="accuracy", against=None, trials=5):
        found = []
        monkeypatch.setattr(
            module,
            "save",
            lambda path, title, pictures: found.append(shown(*pictures, title=title)),
        )
        module.draw_comparison(
            "",
            {
                "classes": 7,
                "points": 2310,
                "trials": trials,
                "data": "d",
                "against": against,
                "rows": rows,
            },
            by,
        )
        assert not found[0].clashes()
        return found[0]

    return drawn


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "n, seed, spread", [(1, 0, 1), (5, 1, 0.0), (20, 1, 1), (20, 2, 0.15), (20, 4, 0.05)]
)
def test_no_label_covers_another(drawn, n, seed, spread):
    figure = drawn(crowd(n, seed, spread))
    assert "d: 2310 points, 7 classes, 5 splits" in figure.texts
    assert {str(at + 1) for at in range(n)} <= {
        word for text in figure.texts for word in text.split(", ")
    }


def test_differences_and_costs(drawn):
    rows = [
        row("base", "x", 10.0, 0.9),
        row("better", "x", 10.0, 0.95, None, paired(0.05, [0.01, 0.09])),
    ]
    figure = drawn(rows, against={"configuration": "base", "decoder": "x"})
    assert {"Differences in accuracy", "Accuracy and cost", "better, x", "+0.0500"} <= set(
        figure.texts
    )


def test_without_a_reference_scores_with_deviations(drawn):
    figure = drawn([row("a", "x", 2.0, 0.8, 0.25)])
    assert any("standard deviation" in text for text in figure.texts)
    once = drawn([row("a", "x", 2.0, 0.8)], trials=1)
    assert not any("standard deviation" in text for text in once.texts)


def test_rows_without_the_score_are_named(drawn):
    rows = [row("a", "x", 1.0, 0.8, log_loss=None), row("b", "y", 1.0, 0.9)]
    assert "Without log loss, so left out: a, x." in drawn(rows, "log_loss").texts
    none = drawn(rows[:1] * 30, "log_loss")
    assert any("no configuration has this score" in text for text in none.texts)

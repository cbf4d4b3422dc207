"""The scores: a row for each, read by commands, comparisons, text and pages.

A new score is one function and one row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..core.rows import by_name

UNCALIBRATED = " (uncalibrated)"  # behind a decoder where calibrated answers are scored as well


class Score(NamedTuple):
    """A score of results.

    Attributes
    ----------
    name : key in dictionaries of scores
    title : title in pages (shorter than 28 letters) and pictures
    takes : arguments of its function, "table" (of `contingency`), "probabilities" (p (n, k), columns
        y (n,) of the true classes, weights (n,) or None), "winner" (its probability (n,), correct
        (n,), weights (n,) or None), "costs" (of the answers (n,), weights (n,) or None) or "area"
        (A (k, k) of `ranking.separation`, points of each class (k,))
    function : "room.module:function" of this package, "" where `evaluate` computes the score
    option : word on a command line for a score that configurations are compared by
    head : head of the column in their tables
    pools : how values on several splits become that of all held-out points, "table" (computed from
        the classes of all points), "mean" (weighted by the points) or "square" (root of the mean of
        squares, weighted so)
    added : function of the `HeldOutPoints` of `experiments.pooling`: what each adds (n,) to the
        mean; with "table" only where no point is rejected
    low, high : limits of the value
    share : the value is shown in percent
    rare : few readers need it
    resampled : the interval is that of a bootstrap, and may be the same in all resamples
    """

    name: str
    title: str
    meaning: str = ""
    takes: str = ""
    function: str = ""
    option: str = ""
    head: str = ""
    pools: str = ""
    added: Callable[[Any], Any] | None = None
    larger_is_better: bool = True
    low: float = 0.0
    high: float = 1.0
    share: bool = False
    rare: bool = False
    resampled: bool = False

    @property
    def sign(self):
        """+1 where larger is better, else -1."""
        if self.larger_is_better:
            return 1
        return -1

    @property
    def axis(self):
        """The title, with the direction where it is not upward."""
        if self.larger_is_better:
            return self.title
        return f"{self.title} (smaller is better)"

    def value(self, *arguments):
        """The score of what it `takes`."""
        return by_name(self.function)(*arguments)


_LOSS: dict[str, Any] = {"high": float("inf"), "larger_is_better": False}

PAGE = {
    score.name: score
    for score in (  # in their order on a page
        Score("coverage", "coverage", "Share of the points that are answered.", share=True),
        Score(
            "accuracy",
            "accuracy",
            "Share of the answers that are right.",
            "table",
            "score.contingency:accuracy",
            "accuracy",
            "accuracy",
            "table",
            lambda points: points.right,
            share=True,
        ),
        Score(
            "top_accuracy",
            "top-{} accuracy",
            "Share of the points whose true class is among the most probable ones.",
            share=True,
        ),
        # only where there are costs
        Score(
            "cost",
            "mean cost",
            "Mean cost of the answers.",
            "costs",
            "core.probabilities:mean",
            "cost",
            "cost",
            "mean",
            lambda points: points.paid,
            resampled=True,
            **_LOSS,
        ),
        Score(
            "log_loss",
            "log loss",
            "Mean of \u2212ln p of the true class. 0 is perfect.",
            "probabilities",
            "core.probabilities:log_loss",
            "log-loss",
            "log loss",
            "mean",
            lambda points: points.log_loss,
            **_LOSS,
        ),
        Score(
            "brier",
            "Brier score",
            "Mean of the squared errors of the probabilities, summed over "
            "the classes. 0 is perfect.",
            "probabilities",
            "score.probabilities:brier",
            "brier",
            "Brier",
            "mean",
            lambda points: points.squared_error,
            **_LOSS,
        ),
        Score(
            "expected_calibration_error",
            "expected calibration error",
            "Mean distance of the probability of the answer from the share that is right.",
            larger_is_better=False,
        ),
        Score(
            "classwise_calibration_error",
            "calibration error, mean of classes",
            "Expected calibration error of each class, averaged over the classes.",
            rare=True,
            larger_is_better=False,
        ),
        Score(
            "uncertainty_coefficient",
            "uncertainty coefficient",
            "Share of the information about the class that the answers give.",
            "table",
            "score.contingency:explained_share",
            "uncertainty",
            "unc.coef",
            "table",
            resampled=True,
        ),
        *(
            Score(
                f"uncertainty_coefficient_{word}",
                f"uncertainty coefficient, {word}",
                rare=True,
                low=-1.0 if word == "adjusted" else 0.0,
            )
            for word in ("adjusted", "reverse", "symmetric")
        ),
        Score(
            "brier_all",
            "RMS error, all classes",
            "Root of the mean squared error of all probabilities.",
            "probabilities",
            "score.probabilities:brier_all",
            "brier-rms",
            "RMS all",
            "square",
            lambda points: points.squared_error / points.k,
            larger_is_better=False,
        ),
        Score(
            "brier_winning",
            "RMS error, winning class",
            "Root of the mean squared error of the probability of the answer.",
            "winner",
            "score.probabilities:brier_winning",
            "brier-winning",
            "RMS win",
            "square",
            lambda points: (points.p_answer - points.right) ** 2,
            rare=True,
            larger_is_better=False,
        ),
        Score(
            "balanced_accuracy",
            "balanced accuracy",
            "Mean of the recalls of the classes.",
            "table",
            "score.classes:balanced_accuracy",
            resampled=True,
            share=True,
        ),
        Score(
            "macro_f1",
            "F1, mean of classes",
            "Mean of the F1 of the classes.",
            "table",
            "score.classes:macro_f1",
            resampled=True,
        ),
        Score(
            "weighted_f1",
            "F1, weighted by points",
            "Mean of the F1 of the classes, weighted by their points.",
            "table",
            "score.classes:weighted_f1",
            resampled=True,
            rare=True,
        ),
        Score(
            "cohen_kappa",
            "Cohen's kappa",
            "Agreement beyond that of answers by chance with the same shares.",
            "table",
            "score.classes:cohen_kappa",
            resampled=True,
            low=-1.0,
        ),
        Score(
            "matthews",
            "Matthews' correlation",
            "Correlation of answers and truth, for several classes.",
            "table",
            "score.classes:matthews",
            resampled=True,
            low=-1.0,
        ),
        Score(
            "macro_auc",
            "AUC, class against rest",
            "Probability that a point of a class gets more "
            "of it than one of another, mean of the classes.",
            "area",
            "score.ranking:macro_area",
            resampled=True,
            share=True,
        ),
        Score(
            "hand_till_auc",
            "AUC, Hand and Till",
            "Mean over pairs of classes.",
            "area",
            "score.ranking:hand_till",
            resampled=True,
        ),
        Score(
            "mean_class_error",
            "mean class error",
            "Mean distance of the answer from the truth in the order of the classes.",
            resampled=True,
            **_LOSS,
        ),
        Score(
            "within_one_class",
            "within one class",
            "Share of the answers that are right or in a neighbouring class.",
            share=True,
        ),
        Score(
            "ranked_probability_score",
            "ranked probability score",
            "Squared errors of the cumulative probabilities. 0 is perfect.",
            **_LOSS,
        ),
        Score(
            "aurc",
            "AURC",
            "Mean error over all shares of answered points, the surest first.",
            rare=True,
            larger_is_better=False,
        ),
        Score(
            "e_aurc",
            "E-AURC",
            "AURC less that of the best possible order of the points.",
            rare=True,
            larger_is_better=False,
        ),
    )
}
HIERARCHICAL = {
    "hierarchical_precision": "hierarchical precision",
    "hierarchical_recall": "hierarchical recall",
    "hierarchical_f": "hierarchical F1",
}
BEFORE = ("log_loss", "brier", "expected_calibration_error")  # compared before and after a map

# Scores that configurations are compared by, that of costs only where there are costs; and those
# of one page of results.
COST = PAGE["cost"]
SCORES = {name: score for name, score in PAGE.items() if score.option and score != COST}
ALL_SCORES = {**SCORES, COST.name: COST}
BY_OPTION = {score.option: score.name for score in SCORES.values()}
BY_COST = {**BY_OPTION, COST.option: COST.name}
FURTHER = {name: score for name, score in PAGE.items() if score.function and not score.option}

# What is measured of each configuration: {name: (head of its column, title in a list)}.
COLUMNS = {
    "design_s": ("design s", "design, seconds"),
    "train_s": ("train s", "training, seconds"),
    "classify_s": ("test s", "classification, seconds"),
    **{name: (score.head, score.title) for name, score in ALL_SCORES.items()},
}

# The same for the cost of an answer on any machine, a mean over the points.
COST_PER_POINT = {
    "queried": ("classifiers evaluated", "binary classifiers evaluated per point"),
    "kernel_values": ("kernel values", "kernel values computed per point"),
}


def columns_of(scores) -> list[str]:
    """The `COLUMNS` beside these scores: all, or all but the cost."""
    return [name for name in COLUMNS if name != COST.name or name in scores]

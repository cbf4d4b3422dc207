"""The scores that configurations are compared by: a row for each, read by all that shows them.

A new score is one function and one row.
"""

from __future__ import annotations

from collections import namedtuple
from importlib import import_module

UNCALIBRATED = " (uncalibrated)"  # behind a decoder where calibrated answers are scored as well


class Score(namedtuple("Score", "name option head short title larger_is_better takes pools "
                              "function")):
    """A score of results.

    name: its key in dictionaries of scores;  option: the word for it on a command line;  head:
    of its column in tables;  short: in lists of means;  title: in pages (shorter than 28
    letters) and pictures;  takes: what its function is called with, "table" (a `Contingency`),
    "probabilities" (p (n, k), columns y (n,) of the true classes, weights (n,) or None),
    "winner" (its probability (n,), correct (n,), weights (n,) or None) or "costs" (of the answers
    (n,), weights (n,) or None);  pools: how its values
    on several splits become that of all held-out points, "table" (computed from the classes of
    all points), "mean" (weighted by the points) or "square" (root of the mean of squares,
    weighted so);  function: "room.module:function" of this package.
    """

    __slots__ = ()

    @property
    def sign(self):
        """+1 where larger is better, else -1."""
        return 1 if self.larger_is_better else -1

    def value(self, *arguments):
        """The score of what it `takes`."""
        return _function(self.function)(*arguments)

    @property
    def axis(self):
        """The title, with the direction where it is not upward."""
        return self.title if self.larger_is_better else f"{self.title} (smaller is better)"


SCORES = {score.name: score for score in (
    Score("accuracy", "accuracy", "accuracy", "accuracy", "accuracy", True, "table", "table",
          "score.contingency:accuracy"),
    Score("log_loss", "log-loss", "log loss", "log loss", "log loss", False, "probabilities",
          "mean", "core.probabilities:log_loss"),
    Score("brier", "brier", "Brier", "Brier score", "Brier score", False, "probabilities", "mean",
          "score.probabilities:brier"),
    Score("uncertainty_coefficient", "uncertainty", "unc.coef", "uncertainty coefficient",
          "uncertainty coefficient", True, "table", "table",
          "score.contingency:explained_share"),
    Score("brier_all", "brier-rms", "RMS all", "RMS error, all classes",
          "RMS error, all classes", False, "probabilities", "square",
          "score.probabilities:brier_all"),
    Score("brier_winning", "brier-winning", "RMS win", "RMS error, winning",
          "RMS error, winning class", False, "winner", "square",
          "score.probabilities:brier_winning"),
)}
# Where there are costs of the answers there is one more.

COST = Score("cost", "cost", "cost", "mean cost", "mean cost", False, "costs", "mean",
             "score.costs:mean_cost")
ALL_SCORES = {**SCORES, COST.name: COST}

# What is measured of each configuration: {name: (head of its column, title in a list)}.

COLUMNS = {"design_s": ("design s", "design, seconds"),
           "train_s": ("train s", "training, seconds"),
           "classify_s": ("test s", "classification, seconds"),
           **{name: (score.head, score.short) for name, score in ALL_SCORES.items()}}


def columns_of(scores) -> list[str]:
    """Those of `COLUMNS` that there are beside these scores: all, or all but the cost."""
    return [name for name in COLUMNS if name != COST.name or name in scores]


def _function(place):
    """The function "room.module:function" of this package."""
    module, function = place.split(":")
    return getattr(import_module(f"..{module}", __package__), function)
BY_OPTION = {score.option: score.name for score in SCORES.values()}
BY_COST = {**BY_OPTION, COST.option: COST.name}


class PerPoint(namedtuple("PerPoint", "title head")):
    """The cost of an answer on any machine, as a mean over the points: words for an axis, and for
    the head of a column."""

    __slots__ = ()


COST_PER_POINT = {
    "queried": PerPoint("binary classifiers asked per point", "classifiers asked"),
    "kernel_values": PerPoint("kernel values computed per point", "kernel values"),
}


class ResultScore(namedtuple("ResultScore", "name title takes function")):
    """A score of one page of results, which configurations are not compared by.

    name, title, function: as in `Score`;  takes: "table" (a `Contingency`) or "area" (A (k, k)
    of `ranking.separation`, points of each class (k,)).
    """

    __slots__ = ()

    def value(self, *arguments):
        """The score of what it `takes`."""
        return _function(self.function)(*arguments)


FURTHER = {score.name: score for score in (
    ResultScore("balanced_accuracy", "balanced accuracy", "table",
                "score.classes:balanced_accuracy"),
    ResultScore("macro_f1", "F1, mean of classes", "table", "score.classes:macro_f1"),
    ResultScore("weighted_f1", "F1, weighted by points", "table", "score.classes:weighted_f1"),
    ResultScore("cohen_kappa", "Cohen's kappa", "table", "score.classes:cohen_kappa"),
    ResultScore("matthews", "Matthews' correlation", "table", "score.classes:matthews"),
    ResultScore("macro_auc", "AUC, class against rest", "area", "score.ranking:macro_area"),
    ResultScore("hand_till_auc", "AUC, Hand and Till", "area", "score.ranking:hand_till"),
)}
HIERARCHICAL = {"hierarchical_precision": "hierarchical precision",
                "hierarchical_recall": "hierarchical recall", "hierarchical_f": "hierarchical F1"}

# A score of all points on a page of results.  title, meaning: in a sentence;  line: its title on
# the page of text;  rare: few readers ask for it;  resampled: its interval is that of a bootstrap,
# and may be the same in all resamples;  share: shown in percent;  low, high: between which it is;
# larger: is better.

PageScore = namedtuple("PageScore", "title meaning line rare resampled share low high larger",
                       defaults=(None, False, False, False, 0.0, 1.0, True))


def _row(name, meaning, title=None, **more):
    """(name, `PageScore`), with the title of a row above unless it is given."""
    score = ALL_SCORES.get(name) or FURTHER.get(name)
    return name, PageScore(title or score.title, meaning, larger=more.pop("larger", getattr(
        score, "larger_is_better", True)), **more)


_LOSS = {"high": float("inf"), "larger": False}
_UNCERTAINTY = "uncertainty_coefficient"
PAGE = dict((  # in their order there
    _row("coverage", "Share of the points that are answered.", "coverage", share=True),
    _row("accuracy", "Share of the answers that are right.", share=True),
    _row("top_accuracy", "Share of the points whose true class is among the most probable ones.",
         "top-{} accuracy", share=True),
    _row("cost", "Mean cost of the answers.", resampled=True, **_LOSS),
    _row("log_loss", "Mean of \u2212ln p of the true class. 0 is perfect.", **_LOSS),
    _row("brier", "Mean of the squared errors of the probabilities, summed over the classes. "
         "0 is perfect.", **_LOSS),
    _row("expected_calibration_error", "Mean distance of the probability of the answer from the "
         "share that is right.", "expected calibration error", larger=False),
    _row("classwise_calibration_error", "The same of the probabilities of each class.",
         "calibration error, mean of classes", line="  mean of the classes", rare=True,
         larger=False),
    _row(_UNCERTAINTY, "Share of the information about the class that the answers tell.",
         resampled=True),
    *(_row(f"{_UNCERTAINTY}_{word}", "", f"{SCORES[_UNCERTAINTY].title}, {word}",
           line=f"  {word}", rare=True, low=-1.0 if word == "adjusted" else 0.0)
      for word in ("adjusted", "reverse", "symmetric")),
    _row("brier_all", "Root of the mean squared error of all probabilities.", rare=True),
    _row("brier_winning", "Root of the mean squared error of the probability of the answer.",
         rare=True),
    _row("balanced_accuracy", "Mean of the recalls of the classes.", resampled=True, share=True),
    _row("macro_f1", "Mean of the F1 of the classes.", resampled=True),
    _row("weighted_f1", "Mean of the F1 of the classes, weighted by their points.", resampled=True,
         rare=True),
    _row("cohen_kappa", "Agreement beyond that of answers by chance with the same shares.",
         resampled=True, low=-1.0),
    _row("matthews", "Correlation of answers and truth, for several classes.", resampled=True,
         low=-1.0),
    _row("macro_auc", "Probability that a point of a class gets more of it than one of another, "
         "mean of the classes.", resampled=True, share=True),
    _row("hand_till_auc", "The same of pairs of classes.", resampled=True),
    _row("mean_class_error", "Mean distance of the answer from the truth in the order of the "
         "classes.", "mean class error", resampled=True, **_LOSS),
    _row("within_one_class", "Share of the answers that are right or in a neighbouring class.",
         "within one class", share=True),
    _row("ranked_probability_score", "Squared errors of the cumulative probabilities. 0 is "
         "perfect.", "ranked probability score", **_LOSS),
    _row("aurc", "Mean error over all shares of answered points, the surest first.", "AURC",
         rare=True, larger=False),
    _row("e_aurc", "What of it an order of the points by their errors would not have.", "E-AURC",
         rare=True, larger=False)))
PAGE |= {name: PageScore(score.title, "") for name, score in (ALL_SCORES | FURTHER).items()
         if name not in PAGE}
# Those that are compared with what they were before calibration.

BEFORE = ("log_loss", "brier", "expected_calibration_error")


def page_title(name, scores, line=False):
    """The title of a row of `PAGE` above these scores;  line: on the page of text."""
    row = PAGE[name]
    title = (line and row.line or row.title).format(scores.get("top"))
    return title + " of the answered" * (name == "accuracy" and scores["rejected"] > 0)

"""The scores that configurations are compared by: a row for each, read by all that shows them.

A new score is one function and one row.
"""

from collections import namedtuple
from importlib import import_module

__all__ = ["ABSTAINING", "ALL_SCORES", "BY_COST", "BY_OPTION", "COST", "FURTHER", "Further",
           "HIERARCHICAL", "ORDERED", "PER_POINT", "PerPoint", "SCORES", "Score"]


def _function(place):
    """The function "module:function" of this room."""
    module, function = place.split(":")
    return getattr(import_module(f".{module}", __package__), function)


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
    weighted so);  function: "module:function" of the room `score`.
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
          "contingency:accuracy"),
    Score("log_loss", "log-loss", "log loss", "log loss", "log loss", False, "probabilities",
          "mean", "probabilities:log_loss"),
    Score("brier", "brier", "Brier", "Brier score", "Brier score", False, "probabilities", "mean",
          "probabilities:brier"),
    Score("uncertainty_coefficient", "uncertainty", "unc.coef", "uncertainty coefficient",
          "uncertainty coefficient", True, "table", "table", "contingency:explained_share"),
    Score("brier_all", "brier-rms", "RMS all", "RMS error, all classes",
          "RMS error, all classes", False, "probabilities", "square", "probabilities:brier_all"),
    Score("brier_winning", "brier-winning", "RMS win", "RMS error, winning",
          "RMS error, winning class", False, "winner", "square", "probabilities:brier_winning"),
)}
BY_OPTION = {score.option: score.name for score in SCORES.values()}
# Where there are costs of the answers there is one more.
COST = Score("cost", "cost", "cost", "mean cost", "mean cost", False, "costs", "mean",
             "costs:mean_cost")
ALL_SCORES = {**SCORES, COST.name: COST}
BY_COST = {**BY_OPTION, COST.option: COST.name}


class PerPoint(namedtuple("PerPoint", "title head")):
    """The cost of an answer on any machine, as a mean over the points: words for an axis, and for
    the head of a column."""

    __slots__ = ()


PER_POINT = {
    "queried": PerPoint("binary classifiers asked per point", "classifiers asked"),
    "kernel_values": PerPoint("kernel values computed per point", "kernel values"),
}


class Further(namedtuple("Further", "name title takes function")):
    """A score of one page of results, which configurations are not compared by.

    name, title, function: as in `Score`;  takes: "table" (a `Contingency`) or "area" (A (k, k)
    of `ranking.separation`, points of each class (k,)).
    """

    __slots__ = ()

    def value(self, *arguments):
        """The score of what it `takes`."""
        return _function(self.function)(*arguments)


FURTHER = {score.name: score for score in (
    Further("balanced_accuracy", "balanced accuracy", "table", "classes:balanced_accuracy"),
    Further("macro_f1", "F1, mean of classes", "table", "classes:macro_f1"),
    Further("weighted_f1", "F1, weighted by points", "table", "classes:weighted_f1"),
    Further("cohen_kappa", "Cohen's kappa", "table", "classes:cohen_kappa"),
    Further("matthews", "Matthews' correlation", "table", "classes:matthews"),
    Further("macro_auc", "AUC, class against rest", "area", "ranking:macro_area"),
    Further("hand_till_auc", "AUC, Hand and Till", "area", "ranking:hand_till"),
)}
# Titles of what `prediction.evaluation` adds where it is asked for, or allowed.
ORDERED = {"mean_class_error": "mean class error", "within_one_class": "within one class",
           "ranked_probability_score": "ranked probability score"}
HIERARCHICAL = {"hierarchical_precision": "hierarchical precision",
                "hierarchical_recall": "hierarchical recall", "hierarchical_f": "hierarchical F1"}
ABSTAINING = {"aurc": "AURC", "e_aurc": "E-AURC"}

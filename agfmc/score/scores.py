"""The scores that configurations are compared by: a row for each, read by all that shows them.

To add one, add a row here and its value to what `prediction.evaluation.evaluate` gives.
"""

from collections import namedtuple

__all__ = ["BY_OPTION", "SCORES", "Score"]


class Score(namedtuple("Score", "name option head short title larger_is_better")):
    """A score of results.

    name: its key in dictionaries of scores;  option: the word for it on a command line;  head:
    of its column in tables;  short: in lists of means;  title: in pages and pictures.
    """

    __slots__ = ()

    @property
    def sign(self):
        """+1 where larger is better, else -1."""
        return 1 if self.larger_is_better else -1

    @property
    def axis(self):
        """The title, with the direction where it is not upward."""
        return self.title if self.larger_is_better else f"{self.title} (smaller is better)"


SCORES = {score.name: score for score in (
    Score("accuracy", "accuracy", "accuracy", "accuracy", "accuracy", True),
    Score("uncertainty_coefficient", "uncertainty", "unc.coef", "uncertainty coefficient",
          "uncertainty coefficient", True),
    Score("brier_all", "brier", "Brier all", "Brier score, all classes",
          "Brier score, all classes", False),
    Score("brier_winning", "brier-winning", "Brier win", "Brier score, winning",
          "Brier score, winning class", False),
    Score("log_loss", "log-loss", "log loss", "log loss", "log loss", False),
)}
BY_OPTION = {score.option: score.name for score in SCORES.values()}

"""The table of learners: the name or letter by which a control file chooses each."""

from typing import NamedTuple

__all__ = ["LEARNERS", "Learner", "NODE_LEARNERS"]


class Learner(NamedTuple):
    """One learner.

    title: what it is called in messages and pictures;  options: the class of its options, as
    "module:class" of the room `learners`;  sides: how many sides it tells apart, None for as
    many as a node has branches;  is_program: classification runs a program of the user's.
    """

    title: str
    options: str
    sides: int | None = 2
    is_program: bool = False


# by the NAME of learner=NAME in the options of a partition, or by the letter of a node
LEARNERS = {
    "svm": Learner("support vector machine", "libsvm:SvmOptions"),
    "linear": Learner("linear classifier of LIBLINEAR", "liblinear:LinearOptions"),
    "logistic": Learner("logistic regression", "logistic:LogisticOptions"),
    "nystrom": Learner("least squares on shared landmarks", "nystrom:NystromOptions"),
    "K": Learner("k nearest neighbours", "neighbours:NeighbourOptions", None),
    "L": Learner("multinomial logistic regression", "logistic:MultinomialOptions", None),
    "G": Learner("external command", "commands:CommandOptions", None, True),
}
NODE_LEARNERS = {letter: row for letter, row in LEARNERS.items() if row.sides is None}

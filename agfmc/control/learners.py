"""The table of learners: the name or letter by which a control file chooses each."""

import math
from typing import NamedTuple


class Parameter(NamedTuple):
    """A number among the options of a learner that is searched (`tune_m`), by powers of 2.

    Attributes
    ----------
    name : name of the number in messages and pictures
    field : field of the class of the options
    low, high, step : exponents that are tried first
    scaled : how many times the exponent that suits the scale of the data is added to them
    least, most : limits of the exponent
    key : word in place of the letter in `column`
    """

    letter: str
    name: str
    field: str
    low: float
    high: float
    step: float
    scaled: int = 0
    whole: bool = False
    least: float = -math.inf
    most: float = math.inf
    key: str = ""

    @property
    def column(self) -> str:
        """The name of its exponent in tables."""
        return "log2" + (self.key or self.letter[1:])

    @property
    def word(self) -> str:
        """Its name in the text of a search space."""
        return self.key or self.field


GAMMA = Parameter("-g", "gamma", "gamma", -4.0, 4.0, 2.0, 1)
COST = Parameter("-c", "C", "C", -1.0, 9.0, 2.0)
_PLANE_COST = COST._replace(low=1.0, high=13.0, scaled=1)


_BOOSTING = (
    Parameter("-r", "learning rate", "learning_rate", -5.0, -1.0, 2.0, most=0.0, key="rate"),
    Parameter(
        "-l",
        "number of leaves",
        "num_leaves",
        3.0,
        7.0,
        2.0,
        whole=True,
        least=1.0,
        most=12.0,
        key="leaves",
    ),
)


class Learner(NamedTuple):
    """A learner of binary classifiers or of multi-class nodes.

    Attributes
    ----------
    title : name in messages and pictures
    options : class of its options, as "room.module:class" of this package
    sides : number of sides that it separates, None for as many as a node has branches
    is_program : classification runs a program of the user's
    searched : parameters that suit some data and not others, at most two: gamma, if its kernels
        have one, comes first
    """

    title: str
    options: str
    sides: int | None = 2
    is_program: bool = False
    searched: tuple[Parameter, ...] = ()


# by the NAME of learner=NAME in the options of a partition, or by the letter of a node
LEARNERS = {
    "svm": Learner("support vector machine", "learners.svm:SVM", searched=(GAMMA, COST)),
    "linear": Learner(
        "linear classifier of LIBLINEAR", "learners.linear:Linear", searched=(_PLANE_COST,)
    ),
    "logistic": Learner(
        "logistic regression", "learners.logistic:Logistic", searched=(_PLANE_COST,)
    ),
    "nystrom": Learner(
        "least squares on shared landmarks", "landmarks.learner:Nystrom", searched=(GAMMA,)
    ),
    "trees": Learner(
        "gradient boosted trees",
        "learners.trees:Trees",
        searched=_BOOSTING,
    ),
    "K": Learner(
        "k nearest neighbours",
        "learners.neighbours:NeighbourOptions",
        None,
        searched=(Parameter("-k", "k", "k", 0.0, 6.0, 1.0, whole=True, least=0.0),),
    ),
    "L": Learner(
        "multinomial logistic regression",
        "learners.logistic:MultinomialOptions",
        None,
        # it is 1 / C
        searched=(Parameter("-r", "ridge", "ridge", -13.0, -1.0, 2.0, -1),),
    ),
    "T": Learner(
        "gradient boosted trees of all branches",
        "learners.trees:BoostedNodeOptions",
        None,
        searched=_BOOSTING,
    ),
    "G": Learner("external command", "learners.programs:CommandOptions", None, True),
}
NODE_LEARNERS = {letter: row for letter, row in LEARNERS.items() if row.sides is None}

# by their columns, as the first learner has them
PARAMETERS = {one.column: one for row in reversed(LEARNERS.values()) for one in row.searched}

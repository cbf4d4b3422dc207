"""Table of the decoders: their numbers, names and the functions that solve them.

The argument parser, the help, the manual page and the tests all read this
table, so nothing heavy is imported here.
"""

import re
from collections import namedtuple
from collections.abc import Callable

from ..core.errors import UsageError


class Method(
    namedtuple(
        "Method",
        "number name aliases summary solver gives codes takes iterates",
        defaults=("probabilities", "any", "r", False),
    )
):
    """One way from decision values to the classes.

    number      as in libAGF's -Q, or None for a method that has only a name
    name        its name on the command line
    aliases     other names that are understood
    summary     one line for help and manual page
    solver      "module:function" in this package, of what recognises the code (see `codes`) and
                returns a solver r (n, m) -> (array, `SolverStatus`); or a program's own function
                of r (n, m) and the code (m, k) -> array (n, k)
    gives       "probabilities" (non-negative, sum 1), "estimates" (of probabilities, but signs
                and sums are free), "votes", "values", or "winner": it queries single
                classifiers, knows the winner's probability alone, and its solver, one of
                `pair_strategies`, takes `PairQueries` as well
    codes       a key of `code_kinds.KINDS`
    takes       "r", differences of probabilities, "learned", the same and the `LearnedDecoder` of
                the model, or "g", raw values turned so that g > 0 speaks for +1
    iterates    True where each point takes many steps, and a multiple of the time of others
    """

    __slots__ = ()


MAP_KINDS = (
    "none",
    "temperature",
    "matrix",
)  # of the maps that calibrate them, the simple ones first

METHODS = (
    Method(
        -1,
        "binary",
        ("raw",),
        "the decision values themselves, one column per binary classifier",
        "class_scores:binary",
        "values",
    ),
    Method(
        0,
        "least-squares",
        ("lsq", "constrained"),
        "least squares with p >= 0 and sum 1, exactly (default)",
        "constrained:prepare",
    ),
    Method(
        1,
        "inverse",
        ("equality",),
        "least squares with sum 1 only; meant for one-vs-one, elsewhere it may go negative",
        "unconstrained:prepare_inverse",
        "estimates",
    ),
    Method(
        2,
        "vote-values",
        ("vote-probabilities",),
        "votes weighted with the decision values, A^T r",
        "class_scores:vote_values",
        "votes",
    ),
    Method(
        3,
        "vote",
        ("vote-classes",),
        "votes, A^T sign(r), of calibrated values (svm-vote: of raw ones)",
        "class_scores:vote_signs",
        "votes",
    ),
    Method(
        4,
        "orthogonal",
        ("projection",),
        "A^T r / m projected onto the simplex; meant for orthogonal codes",
        "unconstrained:prepare_orthogonal",
    ),
    Method(
        5,
        "unconstrained",
        ("unc",),
        "least squares in which the sum 1 is one more equation",
        "unconstrained:prepare_unconstrained",
        "estimates",
    ),
    Method(
        6,
        "renormalised",
        ("renormalized",),
        "method 5, then projected onto the simplex",
        "unconstrained:prepare_renormalised",
    ),
    Method(
        7,
        "zadrozny",
        (),
        "Zadrozny's iteration, to its fixed point",
        "zadrozny:prepare",
        iterates=True,
    ),
    Method(
        None,
        "zadrozny-kl",
        ("kullback-leibler",),
        "the smallest Kullback-Leibler divergence, Zadrozny's aim",
        "zadrozny:prepare_kl",
        iterates=True,
    ),
    Method(
        None,
        "likelihood",
        (),
        "rows that divide the classes into groups: the largest expected likelihood",
        "likelihood:prepare",
        codes="groups",
        iterates=True,
    ),
    Method(
        None,
        "wu-lin-weng",
        ("svm-predict",),
        "one-vs-one as svm-predict solves it: method 1, but by sweeps that end early",
        "pairwise:prepare_sweeps",
        codes="one-vs-one",
        iterates=True,
    ),
    *(
        Method(None, name, aliases, summary, f"pair_strategies:{solver}", "winner", "one-vs-one")
        for name, aliases, summary, solver in (
            (
                "max-win",
                ("maxwin",),
                "one-vs-one: every pair votes, and the most votes win",
                "max_win",
            ),
            (
                "ddag",
                ("dagsvm",),
                "one-vs-one: the first and the last class of a list are compared "
                "and the loser is struck off; k - 1 classifiers are evaluated",
                "ddag",
            ),
            (
                "adag",
                (),
                "one-vs-one: a tournament, in rounds; k - 1 classifiers are evaluated",
                "adag",
            ),
            (
                "radag",
                (),
                "adag that pairs the classes anew in each round, by the errors of pairs",
                "radag",
            ),
            (
                "poll",
                (),
                "one-vs-one: votes of random opponents for each class; of finalists, the best by "
                "all their votes",
                "poll",
            ),
            (
                "and",
                ("unanimous",),
                "one-vs-one: the class that wins all its pairs, else -1",
                "unanimous",
            ),
        )
    ),
    Method(
        None,
        "learned",
        (),
        "logistic regression on the log-odds, fitted to held-out decision values in training",
        "learned:prepare",
        takes="learned",
    ),
    Method(
        None,
        "argmax",
        (),
        "one-vs-rest: the class with the largest probability against the rest",
        "class_scores:argmax",
        codes="one-vs-rest",
    ),
    Method(
        None,
        "argmax-raw",
        (),
        "one-vs-rest: the class with the largest raw decision value",
        "class_scores:argmax_raw",
        "votes",
        "one-vs-rest",
        "g",
    ),
    *(
        Method(
            None,
            f"loss:{name}",
            aliases,
            f"any code, from raw decision values: the smallest sum of losses {loss}",
            f"class_scores:{name}",
            "votes",
            takes="g",
        )
        for name, aliases, loss in (
            ("hamming", ("svm-vote",), "(1 - sign z)/2; also svm-vote, as svm-predict votes"),
            ("linear", (), "-z"),
            ("hinge", (), "max(0, 1 - z)"),
            ("exponential", (), "exp(-z)"),
            ("logit", (), "log(1 + exp(-2z))"),
            ("quadratic", (), "(1 - z)^2"),
        )
    ),
)

DEFAULT = METHODS[1]


def is_learned(name: str) -> bool:
    """True if a decoder of this name has weights that are a part of the calibration."""
    return any(
        name.lower() in (method.name, *method.aliases)
        for method in METHODS
        if method.takes == "learned"
    )


def own_method(function: Callable) -> Method:
    """The `Method` of a function of decision values r (n, m) and the coding matrix (m, k).

    It returns probabilities (n, k), or what its attribute `gives` says, "estimates" or "votes".
    """
    gives = getattr(function, "gives", DEFAULT.gives)
    if gives not in ("probabilities", "estimates", "votes"):
        raise UsageError(
            f"a decoder gives probabilities, estimates or votes, not {gives!r} (its attribute gives)"
        )
    name = getattr(function, "__name__", type(function).__name__)
    word = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")[:40]  # as files of calibrations have
    return Method(None, f"own:{word}", (), "a function of the program", function, gives)


def find_method(text: str | int | Method | Callable) -> Method:
    """The `Method` with this number, name or alias, a Method itself, or that of a function.

    Raises UsageError, which lists what exists.
    """
    if isinstance(text, Method):
        return text
    if callable(text):
        return own_method(text)
    word = str(text).strip().lower().replace("_", "-")
    for method in METHODS:
        if word == method.name or word in method.aliases:
            return method
        if method.number is not None and word in (str(method.number), f"+{method.number}"):
            return method
    known = ", ".join(
        method.name if method.number is None else f"{method.number} {method.name}"
        for method in METHODS
    )
    raise UsageError(
        f"no decoder '{text}'; there are: {known}; and for trees "
        "recursive and full, for ensembles average and geometric (`tree`)"
    )

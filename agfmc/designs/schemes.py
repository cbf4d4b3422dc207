"""The table of schemes: what print_control can write, by number and by name.

The parser, the help, the manual page, the designs and the tests read this table; nothing
heavy is imported here.  A new scheme is one function and one row.
"""

from collections import namedtuple
from typing import NamedTuple

from ..core.errors import UsageError
from ..core.rows import by_name

_SPELLED = {"yes": True, "no": False}


class Parameter(NamedTuple):
    """A parameter of schemes: one of its `choices`, else a whole number from `least` to `most`."""

    meaning: str
    choices: tuple = ()
    least: int = 1
    most: int = 10**9

    @property
    def range(self):
        """The values that may be given, in words."""
        if not self.choices:
            return f"a whole number from {self.least} to {self.most}"
        if self.choices == (False, True):
            return "yes or no"
        return ", ".join(self.choices)

    def checked(self, name, value):
        """The value that is given, or that its text stands for; `UsageError` out of the range."""
        value = _SPELLED.get(value, value)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value[:20])
        if self.choices:
            in_range = value in self.choices
        else:
            in_range = not isinstance(value, str) and self.least <= value <= self.most
        if not in_range:
            raise UsageError(f"parameter {name}: expected {self.range}, found '{value}'")
        return value


METRICS = ("hausdorff", "mean-deviation")  # distances of classes
LINKAGES = ("single", "complete", "average")  # distances of groups of them
KINDS = ("uniform", "class-balanced", "data-balanced")  # of random trees
AVERAGES = {"arithmetic": "average", "geometric": "geometric"}  # their decoders
_OWN = ("of", "members", "average")  # of ensembles, not of the schemes of their members

# what a scheme may be given as NAME=VALUE after its name
PARAMETERS = {
    "metric": Parameter(
        "distance of two classes, Hausdorff's or that of the means over the root of the product "
        "of the deviations",
        METRICS,
    ),
    "linkage": Parameter(
        "distance of two groups: the smallest, the largest or the mean of the distances "
        "between their classes",
        LINKAGES,
    ),
    "rows": Parameter(
        "rows of a random code; for orthogonal-special the number of entries in a row that are "
        "not 0"
    ),
    "strict": Parameter("no entries 0: every classifier separates all classes", (False, True)),
    "reduced": Parameter("without the constant row of the Hadamard matrix", (False, True)),
    "draws": Parameter(
        "the best of so many random codes, which has the largest distances between columns, "
        "then rows"
    ),
    "kind": Parameter(
        "all random trees with equal probability, or with half of the classes, or about half of "
        "the points, on each side of every node",
        KINDS,
    ),
    "of": Parameter("scheme of the members", ("random-tree", "random", "random-as-orthogonal")),
    "members": Parameter("number of different configurations", least=2, most=10_000),
    "average": Parameter(
        "average of the probabilities, whose decoder is written into the head", tuple(AVERAGES)
    ),
    "seed": Parameter("seed of what is drawn, in place of that of the run", least=0, most=2**64),
}


class Scheme(
    namedtuple(
        "Scheme",
        "number name aliases summary maker made_of options extent groups",
        defaults=(("classes",), {}, None, None),
    )
):
    """One way to lay out binary classifiers.

    number      as in libAGF's -Q, or None for a scheme that has only a name
    name        its name on the command line
    aliases     other names that are understood
    summary     one line for help and manual page
    maker       "module:function" of agfmc, loaded when it is called; the function takes the
                number of classes k, the sizes of these where it is made of sizes, the distances
                (k, k) between them where it is made of data or confusions, or a control `Tree`.
                It returns rows (left, right) of class positions; or a `Tree` with the positions
                as labels, or (tree, heights) where its nodes are at known distances
    made_of     any of "classes" (their number is enough), "sizes" (the points in each, or the sums
                of their weights), "data", "confusions", "control"
    options     {name in `PARAMETERS`: default} of the maker; "metric" is that of the distances
    extent      function of k and the options -> (rows, share of the entries that are not 0,
                "at least " where there may be more rows): codes too large to be read again
                are refused before they are made.  None where the maker, or the size of the
                control text alone, sets the limit
    groups      "module:function" of k, a number q of symbols and the options -> rows of at most q
                groups of class positions; None where there are only rows of two sides
    """

    __slots__ = ()

    @property
    def heading(self):
        """Number and name, as lists of schemes show them."""
        if self.number is None:
            return self.name
        return f"{self.number} {self.name}"

    @property
    def parameters(self):
        """The parameters, with their defaults but for those that depend on the classes."""
        return ", ".join(
            name if default is None else f"{name}={'no' if default is False else default}"
            for name, default in self.options.items()
        )

    def settings(self, given):
        """The options of this scheme with the values of `given`, else their defaults; None stands
        for the default.

        Raises `UsageError` for a parameter that the scheme, or that of its members, does not have,
        and for a value out of its range.
        """
        given = {name: value for name, value in given.items() if value is not None}
        known = list(self.options)
        title = self.name
        if "of" in known:
            members = given.get("of", self.options["of"])
            PARAMETERS["of"].checked("of", members)
            known = [*_OWN, *find_scheme(members).options]
            title = f"{title} of {members}"
        for name in given:
            if name not in known:
                if known:
                    expected = f"expected {', '.join(known)}"
                else:
                    expected = "it has none"
                raise UsageError(f"the scheme {title} has no parameter '{name}': {expected}")
        return self.options | {
            name: PARAMETERS[name].checked(name, value) for name, value in given.items()
        }

    def make(self, source, **options):
        """The result of `maker` for `source`: a number of classes, distances, a tree or points."""
        return by_name(self.maker)(source, **options)


# of the version before, with what takes their place
_REMOVED = {
    "best-tree": "empirical makes a tree from data, ensemble an average of random trees",
    "best-code": "orthogonal and random are codes for any data",
}

SCHEMES = (
    Scheme(
        0,
        "one-vs-rest",
        ("ovr", "ova", "1vr", "1-v-rest", "one-vs-all", "one-against-all", "one-vs-the-rest"),
        "each class against all others",
        "designs.standard:one_vs_rest",
        extent=lambda k: (k, 1, ""),
    ),
    Scheme(
        1,
        "one-vs-one",
        ("ovo", "1v1", "1-v-1", "one-against-one"),
        "each class against each other (default)",
        "designs.standard:one_vs_one",
        extent=lambda k: (k * (k - 1) // 2, 0, ""),
        groups="designs.symbols:one_vs_one",
    ),
    Scheme(
        2,
        "tree",
        ("hierarchical", "hier", "balanced"),
        "balanced decision tree over the classes in ascending order",
        "designs.standard:tree",
        groups="designs.symbols:tree",
    ),
    Scheme(
        3,
        "empirical",
        ("emp", "dendrogram", "tree-from-data"),
        "decision tree from data, by the distances of the classes",
        "designs.distances:joined_tree",
        ("data",),
        {"metric": "hausdorff", "linkage": "single"},
    ),
    Scheme(
        4,
        "orthogonal",
        ("ortho",),
        "orthogonal code from a Hadamard matrix",
        "designs.orthogonal:orthogonal",
        options={"reduced": False},
        extent=lambda k, reduced: (k, 1, "at least "),
    ),
    Scheme(
        5,
        "adjacent",
        ("adj",),
        "classes up to i against those above, for ordered classes",
        "designs.standard:adjacent",
        extent=lambda k: (k - 1, 1, ""),
    ),
    Scheme(
        6,
        "tree-code",
        ("hier-code",),
        "the balanced tree as a coding matrix",
        "designs.standard:tree_code",
        extent=lambda k: (k - 1, 0, ""),
    ),
    Scheme(
        7,
        "random",
        ("rand",),
        "random code, from a seed",
        "designs.random_codes:random_code",
        options={"rows": None, "strict": False, "seed": 1, "draws": 1},
        extent=lambda k, rows, strict, **_: (rows or 4 * -(-k // 4), 1 if strict else 0.66, ""),
        groups="designs.symbols:random_groups",
    ),
    Scheme(
        8,
        "exhaustive",
        ("exh",),
        "all 2^(n-1) - 1 partitions of the classes",
        "designs.standard:exhaustive",
    ),
    Scheme(
        9,
        "convert",
        ("to-code",),
        "a control file, trained or not, as one coding matrix over the same classifiers; or a "
        "matrix of -1, 0 and 1 in text as a control file",
        "control.build:to_code",
        ("control",),
    ),
    Scheme(
        10,
        "orthogonal-special",
        ("special", "weighing"),
        "orthogonal code with entries 0",
        "designs.weighing:special",
        options={"rows": None},
        extent=lambda k, rows: (k, 0, "at least "),
    ),
    Scheme(
        16,
        "random-as-orthogonal",
        ("random-ortho",),
        "strict random code with as many rows as the orthogonal one",
        "designs.random_codes:random_as_orthogonal",
        options={"seed": 1, "draws": 1},
        extent=lambda k, **_: (k, 1, "at least "),
    ),
    Scheme(
        None,
        "contingency",
        ("confusion",),
        "decision tree from a contingency table: classes most confused are split last",
        "designs.distances:joined_tree",
        ("confusions",),
        {"linkage": "average"},
    ),
    Scheme(
        None,
        "adjacent-ordered",
        ("ordered",),
        "the adjacent code in the order that data, or a contingency table, suggest",
        "designs.class_order:ordered_adjacent",
        ("data", "confusions"),
        {"metric": "mean-deviation"},
        lambda k, **_: (k - 1, 1, ""),
    ),
    Scheme(
        None,
        "random-tree",
        (),
        "decision tree that is drawn at random",
        "designs.drawn:random_tree",
        ("classes", "sizes"),
        {"kind": "uniform", "seed": 1},
    ),
    Scheme(
        None,
        "ensemble",
        (),
        "several different configurations, the probabilities of which are averaged: random "
        "ones, or control files",
        "designs.drawn:ensemble",
        ("classes", "sizes"),
        {
            "of": "random-tree",
            "members": None,
            "average": None,
            "kind": "class-balanced",
            "rows": None,
            "strict": False,
            "seed": 1,
            "draws": 1,
        },
    ),
)

DEFAULT = SCHEMES[1]

# In general use, for any number of classes, and quick: the default candidates of a comparison.
COMPARED = (
    "one-vs-one",
    "one-vs-rest",
    "orthogonal",
    "adjacent",
    "tree",
    "empirical",
    "ensemble",
)


def find_scheme(text: str) -> Scheme:
    """The `Scheme` with this number or name; `UsageError` lists what there is."""
    word = text.strip().lower().replace("_", "-")
    for scheme in SCHEMES:
        if scheme.number is None:
            numbers = ()
        else:
            numbers = (str(scheme.number),)
        if word in (*numbers, scheme.name, *scheme.aliases):
            return scheme
    if word in _REMOVED:
        raise UsageError(f"there is no scheme {word} any more: {_REMOVED[word]}")
    if word.endswith((".mbt", ".mbc")):
        raise UsageError(
            f"there is no scheme '{text}': in Python a control file is given as a pathlib.Path"
        )
    raise UsageError(
        f"there is no scheme '{text}': expected one of "
        + ", ".join(scheme.heading for scheme in SCHEMES)
    )


def is_scheme(control) -> bool:
    """True if a control is the number, or the text, of a scheme, and no design of its own."""
    return isinstance(control, int) or isinstance(control, str) and "{" not in control


def scheme_name(text: str) -> str:
    """`text` without its words NAME=VALUE."""
    return " ".join(word for word in text.split() if "=" not in word)


def read_scheme(text: str | int, seed: int | None = None) -> tuple[Scheme, dict]:
    """A scheme and its settings, of its name or number with NAME=VALUE after it.

    `seed` is that of schemes which draw and are not given another.  Raises `UsageError`, also for
    a value that is out of its range.
    """
    scheme = find_scheme(scheme_name(str(text)))
    settings = {}
    if seed is not None and "seed" in scheme.options:
        settings["seed"] = seed
    for word in str(text).split():
        name, equals, value = word.partition("=")
        if equals:
            settings[name] = PARAMETERS[name].checked(name, value) if name in PARAMETERS else value
    scheme.settings(settings)
    return scheme, settings

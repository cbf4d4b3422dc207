"""The table of schemes: what print_control can write, by number and by name.

The parser, the help, the manual page, the designs and the tests read this table; nothing
heavy is imported here.  A new scheme is one function and one row.
"""

from collections import namedtuple

from ..core.errors import UsageError
from ..core.rows import by_name


class Scheme(
    namedtuple(
        "Scheme",
        "number name aliases summary maker made_of options extent",
        defaults=(("classes",), {}, None),
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
    options     {keyword: default} of the maker; "metric" is that of the distances
    extent      function of k and the options -> (rows, share of the entries that are not 0,
                "at least " where there may be more rows): codes too large to be read again
                are refused before they are made.  None where the maker, or the size of the
                control text alone, sets the limit
    """

    __slots__ = ()

    @property
    def heading(self):
        """Number and name, as lists of schemes show them."""
        return self.name if self.number is None else f"{self.number} {self.name}"

    def settings(self, given):
        """The options of this scheme: those of `given` that it has, else their defaults."""
        return {
            word: default if given.get(word) is None else given[word]
            for word, default in self.options.items()
        }

    def make(self, source, **options):
        """The result of `maker` for `source`: a number of classes, distances, a tree or points."""
        return by_name(self.maker)(source, **options)


METRICS = ("hausdorff", "mean-deviation")  # distances of classes
LINKAGES = ("single", "complete", "average")  # distances of groups of them
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
    ),
    Scheme(
        2,
        "tree",
        ("hierarchical", "hier", "balanced"),
        "balanced decision tree over the classes in ascending order",
        "designs.standard:tree",
    ),
    Scheme(
        3,
        "empirical",
        ("emp", "dendrogram", "tree-from-data"),
        "decision tree from data: single linkage on Hausdorff distances, or what "
        "--linkage and --metric say",
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
        "random code of nrow rows, from a seed; without entries 0 with -G",
        "designs.random_codes:random_code",
        options={"rows": None, "strict": False, "seed": 1, "draws": 1},
        extent=lambda k, rows, strict, **_: (rows or 4 * -(-k // 4), 1 if strict else 0.66, ""),
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
        "a control file, trained or not, as one coding matrix over the same classifiers",
        "control.build:to_code",
        ("control",),
    ),
    Scheme(
        10,
        "orthogonal-special",
        ("special", "weighing"),
        "orthogonal code with entries 0; nrow is the number of entries in a row that are not 0",
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
        numbers = () if scheme.number is None else (str(scheme.number),)
        if word in (*numbers, scheme.name, *scheme.aliases):
            return scheme
    if word in _REMOVED:
        raise UsageError(f"there is no scheme {word} any more: {_REMOVED[word]}")
    raise UsageError(
        f"there is no scheme '{text}': expected one of "
        + ", ".join(scheme.heading for scheme in SCHEMES)
    )

"""The table of schemes: what print_control can write, by number and by name.

The parser, the help, the manual page and the tests read this table; nothing
heavy is imported here.
"""

from __future__ import annotations

from collections import namedtuple  # dataclasses takes 10 ms to load

from ..errors import UsageError

__all__ = ["COMPARED", "DEFAULT", "SCHEMES", "Scheme", "find_scheme"]


class Scheme(namedtuple("Scheme", "number name aliases summary")):
    """A way to lay out binary classifiers: libAGF's number, if it has one, names, a line of help.
    """

    __slots__ = ()

    @property
    def heading(self):
        """Number and name, as lists of schemes show them."""
        return self.name if self.number is None else f"{self.number} {self.name}"


SCHEMES = (
    Scheme(0, "one-vs-rest", ("1vr", "one-vs-the-rest"), "each class against all others"),
    Scheme(1, "one-vs-one", ("1v1",), "each class against each other (default)"),
    Scheme(2, "tree", ("hierarchical", "hier", "balanced"),
           "balanced decision tree over the classes in ascending order"),
    Scheme(3, "empirical", ("emp", "dendrogram", "tree-from-data"),
           "decision tree from data: single linkage on Hausdorff distances, or what "
           "--linkage and --metric say"),
    Scheme(4, "orthogonal", ("ortho",), "orthogonal code from a Hadamard matrix"),
    Scheme(5, "adjacent", ("adj",), "classes up to i against those above, for ordered classes"),
    Scheme(6, "tree-code", ("hier-code",), "the balanced tree as a coding matrix"),
    Scheme(7, "random", ("rand",),
           "random code of nrow rows, from a seed; without entries 0 with -G"),
    Scheme(8, "exhaustive", ("exh",), "all 2^(n-1) - 1 partitions of the classes"),
    Scheme(9, "convert", ("to-code",),
           "a control file, trained or not, as one coding matrix over the same classifiers"),
    Scheme(10, "orthogonal-special", ("special", "weighing"),
           "orthogonal code with entries 0; nrow is the number of entries that are not"),
    Scheme(16, "random-as-orthogonal", ("random-ortho",),
           "strict random code with as many rows as the orthogonal one"),
    Scheme(None, "contingency", ("confusion",),
           "decision tree from a contingency table: classes most confused are split last"),
    Scheme(None, "adjacent-ordered", ("ordered",),
           "the adjacent code in the order that data, or a contingency table, suggest"),
)

DEFAULT = SCHEMES[1]

# In general use, for any number of classes, and quick: what is compared if nobody says what.
COMPARED = ("one-vs-one", "one-vs-rest", "orthogonal", "adjacent", "tree", "empirical")


def find_scheme(text):
    """The `Scheme` with this number or name; `UsageError` lists what there is."""
    word = text.strip().lower().replace("_", "-")
    for scheme in SCHEMES:
        numbers = () if scheme.number is None else (str(scheme.number),)
        if word in (*numbers, scheme.name, *scheme.aliases):
            return scheme
    raise UsageError(f"there is no scheme '{text}': expected one of "
                     + ", ".join(scheme.heading for scheme in SCHEMES))

"""Names on the command line that lack an ending, or have one too many: the files they stand for."""

import os

from ..core.errors import UsageError
from ..files.kinds import ENDINGS, is_table
from ..files.opening import is_stream

_POINTS, _TEXTS = (".vec", ".cls"), (".svm", *ENDINGS)
# What a name stands for: (the endings that a base name has no use for, those that it may lack).
_ENDINGS = {
    "data": (_POINTS, (*_TEXTS, ".lvq", ".txt")),
    "design": (_POINTS, (*_TEXTS, ".mbt", ".mbc", ".mbm")),
    "base": (_POINTS, ()),
    "answers": ((".cls", ".con"), ()),
    "points": ((), (".vec", *_TEXTS)),
    "svm": ((), (".svm",)),
    "lvq": ((), (".lvq",)),
    "table": ((), ENDINGS),
    "model": ((), (".mbm", ".mbc", ".mbt")),
    "trained": ((), (".mbc", ".mbm", ".mbt")),
    "control": ((), (".mbt", ".mbc", ".mbm")),
    "labels": ((), (".truth", ".cls")),
    "printed": ((), (".txt",)),
    "sets": ((), (".sets",)),
    "truth": ((), (".truth", ".cls", ".svm")),
}


def file_named(name, what):
    """The file or base name that `name` stands for, itself where nothing else exists.

    `what` is a key of `_ENDINGS`.
    """
    (superfluous, lacking), (stem, end) = _ENDINGS[what], os.path.splitext(name)
    first = "".join([name, *superfluous[:1]])
    if end in superfluous and not os.path.isfile(first):
        return stem
    if (
        name in ("", "-")
        or name.isdigit()
        or what == "control"
        and names_scheme(name)
        or os.path.isfile(first)
        or os.path.exists(name)
        and not os.path.isdir(name)
    ):
        return name
    return next((name + end for end in (*lacking, ".gz") if os.path.isfile(name + end)), name)


def names_scheme(name):
    """Return True if the name is that of a scheme, and of no file."""
    from ..designs.schemes import find_scheme, scheme_name

    try:
        return (
            name is not None and not os.path.exists(name) and bool(find_scheme(scheme_name(name)))
        )
    except UsageError:
        return False


def kind_by_content(path, what):
    """The kind of data or points by their first bytes: "svm", "lvq" or "table"; "" for binary ones,
    names of tables, and other files."""
    if (
        what not in ("data", "design", "points")
        or not (os.path.isfile(path) or is_stream(path) and not os.path.isdir(path))
        or is_table(path)
        or what != "points"
        and os.path.isfile(f"{path}.vec")
    ):
        return ""
    from ..files.number_text import kind_of_file

    return kind_of_file(path)

"""Held-out answers of a cross-validation, written as files beside the truth."""

from __future__ import annotations

from ...answers.libagf_text import format_points
from ...core.errors import DataError, warn_user
from ...data.class_names import names_bytes
from ...data.groups import group_words, groups_bytes
from ...data.libagf import cls_bytes, con_bytes
from ...data.types import Dataset
from ...data.weights import chosen_rows, weights_bytes
from ...experiments.comparison import CrossValidation
from ...files.atomic import replacing_with


def write_held_out(
    base: str,
    held_out: CrossValidation,
    uncalibrated: CrossValidation | None = None,
    data: Dataset | None = None,
) -> None:
    """Answers for the held-out points, as `classify_m` writes them, and their true classes.

    base.cls, base.con, base.truth (true classes, in the layout of a .cls file), and,
    where there are probabilities, base.txt; where these are calibrated, base.raw.txt with those of
    the decoder itself, of `uncalibrated`, or base.raw.con where there are ratings alone; base.wgt,
    the weights of the points, those of the classes in them, base.grp, their groups, and
    base.names, the names of the labels, where the `data` have such.  All files appear together or
    not at all; what an earlier run left of the last six does not stay.
    """
    results = held_out.results
    head = f"labels {' '.join(map(str, results.labels))}\n".encode()
    contents = {
        ".cls": cls_bytes(results.result),
        ".con": con_bytes(held_out.confidence),
        ".truth": cls_bytes(results.truth),
        **dict.fromkeys((".txt", ".raw.txt", ".raw.con", ".wgt", ".grp", ".names")),
    }
    for end, some in (
        (".txt", held_out),
        (".raw.txt", uncalibrated if held_out.calibrated else None),
    ):
        if some is not None and some.results.p is not None:
            contents[end] = head + format_points(some.results.p, some.results.result)
    if uncalibrated is not None and held_out.calibrated and uncalibrated.results.p is None:
        contents[".raw.con"] = con_bytes(uncalibrated.confidence)
    if results.weights is not None:
        contents[".wgt"] = weights_bytes(results.weights, f"{base}.wgt")
    if data is not None and data.groups is not None:
        contents[".grp"] = groups_bytes(group_words(chosen_rows(data, results.rows)), f"{base}.grp")
    if data is not None and data.names is not None:
        try:
            contents[".names"] = names_bytes(data.names, f"{base}.names")
        except DataError as error:
            warn_user(f"{error}: the names are left out")
    with replacing_with({base + end: content for end, content in contents.items()}, binary=True):
        pass

"""Control files on disk: bytes to tree, tree to bytes."""

import os
from contextlib import suppress
from itertools import chain

from ..control.parse import MAX_TEXT, parse
from ..control.write import tree_lines
from ..core.errors import ControlError
from ..files.atomic import checked, replacing
from ..files.kinds import is_table
from ..files.opening import read_bytes, refuse_irregular
from .mbm import MAGIC


def read_control(path, raw=None):
    """The `Tree` in a control file, or in standard input for `-`; raw: bytes read already.

    Raises `ControlError` with file, line and column.
    """
    if raw is None:
        raw = read_bytes(path, most=MAX_TEXT, expected="a control file")
    if path == "-":
        source = "standard input"
    else:
        source = path
    if raw.startswith((MAGIC, b"svm_type ")):
        raise ControlError(
            "expected a control file, found a model: print_control "
            "writes one, `print_control` prints that of the model",
            file=source,
            line=1,
            column=1,
        )
    other = None
    if path.endswith(".vec") and b"\0" in raw[:64]:
        other = "points (.vec): is the order of the operands right?"
    elif is_table(path):
        other = "a table: is the order of the operands right?"
    elif raw.startswith(b"#!") or path.endswith(".sh"):
        other = "a script: run it, and give the model that it makes"
    if other is not None:
        raise ControlError(
            f"expected a control file or a model, found {other}",
            file=source,
            line=1,
            column=1,
        )
    if len(raw) > MAX_TEXT:
        raise ControlError("larger than any control file can be (256 MiB)", file=source)
    try:
        return parse(raw.decode("utf-8"), source)
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        wrong = ControlError(
            "expected a control file, found bytes that are not UTF-8 text",
            file=source,
            line=before.count(b"\n") + 1,
            column=error.start - before.rfind(b"\n"),
        )
    try:
        # names of files and classes may be in another encoding
        return parse(raw.decode("utf-8", "surrogateescape"), source)
    except ControlError:
        raise wrong from None


def control_text(tree, path):
    """The text of a `Tree`, which is `checked`."""
    return checked(
        "".join(tree_lines(tree)),
        lambda text: read_control(path, text.encode("utf-8", "surrogateescape")),
        path,
    )


def write_control(path, tree):
    """Write the control file of `tree`, whole or not at all."""
    with replacing(path) as file:
        file.write(control_text(tree, path))


def model_file(name, folder=None):
    """The path of a model that a control file names; absolute names ignore `folder`.

    A name that begins with a minus sign is that of a file, never standard input or an option.
    """
    path = os.path.join(folder or "", name)
    if path.startswith("-"):
        return os.path.join(os.curdir, path)
    return path


def elsewhere(name, tried, source):
    """Words about where a model is that the control file `source` names, and `tried` is not.

    Names are relative to the current folder, or to `models_in`; models are often beside their
    control file, or were named from the folder above it.
    """
    beside = os.path.dirname(source or "") or os.curdir
    for folder in (beside, os.path.join(beside, os.pardir), os.curdir):
        path = model_file(name, os.path.normpath(folder))
        if os.path.isfile(path) and not os.path.isabs(name):
            here = os.path.normpath(folder) == os.curdir
            if here:
                return "; it is in the current folder: leave `models_in` out"
            return f'; it is found with `models_in="{os.path.normpath(folder)}"`'
    if tried == name:
        return "; `models_in` gives the folder of the models"
    return ""


def model_files(tree, folder, outputs):
    """Files of models and normalisation that a control tree names, if called like `outputs`."""
    called = {os.path.basename(path) for path in outputs}
    names = chain(
        (row.text for row in tree.rows),
        (direct.name + end for direct in tree.directs.values() for end in ("", ".vec", ".cls")),
    )
    return [
        tree.norm_file,
        *(model_file(name, folder) for name in names if os.path.basename(name) in called),
    ]


def require_regular(path):
    """Raise `DataError` where something that a control file names is there and no regular file.

    For the names that other programs get; what is read here is opened in `regular_files`.
    """
    with suppress(OSError, ValueError):  # of which the reader tells
        refuse_irregular(os.stat(path), path)

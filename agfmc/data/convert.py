"""Data between formats: text to binary files and back, values to classes.

The files of a data set are all complete before any of them appears.
"""

import os
from dataclasses import replace
from itertools import islice

import numpy as np

from ..core.errors import DataError, UsageError, warn_user
from ..core.weights import NO_WEIGHTS, WeightSource
from ..files.atomic import remove, replacing_all
from ..files.number_text import blocks, tokenise
from ..files.opening import open_input
from ..tables.recipe_file import format_recipe, recipe_beside
from .class_names import names_bytes
from .from_table import warn_of_old_files
from .groups import ENDING as GROUPS, group_words, groups_bytes, TEXT_ENDING as GROUPS_TEXT
from .libagf import cls_bytes, con_bytes, read_vec, write_table
from .libsvm import check_points, svm_lines
from .lvq import lvq_lines
from .normalisation import fit_normalisation
from .reading import read_training
from .training import with_source_in_errors
from .types import Dataset, InputFormat
from .weights import ENDING as WEIGHTS, format_weights, TEXT_ENDING, weights_bytes

_TOO_LARGE = 2.0**128 - 2.0**103  # what float32 rounds to infinity, and all beyond it


def convert_text(
    source: str,
    form: InputFormat,
    base: str,
    *,
    names=None,
    compact: bool = False,
    omit: bool = False,
    stdout=None,
):
    """Text data to base.vec, base.cls or base.dat and, where classes have names, base.names.

    Points without labels may go to `-`, the binary stream `stdout`.

    Parameters
    ----------
    form : InputFormat, layout of the text
    names : optional, as for `read_training`
    compact : bool, number the classes 0..k-1 in ascending order
    omit : bool, there are labels, but they are not written

    Returns
    -------
    list or None
        With `compact`, the old labels.
    """
    refuse_pipe([base], InputFormat(), form.labels and not omit)
    data = read_training(source, form, names=names, negative=compact or omit)
    _refuse_large(data, source, form)
    old = None
    if omit:
        data = Dataset(data.x, None)
    elif compact and data.y is not None:
        data, old = relabelled(data)
    write_together({base: data}, stdout=stdout)
    return old


def _refuse_large(data, source, form):
    """DataError, with the line of the text, for what binary files cannot hold."""
    x = data.x
    y = data.y
    large = np.maximum(x.max(axis=1), -x.min(axis=1)) >= _TOO_LARGE
    if y is not None and y.dtype.kind == "f":
        large |= np.abs(y) >= _TOO_LARGE
    if not large.any():
        return
    row = int(np.argmax(large))
    problem = "a value is too large for the float32 of binary files"
    if not os.path.isfile(source):  # it cannot be read again
        raise DataError(f"row {row + 1}: {problem}", file=source)
    header = form.kind == "lvq" and form.header
    raise DataError(problem, file=source, line=_line(source, row + header))


def _line(path, number):
    """The line, from 1, of that line of text, from 0, when blank ones and comments do not count."""
    with open_input(path) as file:
        for text, first_line in blocks(file):
            lines = tokenise(text, first_line).line
            if number < len(lines):
                return int(lines[number])
            number -= len(lines)
    return None  # the file has changed


def print_data(
    base: str, out: str, form: InputFormat, stdout, *, words: bool = False, scale: bool = False
) -> None:
    """Binary data as text that `form` can read to the file `out`, or `-` for the stream `stdout`.

    Without labels, `base` may be the name of the .vec file itself. `words` prints the names of
    base.names in place of labels; `scale` divides by standard deviations and leaves constant
    features out.
    """
    if not form.labels and os.path.exists(base) and not os.path.isdir(base):
        data = Dataset(read_vec(base), None)
    else:
        if (
            os.path.isfile(base)
            and not base.endswith((".vec", ".cls"))
            and not os.path.exists(f"{base}.vec")
        ):
            raise DataError(
                f"there is no {base}.vec: expected the base name of binary files, and "
                f"{base} is not one",
                file=base,
            )
        data = read_training(
            base,
            InputFormat(
                labels=form.labels, ordinates=form.ordinates, weights=WeightSource(NO_WEIGHTS)
            ),
            negative=True,
        )
        if os.path.exists(base + WEIGHTS):
            warn_user(
                f"the weights in {base}{WEIGHTS} are not in the text: commands that read "
                f'it take them by `weight="{base}{WEIGHTS}"`'
            )
    if words and data.names is None:
        raise UsageError(f"`words` needs the class names in {base}.names")
    if scale:
        with with_source_in_errors(base, data.recipe):
            data = replace(data, x=fit_normalisation(data.x).apply(data.x))
    write_together({out: data if words else replace(data, names=None)}, form=form, stdout=stdout)


def relabelled(data: Dataset) -> tuple:
    """`data` with labels 0..k-1 in ascending order of the old; -> (Dataset, old labels)."""
    names = data.names
    if names is not None and data.y.min() < 0:
        warn_user(f"label {data.y.min()} has no name: the class names are left out")
        names = None
    old, y = np.unique(data.y, return_inverse=True)
    if names is not None:
        names = tuple(names[label] for label in old.tolist())
    return replace(data, y=y.astype(np.int32), names=names, recipe=None, rows=None), old


def refuse_pipe(names: list, form: InputFormat, labels: bool) -> None:
    """UsageError where `-` is among the names of binary data with labels."""
    if form.kind == "binary" and labels and "-" in names:
        raise UsageError(
            "binary data with labels are several files and cannot go through a pipe "
            "(text can, and points without labels)"
        )


def write_together(
    outputs: dict,
    extra: dict | None = None,
    form: InputFormat = InputFormat(),
    stdout=None,
) -> None:
    """Datasets {base or file: Dataset} and {path: table}, all or none.

    Ordinates, a y of floats, go to base.dat, labels to base.cls, weights to base.wgt, groups to
    base.grp, those of a text to texts FILE.weights and FILE.groups. `-` is `stdout`, a binary
    stream, which is written before the files appear. An earlier base.recipe, base.wgt and base.grp,
    which training would take, are removed. `form` is the `InputFormat` that reads the files.
    """
    refuse_pipe([name for name, data in outputs.items() if data.y is not None], form, True)
    files = {}
    for name, data in outputs.items():
        files.update(_binary(name, data) if form.kind == "binary" else _text(name, data, form))
    for path in files.keys() & (extra or {}).keys():
        raise DataError("two outputs would go to this file", file=path)
    files.update(extra or {})
    old = [
        path
        for base in outputs
        for path in (recipe_beside(base), base + WEIGHTS, base + GROUPS)
        if form.kind == "binary" and path not in files and os.path.exists(path)
    ]

    def finish():
        for path in old:
            remove(path)

    named = [path for path in files if path != "-"]
    with replacing_all(named, binary=True, before=finish, text=form.kind != "binary") as opened:
        for path, file in zip(named, opened):
            _write(file, files[path])
            file.flush()
        if "-" in files:
            _write(_Stream(stdout), files["-"])
            stdout.flush()


class _Stream:
    """A stream that takes all it is given, under the name that errors use."""

    name = "standard output"

    def __init__(self, file):
        self._file = file

    def write(self, data):
        data = memoryview(data)
        while len(data):  # without a buffer a stream may take a part
            data = data[self._file.write(data) :]


def _binary(base, data):
    if base == "-":
        _refuse_weights(data)
        return {"-": data.x}
    if data.y is not None and data.names is None and os.path.exists(f"{base}.names"):
        warn_user(f"{base}.names existed before: its names now apply to these labels")
    files = {f"{base}.vec": data.x}
    if data.y is not None and data.y.dtype.kind == "f":
        files[f"{base}.dat"] = con_bytes(data.y, f"{base}.dat")
    elif data.y is not None:
        files[f"{base}.cls"] = cls_bytes(data.y, f"{base}.cls")
    if data.names is not None:
        files[f"{base}.names"] = names_bytes(data.names, f"{base}.names")
    if data.recipe is not None:
        path = recipe_beside(base)
        files[path] = format_recipe(data.recipe, path).encode()
    if data.weights is not None:
        files[base + WEIGHTS] = weights_bytes(data.weights.w, base + WEIGHTS)
    if data.groups is not None:
        files[base + GROUPS] = groups_bytes(group_words(data), base + GROUPS)
    for path, what in (
        *(
            (path, "is removed, as it is not of these points")
            for path in (recipe_beside(base), base + WEIGHTS, base + GROUPS)
        ),
        (f"{base}.cls", "now belongs to these points"),
    ):
        if path not in files and os.path.exists(path):
            warn_user(f"{path} existed before, and {what}")
    warn_of_old_files(base, (".ids",))
    return files


def _refuse_weights(data):
    for name in ("weights", "groups"):
        if getattr(data, name) is not None:
            raise UsageError(
                f"points go to standard output, and their {name} would have no file: "
                f'`{name[:-1]}="none"` leaves them out'
            )


def _text(path, data, form):
    check_points(data.x, data.y, data.names, "standard output" if path == "-" else path)
    files = {
        path: svm_lines(data.x, data.y, data.names, form.missing is not None)
        if form.kind == "svm"
        else lvq_lines(data.x, data.y, form.header, data.names)
    }
    if path == "-":
        _refuse_weights(data)
        return files
    if data.weights is not None:
        files[path + TEXT_ENDING] = format_weights(data.weights.w)
    if data.groups is not None:
        files[path + GROUPS_TEXT] = groups_bytes(group_words(data), path + GROUPS_TEXT)
    warn_of_old_files(path, [end for end in (TEXT_ENDING, GROUPS_TEXT) if path + end not in files])
    return files


def _write(file, content):
    if isinstance(content, bytes):
        file.write(content)
    elif isinstance(content, np.ndarray):
        write_table(file, content)
    else:
        while text := "".join(islice(content, 512)):
            file.write(text.encode("utf-8", "surrogateescape"))

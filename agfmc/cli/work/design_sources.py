"""The files that print_control makes designs of: data, control files, confusions of classes."""

from logging import CRITICAL

from ...control.build import from_rows, joined, rename, to_code
from ...control.matrix import format_matrix, matrix_to_rows, parse_matrix, smallest_distances
from ...control.parse import MAX_TEXT
from ...core.errors import DataError, UsageError
from ...data.confusions import holds_confusions, read_confusions
from ...data.training import (
    class_limits,
    class_totals,
    large_classes,
    training_labels,
    with_source_in_errors,
)
from ...designs.design import LabelledPoints, make_design, matrix_of
from ...designs.drawn import with_average
from ...designs.given import checked_matrix
from ...files.opening import read_bytes
from ...models.control_files import model_file, read_control
from ..data_options import load_normalised
from ..hints import refuse_scheme
from ..messages import report, write_stderr
from ..options import is_trained


def read_design(request):
    """(tree, heights) of a request that names a file, or several, as of `make_design`."""
    if request.controls:
        return _joined(request), None
    scheme = request.scheme
    source = request.source
    if scheme is None or "control" in scheme.made_of:
        if scheme is None:
            return read_control(source), None
        refuse_scheme(source, "DATA writes one")
        tree = _control_or_matrix(source)
        if request.path is not None:
            tree.require_names()
            tree = rename(tree, [model_file(row.text, request.path) for row in tree.rows])
        return scheme.make(tree), None
    if "classes" not in scheme.made_of:
        return _of_data(request)
    labels, names = _labels(request)
    return make_design(scheme.name, labels, names, **request.settings)


def _control_or_matrix(source):
    """The tree of a control file, or of a coding matrix in text."""
    raw = read_bytes(source, most=MAX_TEXT, expected="a control file or a coding matrix")
    rows = parse_matrix(raw.decode("utf-8", "replace"), source)
    if rows is None:
        return read_control(source, raw)
    labels = range(len(rows[0]))
    with with_source_in_errors(source):
        return from_rows(matrix_to_rows(checked_matrix(rows, len(labels))), labels)


def _joined(request):
    """The ensemble of the control files that are the operands."""
    trees = [read_control(name) for name in (request.source, *request.controls)]
    trained = is_trained(trees[0])
    for tree in trees:
        if trained:
            tree.require_names()
        else:
            tree.require_options()
    return with_average(request.settings.get("average"), joined(trees))


def _labels(request):
    source = request.source
    points = request.points
    if "sizes" in request.scheme.made_of:
        counts, names = class_totals(source, points.form, points.min_class)
        _require_two(counts, source)
        return counts, names
    counts, names = training_labels(source, points.form)
    if points.min_class is None:
        labels = list(counts)
    else:
        labels = large_classes(counts, class_limits(points.min_class)[0], source, names)
    _require_two(labels, source)
    return labels, names


def _of_data(request):
    scheme = request.scheme
    source = request.source
    of_data = "data" in scheme.made_of
    material = None
    if not of_data or "confusions" in scheme.made_of and request.points.form.kind == "binary":
        if not of_data or holds_confusions(source):
            material = read_confusions(source)
            if of_data and request.of_points:
                raise UsageError(
                    f"{request.of_points[0]} is for training data, and {source} holds "
                    "how often classes were confused"
                )
    return make_design(
        scheme.name, _labelled_points(request) if material is None else material, **request.settings
    )


def _labelled_points(request):
    data = load_normalised(request.points)
    _require_two(data.counts, request.source)
    return LabelledPoints(data.x, data.y, sorted(data.counts), data.name_of, data.weights)


def _require_two(labels, source):
    if len(labels) < 2:
        raise DataError("holds one class: expected at least two", file=source)


def print_matrix(tree):
    """The coding matrix, and how far its rows and columns are from each other."""
    rows, labels = matrix_of(to_code(tree) if tree.directs else tree)
    lines = format_matrix(rows, len(labels))
    write_stderr("".join(f"{line}\n" for line in lines), CRITICAL)
    if len(rows) > 1:
        report(
            "smallest distance between rows {}, between columns {}".format(
                *smallest_distances(rows, len(labels))
            )
        )

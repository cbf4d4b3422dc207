"""The work of order_classes."""

from ...control.build import check_classes, for_names, for_output, named_as
from ...control.write import tree_lines
from ...data.confusions import read_pair_errors
from ...data.training import class_totals, for_classes, with_source_in_errors
from ...designs import class_order
from ...designs.class_order import pairs_training_share
from ...models.control_files import read_control
from ..data_options import load_normalised
from ..messages import report, write_stdout


def run(request):
    """Read, order, print, report."""
    ordered = _ordered(request)
    write_stdout(tree_lines(for_output(ordered.tree)))
    if request.adjacent:
        what = "length of the path"
    else:
        what = "expected accuracy"
    report(f"{ordered.method}: {what} {ordered.before:.6g} before, {ordered.after:.6g} now")
    if not request.adjacent:
        share = pairs_training_share(len(ordered.tree.classes))
        report(
            f"training all pairs takes {share:.3g} times as long as one-vs-rest, if the classes have "
            "equal sizes and a classifier's time grows with the square of its samples"
        )


def _ordered(request):
    tree = read_control(request.control)
    points = request.points
    counts = None
    if request.adjacent:
        class_order.require_untrained_matrix(tree)
        data = load_normalised(points)
        counts, names = data.counts, data.name_of
    else:
        class_order.require_one_vs_one(tree)
        if points is not None:
            counts, names = class_totals(points.source, points.form, points.min_class)
    if counts is not None:
        tree = for_names(tree, names)
        if points.min_class is not None:
            tree = for_classes(tree, counts)
        check_classes(tree, counts, points.source, names=names)
        named_as(tree, names)  # refused where they disagree
    if request.adjacent:
        with with_source_in_errors(points.source):
            return class_order.order_for_path(tree, data.x, data.y, request.adjacent, data.weights)
    errors = None
    if request.errors is not None:
        errors = read_pair_errors(request.errors)
    return class_order.order_for_pairs(
        tree,
        priors=request.priors,
        counts=counts,
        pair_errors=errors,
        error_rate=0.1 if request.error_rate is None else request.error_rate,
        seed=request.seed,
    )

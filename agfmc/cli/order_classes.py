"""order_classes: write a control file with its classes in another order."""

from dataclasses import dataclass

from ..control.build import check_classes, for_output, named_as
from ..control.write import tree_lines
from ..designs.schemes import METRICS, PARAMETERS
from ..training.request import PointsRequest
from .data_options import (
    add_normalisation,
    add_training_kind,
    input_format,
    load_normalised,
    points_request,
)
from .hints import refuse_scheme
from .messages import report, write_stdout
from .option_types import finite_number, list_of, probability
from .options import add_seed, Parser


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "order_classes",
        "Write a control file to standard output with its classes "
        "in a better order: for DDAGs, which evaluate one-vs-one classifiers in the "
        "order of the braces, or, with --adjacent, for adjacent codes.",
    )
    parser.add(
        "control",
        "control file: one-vs-one, trained or not; with --adjacent any untrained "
        "coding matrix (- is standard input)",
    )
    parser.add(
        "train",
        "training data, for the frequencies of the classes or, with --adjacent, their "
        "distances (base name, table, LIBSVM text, or LVQ with -A)",
        nargs="?",
    )
    group = parser.group("order for DDAGs")
    group.add(
        "--errors FILE",
        "errors of the classifiers, counted in cross-validation (- is "
        "standard input); without it all are assumed to have the same error rate",
        excludes="--error-rate",
    )
    group.add(
        "--priors P,P,...",
        "relative frequencies of the classes, in ascending order of "
        "their labels (default: those of train, else of the file of errors, else equal)",
        list_of(finite_number),
        excludes="train",
    )
    group.add(
        "--error-rate Q",
        "without --errors: error rate of every classifier, for the reported accuracy (default 0.1)",
        probability,
    )
    add_seed(group)
    group = parser.group("order for adjacent codes")
    group.add(
        "--adjacent METRIC",
        f"the shortest path through the classes of train, by their {PARAMETERS['metric'].meaning}",
        choices=METRICS,
        needs="train",
        excludes=("--errors", "--priors", "--error-rate"),
    )
    add_training_kind(parser)
    add_normalisation(parser)
    parser.need("--adjacent", "-n", "-S", "-a")
    parser.need("train", "-M", "-A", "--min-class", "--weight", "--class-weight")
    parser.file_names = {"control": "control", "train": "data"}
    return parser.finish()


@dataclass(frozen=True)
class _Request:
    """A control file whose classes are to be ordered.

    Attributes
    ----------
    points : `PointsRequest` of training data, or None
    adjacent : the metric of the path through the classes, or None for an order for DDAGs
    errors : file of the errors of the pairs, or None
    """

    control: str
    points: PointsRequest | None
    adjacent: str | None
    errors: str | None
    priors: list | None
    error_rate: float | None
    seed: int


def execute(args):
    """Make a request of the options, and order by it."""
    form = input_format(args, args.train)
    points = None
    if args.train is not None:
        points = points_request(args, args.train, form)
    refuse_scheme(args.control, "DATA writes it")
    _order(args.request(_Request, points=points))


def _order(request):
    """Read, order, print, report."""
    ordered = _ordered(request)
    write_stdout(tree_lines(for_output(ordered.tree)))
    if request.adjacent:
        what = "length of the path"
    else:
        what = "expected accuracy"
    report(f"{ordered.method}: {what} {ordered.before:.6g} before, {ordered.after:.6g} now")
    if not request.adjacent:
        from ..designs.class_order import pairs_training_share

        share = pairs_training_share(len(ordered.tree.classes))
        report(
            f"training all pairs takes {share:.3g} times as long as one-vs-rest, if the classes have "
            "equal sizes and a classifier's time grows with the square of its samples"
        )


def _ordered(request):
    from ..data.confusions import read_pair_errors
    from ..data.training import class_totals, for_classes, with_source_in_errors
    from ..designs import class_order
    from ..models.control_files import read_control

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
        if points.min_class is not None:
            tree = for_classes(tree, counts)
        check_classes(tree, counts, points.source)
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

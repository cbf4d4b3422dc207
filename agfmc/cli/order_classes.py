"""order_classes: write a control file with its classes in another order."""

from dataclasses import dataclass

from ..designs.schemes import METRICS, PARAMETERS
from ..training.request import PointsRequest
from .data_options import add_normalisation, add_training_kind, input_format, points_request
from .hints import refuse_scheme
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
    request = args.request(_Request, points=points)
    from .work.order_classes import run

    run(request)

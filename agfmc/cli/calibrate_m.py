"""calibrate_m: calibrate the probabilities of a trained configuration by points kept apart."""

from __future__ import annotations

from dataclasses import dataclass

from ..control.tree import TREE_DECODERS
from ..core.errors import UsageError
from ..decode.methods import MAP_KINDS
from ..files.atomic import check_output
from .data_options import add_points_kind, input_format, NORMALISED_BY_MODEL
from .option_types import output_base, whole_number
from .options import (
    add_model_files,
    add_seed,
    add_workers,
    model_source,
    Parser,
    refuse_name,
    workers,
)

MAPS = ("auto", *MAP_KINDS)


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "calibrate_m",
        "Calibrate the class probabilities of a trained configuration "
        "with points that it was not trained on, print the effect, and write the "
        "model with the calibration.",
    )
    parser.add(
        "model",
        "model file, or control file for classification (- is standard input); "
        "an existing calibration of other decoders remains",
        metavar="{control | model}",
    )
    group = add_points_kind(parser)
    group.add(
        "--data DATA",
        "calibration set with labels, separate from the training data: base "
        "name of .vec and .cls files, a table, LIBSVM text, or LVQ with -A",
        excludes="--from",
    )
    group.add(
        "--from BASE",
        "in place of --data: the answers of a cross-validation, the files "
        "BASE.truth, .cls and .txt (or .raw.txt), with weights .wgt and groups .grp, that "
        "nfold writes",
        dest="base",
    )
    group = parser.group("model")
    add_model_files(group, "applied to the points, and stored in OUT")
    group = parser.group("calibration")
    group.add(
        "-Q, --decoder DECODER",
        "decoder to calibrate, as for nfold (default: the one "
        "that suits the configuration; with --data also least-squares, and full of a tree)",
    )
    group.add(
        "--tree MODE",
        "for trees: recursive or full, for ensembles average or geometric; "
        "with -Q as the decoder of the matrices in them, as for classify_m",
        choices=tuple(TREE_DECODERS),
    )
    group.add(
        "--map KIND",
        "auto (default): the simplest whose log loss is within one standard "
        f"error of the least; {', '.join(MAP_KINDS[1:])}: this one, with a floor; none: "
        "uncalibrated",
        choices=MAPS,
        default=MAPS[0],
    )
    group.add(
        "--folds N",
        "folds of the cross-validation of the maps (default 5)",
        whole_number(2, 1000),
        default=5,
    )
    add_seed(group)
    add_workers(group)
    group = parser.group("output")
    group.add(
        "-o, --output OUT",
        "model file to write (.mbm), which may be model itself; or a "
        "name that ends in .cal or .cal.gz, for the calibration only. Without it, nothing "
        "is written",
        output_base,
    )
    group.add("--json", "print one JSON object")
    parser.hints = NORMALISED_BY_MODEL
    parser.file_names = {"model": "model", "data": "data", "base": "answers"}
    return parser.finish()


@dataclass(frozen=True)
class _Request:
    """A model to be calibrated.

    Attributes
    ----------
    model : its `ModelSource`
    data, form : points, or None, and their `InputFormat`
    base : the answers of a cross-validation in the place of points, or None
    decoder, tree : the decoder, and the way through trees, or None
    map, seed, folds : as for `recalibrated`
    class_weight : class weights of the points, or None
    output : file, or None, with `as_text` of the calibration alone
    files : those of the parsed arguments, for `check_files`
    workers : result of `options.workers`
    """

    model: object
    data: str | None
    form: object
    base: str | None
    decoder: str | None
    tree: str | None
    map: str
    seed: int
    folds: int
    class_weight: object
    output: str | None
    as_text: bool
    json: bool
    files: list
    workers: object


def execute(args):
    """Make a request of the options, and calibrate by it."""
    form = input_format(args, args.data)
    if args.data is None and args.base is None:
        raise UsageError("expected points, either --data or --from")
    if args.output in ("", "-"):
        raise UsageError(f"-o: expected the name of a file for the model, found '{args.output}'")
    as_text = args.output is not None and args.output.endswith((".cal", ".cal.gz"))
    refuse_name(args.output, "the model", as_text)
    if args.output is not None:
        check_output(args.output)
    request = args.request(
        _Request,
        model=model_source(args, args.model),
        form=form,
        as_text=as_text,
        workers=workers(args.jobs),
    )
    from .work.calibrate_m import run

    run(request)

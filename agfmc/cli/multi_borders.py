"""multi_borders: train every classifier of a control file."""

import os
from dataclasses import dataclass, replace

from ..core.errors import UsageError
from ..files.kinds import is_table
from ..files.opening import is_stream
from ..training.request import PointsRequest
from .data_options import (
    add_normalisation,
    add_train,
    add_training_kind,
    input_format,
    points_request,
    TABLES,
    weight_files,
)
from .file_names import names_scheme
from .option_types import names, output_base, output_file
from .options import (
    add_platt,
    add_seed,
    add_time_limit,
    add_workers,
    check_files,
    deadline_of,
    Parser,
    refuse_name,
    workers,
)

# options that the commands of -0 have too
_PASSED_ON = (
    *TABLES,
    "--weight",
    "--class-weight",
    "--group",
    "--min-class",
    "--norm-file",
    "-u",
    "--platt",
    "--cv-errors",
    "--cv-irrelevant",
    "--retrain",
    "--uncalibrated",
    "--member-weights",
    "--time-limit",
    "--path",
    "--command",
    "--convert",
    "--allow-commands",
    "-K",
    "--quiet",
    "--log",
)


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "multi_borders",
        "Train the binary classifiers that a control file describes, "
        "support vector machines by default. Write a LIBSVM model file for each, "
        "and the control file for classification.",
    )
    parser.dashes = "--command"
    parser.add(
        "control",
        "training control file, as print_control writes it (- or left out: "
        "standard input), or the name of a scheme",
        nargs="?",
    )
    add_train(parser)
    parser.add(
        "model",
        "base name of the model files: model-00 for rows of a coding matrix, "
        "model.00 for branches of a tree",
        output_base,
    )
    parser.add(
        "control_out",
        "control file for classification, written last (- is standard output)",
        output_base,
        metavar="control-out",
    )
    group = parser.group("training")
    group.add(
        "-+, --options OPTIONS",
        'training options for each "" of the control file, in '
        "place of those in its head: LIBSVM's -s -t -d -g -r -c -n -m -e -h, and -w0 -w1 "
        "for the left and right side (-b and -q have no effect); or learner=NAME and the "
        "options of that learner: linear, logistic, trees, or nystrom, which trains all "
        "classifiers in one pass over the data",
    )
    add_seed(group)
    add_workers(group)
    group.add(
        "-0, --dry-run",
        "train nothing: print shell commands that train the classifiers, in "
        "any order or in parallel; then the same command without -0 adds the calibration",
        excludes="--only",
    )
    group.add("--null", "with -0: end each command with a NUL character, for xargs -0", needs="-0")
    group.add(
        "--only NAME",
        "train only the model of this name, and do not write control-out; "
        "control may be the control file that -0 wrote",
    )
    group.add("--retrain", "train everything, also models that an earlier run has finished")
    add_time_limit(group, "store finished models", excludes="--cv-errors")
    add_platt(group)
    group.add(
        "--cv-errors FILE",
        "for one-vs-one: write the holdout errors of each pair of "
        "classes, for order_classes and classify_m",
        output_file,
    )
    group.add(
        "--cv-irrelevant",
        "with --cv-errors: also write how each classifier assigns the "
        "samples of all other classes, which takes longer",
        needs="--cv-errors",
    )
    group.add("-y, --path FOLDER", "folder of the model files, not named in control-out")
    group.add("--uncalibrated", "fit no calibration of the probabilities (CONTROL-OUT.cal)")
    group.add(
        "--decoder NAME,...",
        "calibrate the probabilities of these decoders too, beside those of the decoder that "
        "control names, or of the default one",
        names,
        default=(),
        excludes=("--uncalibrated", "--only", "--command"),
    )
    group.add(
        "--member-weights WAY",
        "weights of the members of an ensemble: held-out learns "
        "them from holdout samples, and leaves out members of small weights",
        choices=("held-out",),
        excludes=("--uncalibrated", "-0", "--only"),
    )
    group.add(
        "--no-names",
        "omit class names, decoder and normalisation from control-out, which libAGF cannot read",
    )
    group = parser.group("training by another program")
    group.add(
        "--command COMMAND",
        "program that trains each binary classifier, also given as "
        "`-- COMMAND`, and called `COMMAND OPTIONS data model` like svm-train; data is "
        "LIBSVM text, or LVQ text with -A, with the labels 0 and 1",
        excludes=(
            "-u",
            "--platt",
            "--time-limit",
            "--cv-errors",
            "--member-weights",
        ),
    )
    group.add(
        "-^, --convert COMMAND",
        "program that converts the data for the trainer, from its "
        "standard input to its standard output",
        needs="--command",
    )
    group.add(
        "-K, --keep",
        "keep the temporary files of the trainer, in folders MODEL.*.tmp",
        needs="--command",
    )
    group.add(
        "--allow-commands",
        "pass on all options of control, also those that could name a file to the trainer",
        needs="--command",
    )
    group = add_training_kind(parser)
    group.add(
        "--dense",
        "with -M: store the points as a full table in memory, even if they could stay sparse",
        needs="-M",
    )
    add_normalisation(
        parser,
        unnormalised="write support vectors before normalisation, "
        "which classify_m and mbh2mbm then need",
    )
    parser.file_names["control"] = "control"
    return parser.finish()


@dataclass(frozen=True)
class _Request:
    """A run of training.

    Attributes
    ----------
    control : control file, or scheme
    points : `PointsRequest` of the data
    output, trainer, dense : as for `plan`
    beside : the first part of the names of files beside the control file
    head : the control file for classification has one
    retrain : models of an earlier run do not count
    cv_irrelevant : also the samples of other classes are counted for the errors of pairs
    deadline : on `time.monotonic`, or None
    workers : result of `options.workers`
    dry_run : commands are printed in place of the training, with `null` each ended by NUL
    passed_on : {option: its value, or None} of those that the commands have too
    """

    control: str
    points: PointsRequest
    dense: bool
    output: object
    trainer: object
    beside: str
    head: bool
    retrain: bool
    cv_irrelevant: bool
    member_weights: str | None
    deadline: float | None
    workers: object
    dry_run: bool
    null: bool
    passed_on: dict


def execute(args):
    """Make a request of the options, and train, or print the commands that do."""
    from ..calibration.file import calibration_of
    from ..training.external import Command, Trainer
    from ..training.held_out import CALIBRATION_POINTS
    from ..training.plan import Output

    pool = workers(args.jobs)
    # libAGF's: with -- LVQ text, if there are no binary files of that name
    binary = os.path.exists(f"{args.train}.vec") or not os.path.isfile(args.train)
    other = args.svm or args.table or binary or is_table(args.train)
    form = input_format(args, args.train, args.lvq or args.command is not None and not other)
    _check_together(args, form, binary)
    trainer = None
    if args.command is not None:
        trainer = Trainer(
            Command(args.command),
            args.convert and Command(args.convert),
            args.keep,
            args.allow_commands,
        )
        if isinstance(args.jobs, str):
            raise UsageError(
                "external programs run on this machine only: expected a number as -j, not "
                f"{args.jobs}"
            )
    beside = _beside(args.control_out, args.model, args.path)
    all_of_it = args.only is None
    points = points_request(
        args,
        args.train,
        form,
        platt=args.platt,
        decoders=args.decoder,
        workers=args.jobs,
        calibration=0 if args.uncalibrated else CALIBRATION_POINTS,
    )
    request = args.request(
        _Request,
        control=args.control or "-",
        points=replace(points, scales=points.scales and all_of_it and trainer is None),
        output=Output(
            args.model,
            args.path,
            args.only,
            args.unnormalised,
            args.control_out if all_of_it and args.control_out != "-" else None,
            args.cv_errors,
            calibration_of(beside) if all_of_it else None,
        ),
        trainer=trainer,
        beside=beside,
        head=not args.no_names,
        deadline=deadline_of(args.time_limit),
        workers=pool,
        passed_on=dict.fromkeys(_PASSED_ON) | args.values(*_PASSED_ON),
    )
    from .work.multi_borders import run

    run(request)


def _beside(control_out, model, folder):
    """The first part of the names of files beside the control file, or, for a stream, beside the
    models."""
    from ..models.control_files import model_file

    if is_stream(control_out):
        return model_file(model, folder)
    return control_out


def _check_together(args, form, binary):
    """`UsageError`, before anything is read, for operands and options that do not go together.
    `binary` says that train can be the base name of binary files."""
    check_files(args.files, inputs={"control": [args.control or "-"]})
    refuse_name(args.control_out, "control-out", text=True)
    refuse_name(args.model, "the models", text=True)
    for wrong, message in (
        (
            is_stream(args.train) and names_scheme(args.control),
            "train is read twice where control is a scheme: expected the name of a file, found "
            f"'{args.train}'",
        ),
        (
            not os.path.basename(args.model),
            f"expected a base name for the model files, found '{args.model}'",
        ),
        (
            args.dry_run and "-" in (args.control_out, args.train, *weight_files(args)),
            "with -0, train, weights and control-out must be files: the commands read them",
        ),
        (
            args.control is None and form.kind == "binary" and not binary,
            "expected the operands control, train, model and control-out, or without the first, "
            f"which is then standard input: {args.train} is not the base name of data",
        ),
    ):
        if wrong:
            raise UsageError(message)

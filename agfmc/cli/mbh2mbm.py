"""mbh2mbm: bring a trained configuration into one model file."""

import os
from dataclasses import dataclass

from ..core.errors import AgfmcError, UsageError
from .data_options import add_points_kind, input_format
from .hints import refuse_scheme
from .option_types import output_base, output_file
from .options import add_model_files, model_source, Parser, refuse_name

_PROGRAMS = ("c", "onnx")  # formats that are programs


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "mbh2mbm",
        "Merge a control file and its binary models into one file that "
        "contains everything needed to classify, each support vector once; or "
        "convert a model file to another format; or join models into an ensemble.",
        operands="{control out | model model ...}",
    )
    parser.add(
        "control",
        "control file for classification, as multi_borders writes it, or any "
        "model file (- is standard input)",
    )
    parser.add(
        "out",
        "model file to write (.mbm); with --join, the other models",
        output_base,
        nargs="*",
        metavar="{out | model ...}",
    )
    parser.add("-o, --output OUT", "model file to write, in place of the operand out", output_file)
    group = parser.group("contents")
    group.add("--names FILE", "class names, line i for label i, in place of those in control")
    add_model_files(group, "stored: the model then takes raw data")
    group.add(
        "--without-rows",
        "refuse a model that holds rows of the training data, as all with kernels or neighbours "
        "do, and leave out words that the model never uses",
    )
    group = parser.group("format of out")
    unheld = dict.fromkeys(("-a", "--names", "--calibration"), "that format cannot store it")
    group.add("-Z, --ascii", "libAGF's ASCII model", excludes=unheld)
    group.add(
        "--libsvm",
        "one LIBSVM model of all classes, from a one-vs-one configuration",
        excludes={**unheld, "-Z": "out has one format"},
    )
    group.add(
        "--c FILE",
        "write a program in C99, one file that needs the mathematical library "
        "alone, in place of out: it classifies rows of the table of training, or points, with all "
        "probabilities",
        output_file,
        excludes=(
            program := {
                **dict.fromkeys(("-Z", "--libsvm", "-o"), "out has one format"),
                "--join": "it takes one model: join first",
            }
        ),
    )
    group.add(
        "--onnx FILE",
        "write an ONNX model in place of out, for ONNX Runtime and others (needs onnx)",
        output_file,
        excludes={**program, "--c": "one program at a time"},
    )
    group.add(
        "--features",
        "the program or ONNX model takes the features that table2agf makes of a table, in place of "
        "its columns",
        needs=("--c", "--onnx"),
    )
    group.add(
        "--float",
        "the program has its kernel values in single precision: it is smaller, and a little faster",
        needs="--c",
    )
    group.add(
        "-Q, --decoder DECODER",
        "decoder of that program or ONNX model, as for nfold "
        "(default: that of classify_m; for trees full)",
        needs=("--c", "--onnx"),
    )
    add_points_kind(parser)
    group = parser.group("joining finished models")
    group.add(
        "--join",
        "the operands are finished models of the same classes, which become the "
        "members of one ensemble: learners, kernels and normalisations may differ; the "
        "members of one that is an ensemble share its weight",
        needs="-o",
        excludes={
            **dict.fromkeys(("-a", "--names"), "each model holds its own"),
            **dict.fromkeys(("--calibration", "--uncalibrated"), "--data calibrates"),
        },
    )
    group.add(
        "--data DATA",
        "points with labels that no member was trained on, which calibrate "
        "the ensemble, as calibrate_m does",
        needs="--join",
    )
    group.add(
        "--member-weights WAY",
        "held-out learns the weights of the average from the points "
        "of --data, and leaves out members of small weights (default: equal weights "
        "of the operands)",
        choices=("held-out",),
        needs="--data",
    )
    parser.file_names = {"control": "trained", "data": "data"}
    return parser.finish()


@dataclass(frozen=True)
class _Request:
    """Models to be brought into one file.

    Attributes
    ----------
    models : a `ModelSource`, or with `join` several
    form : "mbm", "ascii", "svm", "c" or "onnx"
    names : file of the names of the classes, in place of those of the model, or None
    decoder : of a program, or None
    features, float : as of the options, for a program
    data, data_form : points that calibrate an ensemble, or None, and their `InputFormat`
    files : those that are checked, as of `Parser.files_of`
    """

    models: list
    join: bool
    out: str
    form: str
    names: str | None
    decoder: str | None
    features: bool
    float: bool
    without_rows: bool
    data: str | None
    data_form: object
    member_weights: str | None
    files: list


def execute(args):
    """Make a request of the options, and merge by it."""
    from ..data.class_names import read_names

    if args.ascii:
        form = "ascii"
    elif args.libsvm:
        form = "svm"
    else:
        form = next((form for form in _PROGRAMS if getattr(args, form) is not None), "mbm")
    if args.join and not args.out:
        raise UsageError("--join needs two models or more")
    outputs = [args.output, args.c, args.onnx]
    inputs = [args.control]
    if args.join:
        inputs += args.out
    else:
        outputs += args.out
    outputs = [name for name in outputs if name is not None]
    if len(outputs) != 1:
        raise UsageError(
            f"operands are {'missing' if not outputs else 'too many'}: expected "
            "control out (--join takes several models)"
        )
    (out,) = outputs
    refuse_scheme(
        args.control, "DATA | multi_borders ... - DATA MODEL CONTROL makes one that is trained"
    )
    check_model_name(out, binary=form == "mbm")
    settings = {"names": None if args.names is None else read_names(args.names)}
    if form in ("ascii", "svm"):
        settings["named"] = False
    if args.join:
        settings["uncalibrated"] = True
    request = args.request(
        _Request,
        models=[model_source(args, path, **settings) for path in inputs],
        out=out,
        form=form,
        data_form=input_format(args, args.data) if args.join else None,
        files=args.files + [("out", out, True)] * (args.out == [out]),
    )
    from .work.mbh2mbm import run

    run(request)


def check_model_name(out, binary=True):
    """`UsageError` where a model cannot have this name, or would overwrite a control file: operands
    exchanged."""
    from ..models.control_files import read_control

    if out in ("", "-"):
        raise UsageError(
            f"expected the name of a file for the model, found '{out}' (/dev/stdout is one)"
        )
    refuse_name(out, "the model", not binary)
    if not os.path.isfile(out):
        return
    try:
        read_control(out)
    except AgfmcError:
        return
    raise UsageError(
        f"the model would overwrite the control file {out}: expected control and then "
        "out, the file to be written"
    )

"""mbh2mbm: bring a trained configuration into one model file."""

import os
import shlex
from dataclasses import dataclass

from ..core.errors import AgfmcError, UsageError, warn_user
from .data_options import add_points_kind, input_format
from .hints import classify_command, refuse_scheme
from .messages import report
from .option_types import output_base, output_file
from .options import add_model_files, check_files, model_source, Parser, refuse_name
from ..files.atomic import replacing

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
        "alone, in place of out: it classifies points, or tables of numbers, with all "
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
    data, data_form : points that calibrate an ensemble, or None, and their `InputFormat`
    files : those that are checked, as of `Parser.files_of`
    """

    models: list
    join: bool
    out: str
    form: str
    names: str | None
    decoder: str | None
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
    _merge(request)


def _merge(request):
    """Read, merge, write, and say how many support vectors remain."""
    from ..calibration.file import calibration_of
    from ..data.class_names import read_names_of
    from ..models.control_files import model_files
    from ..models.files import export, load_configuration, save

    out, form, control = request.out, request.form, request.models[0].path
    parts = [load_configuration(model) for model in request.models]
    models = [
        path
        for part, model in zip(parts, request.models)
        if part.merged_from is not None
        for path in model_files(part.tree, model.models_in, [out])
    ]
    inputs = [model.path for model in request.models]
    check_files(request.files, inputs={"control": [*inputs, calibration_of(control), *models]})
    lines = []
    configuration = parts[0]
    if request.join:
        configuration, lines = _joined(request, parts)
    if request.names is not None:
        configuration = configuration.renamed(
            read_names_of(request.names, configuration.tree.classes, request.models[0].names)
        )
    if form in _PROGRAMS:
        _write_program(request, configuration)
        return
    before = configuration.merged_from
    if form == "mbm":
        save(out, configuration)
    else:
        export(out, configuration, form)
    if configuration.lacks_normalisation and (form != "mbm" or request.models[0].named):
        alike = "points must be normalised in the same way before they are classified, which "
        then = {
            "mbm": "classify_m will need it",
            "ascii": f"{alike}this format cannot record",
            "svm": f"{alike}svm-predict does not check (classify_m does)",
        }[form]
        warn_user(
            f"{control}: trained on normalised points, and no normalisation is given (-a): {then}"
        )
    after = len(configuration.machines.sv)
    vectors = f"{after} support vectors"
    if before is not None:
        share = f" ({100 * after / before:.1f} %)" if before else ""
        vectors = f"{before} support vectors, {after} after merging{share}"
    for line in lines:
        report(line)
    report(
        f"{len(configuration.tree.rows)} binary models, {vectors}{_remarks(request, configuration)}"
    )


def _remarks(request, configuration):
    """Words on what the file holds besides, or cannot hold, and on what to do with it."""
    calibration, recipe = configuration.calibration, configuration.recipe
    text = ""
    if request.form != "mbm":
        if calibration is not None:
            text = ", without the calibration: that format cannot store it"
        if recipe is not None:
            text += ", without the recipe: table2agf --recipe writes points for it"
        return text
    if calibration is not None:
        text = f", with a calibration of {len(calibration.decoders)} decoders"
    if configuration.lacks_normalisation:
        return text
    if recipe is None:
        command = classify_command(request.out, "binary")
    else:
        command = classify_command(request.out, "table", recipe.source)
    return f"{text}; classify new data with: {command}"


def _write_program(request, configuration):
    """Write a configuration as a program in C, or as an ONNX model."""
    from ..deployment.steps import steps_of

    steps = steps_of(configuration, request.decoder)
    if request.form == "onnx":
        from ..deployment.onnx_graph import onnx_model

        content = onnx_model(steps, configuration)
        then = ""
    else:
        from ..deployment.c import c_program

        content = c_program(steps).encode("ascii")
        then = (
            "; cc -O3 -std=c99 -DMODEL_MAIN -o model "
            f"{shlex.quote(request.out)} -lm makes a program of it"
        )
    with replacing(request.out, binary=True) as file:
        file.write(content)
    if steps.of_cells:
        features = ""
    else:
        features = "; its features are those that table2agf makes of the words of a table"
    report(
        f"{len(configuration.tree.rows)} binary models, {len(content) / 1e6:.3g} MB of "
        f"{request.form.upper()}, decoder {steps.classifier.decoding.name}{features}{then}"
    )


def _joined(request, parts):
    """The ensemble of several configurations, weighed and calibrated by data, and lines on it."""
    from ..data.training import read_points
    from ..executors.threads import available_cores
    from ..models.join import join
    from ..prediction.known_points import answers_of_data
    from ..prediction.member_weights import weighed_by_data
    from ..prediction.recalibrate import default_decodings, recalibrated

    form, source = request.data_form, request.data
    configuration = join(parts)
    if source is None:
        return configuration, [
            "the average is not calibrated: --data calibrates it with points "
            "that no member was trained on"
        ]
    data = read_points(source, form, configuration.recipe)
    owners = [model.path for model, part in zip(request.models, parts) for _ in part.tree.roots]
    lines = []
    if request.member_weights is not None:
        configuration, members = weighed_by_data(configuration, data, form.kind, source)
        lines = [
            "weights of the members: "
            + ", ".join(
                f"{owners[number]} {weight:g}"
                for number, weight in zip(members, configuration.tree.weights)
            )
        ]
        if len(members) < len(owners):
            lines[0] += "; left out: " + ", ".join(
                name for number, name in enumerate(owners) if number not in members
            )
    tree = configuration.tree
    cores = available_cores()
    configuration, reports = recalibrated(
        configuration,
        (
            (
                decoding.calibration_key(tree),
                answers_of_data(configuration, decoding, data, form.kind, source, cores),
            )
            for decoding in default_decodings(configuration).values()
        ),
    )
    scores = reports[0]["scores"]["log_loss"]
    return configuration, [
        *lines,
        f"calibrated with {reports[0]['points']} points: log loss "
        f"{scores['before']['value']:.4g} -> "
        f"{scores['after']['value']:.4g} "
        f"({reports[0]['decoder']}, {reports[0]['map']})",
    ]


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

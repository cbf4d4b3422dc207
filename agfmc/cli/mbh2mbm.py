"""mbh2mbm: bring a trained configuration into one model file."""

import os
import warnings

from .hints import classify_command, refuse_scheme
from .messages import report
from .option_types import output_file, probability, whole_number
from .options import (add_calibration, add_input_kind, check_files, check_normalised, input_format,
                      model_normalisation, Parser, refuse_gzip, refuse_table)

PROG = "mbh2mbm"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Merge a control file and its binary models into one file that holds everything "
        "needed to classify, each support vector once; or bring a model file into another format.")
    parser.add_argument("control", help="control file for classification, as multi_borders "
                                        "writes it, or any model file (- is standard input)")
    parser.add_argument("out", type=output_file, help="the model file to be written (.mbm)")
    group = parser.add_argument_group("contents")
    group.add_argument("-a", "--norm-file", metavar="FILE",
                       help="normalisation (.std) to be stored, in place of the one that control "
                            "names: the model then takes raw data; or none: it takes normalised "
                            "data")
    group.add_argument("--names", metavar="FILE",
                       help="class names, line i for label i, in place of those in control")
    group.add_argument("-y", "--path", metavar="PATH",
                       help="folder of the models that control names")
    add_calibration(group)
    group = parser.add_argument_group("fewer support vectors")
    group.add_argument("--landmarks", type=whole_number(1), metavar="P", excludes="--keep",
                       help="project all binary classifiers onto P of their support vectors; what "
                            "that changes, and whether classification is faster, is reported")
    group.add_argument("--keep", type=probability, metavar="SHARE", needs="--data",
                       help="as few as leave at least this share of the points of --data their "
                            "class, such as 0.999")
    group = add_input_kind(parser, "--data", False)
    group.add_argument("--data", metavar="POINTS", needs=("--landmarks", "--keep"),
                       help="points, with or without labels, whose classes are compared: a .vec "
                            "file, a table, LIBSVM text, or LVQ with -A")
    group = parser.add_argument_group("format of out")
    unheld = dict.fromkeys(("-a", "--names", "--calibration"), "that format has no place for it")
    group.add_argument("-Z", "--ascii", action="store_true", excludes=unheld,
                       help="libAGF's ASCII model")
    group.add_argument("--libsvm", action="store_true",
                       excludes={**unheld, "-Z": "out has one format"},
                       help="one LIBSVM model of all classes, from a one-vs-one configuration")
    parser.file_names = {"control": "trained", "data": "points"}
    return parser.finish()


def execute(args):
    """Read, merge, write, and say how many support vectors remain."""
    from ..core.errors import AgfmcWarning
    from ..models.files import export, load_configuration, ModelSource, save
    from ..calibration.file import calibration_of
    from ..models.control_files import model_files
    from ..data.class_names import read_names, read_names_of

    form = "ascii" if args.ascii else "svm" if args.libsvm else None
    kind = _check_smaller(args)
    refuse_scheme(args.control, "DATA | multi_borders ... - DATA MODEL CONTROL makes one that is "
                                "trained")
    check_model_name(args.out, binary=not form)
    names = None if args.names is None else read_names(args.names)
    configuration = load_configuration(ModelSource(
        args.control, models_in=args.path, names=names, calibration=args.calibration,
        uncalibrated=args.uncalibrated,
        **{"named": False} if form else model_normalisation(args)))
    if names is not None:
        configuration = configuration.renamed(
            read_names_of(args.names, configuration.tree.classes, names))
    before = configuration.merged_from
    models = [] if before is None else model_files(configuration.tree, args.path, [args.out])
    check_files(args, inputs={"control": [args.control, calibration_of(args.control), *models]})
    found = None if args.landmarks is None and args.keep is None else \
        _smaller(args, configuration, kind)
    trained, configuration = configuration, configuration if found is None else found.configuration
    if form:
        export(args.out, configuration, form)
    else:
        save(args.out, configuration)
    if configuration.lacks_normalisation and args.norm_file is None:
        alike = "points must be normalised in the same way before they are classified, which "
        then = {None: "classify_m will need it", "ascii": f"{alike}this format cannot record",
                "svm": f"{alike}svm-predict does not check (classify_m does)"}[form]
        warnings.warn(f"{args.control}: trained on normalised points, and no normalisation is "
                      f"given (-a): {then}", AgfmcWarning, stacklevel=2)
    after = len(trained.machines.sv)
    vectors = f"{after} support vectors"
    if before is not None:
        share = f" ({100 * after / before:.1f} %)" if before else ""
        vectors = f"{before} support vectors, {after} after merging{share}"
    calibrated = ""
    if configuration.calibration is not None:
        calibrated = ", without the calibration: that format has no place for it" if form else \
            f", with a calibration of {len(configuration.calibration.decoders)} decoders"
    recipe = ", without the recipe: table2agf --recipe writes points for it" \
        if form and configuration.recipe is not None else ""
    then = "" if form or configuration.lacks_normalisation else \
        "; classify new data with: " + (
            classify_command(args.out, "binary") if configuration.recipe is None else
            classify_command(args.out, "table", configuration.recipe.source))
    report(args, PROG, f"{len(configuration.tree.rows)} binary models, {vectors}{calibrated}"
                       f"{recipe}{then}")
    if found is not None:
        _tell(args, found, calibrated=trained.calibration is not None and not form)


def _check_smaller(args):
    """The `InputFormat` of --data; `UsageError` for options that do not go together."""
    from ..core.errors import UsageError

    kind = input_format(args, args.data)
    if args.data is None and kind.kind != "binary":
        raise UsageError("-M, -A and --table are for --data")
    return kind


def _smaller(args, configuration, form):
    """The `SmallerConfiguration` of the options."""
    from ..data.from_table import table_points
    from ..data.training import recipe_for
    from ..data.reading import iter_points
    from ..core.memory import within_memory
    from ..prediction.smaller import smaller

    points = None
    if args.data is not None:
        check_normalised(args, configuration, form, args.control)
        parts = table_points(args.data, form, recipe_for(args.data, configuration.recipe)) \
            if form.kind == "table" else iter_points(args.data, form, d=configuration.features)
        points = list(within_memory(parts, args.data))
    return smaller(configuration, args.landmarks, args.keep, points, form.kind)


def _tell(args, found, calibrated):
    """Lines on bounds, agreement and cost of a projection; calibrated: the model was before it."""
    from ..core.errors import AgfmcWarning

    bounds = sorted(found.bounds.tolist())
    if not any(bounds):
        report(args, PROG, f"there are no more than {found.support_vectors} support vectors: "
                           "nothing is projected")
        return
    after = len(found.configuration.machines.sv)
    report(args, PROG, f"projected onto {after} of {found.support_vectors} support vectors: "
           f"decision values change by at most B sqrt(K(x, x)), B {bounds[0]:.3g} to "
           f"{bounds[-1]:.3g}, median {bounds[len(bounds) // 2]:.3g}")
    if found.agreement is not None:
        same, count = found.agreement
        report(args, PROG, f"{same} of {count} points keep their class")
    before, now = found.times
    report(args, PROG, f"classification of a point: about {before} multiplications before, {now} "
                       "now")
    if now >= before:
        warnings.warn(f"classification is no faster with {after} support vectors: each of the "
                      f"{len(bounds)} classifiers now uses all of them", AgfmcWarning,
                      stacklevel=3)
    if calibrated and not found.alike:
        warnings.warn("the calibration is left out: it is that of other functions (it is kept "
                      "where 99.9 % of the points of --data keep their class); calibrate_m makes "
                      "one anew", AgfmcWarning, stacklevel=3)
    elif calibrated:
        report(args, PROG, "the maps of the calibration are kept, without its points: calibrate_m "
                           "makes those of thresholds and sets anew")


def check_model_name(out, binary=True):
    """`UsageError` where a model cannot have this name, or would overwrite a control file: operands
    exchanged."""
    from ..core.errors import AgfmcError, UsageError
    from ..models.control_files import read_control

    if out in ("", "-"):
        raise UsageError("expected the name of a file for the model, found "
                         f"'{out}' (/dev/stdout is one)")
    refuse_table(out, "the model")
    if binary:
        refuse_gzip(out, "the model")
    if not os.path.isfile(out):
        return
    try:
        read_control(out)
    except AgfmcError:
        return
    raise UsageError(f"the model would overwrite the control file {out}: expected control "
                     "and then out, the file to be written")

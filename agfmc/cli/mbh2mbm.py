"""mbh2mbm: bring a trained configuration into one model file."""

import os
import warnings

from ..core.errors import AgfmcError, AgfmcWarning, UsageError
from .hints import classify_command, refuse_scheme
from .messages import report
from .option_types import output_file
from .options import add_model_files, check_files, model_source, Parser, refuse_name


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser("mbh2mbm", "Merge a control file and its binary models into one file that "
                    "contains everything needed to classify, each support vector once; or "
                    "convert a model file to another format.")
    parser.add("control", "control file for classification, as multi_borders writes it, or any "
               "model file (- is standard input)")
    parser.add("out", "model file to write (.mbm)", output_file)
    group = parser.group("contents")
    group.add("--names FILE", "class names, line i for label i, in place of those in control")
    add_model_files(group, "stored: the model then takes raw data")
    group = parser.group("format of out")
    unheld = dict.fromkeys(("-a", "--names", "--calibration"), "that format has no place for it")
    group.add("-Z, --ascii", "libAGF's ASCII model", excludes=unheld)
    group.add("--libsvm", "one LIBSVM model of all classes, from a one-vs-one configuration",
              excludes={**unheld, "-Z": "out has one format"})
    parser.file_names = {"control": "trained"}
    return parser.finish()


def execute(args):
    """Read, merge, write, and say how many support vectors remain."""
    from ..models.files import export, load_configuration, save
    from ..calibration.file import calibration_of
    from ..models.control_files import model_files
    from ..data.class_names import read_names, read_names_of

    form = "ascii" if args.ascii else "svm" if args.libsvm else None
    refuse_scheme(args.control, "DATA | multi_borders ... - DATA MODEL CONTROL makes one that is "
                                "trained")
    check_model_name(args.out, binary=not form)
    names = None if args.names is None else read_names(args.names)
    configuration = load_configuration(model_source(
        args, args.control, names=names, **{"named": False} if form else {}))
    if names is not None:
        configuration = configuration.renamed(
            read_names_of(args.names, configuration.tree.classes, names))
    before = configuration.merged_from
    models = [] if before is None else model_files(configuration.tree, args.path, [args.out])
    check_files(args, inputs={"control": [args.control, calibration_of(args.control), *models]})
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
    after = len(configuration.machines.sv)
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
    report(f"{len(configuration.tree.rows)} binary models, {vectors}{calibrated}{recipe}{then}")


def check_model_name(out, binary=True):
    """`UsageError` where a model cannot have this name, or would overwrite a control file: operands
    exchanged."""
    from ..models.control_files import read_control

    if out in ("", "-"):
        raise UsageError(f"expected the name of a file for the model, found '{out}' (/dev/stdout "
                         "is one)")
    refuse_name(out, "the model", not binary)
    if not os.path.isfile(out):
        return
    try:
        read_control(out)
    except AgfmcError:
        return
    raise UsageError(f"the model would overwrite the control file {out}: expected control and then "
                     "out, the file to be written")

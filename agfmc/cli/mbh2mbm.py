"""mbh2mbm: bring a trained configuration into one model file."""

import os
import warnings

from .hints import refuse_scheme
from .messages import report
from .options import add_calibration, Parser, refuse_inputs

__all__ = ["execute", "get_parser"]

PROG = "mbh2mbm"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Merge a control file and its binary models into one file that holds everything "
        "needed to classify, each support vector once; or bring a model file into another format.",
        usage="%(prog)s [-a FILE] [--names FILE] [-y PATH] [--calibration FILE | --uncalibrated] "
              "[-Z | --libsvm] control out")
    parser.add_argument("control", help="control file for classification, as multi_borders "
                                        "writes it, or any model file (- is standard input)")
    parser.add_argument("out", help="the model file to be written (.mbm)")
    group = parser.add_argument_group("contents")
    group.add_argument("-a", "--norm-file", metavar="FILE",
                       help="normalisation (.std) to be stored: the model then takes raw data")
    group.add_argument("--names", metavar="FILE",
                       help="class names, line i for label i, in place of those in control")
    group.add_argument("-y", "--path", metavar="PATH",
                       help="folder of the models that control names")
    add_calibration(group)
    group = parser.add_argument_group("format of out")
    group.add_argument("-Z", "--ascii", action="store_true", help="libAGF's ASCII model")
    group.add_argument("--libsvm", action="store_true",
                       help="one LIBSVM model of all classes, from a one-vs-one configuration")
    return parser.finish()


def execute(args):
    """Read, merge, write, and say how many support vectors remain."""
    from ..errors import AgfmcWarning, UsageError
    from ..prediction.configuration import export, load_configuration, ModelSource, save
    from ..formats.calibration_file import calibration_of
    from ..formats.controlfile import model_files
    from ..formats.class_names import read_names, read_names_of
    from ..formats.vectors import read_std

    form = "ascii" if args.ascii else "svm" if args.libsvm else None
    if args.ascii and args.libsvm:
        raise UsageError("-Z and --libsvm exclude each other")
    for option, value, what in (("-a", args.norm_file, "normalisation"),
                                ("--names", args.names, "class names"),
                                ("--calibration", args.calibration, "calibration")):
        if form and value is not None:
            raise UsageError(f"{option} does not go with {'-Z' if args.ascii else '--libsvm'}: "
                             f"that format has no place for {what}")
    if args.out in ("", "-"):
        raise UsageError("expected the name of a file for the model, found "
                         f"'{args.out}' (/dev/stdout is one)")
    refuse_scheme(args.control, "DATA | multi_borders ... - DATA MODEL CONTROL makes one that is "
                                "trained")
    refuse_inputs([args.out], [args.control, calibration_of(args.control), args.norm_file,
                               args.names, args.calibration])
    _refuse_control(args.out)
    normalisation = None if args.norm_file is None else read_std(args.norm_file)
    names = None if args.names is None else read_names(args.names)
    configuration = load_configuration(ModelSource(args.control, normalisation, args.path,
                                                   names=names, calibration=args.calibration,
                                                   uncalibrated=args.uncalibrated))
    if names is not None:
        configuration = configuration.renamed(
            read_names_of(args.names, configuration.tree.classes, names))
    before = configuration.merged_from
    if before is not None:
        refuse_inputs([args.out], model_files(configuration.tree, args.path, [args.out]))
    if form:
        export(args.out, configuration, form)
    else:
        save(args.out, configuration)
    if configuration.lacks_normalisation:
        alike = "points must be normalised in the same way before they are classified, which "
        then = {None: "classify_m will need it", "ascii": f"{alike}this format cannot record",
                "svm": f"{alike}svm-predict does not check (classify_m does)"}[form]
        warnings.warn(f"{args.control}: trained on normalised points, and no normalisation is "
                      f"given (-a): {then}", AgfmcWarning, stacklevel=2)
    after = len(configuration.machines.sv)
    found = f"{after} support vectors"
    if before is not None:
        share = f" ({100 * after / before:.1f} %)" if before else ""
        found = f"{before} support vectors, {after} after merging{share}"
    calibrated = ""
    if configuration.calibration is not None:
        calibrated = ", without the calibration: that format has no place for it" if form else \
            f", with a calibration of {len(configuration.calibration.decoders)} decoders"
    report(args, PROG, f"{len(configuration.tree.rows)} binary models, {found}{calibrated}")


def _refuse_control(out):
    """`UsageError` where the model would overwrite a control file: operands exchanged."""
    from ..errors import AgfmcError, UsageError
    from ..formats.controlfile import read_control

    if not os.path.isfile(out):
        return
    try:
        read_control(out)
    except AgfmcError:
        return
    raise UsageError(f"the model would overwrite the control file {out}: expected control "
                     "and then out, the file to be written")

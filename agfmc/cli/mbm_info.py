"""mbm_info: describe a model file."""

import sys

from .messages import show
from .options import add_calibration, Parser

__all__ = ["execute", "get_parser"]


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "mbm_info",
        "Print what a model file holds: classes, configuration, support vectors, kernels, "
        "normalisation, and the settings that made it.",
        usage="%(prog)s [--control | --json] [-y FOLDER] [--calibration FILE | --uncalibrated] "
              "model")
    parser.add_argument("model", help="model file, or a control file whose models are read")
    group = parser.add_argument_group("input")
    group.add_argument("-y", "--path", metavar="FOLDER",
                       help="folder of the models that a control file names")
    add_calibration(group)
    group = parser.add_argument_group("output")
    group.add_argument("--control", action="store_true", help="print the control file alone")
    group.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.finish()


def execute(args):
    """Load the model and print its description."""
    from ..control.write import format_tree
    from ..errors import UsageError
    from ..prediction.configuration import load
    from ..prediction.description import describe, format_description

    if args.control and args.json:
        raise UsageError("--control and --json exclude each other")
    configuration = load(args.model, models_in=args.path, calibration=args.calibration,
                         uncalibrated=args.uncalibrated)
    if args.control:
        show([format_tree(configuration.tree)])
    elif args.json:
        import json
        json.dump(describe(configuration), sys.stdout, indent=1, sort_keys=True)
        sys.stdout.write("\n")
    else:
        sys.stdout.write(format_description(describe(configuration)))

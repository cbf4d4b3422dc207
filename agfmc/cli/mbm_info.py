"""mbm_info: describe a model file, a normalisation, or a recipe of tables."""

import os
import sys

from ..core.errors import DataError, UsageError
from .messages import write_stdout
from .option_types import output_file
from .options import add_calibration, check_plot, Parser


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "mbm_info",
        "Print what a model file holds: classes, configuration, support vectors, kernels, "
        "normalisation, the recipe of tables, and the settings that made it. Of a normalisation "
        "(.std): its features, and what a learned metric was learned from, with the weight of "
        "each feature. Of a recipe (.recipe): the columns of the table, and what they become.")
    parser.add("model", "model file, or a control file whose models are read, or a normalisation, "
               "whose name ends in .std, or a recipe of tables, whose name ends in .recipe")
    group = parser.group("input")
    group.add("-y, --path FOLDER", "folder of the models that a control file names")
    add_calibration(group)
    group.add("--feature-names FILE", "names of the features of a normalisation, one on each line")
    group = parser.group("output")
    group.add("--control", "print the control file alone", excludes="--json")
    group.add("--json", "print one JSON object")
    group.add("--plot FILE", "a picture: of a model its coding matrix, or its tree with the share "
              "of the training points at each node, of a learned metric the weights of the "
              "features (.png, .svg or .pdf; needs matplotlib)", output_file)
    parser.file_names = {"model": "model"}
    return parser.finish()


def execute(args):
    """Load the model, normalisation or recipe, and print its description."""
    from ..data.libagf import holds_map

    if args.model.endswith(".metric") and os.path.isfile(args.model):
        raise UsageError(f"{args.model} is the record beside a normalisation: give "
                         f"{args.model.removesuffix('.metric')}.std")
    if args.model.endswith(".recipe"):
        _show_recipe(args)
        return
    if args.model.endswith(".std") or holds_map(args.model):
        _show_normalisation(args)
        return
    from ..control.write import format_tree
    from ..models.files import load
    from ..models.description import describe, format_description

    _refuse_for_normalisations(args, [("--feature-names", args.feature_names)])
    check_plot(args)
    configuration = load(args.model, models_in=args.path, calibration=args.calibration,
                         uncalibrated=args.uncalibrated)
    if args.plot is not None:
        from ..report.chart_control import draw_control
        from ..models.description import node_shares

        draw_control(args.plot, configuration.tree, shares=node_shares(configuration))
    if args.control:
        write_stdout([format_tree(configuration.tree)])
    elif args.json:
        _print_json(describe(configuration))
    else:
        sys.stdout.write(format_description(describe(configuration)))


def _refuse_for_normalisations(args, options):
    for option, given in options:
        if given is not None:
            raise UsageError(f"{option} is for a normalisation, as X.std, and {args.model} is none")


def _refuse_for_models(args, what):
    for given, option in ((args.control, "--control"), (args.path, "-y"),
                          (args.calibration, "--calibration"),
                          (args.uncalibrated, "--uncalibrated")):
        if given:
            raise UsageError(f"{option} is for models: {args.model} is a {what}")


def _show_recipe(args):
    from ..tables.recipe_file import read_recipe
    from ..models.description import describe_recipe, format_recipe_lines

    _refuse_for_normalisations(args, [("--feature-names", args.feature_names),
                                      ("--plot", args.plot)])
    _refuse_for_models(args, "recipe of tables")
    info = describe_recipe(read_recipe(args.model))
    if args.json:
        _print_json(info)
    else:
        sys.stdout.write(format_recipe_lines(info))


def _show_normalisation(args):
    from ..data.metric_file import metric_path, read_feature_names
    from ..data.libagf import read_std
    from ..models.description import describe_normalisation, format_normalisation

    _refuse_for_models(args, "normalisation")
    check_plot(args)
    normalisation = read_std(args.model)
    names = () if args.feature_names is None else \
        read_feature_names(args.feature_names, len(normalisation.mean))
    info = describe_normalisation(normalisation, names)
    if args.plot is not None:
        if info["metric"] is None:
            raise DataError("there are no weights to be drawn: no learned metric is known of, as "
                            "--learn-metric writes it beside the normalisation", file=args.model)
        from ..report.chart_scores import draw_weights
        draw_weights(args.plot, info["metric"])
    if args.json:
        _print_json(info)
    else:
        beside = metric_path(args.model)
        sys.stdout.write(format_normalisation(
            info, None if beside is None or os.path.lexists(beside) else beside))


def _print_json(info):
    import json

    json.dump(info, sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")

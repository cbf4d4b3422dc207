"""mbm_info: describe a model file, a normalisation, or a recipe of tables."""

import json
from itertools import chain
import os

from ..control.write import format_tree
from ..core.errors import DataError, UsageError
from .messages import write_stdout
from .option_types import output_file, refuse_given
from .options import add_model_files, check_plot, model_source, Parser


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "mbm_info",
        "Print the contents of a model file: classes, configuration, "
        "support vectors, kernels, normalisation, recipe of tables, and training "
        "settings; or of a normalisation (.std): its features, and the weights of a "
        "learned metric; or of a recipe (.recipe): the columns of the table, and "
        "their features.",
    )
    parser.add(
        "model",
        "model file, or a control file whose models are read, or a normalisation "
        "(.std), or a recipe of tables (.recipe)",
    )
    group = parser.group("input")
    add_model_files(group)
    group.add("--feature-names FILE", "names of the features of a normalisation, one per line")
    group = parser.group("output")
    group.add(
        "--control",
        "print only the control file, to be trained again: it has the training "
        "options that the models record in place of their names",
        excludes="--json",
    )
    group.add("--json", "print one JSON object")
    group.add(
        "--plot FILE",
        "a picture of the coding matrix, or of the tree with the share of "
        "the training points at each node, or of the weights of a learned metric (.png, "
        ".svg or .pdf)",
        output_file,
    )
    parser.file_names = {"model": "model"}
    return parser.finish()


def execute(args):
    """Load the model, normalisation or recipe, and print its description."""
    from ..data.libagf import holds_map

    if args.model.endswith(".metric") and os.path.isfile(args.model):
        raise UsageError(
            f"{args.model} is the record beside a normalisation: give "
            f"{args.model.removesuffix('.metric')}.std"
        )
    if args.model.endswith(".recipe"):
        show, kind = _recipe, "a recipe of tables"
    elif args.model.endswith(".std") or holds_map(args.model):
        show, kind = _normalisation, "a normalisation"
    else:
        show, kind = _model, "none"
    if show is not _model:
        refuse_given(
            args,
            ("--control", "-y", "--calibration", "--uncalibrated"),
            f"is for models: {args.model} is {kind}",
        )
    if show is not _normalisation:
        refuse_given(
            args,
            ("--feature-names", *["--plot"] * (show is _recipe)),
            f"is for a normalisation, as X.std, and {args.model} is {kind}",
        )
    check_plot(args)
    info, text = show(args)
    pieces = json.JSONEncoder(indent=1, sort_keys=True).iterencode(info) if args.json else [text]
    write_stdout(chain(pieces, "\n" * args.json))


def _model(args):
    from ..models.description import describe, format_description, node_shares, training_tree
    from ..models.files import load_configuration

    configuration = load_configuration(model_source(args, args.model))
    if args.plot is not None:
        from ..report.chart_control import draw_control

        draw_control(args.plot, configuration.tree, shares=node_shares(configuration))
    if args.control:
        return None, format_tree(training_tree(configuration))
    info = describe(configuration)
    return info, format_description(info)


def _recipe(args):
    from ..models.description import describe_recipe, format_recipe_lines
    from ..tables.recipe_file import read_recipe

    info = describe_recipe(read_recipe(args.model))
    return info, format_recipe_lines(info)


def _normalisation(args):
    from ..data.libagf import read_std
    from ..data.metric_file import metric_path, read_feature_names
    from ..models.description import describe_normalisation, format_normalisation

    normalisation = read_std(args.model)
    names = (
        ()
        if args.feature_names is None
        else read_feature_names(args.feature_names, len(normalisation.mean))
    )
    info = describe_normalisation(normalisation, names)
    if args.plot is not None:
        if info["metric"] is None:
            raise DataError(
                "there are no weights to be drawn: no learned metric is known of, as "
                "--learn-metric writes it beside the normalisation",
                file=args.model,
            )
        from ..report.chart_scores import draw_weights

        draw_weights(args.plot, info["metric"])
    beside = metric_path(args.model)
    return info, format_normalisation(
        info, None if beside is None or os.path.lexists(beside) else beside
    )

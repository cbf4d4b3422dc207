"""mbm_info: describe a model file, a normalisation, or a recipe of tables."""

import json
import os
from dataclasses import dataclass
from itertools import chain

from ..control.write import format_tree
from ..core.errors import UsageError
from ..files.kinds import is_table, name_of_file
from .messages import write_stdout
from .options import add_model_files, model_source, Parser
from .pages import Page, page_of
from .reports import add_report, PAGE, PICTURES, Reports, reports_of


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "mbm_info",
        "Print the contents of a model file: classes, configuration, "
        "support vectors, kernels, normalisation, recipe of tables, and training "
        "settings; or of a normalisation (.std): its features; or of a recipe (.recipe): "
        "the columns of the table, and their features.",
    )
    parser.add(
        "model",
        "model file, or a control file whose models are read, or a normalisation "
        "(.std), or a recipe of tables (.recipe)",
    )
    group = parser.group("input")
    add_model_files(group)
    group = parser.group("output")
    group.add(
        "--print-control",
        "print only the control file, to be trained again: it has the training "
        "options that the models record in place of their names",
        excludes="--json",
    )
    group.add("--json", "print one JSON object")
    add_report(
        group,
        "of the model; a picture is of the coding matrix, of the tree with the share of the "
        "training points at each node",
        PAGE,
        *PICTURES,
        ".json",
    )
    group.add(
        "--importance DATA",
        "with --report of a page: holdout data with labels, a table with the columns of the "
        "training data, LIBSVM text, or the base name of .vec and .cls files. The page then "
        "shows which columns matter to the model, and their effects",
        needs="--report",
    )
    parser.file_names = {"model": "model"}
    return parser.finish()


@dataclass(frozen=True)
class _Request:
    """A file to be described.

    Attributes
    ----------
    model : the file
    source : `ModelSource` of a model, None for a normalisation or recipe
    importance : holdout data of the page, or None
    page, reports : `Page` and `Reports`
    """

    model: str
    source: object
    print_control: bool
    json: bool
    importance: str | None
    page: Page
    reports: Reports


def execute(args):
    """Make a request of the options, and describe by it."""
    from ..data.libagf import holds_map

    kind = None
    if args.model.endswith(".recipe"):
        kind = "a recipe of tables"
    elif args.model.endswith(".std") or holds_map(args.model):
        kind = "a normalisation"
    if kind is not None:
        args.refuse(
            ("--print-control", "-y", "--calibration", "--uncalibrated", "--importance"),
            f"is for models: {args.model} is {kind}",
        )
    reports = reports_of(args)
    if kind is not None and reports.has(PAGE):
        raise UsageError(f"--report of a page is for models: {args.model} is {kind}")
    if kind is not None and reports.has(*PICTURES):
        raise UsageError(f"--report: there is no picture of {kind}")
    request = args.request(
        _Request,
        source=model_source(args, args.model) if kind is None else None,
        page=page_of(args, [args.model, args.calibration, args.importance]),
        reports=reports,
    )
    _describe(request)


def _describe(request):
    """Load the model, normalisation or recipe, and print its description."""
    if request.source is not None:
        info, text, page, draw = _model(request)
    elif request.model.endswith(".recipe"):
        info, text, page, draw = *_recipe(request.model), None, None
    else:
        info, text, page, draw = *_normalisation(request.model), None, None
    printed = request.reports.write(
        {PAGE: page, ".json": lambda: json.dumps(info, indent=1, sort_keys=True) + "\n"}, draw
    )
    if printed is not None:
        pieces = [printed]
    elif request.json:
        pieces = chain(json.JSONEncoder(indent=1, sort_keys=True).iterencode(info), "\n")
    else:
        pieces = [text]
    write_stdout(pieces)


def _model(request):
    """The information and text of a model, and functions for its page and its picture."""
    from ..models.description import describe, node_shares, training_tree
    from ..models.files import load_configuration
    from ..report.chart_control import draw_control
    from ..report.model import model_blocks
    from ..report.text import blocks_text

    configuration = load_configuration(request.source)
    info = describe(configuration)

    def draw(path):
        draw_control(path, configuration.tree, shares=node_shares(configuration))

    if request.print_control:
        text = format_tree(training_tree(configuration))
    else:
        text = blocks_text(model_blocks(info))
    return info, text, lambda: _page_text(request, configuration, info), draw


def _page_text(request, configuration, info):
    """The page of a model, with what matters to it on holdout data."""
    from ..report.content import ModelPart, ReportContent
    from ..report.page import render
    from .gather import data_of_model

    page, model = request.page, request.model
    importance = None
    if request.importance is not None:
        importance = _column_importance(configuration, request.importance)
    return render(
        ReportContent(
            name_of_file(model),
            configuration.tree.names,
            data_of_model(info),
            ModelPart(configuration.tree, os.path.basename(model), info),
            provenance=page.provenance(info=info),
            steps=[page.step("writes this page")],
            importance=importance,
        )
    )


def _column_importance(configuration, source):
    from ..data.training import read_points
    from ..data.types import InputFormat
    from ..prediction.importance import EFFECTS, importance

    if is_table(source):
        kind = "table"
    elif os.path.isfile(source):
        kind = "svm"
    else:
        kind = "binary"
    points = read_points(source, InputFormat(kind), configuration.recipe)
    return importance(configuration, points, effects=EFFECTS)


def _recipe(path):
    """The information and text of a recipe."""
    from ..models.description import describe_recipe
    from ..report.model import recipe_blocks
    from ..report.text import blocks_text
    from ..tables.recipe_file import read_recipe

    info = describe_recipe(read_recipe(path))
    return info, blocks_text(recipe_blocks(info))


def _normalisation(path):
    """The information and text of a normalisation."""
    from ..data.libagf import read_std
    from ..models.description import describe_normalisation
    from ..report.model import normalisation_blocks
    from ..report.text import blocks_text

    info = describe_normalisation(read_std(path))
    return info, blocks_text(normalisation_blocks(info))

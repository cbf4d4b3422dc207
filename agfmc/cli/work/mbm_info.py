"""The work of mbm_info."""

import json
from itertools import chain

from ...control.write import format_tree
from ...data.libagf import read_std
from ...models.description import (
    describe,
    describe_normalisation,
    describe_recipe,
    node_shares,
    training_tree,
)
from ...models.files import load_configuration
from ...report.chart_control import draw_control
from ...report.model import model_blocks, normalisation_blocks, recipe_blocks
from ...report.text import blocks_text
from ...tables.recipe_file import read_recipe
from ..messages import write_stdout
from ..reports import PAGE


def run(request):
    """Load the model, normalisation or recipe, and print its description."""
    if request.source is not None:
        info, text, page, draw = _model(request)
    elif request.model.endswith(".recipe"):
        info, text, page, draw = *_recipe(request.model), None, None
    else:
        info, text, page, draw = *_normalisation(request.model), None, None
    encoder = json.JSONEncoder(indent=1, sort_keys=True)
    texts = {PAGE: page, ".json": lambda: encoder.encode(info) + "\n"}
    reports = request.reports
    if reports.printed == ".json":
        # in pieces: the sides of a chain of classes grow with the square of its length
        reports._replace(printed=None).write(texts, draw)
        write_stdout(chain(encoder.iterencode(info), "\n"))
    else:
        write_stdout([reports.write(texts, draw) or text])


def _model(request):
    """The information and text of a model, and functions for its page and its picture."""
    configuration = load_configuration(request.source)
    info = describe(configuration)

    def draw(path):
        draw_control(path, configuration.tree, shares=node_shares(configuration))

    def page():
        from .mbm_info_page import page_text

        return page_text(request, configuration, info)

    if request.print_control:
        text = format_tree(training_tree(configuration))
    else:
        text = blocks_text(model_blocks(info))
    return info, text, page, draw


def _recipe(path):
    """The information and text of a recipe."""
    info = describe_recipe(read_recipe(path))
    return info, blocks_text(recipe_blocks(info))


def _normalisation(path):
    """The information and text of a normalisation."""
    info = describe_normalisation(read_std(path))
    return info, blocks_text(normalisation_blocks(info))

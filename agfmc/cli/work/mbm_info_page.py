"""The page of mbm_info, and what matters to a model on holdout data."""

import os

from ...data.training import read_points
from ...data.types import InputFormat
from ...files.kinds import is_table, name_of_file
from ...prediction.importance import EFFECTS, importance
from ...report.content import ModelPart, ReportContent
from ...report.page import render
from .gather import data_of_model, provenance, step_of


def page_text(request, configuration, info):
    """The page of a model, with what matters to it on holdout data."""
    page, model = request.page, request.model
    columns = None
    if request.importance is not None:
        columns = _column_importance(configuration, request.importance)
    return render(
        ReportContent(
            name_of_file(model),
            configuration.tree.names,
            data_of_model(info),
            ModelPart(configuration.tree, os.path.basename(model), info),
            provenance=provenance(page, info=info),
            steps=[step_of(page, "writes this page")],
            importance=columns,
        )
    )


def _column_importance(configuration, source):
    if is_table(source):
        kind = "table"
    elif os.path.isfile(source):
        kind = "svm"
    else:
        kind = "binary"
    points = read_points(source, InputFormat(kind), configuration.recipe)
    return importance(configuration, points, effects=EFFECTS)

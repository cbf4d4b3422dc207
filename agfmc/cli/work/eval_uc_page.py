"""The page of eval_uc."""

from dataclasses import replace

from ...answers.columns import answer_ids
from ...files.kinds import name_of_file
from ...files.opening import is_stream
from ...report.content import ReportContent
from ...report.page import render
from .gather import answers_part, data_of_model, provenance, report_score_request, step_of


def page_text(request, results, names, model, known):
    """The page of the scores of answers, and of their `ModelPart` or None; known: scores that are
    there."""
    page = request.page
    scores = report_score_request(results, request.scores, request.scores.intervals or None)
    info = tree = data = None
    if model is not None:
        info, tree, data = model.info, model.tree, data_of_model(model.info)
        names = {**tree.names, **names}
    part = answers_part(
        results,
        _origin(request),
        scores=scores,
        bins=request.bins,
        tree=tree,
        ids=_ids(request.source),
    )
    if "monitor" in known:
        part = replace(part, scores={**part.scores, "monitor": known["monitor"]})
    return render(
        ReportContent(
            name_of_file(request.model or request.result or request.truth),
            names,
            data,
            model,
            part,
            provenance=provenance(page, info=info),
            steps=[step_of(page, "writes this page")],
        )
    )


def _origin(request):
    """The origin of answers and true classes, in words."""
    if request.result is not None:
        return f"{request.result}, true classes in {request.truth}"
    if request.source.data is not None:
        return f"{request.truth}, true classes in {request.source.data}"
    return request.truth


def _ids(source):
    """A function that returns {row: id} of rows of a table of answers, or None."""
    if source is None or is_stream(source.path):
        return None
    return lambda rows: answer_ids(source.path, source.layout, source.predicted, rows, source.ids)

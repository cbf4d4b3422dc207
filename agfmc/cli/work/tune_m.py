"""The work of tune_m."""

from ...control.write import tree_lines
from ...core.errors import JobsFailed
from ...core.version import RESULTS
from ...experiments.tuning import prepare_tuning, tune
from ...files.kinds import name_of_file
from ...report.chart_scores import draw_search
from ...report.content import ModelPart
from ...report.csv_tables import search_csv
from ...report.text import blocks_text
from ...report.trials import search_blocks
from ..messages import json_text, Progress, report, write_stderr, write_stdout
from ..reports import PAGE
from .experiments import CONTINUES, head_of, opened_experiment, report_reused
from .pages import make_page, plain


def run(request):
    """Read, search, write."""
    deadline = request.deadline
    with opened_experiment(request) as experiment:
        candidate = request.suited(request.candidate, experiment)
        task = prepare_tuning(experiment, candidate)
        with Progress("tuning", deadline=deadline) as progress:
            result, tree = tune(
                task,
                space=request.space,
                by=request.by,
                search=request.search,
                deadline=deadline,
                progress=progress,
            )
        report_reused(experiment)
        result = {
            "control": candidate.name,
            "data": request.source,
            **head_of(request, experiment),
            **result,
        }
        # in here, so that what is finished is stored
        if request.reports.paths and not result["tried"]:
            report("nothing was tried, so no report is written")
        elif request.reports.paths:
            _write_reports(request, task, result, tree)
        _print(result, tree)
        if not result["complete"]:
            raise JobsFailed(_unfinished(experiment.cache, result, tree))


def _write_reports(request, task, result, tree):
    def page_text():
        return make_page(
            request,
            task.experiment,
            f"search for options: {name_of_file(result['control'])}, {name_of_file(request.source)}",
            "searches, and writes this page",
            search=plain(result),
            model=ModelPart(task.tree if tree is None else tree),
        )

    request.reports.write(
        {
            PAGE: page_text,
            ".json": lambda: json_text({"version": RESULTS, **result}),
            ".csv": lambda: search_csv(result),
        },
        lambda path: draw_search(path, result),
    )


def _print(result, tree):
    if result["tried"]:
        write_stderr(blocks_text(search_blocks(result)))
    if tree is not None:
        write_stdout(tree_lines(tree))


def _unfinished(cache, result, tree):
    words = []
    if tree is not None:
        words = [
            f"after {result['tried']} options, the best of which is written",
            "no estimate for new data",
        ]
    elif result["tried"]:
        words = ["when only the given options had been tried"]
    else:
        words = ["before anything was finished"]
    if cache.keeps_anything():
        words.append(CONTINUES)
    return f"time limit reached {'; '.join(words)}"

"""The work of compare_control."""

import sys

from ...core.errors import JobsFailed
from ...core.version import RESULTS
from ...experiments.candidates import suited
from ...experiments.comparison import compare
from ...files.kinds import name_of_file
from ...report.blocks import table
from ...report.chart_scores import draw_comparison
from ...report.csv_tables import comparison_csv
from ...report.text import blocks_text, markdown
from ...report.trials import comparison_blocks, comparison_tables
from ..messages import in_options, json_text, Progress, write_message
from ..reports import PAGE
from .experiments import head_of, opened_experiment, report_reused
from .pages import make_page, plain


def run(request):
    """Read, try, print."""
    candidates = request.candidates
    with opened_experiment(request) as experiment:
        if not request.control:
            candidates = suited(candidates, len(experiment.data.counts))
        candidates = [request.suited(candidate, experiment) for candidate in candidates]
        with Progress("comparing") as progress:
            result = compare(
                experiment,
                candidates,
                by=request.by,
                against=request.against,
                progress=progress,
            )
        report_reused(experiment)
        for row in result["rows"]:
            if "error" in row:
                row["error"] = in_options(row["error"])
        result = {
            "data": request.source,
            "options": request.options,
            **head_of(request, experiment),
            **result,
        }
        # in here, so that the results are stored where it fails
        _write(request, experiment, result)
    failed = [row for row in result["rows"] if "error" in row]
    for row in failed:
        write_message(f"{row['configuration']}:{row['decoder']}: {row['error']}")
    if failed:
        raise JobsFailed(f"{len(failed)} of {len(result['rows'])} rows could not be computed")


def _write(request, experiment, result):
    """Write the reports of a result, and print it."""

    def page_text():
        return make_page(
            request,
            experiment,
            f"comparison of configurations: {name_of_file(request.source)}",
            "compares, and writes this page",
            comparison=plain(result),
        )

    text = request.reports.write(
        {
            PAGE: page_text,
            ".json": lambda: json_text({"version": RESULTS, **result}),
            ".csv": lambda: comparison_csv(result),
            ".md": lambda: markdown(map(table, comparison_tables(result))),
        },
        lambda path: draw_comparison(path, result, request.by),
    )
    if text is None:
        text = blocks_text(comparison_blocks(result), folded=True, star=True)
    sys.stdout.write(text)
    sys.stdout.flush()

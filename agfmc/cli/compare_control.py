"""compare_control: try configurations on the same splits of the data, and print a table."""

import os
import sys
from dataclasses import dataclass

from ..core.errors import JobsFailed
from ..core.version import RESULTS
from ..designs.schemes import COMPARED
from ..files.kinds import name_of_file
from ..score.rows import BY_COST
from .data_options import add_train
from .experiments import (
    add_answers,
    add_experiment,
    experiment_request,
    ExperimentRequest,
    opened_experiment,
    plan_of,
    report_reused,
)
from .messages import in_options, json_text, Progress, write_message
from .options import Parser
from .pages import make_page, plain
from .reports import add_report, PAGE, PICTURES, Reports, reports_of


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "compare_control",
        "Compare configurations on the same splits of the data by "
        "their scores and times. A binary problem that several configurations share "
        "is trained once.",
    )
    add_train(parser)
    parser.add(
        "control",
        "a training control file, or a scheme of print_control, with its parameters as in "
        '"empirical linkage=average"; '
        "optionally with decoders after a colon, as in one-vs-one:inverse,vote (default: "
        f"{' '.join(COMPARED)})",
        nargs="*",
    )
    group = parser.group("decoders")
    group.add(
        "-Q, --decoder DECODER,...",
        "decoders of every control that names none: those of "
        "classify_m, and for trees recursive and full; any other decodes a tree as a "
        "coding matrix (default: those that suit the control; for trees full and "
        "least-squares)",
    )
    add_answers(group, both=True)
    group.add(
        "--against CONTROL",
        "the configuration, CONTROL or CONTROL:DECODER, that the "
        "others are compared with (default one-vs-one, or else the first)",
    )
    group = parser.group("output")
    group.add("--json", "print everything as JSON, with the values of each split")
    add_report(
        group,
        "of the data, and of the configurations with their differences; pictures are of the "
        "differences with intervals, and of scores against kernel values or evaluated classifiers",
        PAGE,
        *PICTURES,
        ".json",
        ".csv",
        ".md",
    )
    add_experiment(
        parser,
        "10 with -f, 1 with -d; -f 0.3 if neither is given",
        by=True,
        loo="if all classifiers are learner=nystrom, score exact leave-one-out values, "
        "without holdout data; each configuration is trained once",
    )
    return parser.finish()


@dataclass(frozen=True)
class _Request(ExperimentRequest):
    """A comparison.

    Attributes
    ----------
    control : control files and schemes, () for `COMPARED`
    candidates : the `Candidate`s that they stand for
    by : name of the score that decides
    against : name of the one that the others are compared with, or None
    options : training options
    """

    control: list = ()
    candidates: tuple = ()
    by: str = ""
    against: str | None = None
    options: str = ""
    json: bool = False
    reports: Reports | None = None


def execute(args):
    """Make a request of the options, and compare by it."""
    from ..experiments.candidates import read_candidates

    reports = reports_of(args)
    decoders = None
    if args.decoder is not None:
        decoders = tuple(word.strip() for word in args.decoder.split(","))
    candidates = read_candidates(args.control or COMPARED, decoders, args.seed)
    request = experiment_request(
        args,
        plan_of(args, 10),
        _Request,
        filter(os.path.isfile, args.control),
        candidates=candidates,
        by=BY_COST[args.by],
        reports=reports,
    )
    _compare(request)


def _compare(request):
    """Read, try, print."""
    from ..experiments.candidates import suited
    from ..experiments.comparison import compare

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
            **request.head(experiment),
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
    from ..report.blocks import table
    from ..report.chart_scores import draw_comparison
    from ..report.csv_tables import comparison_csv
    from ..report.text import blocks_text, markdown
    from ..report.trials import comparison_blocks, comparison_tables

    def page_text():
        return make_page(
            request,
            experiment,
            f"comparison of configurations: {name_of_file(request.source)}",
            "compares, and writes this page",
            comparison=plain(result),
        )

    def all_numbers():
        return json_text({"version": RESULTS, **result})

    text = request.reports.write(
        {
            PAGE: page_text,
            ".json": all_numbers,
            ".csv": lambda: comparison_csv(result),
            ".md": lambda: markdown(map(table, comparison_tables(result))),
        },
        lambda path: draw_comparison(path, result, request.by),
    )
    if text is None and request.json:
        text = all_numbers()
    elif text is None:
        text = blocks_text(comparison_blocks(result), folded=True, star=True)
    sys.stdout.write(text)
    sys.stdout.flush()

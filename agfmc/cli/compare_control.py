"""compare_control: try configurations on the same splits of the data, and print a table."""

import os
import sys

from ..core.errors import JobsFailed
from ..core.version import RESULTS
from ..designs.schemes import COMPARED
from ..files.kinds import name_of_file
from ..score.rows import BY_COST
from .data_options import add_train
from .designs import add_scheme_options
from .experiments import (
    add_answers,
    add_experiment,
    add_nested,
    experiment_request,
    nested_tuning,
    opened_experiment,
    plan_of,
    report_reused,
)
from .messages import json_text, Progress, write_message
from .option_types import whole_number
from .options import add_plot, check_plot, Parser
from .pages import add_report, page_of, plain, training_inputs, write_page


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
        "a training control file, or the name of a scheme of print_control; "
        "optionally with decoders after a colon, as in one-vs-one:inverse,vote (default: "
        f"{' '.join(COMPARED)})",
        nargs="*",
    )
    group = parser.group("decoders")
    group.add(
        "-Q, --decoders DECODER,...",
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
    group.add("--csv", "the table as CSV", excludes=("--json", "--markdown"))
    group.add("--json", "everything as JSON, with the values of each split", excludes="--markdown")
    group.add("--markdown", "the table in Markdown")
    add_plot(
        group,
        "of differences with intervals, and of scores against kernel values or "
        "evaluated classifiers",
    )
    add_report(parser, "the data, and the configurations with their differences")
    group = parser.group("schemes, as for print_control")
    group.add("--rows N", "rows of random codes", whole_number(1))
    add_scheme_options(group, draws=1)
    add_nested(parser)
    add_experiment(
        parser,
        "10 with -f, 1 with -d; -f 0.3 if neither is given",
        by=True,
        loo="if all classifiers are learner=nystrom: score exact leave-one-out values, "
        "without holdout data; each configuration is trained once",
    )
    return parser.finish()


def execute(args):
    """Read, try, print."""
    from ..experiments.candidates import read_candidates, suited
    from ..experiments.comparison import compare

    check_plot(args)
    page = page_of(args, training_inputs(args, *filter(os.path.isfile, args.control)))
    tuning, plan, by = nested_tuning(args), plan_of(args, 10), BY_COST[args.by]
    decoders = (
        None if args.decoders is None else tuple(word.strip() for word in args.decoders.split(","))
    )
    candidates = read_candidates(
        args.control or COMPARED,
        decoders,
        rows=args.rows,
        strict=args.strict,
        seed=args.seed,
        draws=args.draws,
        metric=args.metric,
        linkage=args.linkage,
    )
    request = experiment_request(args, args.train, plan, args.platt == "loo")
    with opened_experiment(request) as experiment:
        if not args.control:
            candidates = suited(candidates, len(experiment.data.counts))
        candidates = [request.suited(candidate, experiment) for candidate in candidates]
        with Progress("comparing") as progress:
            result = compare(
                experiment,
                candidates,
                by=by,
                against=args.against,
                progress=progress,
                tuning=tuning,
            )
        report_reused(experiment)
        result = {"data": args.train, "options": args.options, **request.head(experiment), **result}
        if page.requested:
            write_page(
                page,
                request,
                experiment,
                f"comparison of configurations: {name_of_file(args.train)}",
                "compares",
                comparison=plain(result),
            )
        _print(
            result,
            "json" if args.json else "csv" if args.csv else "markdown" if args.markdown else "text",
        )
        if args.plot is not None:  # in here, so that the results are stored where it fails
            from ..report.chart_scores import draw_comparison

            draw_comparison(args.plot, result, by)
    failed = [row for row in result["rows"] if "error" in row]
    for row in failed:
        write_message(f"{row['configuration']}:{row['decoder']}: {row['error']}")
    if failed:
        raise JobsFailed(f"{len(failed)} of {len(result['rows'])} rows could not be computed")


def _print(result, form):
    from ..report.text import blocks_text, comparison_csv, markdown_table
    from ..report.trials import comparison_blocks

    if form == "json":
        text = json_text({"version": RESULTS, **result})
    elif form == "csv":
        text = comparison_csv(result)
    elif form == "markdown":
        text = markdown_table(result)
    else:
        text = blocks_text(comparison_blocks(result), folded=True, star=True)
    sys.stdout.write(text)
    sys.stdout.flush()

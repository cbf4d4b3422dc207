"""compare_control: try configurations on the same splits of the data, and print a table."""

from __future__ import annotations

import sys

from ..codes.schemes import COMPARED
from ..errors import JobsFailed, UsageError
from ..score.scores import BY_OPTION
from .compare_control_options import PROG, get_parser
from .exploring import for_data, ledger_of, load_data, plan_of, settings_of
from .jsontext import json_text
from .library import library_words
from .messages import Progress, report, say
from .run import run_command

__all__ = ["get_parser", "main"]


def execute(args):
    """Read, try, print."""
    from ..explore.candidates import read_candidate
    from ..explore.compare import compare
    from ..explore.ledger import key_of

    if sum((args.csv, args.json, args.markdown)) > 1:
        raise UsageError("--csv, --json and --markdown exclude each other")
    if args.plot is not None:
        from ..picture.canvas import check_picture
        check_picture(args.plot)
    if args.train == "-" and "-" in args.control:
        raise UsageError("train and a control file cannot both be standard input")
    plan = plan_of(args, 10)
    candidates = _candidates(args, read_candidate)
    data, normalisation = load_data(args)
    candidates = [for_data(candidate, data, args) for candidate in candidates]
    settings = settings_of(args, normalisation)
    by = BY_OPTION[args.by]
    with library_words(), ledger_of(
            args, PROG, key_of("data", data.x, data.y), plan, repr(candidates), args.options,
            args.normalise, args.svd, args.platt,
            "" if normalisation is None else normalisation.digest()) as ledger:
        with Progress(args, "comparing") as progress:
            result = compare(data, candidates, plan, settings, ledger, by=by,
                             against=args.against, progress=progress)
        if ledger.found:
            report(args, PROG, f"{ledger.found} results of an earlier run were taken over")
        result = {"data": args.train, "options": args.options, **result}
        _print(args, result)
        if args.plot is not None:  # in here, so that the results are kept where it fails
            from ..picture.comparison import draw_comparison
            draw_comparison(args.plot, result, by)
    failed = [row for row in result["rows"] if "error" in row]
    for row in failed:
        say(PROG, f"{row['configuration']}:{row['decoder']}: {row['error']}")
    if failed:
        raise JobsFailed(f"{len(failed)} of {len(result['rows'])} rows could not be made")


def _candidates(args, read_candidate):
    wanted = None if args.decoders is None else tuple(
        word.strip() for word in args.decoders.split(","))
    candidates = [read_candidate(word, wanted, rows=args.rows, strict=args.strict,
                                 seed=args.seed, draws=args.draws, metric=args.metric,
                                 linkage=args.linkage) for word in args.control or COMPARED]
    names = [candidate.name for candidate in candidates]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name} is given twice: put its decoders together, as in "
                             f"{name}:inverse,vote")
    return candidates


def _print(args, result):
    from ..explore.table import csv_table, markdown_table, plain_table

    if args.json:
        text = json_text(result)
    elif args.csv:
        text = csv_table(result)
    elif args.markdown:
        text = markdown_table(result)
    else:
        bold = sys.stdout.isatty()
        options = f", options {args.options}" if args.options else ""
        text = f"{result['points']} points, {result['classes']} classes; {result['plan']}" \
               f"{options}\n{plain_table(result, bold)}" + _legend(result, args, bold)
    sys.stdout.write(text)
    sys.stdout.flush()


def _legend(result, args, bold):
    against = result["against"]
    if against is None:
        return ""
    test = "McNemar's exact test (of accuracy)" if result["mcnemar"] else \
        "corrected resampled t test"
    return f"{'bold' if bold else '*'} best of its column; diff., p: paired difference in " \
           f"{args.by} to {against['configuration']} {against['decoder']}, {test}; " \
           "times in seconds of one core\n"


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)

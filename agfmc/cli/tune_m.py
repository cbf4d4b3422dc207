"""tune_m: search training options by cross-validation, and write them into the control file."""

from __future__ import annotations

import os
import sys
import time

from ..errors import DataError, JobsFailed, UsageError, one_line
from ..score.scores import BY_OPTION, SCORES
from .exploring import for_data, ledger_of, load_data, plan_of, settings_of
from .jsontext import json_text
from .library import library_words
from .messages import Progress, report, show, tell
from .options import data_files, refuse_inputs
from .run import run_command
from .tune_m_options import PROG, get_parser

__all__ = ["get_parser", "main"]


def execute(args):
    """Read, search, write."""
    from ..explore.candidates import read_candidate
    from ..explore.ledger import key_of
    from ..explore.tune import Noted
    from ..explore.tuned import prepare_tuning, tuned

    deadline = None if args.time_limit is None else time.monotonic() + args.time_limit
    if args.plot is not None:
        if args.per_partition:
            raise UsageError("--plot shows one search: it does not go with --per-partition")
        from ..picture.canvas import check_picture
        check_picture(args.plot)
    if args.train == "-" == args.control:
        raise UsageError("control and train cannot both be standard input")
    _check_outputs(args)
    by = BY_OPTION[args.by or ("brier" if args.per_partition else "accuracy")]
    plan = plan_of(args, 1, 5)
    candidate = read_candidate(args.control, None if args.decoder is None else (args.decoder,),
                               seed=args.seed)
    if candidate.wanted is not None and len(candidate.wanted) > 1:
        raise UsageError("tune_m takes one decoder: compare_control takes several")
    data, normalisation = load_data(args)
    candidate = for_data(candidate, data, args)
    asked, args.platt = args.platt, args.platt or "loo"
    start = prepare_tuning(data, candidate, settings_of(args, normalisation), args.options,
                           must_loo=asked == "loo")
    with library_words(), ledger_of(
            args, PROG, key_of("data", data.x, data.y), plan, repr(candidate), args.options,
            args.normalise, args.svd, asked, args.per_partition,
            "" if normalisation is None else normalisation.digest()) as ledger:
        noted = Noted(ledger)
        with Progress(args, "tuning") as progress:
            result, tree = tuned(
                start, plan, noted, by=by, per_partition=args.per_partition,
                kernels=args.kernels, degrees=range(args.degrees[0], args.degrees[1] + 1),
                coefficients=args.coef0, log2c=args.log2c, log2g=args.log2g, refine=args.refine,
                deadline=deadline, progress=progress)
        if noted.found:
            report(args, PROG, f"{noted.found} results of an earlier run were taken over")
        result = {"control": candidate.name, "data": args.train, **result}
        _write(args, result, tree)
        if not result["complete"]:
            # raised in here, so that what is finished is kept
            raise JobsFailed(_unfinished(ledger, result, tree))


def _check_outputs(args):
    """Refuse before the search what could not be written after it."""
    from ..formats.files import check_output

    outputs = [path for path in (args.json, args.csv, args.plot) if path is not None]
    refuse_inputs(outputs, [args.control, args.norm_file, args.state, args.train,
                            *data_files(args.train)])
    for path in outputs:
        if path == "-":
            raise UsageError("--json and --csv are files: standard output has the control file")
        if not os.path.isdir(os.path.dirname(path) or os.curdir):
            raise DataError("cannot write: there is no such folder", file=path)
        check_output(path)


def _write(args, result, tree):
    from ..control.write import tree_lines
    from ..explore.tune_report import csv_points
    from ..formats.files import replacing_all

    if not args.quiet:
        _table(result)
    texts = [(args.json, json_text(result)),
             (args.csv, csv_points(result.get("partitions", [result])))]
    texts = [(path, text) for path, text in texts if path is not None]
    with replacing_all([path for path, _ in texts], before=lambda: _draw(args, result)) as files:
        for file, (_, text) in zip(files, texts):
            file.write(text)
    if tree is not None:
        show(tree_lines(tree))
        sys.stdout.flush()


def _draw(args, result):
    if args.plot is not None and result["best"] is not None:
        from ..picture.search import draw_search
        draw_search(args.plot, {**result, "points": [_shown(point) for point in
                                                     result["points"]]})


def _shown(point):
    """A point for the picture, in which each polynomial has a panel of its own."""
    if point["kernel"] != "polynomial":
        return point
    homogeneous = point["coef0"] == 0 or point["degree"] == 1
    return {**point, "kernel": f"polynomial -d {point['degree']} -r {point['coef0']:g}",
            "log2g": None if homogeneous else point["log2g"]}


def _table(result):
    from ..explore.tune_report import partition_table, search_table, whole_lines

    by, count = result["by"], result["tried"]
    text = f"{one_line(result['control'])}, {result['decoder']}: " \
           f"{count} point{'' if count == 1 else 's'} tried, {result['plan']}\n"
    if "partitions" in result:
        text += partition_table(result["partitions"], by)
        if result["whole"] is not None:
            text += "\n" + whole_lines(result["whole"])
    else:
        text += search_table(result, by, SCORES[by].sign)
    tell(text)


def _unfinished(ledger, result, tree):
    again = "; the same command goes on from there" if ledger.keeps_anything() else ""
    if tree is None:
        return f"the time was over before anything but the options given was tried{again}" \
            if result["tried"] else f"the time was over before anything was finished{again}"
    return f"the time was over after {result['tried']} points, the best of which is written{again}"


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)

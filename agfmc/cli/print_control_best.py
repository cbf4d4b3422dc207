"""print_control --best: the control file that cross-validation prefers, and why."""

from __future__ import annotations

from contextlib import contextmanager

from ..codes.schemes import COMPARED
from ..errors import DataError, UsageError
from ..score.scores import BY_OPTION
from .exploring import for_data, ledger_of, load_data, plan_of, settings_of
from .library import library_words
from .messages import Progress, report, say, tell
from .print_control_options import PROG

__all__ = ["best"]


@contextmanager
def best(args):
    """The control tree, for `with`: what is finished is kept until that block ends well.

    The table goes to standard error.
    """
    from ..explore.best import find_best
    from ..explore.candidates import read_candidate
    from ..explore.ledger import key_of
    from ..explore.table import plain_table

    if args.source.isascii() and args.source.isdigit():
        raise UsageError("--best tries configurations on training data, and cannot know them by "
                         f"their number of classes: found {args.source}")
    words = (*COMPARED, "adjacent-ordered") if args.type is None else \
        [word.strip() for word in args.type.split(",")]
    design = {"rows": args.nrow, "strict": args.strict, "reduced": args.reduced,
              "seed": args.seed, "draws": args.draws or 1, "metric": args.metric,
              "linkage": args.linkage}
    candidates = [read_candidate(word, **design) for word in words]
    names = [candidate.name for candidate in candidates]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name} is given twice")
    args.train = args.source
    plan = plan_of(args, 10, 5, 2)
    data, normalisation = load_data(args)
    candidates = [for_data(candidate, data, args) for candidate in candidates]
    if len(set(data.y.tolist())) < 2:
        raise DataError("holds one class: there is nothing to tell apart", file=args.source)
    settings = settings_of(args, normalisation)
    with library_words(), ledger_of(
            args, PROG, key_of("data", data.x, data.y), plan, words, design, args.options,
            args.normalise, args.svd, args.platt,
            "" if normalisation is None else normalisation.digest()) as ledger:
        with Progress(args, "comparing") as progress:
            tree, row, top, result = find_best(data, candidates, plan, settings, ledger,
                                               by=BY_OPTION[args.by], progress=progress)
        if ledger.found:
            report(args, PROG, f"{ledger.found} results of an earlier run were taken over")
        for failed in result["rows"]:
            if "error" in failed:
                say(PROG, f"warning: {failed['configuration']}: {failed['error']}")
        if not args.quiet:
            tell(f"{result['points']} points, {result['classes']} classes; {result['plan']}\n"
                 f"{plain_table(result)}")
        way = "classify_m" if row["decoder"] == "recursive" else f"classify_m -Q {row['decoder']}"
        if row is not top:
            report(args, PROG, f"{top['configuration']} {top['decoder']} is better by {args.by}, "
                               "but by less than the standard error of the difference")
        report(args, PROG, f"best by {args.by}: {row['configuration']}, to be used with {way}")
        yield tree

"""tune_m: search training options by cross-validation, and write them into the control file."""

import argparse
from contextlib import contextmanager
from dataclasses import replace

from ..control.learners import LEARNERS, PARAMETERS
from ..core.errors import JobsFailed, UsageError
from ..core.kernels import KERNEL_NAMES, SEARCHED_KERNELS, TUNED_KERNELS
from ..core.version import RESULTS
from ..files.kinds import name_of_file
from ..score.rows import BY_COST
from .data_options import add_control
from .experiments import (
    add_answers,
    add_experiment,
    add_sample,
    CONTINUES,
    experiment_request,
    opened_experiment,
    plan_of,
    read_one_candidate,
    report_reused,
)
from .messages import json_text, Progress, report, write_stdout, write_stderr
from .option_types import finite_number, list_of, whole_number
from .options import add_time_limit, deadline_of, Parser
from .pages import make_page, page_of, plain, training_inputs
from .reports import add_report, PAGE, PICTURES, reports_of

_LARGEST = 60  # exponent of 2
_STEP = 2.0  # of exponents, where none is given


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "tune_m",
        "Search the parameters of a learner (kernel, gamma, C; the number "
        "of neighbours of nodes) by cross-validation, and write the training control "
        'file to standard output with the best options in place of each "".',
    )
    add_control(parser)
    group = parser.group("search")
    group.add(
        "--search WAY",
        "fast, the grid on small samples and its best points on more data "
        "(default), or full, everything on all splits",
        choices=("fast", "full"),
        default="fast",
    )
    group.add(
        "--again",
        "also tune the rows of control that have options: those of the learner "
        "of -+, of the options in the head of control, or else of its first row. The "
        "search starts from -+, the head, or the most frequent options of these rows",
    )
    group.add(
        "--kernels KERNEL,...",
        f"kernels to try: {', '.join(TUNED_KERNELS)} (default: "
        f"that of the given options, -t, or {' and '.join(SEARCHED_KERNELS)} if they name "
        "none)",
        _kernels,
    )
    for column, parameter in sorted(PARAMETERS.items()):
        group.add(
            f"--{column} LO:HI[:STEP]",
            f"first grid of {parameter.name}, exponents of 2, from LO to HI in steps of STEP "
            f"({_STEP:g} if left out), or a single one (default {_grids(column)})",
            _axis,
        )
    group.add(
        "--degrees LO:HI",
        "degrees of polynomials, or a single one (default 1:6)",
        _degrees,
        default=(1, 6),
    )
    group.add(
        "--coef0 VALUE,...",
        "options -r of polynomials (default 0,1: homogeneous and inhomogeneous)",
        list_of(finite_number),
        default=(0.0, 1.0),
    )
    group.add(
        "--refine N",
        "largest number of times that the step is halved around the best "
        "point (default 1; with --search full 2)",
        whole_number(0, 10),
    )
    add_time_limit(group, "write the best so far")
    group = parser.group("score")
    group.add(
        "-Q, --decoder DECODER",
        "a decoder of classify_m, or for trees recursive or full "
        "(default: the one that suits the control; for trees full)",
    )
    add_answers(group)
    add_sample(group)
    group = parser.group("output")
    add_report(
        group,
        "of the data, the control and all trials; a picture is of the score over C and gamma",
        PAGE,
        *PICTURES,
        ".json",
        ".csv",
        printable=False,
    )
    add_experiment(
        parser,
        "1; -d 5 if neither -d nor -f is given",
        by=True,
        loo="learner=nystrom: also score the result by leave-one-out values, without holdout data",
    )
    return parser.finish()


def execute(args):
    """Read, search, write."""
    reports = reports_of(args, printable=False)
    page = page_of(args, training_inputs(args, args.control))
    candidate = _again(args, read_one_candidate(args))
    request = experiment_request(args, args.train, plan_of(args, 1, 5))
    how = {"by": BY_COST[args.by], "search": args.search}
    with _searched(request, candidate, deadline_of(args), {"space": _space(args), **how}) as (
        result,
        tree,
        task,
    ):
        if args.report and not result["tried"]:
            report("nothing was tried, so no report is written")
        elif args.report:
            _write_reports(reports, page, request, task, result, tree)
        _print(result, tree)
        if not result["complete"]:
            # raised in here, so that what is finished is stored
            raise JobsFailed(_unfinished(task.experiment.cache, result, tree))


def _space(args):
    """The `SearchSpace` of the options."""
    from ..experiments.search import Axis, SearchSpace

    axes = {
        column: Axis(*getattr(args, column))
        for column in PARAMETERS
        if getattr(args, column) is not None
    }
    return SearchSpace(
        args.kernels,
        range(args.degrees[0], args.degrees[1] + 1),
        tuple(dict.fromkeys(args.coef0)),
        axes.get("log2c"),
        axes.get("log2g"),
        args.refine,
        axes,
    )


@contextmanager
def _searched(request, candidate, deadline, how):
    """(result, control tree, `TuningTask`) of an `ExperimentRequest` and a `Candidate`, for `with`:
    what is finished is stored until that block ends well.

    `deadline` on `time.monotonic`, or None; `how` as for `tune`.
    """
    from ..experiments.tuning import prepare_tuning, tune

    with opened_experiment(request) as experiment:
        candidate = request.suited(candidate, experiment)
        task = prepare_tuning(experiment, candidate)
        with Progress("tuning", deadline=deadline) as progress:
            result, tree = tune(task, deadline=deadline, progress=progress, **how)
        report_reused(experiment)
        result = {
            "control": candidate.name,
            "data": request.source,
            **request.head(experiment),
            **result,
        }
        yield result, tree, task


def _again(args, candidate):
    """The `Candidate`; on request its rows that have options are tuned, too."""
    from ..experiments.candidates import opened_again

    if not args.again:
        return candidate
    if candidate.tree is None:
        raise UsageError(
            f"--again is for a control file: {candidate.name} is a scheme, whose rows "
            "have no options"
        )
    return replace(candidate, tree=opened_again(candidate.tree, args.options, args.seed))


def _write_reports(reports, page, request, task, result, tree):
    from ..report.chart_scores import draw_search
    from ..report.content import ModelPart
    from ..report.text import search_csv

    def page_text():
        return make_page(
            page,
            request,
            task.experiment,
            f"search for options: {name_of_file(result['control'])}, {name_of_file(request.source)}",
            "searches",
            search=plain(result),
            model=ModelPart(task.tree if tree is None else tree),
        )

    reports.write(
        {
            PAGE: page_text,
            ".json": lambda: json_text({"version": RESULTS, **result}),
            ".csv": lambda: search_csv(result),
        },
        lambda path: draw_search(path, result),
    )


def _print(result, tree):
    from ..control.write import tree_lines
    from ..report.text import blocks_text, data_lines
    from ..report.trials import search_blocks

    if result["tried"]:
        write_stderr(blocks_text(search_blocks(result)))
    if tree is not None:
        if "features" in result:
            write_stdout([f"# {data_lines(result)}"])
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


def _grids(column):
    learners = {}
    for name, row in LEARNERS.items():
        for one in row.searched:
            if one.column == column:
                grid = (
                    f"{one.low:g}:{one.high:g}:{one.step:g}"
                    + ", shifted to suit the scale of the data," * bool(one.scaled)
                )
                learners.setdefault(grid, []).append(name)
    return "; ".join(f"{grid} for {' and '.join(names)}" for grid, names in learners.items())


def _range_words(text, form, convert, most):
    words = text.split(":")
    try:
        numbers = [convert(word) for word in words]
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"expected {form}: {error}") from None
    if len(words) > most:
        raise argparse.ArgumentTypeError(f"expected {form}, found '{text}'")
    if numbers[:2][-1] < numbers[0]:
        raise argparse.ArgumentTypeError(f"expected LO not above HI, found '{text}'")
    return numbers


def _axis(text):
    """(low, high, step) of exponents; a number alone is low and high."""
    form = "LO:HI[:STEP], exponents of 2 such as -3:5:2, or a single one"
    low, *more = _range_words(text, form, finite_number, 3)
    high, step = (*more, *[low, _STEP][len(more) :])
    if not -_LARGEST <= low <= high <= _LARGEST:
        raise argparse.ArgumentTypeError(
            f"expected exponents of 2 within -{_LARGEST} and {_LARGEST}, found '{text}'"
        )
    if not step > 0 or (high - low) / step > 100 or low < high < low + step:
        raise argparse.ArgumentTypeError(
            f"expected LO:HI:STEP with a step ({_STEP:g} if left out) "
            f"that leaves 2 to 101 values, found '{text}'"
        )
    return low, high, step


def _degrees(text):
    numbers = _range_words(text, "LO:HI or a single degree", whole_number(1, 100), 2)
    return numbers[0], numbers[-1]


def _kernels(text):
    words = [word.strip() for word in text.split(",")]
    words = tuple(KERNEL_NAMES.get(word.lower(), word) for word in words)
    for word in words:
        if word not in TUNED_KERNELS or words.count(word) > 1:
            raise argparse.ArgumentTypeError(
                f"expected {', '.join(TUNED_KERNELS)}, each once at most, found '{text}'"
            )
    return words

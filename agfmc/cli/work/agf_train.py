"""The work of agf_train."""

import time
from contextlib import contextmanager, ExitStack

from ...api.functions import train_best
from ...core.text import time_words
from ...data.training import with_source_in_errors
from ...files.atomic import replacing_with
from ...files.opening import is_stream
from ...models.description import describe_recipe
from ...models.files import save
from ...report.model import recipe_blocks
from ...report.text import blocks_text
from ...report.trials import best_blocks, choice_words, estimate_words, gain_words
from ...tables.recipe_file import format_recipe
from ..hints import classify_command, operand
from ..messages import counted, in_options, Progress, report, write_stderr, write_stdout
from ..reports import PAGE
from .experiments import head_of, opened_experiment
from .training_page import TrainingPage
from .training_script import training_script

_RESERVED = 0.2  # of the time limit, for the page


def run(request, start):
    """Search, train, write the model; then make page and script, and say what was done.

    `start` is the time on `time.monotonic` from which the limit counts.
    """
    with opened_experiment(request) as experiment:
        if request.reports.has(PAGE):
            with with_source_in_errors(request.source):
                experiment.check_splits()
        model, result = _train(request, experiment, start)
        _print_result(request, experiment, result)
        try:
            if request.reports.has(PAGE):
                page = TrainingPage(request, experiment, model, result, start)
                request.reports.write({PAGE: page.text})
        finally:  # the model is there, and its script tells how it was made
            _write_script(request, model, result)
        _report_end(request, experiment, start)


def _write_script(request, model, result):
    if request.script is None:
        return
    text = training_script(request, model, result)
    if is_stream(request.script):
        write_stdout([text])
    else:
        with replacing_with({request.script: text}):
            pass


@contextmanager
def _progress(deadline=None):
    """A function as `train_best` calls it, with a line of `Progress` for each kind of work."""
    with ExitStack() as stack:
        lines = {}

        def follow(what, *state):
            if what not in lines:
                stack.close()
                lines[what] = stack.enter_context(Progress(what, deadline))
            lines[what](*state)

        yield follow


def _train(request, experiment, start):
    """Search and train, and write the model, with the recipe of the options; -> the results of
    `train_best`."""
    limit = request.time_limit
    if request.reports.has(PAGE):
        limit *= 1 - _RESERVED
    with (
        _progress(start + request.time_limit) as progress,
        with_source_in_errors(request.source),
    ):
        model, result = train_best(
            experiment.data,
            by=request.by,
            learners=request.learners,
            kernels=request.kernels,
            ensemble=request.ensemble,
            answer_time=request.answer_time,
            time_limit=limit - (time.monotonic() - start),
            costs=experiment.costs,
            cache=experiment.cache,
            progress=progress,
            seed=experiment.settings.seed,
            workers=experiment.settings.workers,
        )
    result["notes"] = [in_options(note) for note in result["notes"]]
    recipes = {}
    if request.recipe_out is not None:
        recipes[request.recipe_out] = format_recipe(experiment.data.recipe, request.recipe_out)
    with replacing_with(recipes):
        save(request.model, model)
    return model, result


def _print_result(request, experiment, result):
    """Lines on what was tried, what was chosen, and how good it is; with -v a table."""
    if request.verbose:
        head = head_of(request, experiment)
        if experiment.data.recipe is not None:
            write_stderr(blocks_text(recipe_blocks(describe_recipe(experiment.data.recipe))))
        write_stderr(blocks_text(best_blocks({**result, **head})))
    columns = ""
    if experiment.data.recipe is not None:
        kinds = [f"{kind} {count}" for kind, count in experiment.data.recipe.kinds.items()]
        columns = f", columns: {', '.join(kinds)}"
    families = {entry["configuration"] for entry in result["entries"]}
    report(
        f"{counted(result['rows'], 'row')}, {result['classes']} classes{columns}: tried "
        f"{counted(len(result['entries']), 'configuration')} of "
        f"{len(families)} {'families' if len(families) > 1 else 'family'}"
        + "".join(f"; {name}: {why}" for name, why in result["left_out"].items())
    )
    report(f"chosen: {choice_words(result['choice'])}")
    report(f"estimate for new data: {estimate_words(result['estimate'], result['by'])}")
    report(gain_words(result))


def _report_end(request, experiment, start):
    """Lines on what was written, and what to do next."""
    line = classify_command(request.model, request.form.kind, request.source)
    if request.costs is not None:
        costs = operand(request.costs)
        line = line.replace("classify_m", f"classify_m --costs {costs}", 1)
    kept = ""
    if experiment.cache.path is not None:
        kept = f"; results for another run are in {experiment.cache.path}"
        if experiment.cache.reused:
            kept += f", which had {counted(experiment.cache.reused, 'result')} of these before"
    report(f"wrote {request.model} after {time_words(time.monotonic() - start)}{kept}")
    report(f"classify new data with: {line}")

"""The page of a model, of the commands that write one beside their results."""

import shlex
from typing import NamedTuple

from .data_options import weight_files
from .messages import json_text
from .options import data_files
import json

_OMITTED = ("quiet", "debug", "log", "report")  # not how a result was made


class Page(NamedTuple):
    """The making of the results of a run, for the page that shows them.

    Attributes
    ----------
    command : words of the command line
    facts : (name, value) of its options
    inputs : files that it reads, whose digests are on the page
    """

    command: tuple
    facts: tuple
    inputs: tuple

    def step(self, why=""):
        """The `Step` of this command."""
        from ..report.content import Step

        return Step(shlex.join(self.command), why)

    def provenance(self, more=(), info=None):
        """(name, value) pairs: versions, options, more such pairs, digests of inputs, and the
        training of a model, of which `describe` tells in info."""
        from .gather import file_digests, settings_of, versions

        pairs = [*versions(), ("command", self.command[0]), *self.facts, *more]
        if info is not None:
            pairs += [(f"model: {name}", value) for name, value in settings_of(info)]
        return (*pairs, *file_digests(self.inputs))


def page_of(args, inputs=()):
    """The `Page` of the options of a command, which reads the files `inputs`."""
    return Page(
        (args.parser.prog, *args.given_words),
        tuple(_options(args)),
        tuple(file for file in inputs if file is not None),
    )


def _options(args):
    for action in args.parser._actions:
        value = getattr(args, action.dest, None)
        if action.dest in _OMITTED or value is None or value is False or value in ("", (), []):
            continue  # but 0 is a value
        if action.dest == "intervals" and not value:
            continue  # a page has some in any case
        name = max(action.option_strings, key=len, default=action.metavar or action.dest)
        if isinstance(value, (list, tuple)):
            value = ",".join(map(str, value))
        yield name, "yes" if value is True else str(value)


def _training_part(request, experiment, rows):
    """The `DataPart` of the training data."""
    from .gather import data_part, TrainingRows

    rows = rows or TrainingRows(request.source, request.form, experiment.data)
    if rows.missing is None and experiment.data.recipe is not None:
        rows.ids()  # counts the missing cells
    settings = experiment.settings
    head = request.head(experiment)
    if "costs" in head:
        costs = {"costs": head.pop("costs")}
    else:
        costs = {}
    if settings.fits_normalisation or settings.normalisation:
        normalised = "yes"
    else:
        normalised = "no"
    return data_part(
        request.source,
        experiment.data,
        [*costs.items(), ("normalised", normalised), *head.items()],
        rows.missing,
    )


def make_page(request, experiment, title, why, *, rows=None, steps=(), **parts):
    """The text of the page of an `Experiment` and its `ExperimentRequest`.

    `why` says what the command does; `rows` are the `TrainingRows` of the data, where the file was
    read again already, `steps` further ones than the command, and `parts` those of `ReportContent`.
    """
    from ..report.content import ReportContent
    from ..report.page import render

    names = experiment.data.name_of
    return render(
        ReportContent(
            title,
            {label: names[label] for label in experiment.data.counts if label in names},
            _training_part(request, experiment, rows),
            steps=[request.page.step(why), *steps],
            **{"provenance": request.page.provenance(), **parts},
        )
    )


def plain(result):
    """A result as its JSON has it."""
    return json.loads(json_text(result))


def training_inputs(args, points):
    """The files that a command on training data, a `PointsRequest`, reads."""
    from ..tables.recipe_file import recipe_path

    is_text = points.form.kind != "binary"
    return [
        *data_files(points.source, points.form.kind),
        *weight_files(args),
        recipe_path(args.recipe, points.source) if is_text else None,
        getattr(args, "costs", None),
        points.norm_file,
    ]

"""The page of a model, of the commands that write one beside their results."""

import shlex
from typing import NamedTuple

from ..core.errors import UsageError
from ..files.atomic import replacing_with
from ..files.kinds import is_table
from .data_options import norm_file_of, weight_files
from .messages import json_text, write_stdout
from .option_types import output_file
from .options import data_files

_OMITTED = ("quiet", "debug", "log", "report", "output")  # not how a result was made


def add_report(parser, what):
    """--report; what: stands on the page."""
    group = parser.group("report")
    group.add(
        "--report FILE", f"also write a report, one HTML file: {what} (needs jinja2)", output_file
    )
    return parser


class Page(NamedTuple):
    """The page of one run, checked before its work.

    Attributes
    ----------
    path : file, or None
    facts : (name, value) of its options
    inputs : files that it reads, whose digests are on the page
    """

    path: str | None
    command: tuple
    facts: tuple
    inputs: tuple

    @property
    def requested(self):
        """True if a page is to be written."""
        return self.path is not None

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

    def write(self, content):
        """Write the page of a `ReportContent`."""
        from ..report.page import render

        text = render(content)
        if self.path == "-":
            write_stdout([text])
        else:
            with replacing_with({self.path: text}):
                pass


def page_of(args, inputs=(), path=None):
    """The `Page` of the options, `path` in place of --report. Raises `UsageError` and `DataError`
    for what could not be written after the work."""
    option, path = ("--report", args.report) if path is None else ("-o", path)
    if path == "-" and option == "--report":
        raise UsageError("--report is a file: standard output has the results")
    if path is not None:
        from ..report.page import check_page

        check_page(path, option)
    return Page(
        path,
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


def names_in(data):
    """{label: name} of the classes in a `Dataset`, as far as they have names."""
    return {label: data.name_of[label] for label in data.counts if label in data.name_of}


def training_part(request, experiment, rows=None):
    """The `DataPart` of the training data of an `ExperimentRequest` and its `Experiment`. rows:
    `TrainingRows` of them, where the file was read again already."""
    from .gather import data_part, TrainingRows

    rows = rows or TrainingRows(request.source, request.form, experiment.data)
    if rows.missing is None and experiment.data.recipe is not None:
        rows.ids()  # counts the missing cells
    settings, head = experiment.settings, request.head(experiment)
    costs = {"costs": head.pop("costs")} if "costs" in head else {}
    normalised = "yes" if settings.fits_normalisation or settings.normalisation else "no"
    return data_part(
        request.source,
        experiment.data,
        [*costs.items(), ("normalised", normalised), *head.items()],
        rows.missing,
    )


def write_page(page, request, experiment, title, why, *, rows=None, more=(), **parts):
    """Write the page of an `Experiment` and its `ExperimentRequest`.

    `why` says what the command does; `rows` are as for `training_part`, `more` as for
    `Page.provenance`, and `parts` those of `ReportContent`.
    """
    from ..report.content import ReportContent

    page.write(
        ReportContent(
            title,
            names_in(experiment.data),
            training_part(request, experiment, rows),
            provenance=page.provenance(more),
            steps=[page.step(f"{why}, and writes this page")],
            **parts,
        )
    )


def plain(result):
    """A result as its JSON has it."""
    import json

    return json.loads(json_text(result))


def training_inputs(args, *others):
    """The files that a command on training data reads; others: further ones."""
    is_text = args.svm or args.lvq or args.table or is_table(args.train)
    return [
        *data_files(args.train, "text" if is_text else "binary"),
        *weight_files(args),
        getattr(args, "costs", None),
        norm_file_of(args),
        *others,
    ]

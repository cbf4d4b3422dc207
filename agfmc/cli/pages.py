"""The page of a model, and the file for MultiQC, of the commands that write them beside results."""

import shlex
import sys
from typing import NamedTuple

from ..core.errors import UsageError
from ..files.atomic import check_output, replacing_with
from ..files.kinds import is_table
from .data_options import weight_files
from .messages import json_text
from .option_types import output_file, refuse_given
from .options import data_files

_CARD = (
    "a model card in Markdown, which is shown on the page: what the model is for, for whom, "
    "on what data it was trained and tested, and its limits"
)
_OMITTED = ("quiet", "debug", "log", "report", "multiqc", "output")  # not how a result was made


def add_report(parser, what):
    """--report and its companions; what: stands on the page."""
    group = parser.group("report")
    group.add(
        "--report FILE", f"also write a report, one HTML file: {what} (needs jinja2)", output_file
    )
    add_page_words(group)
    return parser


def add_page_words(group):
    """--multiqc, --card and --title."""
    group.add(
        "--multiqc FILE",
        "also write the scores as a section of a MultiQC report; the name must end in _mqc.json",
        output_file,
    )
    group.add("--card FILE", _CARD)
    group.add("--title TEXT", "title of the report, and name of the sample in MultiQC")


class Page(NamedTuple):
    """The page and the file for MultiQC of one run, checked before its work.

    Attributes
    ----------
    path, multiqc : files, or None
    card : Markdown, or ""
    facts : (name, value) of its options
    inputs : files that it reads, whose digests are on the page
    """

    path: str | None
    multiqc: str | None
    card: str
    given_title: str | None
    command: tuple
    facts: tuple
    inputs: tuple

    @property
    def requested(self):
        """True if a page or a file for MultiQC is to be written."""
        return self.path is not None or self.multiqc is not None

    def title(self, otherwise):
        """The title given, or another one."""
        return self.given_title or otherwise

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
        """Write the page of a `ReportContent`, and its section for MultiQC; both or none."""
        from ..report.multiqc import section_of
        from ..report.page import render

        texts = {}
        if self.path is not None:
            texts[self.path] = render(content)
        if self.multiqc is not None:
            texts[self.multiqc] = section_of(content, self.given_title or "")
        shown = texts.pop("-", None)
        with replacing_with(texts):
            if shown is not None:
                sys.stdout.write(shown)
                sys.stdout.flush()


def page_of(args, inputs=(), path=None):
    """The `Page` of the options, `path` in place of --report. Raises `UsageError` and `DataError`
    for what could not be written after the work."""
    option, path = ("--report", args.report) if path is None else ("-o", path)
    if path is None:
        refuse_given(
            args,
            ["--card"] + ["--title"] * (args.multiqc is None),
            "is for the page: --report FILE writes it",
        )
    if path == "-" and option == "--report":
        raise UsageError("--report is a file: standard output has the results")
    if args.multiqc is not None:
        from ..report.multiqc import check_multiqc

        check_multiqc(args.multiqc)
        check_output(args.multiqc)
    card = ""
    if path is not None:
        from ..report.page import check_page
        from .gather import read_card

        check_page(path, option)
        card = "" if args.card is None else read_card(args.card)
    return Page(
        path,
        args.multiqc,
        card,
        args.title,
        (args.parser.prog, *args.given_words),
        tuple(_options(args)),
        tuple(file for file in (*inputs, args.card) if file is not None),
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
            page.title(title),
            names_in(experiment.data),
            training_part(request, experiment, rows),
            card=page.card,
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
        args.norm_file,
        *others,
    ]

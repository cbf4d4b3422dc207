"""The page of a model, and the file for MultiQC, of the commands that write them beside results."""

import shlex
import sys

from ..core.errors import UsageError
from .data_options import weight_files
from .messages import json_text
from .option_types import output_file
from .options import data_files, input_format

REPORT = "[--report FILE] [--multiqc FILE] [--card FILE] [--title TEXT]"  # of a usage
_CARD = "a model card in Markdown, which is shown on the page: what the model is for, for whom, " \
        "on what data it was trained and tested, and its limits"
_NOT_TOLD = ("quiet", "debug", "log", "report", "multiqc", "output")  # not how a result was made


def add_report(parser, what):
    """--report and its companions; what: stands on the page."""
    group = parser.group("report")
    group.add("--report FILE", f"a page too, one file of HTML to look at and to pass on: {what} "
              "(needs jinja2)", output_file)
    add_page_words(group)
    return parser


def add_page_words(group):
    """--multiqc, --card and --title."""
    group.add("--multiqc FILE", "the scores too, as a section of a MultiQC report, which finds the "
              "file by its name: it ends in _mqc.json", output_file)
    group.add("--card FILE", _CARD)
    group.add("--title TEXT", "the title of the page, and the name of the sample in MultiQC")


class Page:
    """The page and the file for MultiQC of one run, checked before its work.

    prog: the command;  card: Markdown, or "".
    """

    def __init__(self, args, inputs=(), path=None):
        """inputs: files that the command reads, which are told with their digests;  path: of the
        page, in place of --report.

        Raises `UsageError` and `DataError` for what could not be written after the work.
        """
        self.prog, self.card = args.parser.prog, ""
        self._args = args
        self._inputs = [path for path in inputs if path is not None]
        self._option = "--report" if path is None else "-o"
        self._path = args.report if path is None else path
        if not self.wanted:
            for option in ("card", "title"):
                if getattr(args, option) is not None:
                    raise UsageError(f"--{option} is for the page: --report FILE writes it")
            return
        self._check()

    @property
    def wanted(self):
        """True where one of the outputs is."""
        return self._path is not None or self._args.multiqc is not None

    def _check(self):
        from ..files.atomic import check_output
        from .gather import read_card
        from ..report.page import check_page

        args = self._args
        if self._path == "-" and self._option == "--report":
            raise UsageError("--report is a file: standard output has the results")
        if args.multiqc is not None:
            from ..report.multiqc import check_multiqc
            check_multiqc(args.multiqc)
            check_output(args.multiqc)
        if self._path is None:
            if args.card is not None:
                raise UsageError("--card is for the page: --report FILE writes it")
            return
        check_page(self._path, self._option)
        if args.card is not None:
            self.card = read_card(args.card)

    def title(self, otherwise):
        """The title given, or another one."""
        return self._args.title or otherwise

    def step(self, why=""):
        """The `Step` of this command."""
        from ..report.content import Step

        return Step(shlex.join([self.prog, *self._args.given_words]), why)

    def provenance(self, more=(), info=None):
        """(name, value) pairs: versions, options, more such pairs, digests of inputs, and the
        training of a model, of which `describe` tells in info."""
        from .gather import file_digests, settings_of, versions

        found = [*versions(), ("command", self.prog), *_options(self._args),
                 *more]
        if info is not None:
            found += [(f"model: {name}", value) for name, value in settings_of(info)]
        return (*found, *file_digests([*self._inputs, self._args.card]))

    def write(self, content):
        """Write the page of a `ReportContent`, and its section for MultiQC; both or none."""
        from ..files.atomic import replacing_all
        from ..report.multiqc import section_of
        from ..report.page import render

        texts = {}
        if self._path is not None:
            texts[self._path] = render(content)
        if self._args.multiqc is not None:
            texts[self._args.multiqc] = section_of(content, self._args.title or "")
        shown = texts.pop("-", None)
        with replacing_all(list(texts)) as files:
            for file, text in zip(files, texts.values()):
                file.write(text)
        if shown is not None:
            sys.stdout.write(shown)
            sys.stdout.flush()


def _options(args):
    """(name, value) of the operands and options that are given, or have a default."""
    for action in args.parser._actions:
        value = getattr(args, action.dest, None)
        if action.dest in _NOT_TOLD or value is None or value is False or value in ("", (), []):
            continue  # but 0 is a value
        if action.dest == "intervals" and not value:
            continue  # a page has some in any case
        name = max(action.option_strings, key=len, default=action.metavar or action.dest)
        if isinstance(value, (list, tuple)):
            value = ",".join(map(str, value))
        yield name, "yes" if value is True else str(value)


def page_name(path):
    """The name of a file without folder and ending, for a title."""
    from ..report.multiqc import name_of_file

    return name_of_file(path)


def names_in(data):
    """{label: name} of the classes in a `Dataset`, as far as they have names."""
    return {label: data.name_of[label] for label in data.counts if label in data.name_of}


def training_part(args, experiment, rows=None):
    """The `DataPart` of the training data of an `Experiment`.

    rows: `TrainingRows` of them, where the file was read again already.
    """
    from ..experiments.results import data_words
    from .gather import data_part, TrainingRows

    if rows is None:
        rows = TrainingRows(args.train, input_format(args, args.train), experiment.data)
    if rows.missing is None and experiment.data.recipe is not None:
        rows.ids()  # counts the missing cells
    costs = {} if getattr(args, "costs", None) is None else {"costs": args.costs}
    settings = experiment.settings
    costs["normalised"] = "yes" if settings.fits_normalisation or settings.normalisation else "no"
    return data_part(args.train, experiment.data,
                     [*costs.items(), *data_words(experiment).items()], rows.missing)


def plain(result):
    """A result as its JSON has it."""
    import json

    return json.loads(json_text(result))


def training_inputs(args, *others):
    """The files that a command on training data reads; others: further ones."""
    return [*data_files(args.train, input_format(args, args.train).kind), *weight_files(args),
            getattr(args, "costs", None), args.norm_file, *others]

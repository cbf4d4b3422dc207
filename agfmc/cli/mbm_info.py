"""mbm_info: describe a model file, a normalisation, or a recipe of tables."""

from dataclasses import dataclass

from ..core.errors import UsageError
from .options import add_model_files, model_source, Parser
from .pages import Page, page_of
from .reports import add_report, PAGE, PICTURES, Reports, reports_of


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "mbm_info",
        "Print the contents of a model file: classes, configuration, "
        "support vectors, kernels, normalisation, recipe of tables, and training "
        "settings; or of a normalisation (.std): its features; or of a recipe (.recipe): "
        "the columns of the table, and their features.",
    )
    parser.add(
        "model",
        "model file, or a control file whose models are read, or a normalisation "
        "(.std), or a recipe of tables (.recipe)",
    )
    group = parser.group("input")
    add_model_files(group)
    group = parser.group("output")
    group.add(
        "--print-control",
        "print only the control file, to be trained again: it has the training "
        "options that the models record in place of their names",
        excludes="--json",
    )
    group.add("--json", "print one JSON object")
    add_report(
        group,
        "of the model; a picture is of the coding matrix, of the tree with the share of the "
        "training points at each node",
        PAGE,
        *PICTURES,
        ".json",
    )
    group.add(
        "--importance DATA",
        "with --report of a page: holdout data with labels, a table with the columns of the "
        "training data, LIBSVM text, or the base name of .vec and .cls files. The page then "
        "shows which columns matter to the model, and their effects",
        needs="--report",
    )
    parser.file_names = {"model": "model"}
    return parser.finish()


@dataclass(frozen=True)
class _Request:
    """A file to be described.

    Attributes
    ----------
    model : the file
    source : `ModelSource` of a model, None for a normalisation or recipe
    importance : holdout data of the page, or None
    page, reports : `Page` and `Reports`
    """

    model: str
    source: object
    print_control: bool
    importance: str | None
    page: Page
    reports: Reports


def execute(args):
    """Make a request of the options, and describe by it."""
    from ..data.libagf import holds_map

    kind = None
    if args.model.endswith(".recipe"):
        kind = "a recipe of tables"
    elif args.model.endswith(".std") or holds_map(args.model):
        kind = "a normalisation"
    if kind is not None:
        args.refuse(
            ("--print-control", "-y", "--calibration", "--uncalibrated", "--importance"),
            f"is for models: {args.model} is {kind}",
        )
    reports = reports_of(args)
    if kind is not None and reports.has(PAGE):
        raise UsageError(f"--report of a page is for models: {args.model} is {kind}")
    if kind is not None and reports.has(*PICTURES):
        raise UsageError(f"--report: there is no picture of {kind}")
    request = args.request(
        _Request,
        source=model_source(args, args.model) if kind is None else None,
        page=page_of(args, [args.model, args.calibration, args.importance]),
        reports=reports,
    )
    from .work.mbm_info import run

    run(request)

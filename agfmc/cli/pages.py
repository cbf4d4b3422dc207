"""The page of a model, of the commands that write one beside their results."""

from typing import NamedTuple

from .data_options import weight_files
from .options import data_files

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

"""The option --report: results as files, whose endings say what each of them is."""

import os
from typing import NamedTuple

from ..core.errors import UsageError
from ..files.atomic import check_output, replacing_with
from .option_types import output_file

PAGE = ".html"
PICTURES = (".svg", ".png", ".pdf")
# {ending: what stands in such a file}
_CONTENTS = {
    PAGE: "a page for a browser",
    **dict.fromkeys(PICTURES, "a picture"),
    ".json": "all numbers as JSON",
    ".csv": "a table",
    ".md": "a table in Markdown",
    ".dot": "text for Graphviz",
}


def add_report(group, what, *endings, printable=True):
    """The option --report, which can be repeated, for files with these endings; `what` is on the
    page, or in the picture where there are no pages."""
    group.add(
        "--report FILE",
        f"write a report, {what}; can be repeated. The ending of FILE says what it is: "
        + ", ".join(_kinds(endings))
        + _printed_words(endings, printable),
        output_file,
        action="append",
        default=[],
    ).endings = endings


def _kinds(endings):
    """The endings with their contents in words, those with the same contents together."""
    groups = {}
    for ending in endings:
        groups.setdefault(_CONTENTS[ending], []).append(ending)
    return [f"{content} ({', '.join(group)})" for content, group in groups.items()]


def _printed_words(endings, printable):
    """Words of the help on reports that go to standard output."""
    texts = [ending for ending in endings if ending in (".csv", ".dot")]
    if not texts or not printable:
        return ""
    return f"; -{texts[0]} is standard output"


def _ending(path):
    return os.path.splitext(path)[1].lower()


class Reports(NamedTuple):
    """The files of --report, checked before any work.

    Attributes
    ----------
    paths : files
    printed : ending of the report on standard output, also that of --json, or None
    """

    paths: tuple
    printed: str | None

    def has(self, *endings):
        """Return True if one of the reports has one of these endings."""
        return self.printed in endings or any(_ending(path) in endings for path in self.paths)

    def write(self, texts, draw=None):
        """Write all files, or none where that fails; -> the text for standard output, or None.

        `texts` has for each ending a function that returns the text of the file, and `draw` is
        called with the path of each picture.
        """
        contents = {path: texts[_ending(path)]() for path in self.paths if _ending(path) in texts}
        pictures = [path for path in self.paths if _ending(path) in PICTURES]

        def draw_pictures():
            for path in pictures:
                draw(path)

        with replacing_with(contents, before=draw_pictures):
            if self.printed is None:
                return None
            return texts[self.printed]()


def reports_of(args, printable=True):
    """The `Reports` of the option.

    With `printable`, one of them may be `-` with an ending, which is standard output. Raises
    `UsageError` for another ending or a missing library, `DataError` where a file cannot be
    written.
    """
    (action,) = [action for action in args.parser._actions if action.dest == "report"]
    paths = []
    printed = None
    for path in args.report:
        ending = _ending(path.replace("-", "stdout", 1))
        if ending not in action.endings:
            raise UsageError(
                f"--report {path}: expected a name that ends in {' or '.join(action.endings)}"
            )
        if ending == PAGE:
            from ..report.page import check_page

            check_page()
        elif ending in PICTURES:
            from ..report.picture_file import check_picture

            check_picture(path)
        if path != f"-{ending}":
            check_output(path)
            paths.append(path)
        elif not printable or printed or ending in PICTURES:
            raise UsageError(f"--report {path}: expected a file, not standard output")
        elif getattr(args, "json", False):
            raise UsageError(f"--json and --report {path} exclude each other: both are printed")
        else:
            printed = ending
    if getattr(args, "json", False):
        printed = ".json"
    return Reports(tuple(paths), printed)

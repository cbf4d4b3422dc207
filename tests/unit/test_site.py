"""The pages of the site name pictures that there are, or that are drawn when it is built."""

import re

from agfmc.cli.renamed import EARLIER
from man.site.__main__ import earlier_options
from man.site.pictures import drawn_pictures


def test_every_picture_of_a_page_is_there_or_drawn(root):
    docs = root / "man" / "site" / "docs"
    drawn = {name for _, name, _ in drawn_pictures(docs)}
    assert len(drawn) > 10
    named = {
        name
        for page in [root / "README.md", *docs.rglob("*.md")]
        for name in re.findall(r"!\[[^]]*\]\(\S*pictures/([^)]+)\)", page.read_text("utf-8"))
    }
    assert drawn <= named
    missing = [name for name in named - drawn if not (docs / "pictures" / name).is_file()]
    assert missing == []


def test_a_page_lists_the_options_of_the_version_before():
    cells = [line.strip("| ").split(" | ") for line in earlier_options().splitlines()]
    rows = {
        (command, line[0].strip("`"))
        for line in cells
        if len(line) == 3
        for command in line[2].split(", ")
    }
    wanted = {(command, name) for command, options in EARLIER.items() for name in options}
    assert wanted <= rows and len(rows - wanted) == 1  # the heading
    assert "| `--top` | `--top-accuracy=VALUE` | eval_uc |" in earlier_options()

"""The pages of the site name pictures that there are, or that are drawn when it is built."""

import re

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

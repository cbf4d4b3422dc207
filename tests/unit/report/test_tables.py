"""Lines of results, as people read them."""

from agfmc.report.blocks import facts, heading, note, table
from agfmc.report.content import Column, DataTable, TableRow
from agfmc.report.csv_tables import search_csv
from agfmc.report.text import blocks_text
from agfmc.report.trials import estimate_words

ESTIMATE = {
    "score": 0.11723,
    "error": 0.0061,
    "points": 240,
    "how": "parts 2 to 5, where the last 3 options met",
}


def point(options, score, rows=None, parts=(1,)):
    return {"options": options, "score": score, "sd": None, "rows": rows, "parts": list(parts)}


def test_blocks_of_a_page_as_text():
    rows = TableRow(("a", 0.5, None, "left out")), TableRow(("\u6c34\n", 12, 0.25, "here too"))
    one = DataTable(
        "Two rows.",
        (
            Column("name"),
            Column("value", "number"),
            Column("share", "share"),
            Column("why", "prose"),
        ),
        rows,
    )
    blocks = [
        facts([("points", "12\u202f345"), ("s", "1")]),
        heading("A head"),
        table(one),
        note("\u201c\u2212\u201d"),
        table(DataTable("Folded", (), (), folded=True)),
    ]
    assert blocks_text(blocks) == (
        "points            12345\ns                 1\n\nA head\nTwo rows.\nname   value  share\n"
        'a     0.5000      -\n\u6c34        12  25.0%\n"-".\n'
    )


def test_the_estimate_says_of_which_points_it_is():
    assert estimate_words(ESTIMATE, "log_loss") == (
        "log loss 0.1172, standard error 0.0061 (240 points, parts 2 to 5, "
        "where the last 3 options met)"
    )


def test_no_error_at_all_has_an_interval():
    right = {**ESTIMATE, "score": 1.0, "error": 0.0}
    assert estimate_words(right, "accuracy") == (
        "accuracy 1.0000, all 240 points right: 95 % interval from 0.9847 "
        "(240 points, parts 2 to 5, where the last 3 options met)"
    )


def test_csv_marks_the_chosen_and_the_given():
    race = {
        "points": [
            point("-c 1", 0.9, 500),
            point("-c 2", 0.8, None, (1, 2, 3)),
            point("-c 4", 0.7),
        ],
        "best": 1,
        "given": 0,
    }
    head, *lines = (line.split(",") for line in search_csv(race).splitlines())
    assert head[-4:] == ["rows", "parts", "chosen", "given"]
    assert [line[-4:] for line in lines] == [
        ["500", "1", "0", "1"],
        ["", "1-3", "1", "0"],
        ["", "1", "0", "0"],
    ]

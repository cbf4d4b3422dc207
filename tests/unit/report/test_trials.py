"""The sections of a comparison and of a search: their tables, and what a reader must know."""

from agfmc.report.content import DataPart, ReportContent
from agfmc.report.text import blocks_text
from agfmc.report.trials import (
    best_blocks,
    best_row,
    choice_words,
    gain_words,
    trial_sections,
    trial_verdict,
)


def summary(value, sd=None):
    return {"pooled": value, "mean": value, "sd": sd, "values": [value]}


def comparison(**more):
    rows = [
        {
            "configuration": "first",
            "decoder": "vote",
            "classifiers": 3,
            "difference": None,
            "accuracy": summary(0.9, 0.01),
            "log_loss": summary(0.3, 0.02),
            "queried": summary(3.0),
        },
        {
            "configuration": "second",
            "decoder": "full",
            "classifiers": 2,
            "accuracy": summary(0.8, 0.01),
            "log_loss": summary(0.2, 0.02),
            "queried": summary(1.5),
            "difference": {
                "log_loss": {
                    "pooled": -0.1,
                    "mean": -0.1,
                    "sd": 0.02,
                    "p_value": 0.04,
                    "interval": [-0.19, -0.01],
                }
            },
        },
        {
            "configuration": "third",
            "decoder": "full",
            "error": "too few points",
            "difference": None,
        },
    ]
    return {
        "points": 100,
        "classes": 3,
        "splits": 4,
        "trials": 4,
        "plan": "4 trials",
        "by": "log_loss",
        "mcnemar": False,
        "left_out": None,
        "calibrated": [True],
        "against": {"configuration": "first", "decoder": "vote"},
        "rows": rows,
        **more,
    }


def search(count=3, **more):
    points = [
        {
            "options": f"-c {i}",
            "kernel": "rbf",
            "degree": None,
            "coef0": None,
            "log2g": float(i),
            "log2c": float(i),
            "score": 0.1 + abs(i - 1) / 100,
            "sd": 0.01,
            "mean": 0.1,
            "values": [0.1],
            "zero_probability": 0,
            "rows": None,
            "parts": [1, 2],
        }
        for i in range(count)
    ]
    return {
        "control": "one-vs-one",
        "data": "x",
        "by": "log_loss",
        "plan": "2 parts",
        "search": "fast",
        "decoder": "vote",
        "complete": True,
        "left_out": None,
        "points": points,
        "best": 1,
        "given": 0,
        "border": [],
        "tried": count,
        "estimate": None,
        **more,
    }


def section(**parts):
    (found,) = trial_sections(ReportContent("x", **parts))
    return found


def told(found, *kinds):
    return " ".join(block.value for block in found.blocks if block.kind in kinds)


def tables(found):
    return [block.value for block in found.blocks if block.kind == "table"]


def test_comparison_says_difference_interval_and_failure():
    found = section(comparison=comparison())
    table, every = tables(found)
    assert [column.title for column in table.columns] == [
        "configuration",
        "log loss",
        "accuracy",
        "difference",
        "95 % interval",
        "p",
        "classifiers",
    ]
    first, second, third = table.rows
    assert first.cells[3:6] == ("reference", None, None) and not first.strong
    assert second.cells == (
        "second (full)",
        "0.2000 \u00b1\u00a00.0200",
        "0.8000 \u00b1\u00a00.0100",
        "\u22120.1000",
        "\u22120.1900 to \u22120.0100",
        0.04,
        2,
    )
    assert second.strong and third.cells[3] == "failed"
    assert every.folded and 1.5 in every.rows[1].cells
    assert "third (full) could not be computed: too few points." in told(found, "note")


def test_decoders_with_the_same_scores_share_a_row():
    first, second, third = comparison()["rows"]
    found = comparison(
        rows=[
            {
                **second,
                "configuration": "first",
                "decoder": "b",
                "log_loss": summary(0.3),
                "accuracy": summary(0.9),
                "queried": summary(3.0),
            },
            first,
            second,
            {**second, "decoder": "code"},
            third,
            {**third, "decoder": "code"},
        ]
    )
    every = section(comparison=found)
    rows = tables(every)[0].rows
    assert [row.cells[0] for row in rows] == [
        "first (b, vote)",
        "second (full, code)",
        "third (full)",
        "third (code)",
    ]
    assert rows[0].cells[3] == "reference" and rows[1].strong
    drawn = next(block.value for block in every.blocks if block.kind == "pictures")
    assert "second, full, code" in drawn[0].svg and "third" not in drawn[0].svg


def verdict(**parts):
    return " ".join(trial_verdict(ReportContent("x", **parts))).replace("\u202f", " ")


def test_verdict_of_a_comparison_and_of_a_search():
    data = DataPart("d", 40, 2, (0, 1, 2), (20.0, 10.0, 10.0))
    assert verdict(comparison=comparison(), data=data) == (
        "Of 3 configurations with their decoders, second (full) is best by log loss: 0.2000 on "
        "held-out samples; the difference from first (vote) is \u22120.1000 (95\u00a0% interval "
        "\u22120.1900 to \u22120.0100). It answers 80.0 % correctly; always answering the most "
        "frequent class would give 50.0 %."
    )
    assert verdict(comparison=best()).startswith("The log loss on new data is estimated as 0.2600")
    assert verdict(comparison=comparison(rows=[])) == ""
    estimate = {"score": 0.25, "error": 0.03, "points": 40, "how": "part 3"}
    assert verdict(search=search(estimate=estimate), data=data) == (
        "The log loss on new data is estimated as 0.2500, standard error 0.0300; the shares of "
        "the classes alone would give 1.0397."
    )
    assert verdict(search=search()) == "There is no estimate for new data."


def test_of_very_many_configurations_the_best_are_shown():
    first, second, _ = comparison()["rows"]
    rows = [
        first,
        *(
            {
                **second,
                "configuration": f"c{i}" + "x" * 100_000,
                "log_loss": summary(0.5 - i / 5000),
            }
            for i in range(300)
        ),
    ]
    found = section(comparison=comparison(rows=rows))
    table = tables(found)[0]
    assert len(table.rows) == 100 and table.rows[0].cells[0] == "first (vote)"
    assert table.rows[-1].cells[0].startswith("c299") and table.rows[1].cells[0][:4] == "c201"
    assert "the best 100 of 301 rows" in told(found, "note")
    drawn = next(block.value for block in found.blocks if block.kind == "pictures")
    assert sum(len(picture.svg) for picture in drawn) < 300_000


def test_best_row_follows_the_direction_of_the_score():
    assert best_row(comparison())["configuration"] == "second"
    assert best_row(comparison(by="accuracy"))["configuration"] == "first"
    assert best_row(comparison(rows=[])) is None


def test_search_that_ended_early_or_on_a_limit_says_so():
    assert not told(section(search=search()), "note")
    found = told(section(search=search(complete=False, border=["C high"])), "note")
    assert "ended at its time limit" in found and "(C high)" in found


def test_estimate_of_a_search():
    estimate = {"score": 0.25, "error": 0.03, "points": 40, "how": "part 3"}
    assert (
        "Estimate for new data: log loss 0.2500, standard error 0.0300 (40 points, part 3)."
        in told(section(search=search(estimate=estimate)), "text")
    )
    assert "no estimate" in told(section(search=search()), "text")


def test_options_of_a_search_the_best_first_and_what_is_left_out():
    (few,) = tables(section(search=search()))
    assert [row.cells[0] for row in few.rows][0] == "-c 1" and few.rows[0].strong
    assert few.rows[0].cells[3:] == ("all", "1-2", "chosen")
    best, more = tables(section(search=search(100)))
    assert len(best.rows) == 8 and more.folded and len(more.rows) == 60
    assert more.caption.startswith(
        "60 of 100 options that were tried: the report of tune_m as CSV has all."
    )


def best(members=1):
    """The result of a search for the best configuration."""
    entries = [
        {"configuration": name, "options": options, "score": score, "train_s": seconds}
        for name, options, score, seconds in (
            ("trees of all classes", "-l 7", 0.25, 0.0469),
            ("logistic regression", "-r 1", 0.5, 1234.5),
        )
    ]
    chosen = [
        {**{key: entry[key] for key in ("configuration", "options", "score")}, "weight": weight}
        for entry, weight in zip(entries[:members], [1.0] if members == 1 else [0.75, 0.25])
    ]
    return {
        "by": "log_loss",
        "points": 60,
        "classes": 3,
        "rows": 90,
        "entries": entries,
        "left_out": {"slow": "not tried (about 90 s)"},
        "choice": {"configuration": "average of 2", "score": 0.24, "members": chosen},
        "estimate": {"score": 0.26, "error": 0.01, "points": 60, "options": 2, "how": "held out"},
        "alone": {"log_loss": 1.0986, "accuracy": 1 / 3},
        "notes": [],
    }


def test_a_search_for_the_best_configuration_shows_all_that_was_tried():
    blocks = best_blocks(best(2))
    [shown] = [block.value for block in blocks if block.kind == "table"]
    assert [row.cells for row in shown.rows] == [
        ("trees of all classes", "-l 7", 0.25, 0.05, 0.75),
        ("logistic regression", "-r 1", 0.5, 1234.5, 0.25),
    ]
    text = blocks_text(blocks)
    assert "Chosen: the average of 0.75 trees of all classes -l 7, 0.25 logistic regr" in text
    assert "slow: not tried (about 90 s)" in text
    assert (
        "Estimate for new data: log loss 0.2600, standard error 0.0100 (60 points, held out)."
        in text
    )
    assert "0.05" in text and "1234.50" in text


def test_words_of_a_choice_and_of_what_it_gains():
    assert choice_words(best()["choice"]) == "trees of all classes -l 7"
    result = best()
    start = "without features, from the shares of the classes: "
    assert gain_words(result) == f"{start}log loss 1.0986, worse by 0.8386"
    no_worse = "no worse: the features tell nothing here"
    assert gain_words({**result, "by": "accuracy"}) == f"{start}accuracy 0.3333, {no_worse}"
    assert gain_words({**result, "by": "cost"}) == f"{start}log loss 1.0986"

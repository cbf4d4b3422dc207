"""Lines of results, as people read them."""

import pytest

from agfmc.report.text import (estimate_line, judging_splits, search_csv, search_table,
                               searched_line, SearchWords, whole_lines)

ESTIMATE = {"score": 0.11723, "error": 0.0061, "points": 240,
            "how": "parts 2 to 5, where the last 3 options met"}


def point(options, score, rows=None, parts=(1,)):
    return {"options": options, "score": score, "sd": None, "rows": rows, "parts": list(parts)}


RACE = {"points": [point("-c 1", .9, 500), point("-c 2", .8, None, (1, 2, 3)), point("-c 4", .7)],
        "best": 1, "given": 0}


def cells(text):
    return [[cell.strip() for cell in line.split("  ") if cell] for line in text.splitlines()]


def test_the_score_of_a_search_is_not_one_for_new_data():
    best = point("-c 1", 0.1094, None, (1, 2, 3, 4, 5))
    assert searched_line(best, 52, "log_loss") == (
        "score in the search: log loss .1094 (parts 1-5; chosen by these points among 52 options, "
        "so not what new data will give)\n")
    assert searched_line(point("", .9), 1, "accuracy", SearchWords(split="split")) == \
        "score in the search: accuracy .9000 (split 1; nothing else was tried)\n"
    assert "(leave-one-out; " in searched_line(best, 2, "brier", SearchWords(left_out=True))


def test_the_estimate_says_of_which_points_it_is():
    line = "estimate for new data: log loss .1172, standard error .0061 (240 points of parts 2 " \
        "to 5, where the last 3 options met)\n"
    for searched in (None, .1094, .11724):
        assert estimate_line(ESTIMATE, "log_loss", searched) == line
    assert estimate_line(None, "log_loss", 1.0) == ""
    of_all = estimate_line({**ESTIMATE, "how": "corrected for the choice"}, "brier")
    assert of_all.endswith("(240 points, corrected for the choice)\n")


@pytest.mark.parametrize("by, searched, is_better", [
    ("log_loss", .2, True), ("log_loss", .1, False), ("accuracy", .1, True),
    ("accuracy", .2, False)])
def test_an_estimate_that_is_better_than_the_search_is_no_improvement(by, searched, is_better):
    words = f"; the difference from .{10 * searched:.0f}000 is that of the points, not an " \
        "improvement)\n"
    assert estimate_line(ESTIMATE, by, searched).endswith(words) == is_better


def test_no_error_at_all_has_an_interval():
    right = {**ESTIMATE, "score": 1.0, "error": 0.0}
    assert estimate_line(right, "accuracy") == (
        "estimate for new data: accuracy 1.0000, all 240 right: 95 % interval from .9847 (240 "
        "points of parts 2 to 5, where the last 3 options met)\n")
    assert "standard error below .0001" in estimate_line({**right, "score": .5}, "brier")


def test_a_table_says_what_each_option_was_trained_and_scored_on():
    text = search_table(RACE, "log_loss", -1)
    assert cells(text) == [
        ["options", "log loss", "trained on", "scored on"],
        ["-c 2", ".8000", "training part", "parts 1-3", "chosen"],
        ["-c 4", ".7000", "training part", "part 1"],
        ["-c 1", ".9000", "500 of it", "part 1", "given"],
        ["scores on different parts cannot be compared"]]
    alone = {**RACE, "points": RACE["points"][:1], "best": 0}
    assert cells(search_table(alone, "log_loss", -1, SearchWords("default", "best", "split")))[1:] \
        == [["-c 1", ".9000", "500 of the training part", "split 1", "best, default"]]
    assert cells(search_table(alone, "log_loss", -1, SearchWords(left_out=True)))[1][2:] == [
        "500 points", "leave-one-out", "chosen, given"]


def test_csv_marks_the_chosen_and_the_given():
    head, *lines = (line.split(",") for line in search_csv([RACE]).splitlines())
    assert head[-4:] == ["rows", "parts", "chosen", "given"]
    assert [line[-4:] for line in lines] == [["500", "1", "0", "1"], ["", "1-3", "1", "0"],
                                             ["", "1", "0", "0"]]


def test_the_splits_that_judge_stand_behind_those_that_chose():
    values = {"accuracy": None, "log_loss": {"pooled": .5, "sd": .1, "values": [.4, .5, .6]}}
    failed = {"options": "-c 9", "score": None, "error": "it breaks"}
    result = {"partitions": [{"points": [point("-c 1", .9, None, (1, 2)), failed]}],
              "whole": {"common": values, "tuned": values}}
    assert judging_splits(result) == [3, 4, 5]
    assert cells(whole_lines(result["whole"], {"common": "common options"}))[1:] == [
        ["common options", "-", ".5000±.1000"], ["tuned", "-", ".5000±.1000"]]

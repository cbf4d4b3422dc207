"""Lines of results, as people read them."""

from agfmc.experiments.tables import estimate_line

ESTIMATE = {"score": 0.11723, "error": 0.0061, "points": 240,
            "how": "parts 2 to 5, corrected for the choice among 3 options"}


def test_the_estimate_stands_below_what_is_too_good():
    assert estimate_line(ESTIMATE, 0.1094, 52, "log_loss") == (
        "searched: log loss .1094, the best of 52 options on the points that chose it: not what "
        "new data will give\n"
        "estimate for new data: log loss .1172 ± .0061, standard error (240 points, parts 2 to 5, "
        "corrected for the choice among 3 options)\n")


def test_without_an_estimate_and_without_a_choice():
    assert estimate_line(None, 0.9, 7, "accuracy") == \
        "searched: accuracy .9000, the best of 7 options on the points that chose it: not what " \
        "new data will give\n"
    assert estimate_line(None, 1.25, 1, "log_loss") == \
        "searched: log loss 1.2500, the options given\n"

"""Tables of results: comparisons and searches as text for people, programs and papers."""

from __future__ import annotations

import math
from statistics import fmean
from typing import NamedTuple

from ..control.learners import PARAMETERS
from ..errors import one_line
from ..formats.csv_text import csv_of_numbers
from ..numerals import runs_text
from ..score.intervals import clopper_pearson
from ..score.scores import ALL_SCORES, PER_POINT
from ..models import Dataset
from ..training.fit import TrainingSettings
from .experiment import Experiment
from .search import Point
from .trial import COLUMNS, columns_of, UNCALIBRATED

__all__ = ["SearchWords", "comparison_csv", "data_lines", "data_words", "estimate_line",
           "feature_words", "judging_splits", "markdown_table", "nested_table", "partition_table",
           "partition_text", "plain_table", "row_notes", "score_lines", "search_csv",
           "search_result", "search_table", "searched_line", "spread", "weight_words",
           "whole_lines", "zero_line"]

_HEADS = {name: head for name, (head, _) in COLUMNS.items()}
_BEST, _ROWS = 8, 40  # lines of a table
_FACTORS = 8  # class weights in a line
_WIDTH = 100  # characters of a line of a comparison
_MAIN = ("accuracy", "log_loss", "cost")  # scores that stand beside the differences


def feature_words(settings: TrainingSettings) -> dict[str, str]:
    """{"features": words on a metric that is learned in each training part}, or {} without one."""
    metric = settings.metric
    if metric is None:
        return {}
    how = ["divided by deviations"] * settings.scale
    if settings.nsv is not None:
        how.append(f"{settings.nsv} singular vector{'s' * (settings.nsv != 1)}")
    rounds = "" if metric.rounds is None else \
        f" in {metric.rounds} round{'s' * (metric.rounds != 1)}"
    return {"features": f"{', '.join(how)}, metric learned{rounds} in each training part "
                        f"({metric.canonical()} seed {settings.seed})"}


def weight_words(data: Dataset) -> dict[str, str]:
    """{"weights": words on the weights of the points, which scores count}, or {} without any."""
    weights = data.weights
    if weights is None:
        return {}
    of = ["samples"] * bool((weights.seen(data.y) != 1).any())
    if weights.factors:
        names = data.name_of
        factors = [f"{one_line(names.get(label, str(label)))}={factor:.4g}"
                   for label, factor in list(weights.factors.items())[:_FACTORS]]
        factors += ["..."] * (len(weights.factors) > _FACTORS)
        of.append(f"classes ({', '.join(factors)})")
    return {"weights": f"of {' and '.join(of)}; scores count the points by them"}


def data_words(experiment: Experiment) -> dict[str, str]:
    """The `feature_words` and the `weight_words` of an experiment."""
    return {**feature_words(experiment.settings), **weight_words(experiment.data)}


def data_lines(result: dict) -> str:
    """The `data_words` in a result as lines of the head of its table; "" without them."""
    return "".join(f"{name}: {result[name]}\n" for name in ("features", "weights")
                   if name in result)


# -- comparisons -----------------------------------------------------------------------------------

def spread(summary: dict | None) -> str:
    """A score of all held-out points, and its deviation if there is one; `-` where there is none.
    """
    if summary is None or math.isnan(summary["pooled"]):
        return "-"
    parts = [summary["pooled"]] if summary["sd"] is None else [summary["pooled"], summary["sd"]]
    return "±".join(map(_number, parts))


def _seconds(summary):
    """Seconds in two digits; `-` where none were measured."""
    if summary is None:
        return "-"
    seconds = summary["pooled"]
    if not seconds:
        return "0"
    places = max(0, min(4, 1 - math.floor(math.log10(max(seconds, 1e-4)))))
    return f"{seconds:.{places}f}"


def _difference(row, result):
    """(difference to the reference in the score that decides, its p value) as text."""
    if row["difference"] is None:
        return "", ""
    test = row["difference"].get(result["by"])
    tested = row["difference"].get("accuracy", {}) if result["mcnemar"] else test or {}
    p_value = tested.get("p_value")
    return "-" if test is None else f"{test['pooled']:+.4f}", \
        "-" if p_value is None or math.isnan(p_value) else \
        "<.0001" if p_value < 1e-4 else f"{p_value:.4f}"


def _grid(result):
    """Heads, and for each row (cells, numbers of the cells that are best).

    Of the scores, those that are roots of means say no more than the others and stand in the
    other formats alone, unless one decides; so does the time of designs where no row has any.
    """
    by = result["by"]
    shown = [name for name in columns_of(_first(result)) if name == by or (
        ALL_SCORES[name].pools != "square" if name in ALL_SCORES else
        name != "design_s" or any(row.get(name) and row[name]["pooled"] for row in result["rows"]))]
    heads = ["configuration", "decoder", "binary", *(_HEADS[name] for name in shown), "diff.",
             "McNemar p" if result["mcnemar"] else "p"]
    lines = []
    untuned = result["tuned"]["untuned"] if "tuned" in result else None
    for row in result["rows"]:
        name = one_line(row["configuration"])
        tuned = untuned is not None and row["configuration"] not in untuned
        cells, best = [name + ", tuned" * tuned, row["decoder"]], set()
        if "error" in row:
            cells += ["failed", *[""] * (len(heads) - 3)]
        else:
            cells += [str(row["classifiers"]), *(
                spread(row[name]) if name in ALL_SCORES else _seconds(row[name])
                for name in shown), *_difference(row, result)]
            best = {3 + i for i, column in enumerate(shown) if column in row["best"]}
        lines.append((cells, best))
    return heads, lines


def _first(result):
    """The first row that has its scores; () where none has."""
    return next((row for row in result["rows"] if "error" not in row), ())


def plain_table(result: dict, bold: bool = False, brief: bool = False) -> str:
    """The table for a terminal, where the best of each column is bold, or has a `*`.

    Other scores and times are a second table where one would be too wide, and left out if brief.
    """
    heads, lines = _grid(result)
    starred = set() if bold else set().union(*(best for _, best in lines))
    table = [(heads, set()), *lines]
    if not bold:  # a column with a star has room for it in all rows
        table = [([cell + (" *"[i in best] if i in starred else "") for i, cell in
                   enumerate(cells)], set()) for cells, best in table]
    widths = [max(map(len, column)) for column in zip(*(cells for cells, _ in table))]
    parts = [list(range(len(heads)))]
    if brief or sum(widths) + 2 * len(widths) - 2 > _WIDTH:
        further = {head for name, head in _HEADS.items() if name not in (*_MAIN, result["by"])}
        main, more = ([i for i in parts[0] if (heads[i] in further) == side] for side in (0, 1))
        parts = [main] if brief else [main, [0, 1, *more]]
    return "\n".join("".join(_table_line(*line, widths, part) for line in table) for part in parts)


def _table_line(cells, best, widths, part):
    """The cells with these numbers as a line, the best ones bold."""
    padded = {i: (cells[i].ljust if i < 2 else cells[i].rjust)(widths[i]) for i in part}
    return "  ".join(f"\033[1m{cell}\033[0m" if i in best else cell
                     for i, cell in padded.items()).rstrip() + "\n"


def markdown_table(result: dict) -> str:
    """The table in Markdown, the best of each column in bold."""
    heads, lines = _grid(result)
    out = [heads, ["---", "---"] + ["---:"] * (len(heads) - 2)]
    out += [[f"**{cell}**" if i in best else cell for i, cell in enumerate(cells)]
            for cells, best in lines]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
                   for cells in out)


def comparison_csv(result: dict) -> str:
    """One line for each row: scores of all held-out points, deviations in columns of their own."""
    columns = columns_of(_first(result))
    scores = [column for column in columns if column in ALL_SCORES]
    lines = [["configuration", "decoder", "classifiers",
              *(f"{column}{part}" for column in columns for part in ("", "_sd")),
              "zero_probability",
              *(f"{score}_{part}" for score in scores for part in ("difference", "p")), *PER_POINT,
              *(f"{score}_difference_{part}" for score in scores for part in ("low", "high"))]]
    for row in result["rows"]:
        cells = [row["configuration"], row["decoder"]]
        if "error" not in row:
            cells.append(row["classifiers"])
            for column in columns:
                cells += [(row[column] or {}).get(key) for key in ("pooled", "sd")]
            cells.append(row["zero_probability"])
            for score in scores:
                test = (row["difference"] or {}).get(score, {})
                cells += [test.get(key) for key in ("pooled", "p_value")]
            cells += [(row[name] or {}).get("pooled") for name in PER_POINT]
            for score in scores:
                cells += (row["difference"] or {}).get(score, {}).get("interval") or [None, None]
        lines.append(cells)
    return csv_of_numbers(lines)


def score_lines(columns: dict) -> str:
    """All held-out points together, mean and deviation over the splits, a line for each of
    `COLUMNS`, times at the end."""
    lines = [f"{'':26s}{'all points':>10s}{'mean':>12s}{'deviation':>12s}"]
    order = columns_of(columns)
    for column in sorted(order, key=lambda column: column not in ALL_SCORES):
        name, numbers = COLUMNS[column][1], columns[column]
        if column == "design_s" and not numbers["pooled"]:  # the scheme needs none
            continue
        if numbers is None:
            lines.append(f"{name:26s}{'-':>10s}")
            continue
        deviation = "" if numbers["sd"] is None else f"{numbers['sd']:12.6f}"
        pooled = f"{numbers['pooled']:10.6f}" if column in ALL_SCORES else " " * 10
        lines.append(f"{name:26s}{pooled}{numbers['mean']:12.6f}{deviation}")
    return "".join(f"{line}\n" for line in lines)


def zero_line(count: int | None, name: str = "") -> str:
    """The number of held-out points with p = 0 for their true class, as a line; "" for none."""
    return "" if not count else f"p = 0 for the true class of {count} held-out " \
        f"point{'' if count == 1 else 's'}{': ' * bool(name)}{one_line(name)}\n"


def row_notes(result: dict) -> str:
    """Lines below the table of a comparison: p = 0 for true classes, rows that are not calibrated,
    rows without the score."""
    rows = [(f"{row['configuration']} {row['decoder']}", row) for row in result["rows"]
            if "error" not in row]
    without = [one_line(name) for name, row in rows if row[result["by"]] is None]
    plain = [one_line(name) for name, row in rows if True in result["calibrated"]
             and not row["calibrated"] and row["log_loss"] is not None
             and not row["decoder"].endswith(UNCALIBRATED)]
    note = f"cannot be calibrated: {', '.join(plain)}\n" if plain else ""
    note += f"no {ALL_SCORES[result['by']].title}, so they cannot be chosen by it: " \
           f"{', '.join(without)}\n" if without else ""
    return "".join(zero_line(row["zero_probability"], name) for name, row in rows) + note


# -- searches --------------------------------------------------------------------------------------

def search_result(state, given: Point) -> dict:
    """A `SearchState` as a dictionary: points (in the order they were tried), best, given, border.

    given: the options given as a `Point`.

    A point: options, kernel, degree, coef0, log2g, log2c, or the column of the parameter that its
    learner has in the place of C, score (of all held-out points), mean, sd, values,
    zero_probability (as in `compare`), or score, sd, values and error where it could not be
    trained.  best, given: indices of points, or None;  border: limits of the search, such as "C
    high", that the best lies on.
    """
    points_of = {text: point for point, text in reversed(state.texts.items())}
    points = []
    for text, tried in state.tried.items():
        point = {"options": text, **_parameters(points_of.get(text, given))}
        if state.summary(text) is None:
            point |= {"score": None, "sd": None, "values": [], "error": str(tried)}
        else:
            point |= {"score": tried["pooled"], **{
                key: tried[key] for key in ("mean", "sd", "values", "zero_probability", "rows",
                                            "parts")}}
        points.append(point)
    index = {text: number for number, text in enumerate(state.tried)}
    return {"points": points, "best": index.get(state.best), "given": index.get(state.given),
            "border": [" ".join(limit) for limit in state.border]}


def _parameters(point):
    """Kernel and parameters of a `Point`, by their columns."""
    polynomial = point.kernel == "polynomial"
    return {"kernel": point.kernel, "degree": point.degree if polynomial else None,
            "coef0": point.coef0 if polynomial else None, "log2g": point.log2g, "log2c": None,
            point.parameter.column: point.log2c}


def search_csv(searches: list) -> str:
    """One line for each point of each search; searches: dictionaries of `search_result`.

    Where they have left and right, the labels of a partition, these come first.
    """
    columns = dict.fromkeys(("options", "kernel", "degree", "coef0", "log2g", "log2c"))
    columns.update((key, None) for search in searches for point in search["points"]
                   for key in point if key in PARAMETERS)
    columns = [*columns, "score", "sd", "rows", "parts"]
    parted = any("left" in search for search in searches)
    lines = [[*["partition"] * parted, *columns, "chosen", "given"]]
    for search in searches:
        before = [partition_text(search)] if parted else []
        lines += [[*before, *(runs_text(point.get(column, [])) if column == "parts" else
                              point.get(column) for column in columns),
                   number == search["best"], number == search["given"]]
                  for number, point in enumerate(search["points"])]
    return csv_of_numbers(lines)


def partition_text(search: dict, width: int | None = None) -> str:
    """The partition of a search, as a control file with labels for positions would have it."""
    text = " / ".join(" ".join(map(str, search[side])) for side in ("left", "right"))
    return text if width is None or len(text) <= width else text[:width - 3] + "..."


class SearchWords(NamedTuple):
    """The words of the tables of a search, which depend on how it was made.

    given: the options that it started from;  best: those that it chose;  split: one held-out part
    of the data;  left_out: the scores are those of leave-one-out values.
    """

    given: str = "given"
    best: str = "chosen"
    split: str = "part"
    left_out: bool = False

    def trained_on(self, point: dict, antecedent: bool) -> str:
        """The data of the classifiers; antecedent: a line above names the training part."""
        if point["rows"] is None:
            return "all points" if self.left_out else "training part"
        if self.left_out:
            return f"{point['rows']} points"
        return f"{point['rows']} of {'it' if antecedent else 'the training part'}"

    def scored_on(self, point: dict) -> str:
        """The points of the score."""
        return "leave-one-out" if self.left_out else self.splits(point["parts"])

    def splits(self, numbers) -> str:
        """Splits by their numbers, from 1."""
        return f"{self.split}{'s' * (len(numbers) > 1)} {runs_text(numbers)}"


def search_table(search: dict, by: str, sign: int, words: SearchWords = SearchWords()) -> str:
    """The best points with score and deviation, and what was given, for a terminal.

    Points that were scored on more points and parts come first.
    """
    points = search["points"]
    order = sorted((i for i, point in enumerate(points) if point["score"] is not None), key=lambda
                   i: (i != search["best"], -(points[i]["rows"] or math.inf),
                       -len(points[i]["parts"]), -sign * points[i]["score"]))
    shown = order[:_BEST]
    if search["given"] in order and search["given"] not in shown:
        shown.append(search["given"])
    rows = [["options", _HEADS[by], "trained on", "scored on", ""]]
    for i in shown:
        marks = [word for word, key in ((words.best, "best"), (words.given, "given"))
                 if i == search[key]]
        rows.append([points[i]["options"], _score(points[i]),
                     words.trained_on(points[i], points[shown[0]]["rows"] is None),
                     words.scored_on(points[i]), ", ".join(marks)])
    failed = sum(point["score"] is None for point in points)
    error = next((point["error"] for point in points if "error" in point), "")
    note = f"{failed} could not be trained: {one_line(error)}\n" if failed else ""
    if len({tuple(points[i]["parts"]) for i in shown}) > 1:
        note = f"scores on different {words.split}s cannot be compared\n{note}"
    zeros = "".join(zero_line(points[i].get("zero_probability"), points[i]["options"])
                    for i in shown)
    return _lines(rows) + zeros + note


def partition_table(searches: list, by: str, words: SearchWords = SearchWords()) -> str:
    """The options of each partition with their score, and that of what was given."""
    rows = [["partition", "options", _HEADS[by], words.given]]
    for search in searches[:_ROWS]:
        best, given = ("-" if search[name] is None else _score(search["points"][search[name]])
                       for name in ("best", "given"))
        options = "-" if search["best"] is None else search["points"][search["best"]]["options"]
        rows.append([partition_text(search, 28), options, best, given])
    more = len(searches) - _ROWS
    return _lines(rows) + (f"and {more} more: --csv has them all\n" if more > 0 else "")


def whole_lines(columns: dict, titles: dict, head: str = "whole configuration") -> str:
    """Scores of the whole configuration with several options.

    columns: {"given" or "common", and "tuned": {score: summary or None}};  titles: words for
    these;  head: of the table.
    """
    rows = [[head, *(_HEADS[name] for name in next(iter(columns.values())))]]
    for key, scores in columns.items():
        rows.append([titles.get(key, key), *map(spread, scores.values())])
    return _lines(rows)


def judging_splits(result: dict) -> list:
    """The numbers, from 1, of the splits that judged options of each partition and common ones: as
    many as there are scores, behind those that chose."""
    first = max(number for search in result["partitions"] for point in search["points"]
                for number in point.get("parts", [0]))
    values = next(one for one in result["whole"]["common"].values() if one is not None)["values"]
    return [first + 1 + i for i in range(len(values))]


def nested_table(tuned: dict, splits: int) -> str:
    """The options that were found inside training parts, with the numbers of the splits, from 1.

    tuned: the `words` of a `NestedTuning`;  splits: their number.
    """
    by, found, place, names = tuned["by"], {}, {}, {}
    for search in tuned["searches"]:
        name, split = search["configuration"], search["split"]
        place.setdefault(split, str(len(place) + 1))
        key = name, search["options"] + " (time limit)" * (not search["complete"])
        found.setdefault(key, []).append(search)
        names.setdefault(name, len(names))
    rows = [["configuration", "options", "split no.", f"searched {_HEADS[by]}", "search s"]]
    for (name, options), searches in sorted(found.items(), key=lambda item: (
            names[item[0][0]], -len(item[1]))):
        searched, seconds = (fmean(search[key] for search in searches)
                             for key in ("searched", "seconds"))
        where = " ".join(place[search["split"]] for search in searches)
        rows.append([name, options, "all" if len(searches) == splits > 1 else where,
                     _number(searched), _seconds({"pooled": seconds})])
    head = f"options tuned inside each training part: {tuned['search']} search, " \
           f"{tuned['plan']}, by {_HEADS[by]}; searched scores, and seconds of this process, are " \
           "means\n"
    note = f"not tuned, as all options are given: {', '.join(tuned['untuned'])}\n" \
        if tuned["untuned"] else ""
    ended = sum(not search["complete"] for search in tuned["searches"])
    if ended:
        note += f"{ended} of {len(tuned['searches'])} searches ended at the time limit\n"
    return head + _lines(rows) + note


def searched_line(point: dict, tried: int, by: str, words: SearchWords = SearchWords()) -> str:
    """The score of the best point of a search, which is not one for new data.

    tried: the number of options;  by: the name of the score.
    """
    among = "nothing else was tried" if tried == 1 else \
        f"chosen by these points among {tried} options, so not what new data will give"
    return f"score in the search: {_HEADS[by]} {_number(point['score'])} " \
           f"({words.scored_on(point)}; {among})\n"


def estimate_line(estimate: dict | None, by: str, searched: float | None = None) -> str:
    """The line of the estimate for new data; "" where nothing can tell.

    estimate: score, error, points (their number), effective (that of as many points of equal
    weight, where they have weights) and how;  searched: the score of the search, if a line tells
    it;  by: the name of the scores.
    """
    if estimate is None:
        return ""
    score, points, how = estimate["score"], estimate["points"], estimate["how"]
    sure = f"standard error {_number(estimate['error'])}"
    if _number(estimate["error"]) == _number(0):
        sure = "standard error below .0001"
        if by == "accuracy" and score == 1:
            sure = f"all {points} right: 95 % interval from " \
                   f"{_number(clopper_pearson(*2 * [estimate.get('effective', points)]).low)}"
    better = searched is not None and ALL_SCORES[by].sign * (score - searched) > 0 and \
        _number(score) != _number(searched)
    note = f"; the difference from {_number(searched)} is that of the points, not an improvement" \
        if better else ""
    of = " of" if how.startswith(("part", "split")) else ","
    return f"estimate for new data: {_HEADS[by]} {_number(score)}, {sure} " \
           f"({points} points{of} {how}{note})\n"


def _number(value):
    return f"{value:.4f}".removeprefix("0")


def _score(point):
    return "failed" if point["score"] is None else \
        spread({"pooled": point["score"], "sd": point["sd"]})


def _lines(rows):
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() + "\n"
                   for row in rows)

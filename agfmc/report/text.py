"""Tables of results: comparisons and searches as text for people, programs and papers."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from ..calibration.separate_points import COMPARED_SCORES
from ..control.learners import PARAMETERS
from ..core.errors import one_line
from ..core.text import _short_number, partition_text, runs_text, spread
from ..files.csv import csv_of_numbers
from ..score.intervals import clopper_pearson
from ..score.rows import (ALL_SCORES, BEFORE, COLUMNS, columns_of, COST, HIERARCHICAL, PAGE,
                           page_title, COST_PER_POINT, SCORES, UNCALIBRATED)
from .classes import wrong_cells

_WIDEST = 32  # columns for a name
_HEADS = {name: head for name, (head, _) in COLUMNS.items()}
_BEST, _ROWS = 8, 40  # lines of a table
_WIDTH = 100  # characters of a line of a comparison
_MAIN = ("accuracy", "log_loss", "cost")  # scores that stand beside the differences


def width(text: str) -> int:
    """Columns of a screen that a text takes."""
    return sum(0 if unicodedata.combining(character) else
               2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def aligned(rows: Sequence[Sequence[str]], left: int | None = None, gap: str = "  ",
            indent: str = "") -> str:
    """Rows of cells as lines, each column as wide as its widest cell; the first `left` columns
    begin at the left, all for None, the others end at the right."""
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(*rows)]
    left = len(widths) if left is None else left
    lines = []
    for row in rows:
        blanks = [" " * (wide - width(cell)) for cell, wide in zip(row, widths)]
        lines.append(indent + gap.join(
            cell + blank if index < left else blank + cell
            for index, (cell, blank) in enumerate(zip(row, blanks))).rstrip() + "\n")
    return "".join(lines)


def data_lines(result: dict) -> str:
    """The `data_words` in a result as lines of the head of its table; "" without them."""
    return "".join(f"{name}: {result[name]}\n" for name in ("features", "weights")
                   if name in result)


def _seconds(seconds):
    """Seconds in two digits."""
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
    """Heads, and for each row (cells, numbers of the cells that are best); without scores that are
    roots of means, unless one decides, and the time of designs where no row has any."""
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
                spread(row[name]) if name in ALL_SCORES or row[name] is None else
                _seconds(row[name]["pooled"]) for name in shown), *_difference(row, result)]
            best = {3 + i for i, column in enumerate(shown) if column in row["best"]}
        lines.append((cells, best))
    return heads, lines


def _first(result):
    """The first row that has its scores; () where none has."""
    return next((row for row in result["rows"] if "error" not in row), ())


def plain_table(result: dict, brief: bool = False) -> str:
    """The table for a terminal, where the best of each column has a `*`.

    Other scores and times are a second table where one would be too wide, and left out if brief.
    """
    heads, lines = _grid(result)
    starred = set().union(*(best for _, best in lines))
    # a column with a star has room for it in all rows
    table = [[cell + (" *"[at in best] if at in starred else "") for at, cell in enumerate(cells)]
             for cells, best in ((heads, ()), *lines)]
    parts = [list(range(len(heads)))]
    if brief or max(map(len, aligned(table, 2).splitlines())) > _WIDTH:
        further = {head for name, head in _HEADS.items() if name not in (*_MAIN, result["by"])}
        main, more = ([at for at in parts[0] if (heads[at] in further) == side] for side in (0, 1))
        parts = [main] if brief else [main, [0, 1, *more]]
    return "\n".join(aligned([[cells[at] for at in part] for cells in table], 2)
                     for part in parts)


def markdown_table(result: dict) -> str:
    """The table in Markdown, the best of each column in bold."""
    heads, lines = _grid(result)
    out = [heads, ["---", "---"] + ["---:"] * (len(heads) - 2)]
    out += [[f"**{cell}**" if i in best else cell for i, cell in enumerate(cells)]
            for cells, best in lines]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
                   for cells in out)


def comparison_csv(result: dict) -> str:
    """One line for each row: scores of all held-out points, deviations in separate columns."""
    columns = columns_of(_first(result))
    scores = [column for column in columns if column in ALL_SCORES]
    lines = [["configuration", "decoder", "classifiers",
              *(f"{column}{part}" for column in columns for part in ("", "_sd")),
              "zero_probability",
              *(f"{score}_{part}" for score in scores for part in ("difference", "p")),
              *COST_PER_POINT,
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
            cells += [(row[name] or {}).get("pooled") for name in COST_PER_POINT]
            for score in scores:
                cells += (row["difference"] or {}).get(score, {}).get("interval") or [None, None]
        lines.append(cells)
    return csv_of_numbers(lines)


def score_lines(columns: dict) -> str:
    """All held-out points together, mean and deviation over the splits, a line for each of
    `COLUMNS`, times at the end."""
    rows = [["", "all points", "mean", "deviation"]]
    for column in sorted(columns_of(columns), key=lambda column: column not in ALL_SCORES):
        name, numbers = COLUMNS[column][1], columns[column]
        if numbers is None:
            rows.append([name, "-", "", ""])
        elif column != "design_s" or numbers["pooled"]:  # unless the scheme needs none
            rows.append([name, _number(numbers["pooled"]) if column in ALL_SCORES else "",
                         _number(numbers["mean"]), _number(numbers["sd"], "")])
    return aligned(rows, 1)


def zero_line(count: int | None, name: str = "") -> str:
    """The number of held-out points with p = 0 for their true class, as a line; "" for none."""
    return "" if not count else f"p = 0 for the true class of {count} held-out " \
        f"point{'s' * (count != 1)}{': ' * bool(name)}{one_line(name)}\n"


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


def search_csv(searches: list) -> str:
    """One line for each point of each search; searches: dictionaries of `search_result`.

    Where they have left and right, the labels of a partition, these come first.
    """
    columns = list(dict.fromkeys(("options", "kernel", "degree", "coef0", "log2g", "log2c", *(
        key for search in searches for point in search["points"] for key in point
        if key in PARAMETERS), "score", "sd", "rows", "parts")))
    parted = any("left" in search for search in searches)
    lines = [[*["partition"] * parted, *columns, "chosen", "given"]]
    for search in searches:
        before = [partition_text(search)] if parted else []
        lines += [[*before, *(runs_text(point.get(column, [])) if column == "parts" else
                              point.get(column) for column in columns),
                   number == search["best"], number == search["given"]]
                  for number, point in enumerate(search["points"])]
    return csv_of_numbers(lines)


class SearchWords(NamedTuple):
    """The words of a search for the options that it started from, those that it chose, and a
    held-out part of the data;  left_out: the scores are those of leave-one-out values."""

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
    """The best points with score and deviation, and what was given, those that were scored on more
    points and parts first."""
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
    return aligned(rows) + zeros + note


def partition_table(searches: list, by: str, words: SearchWords = SearchWords()) -> str:
    """The options of each partition with their score, and that of what was given."""
    rows = [["partition", "options", _HEADS[by], words.given]]
    for search in searches[:_ROWS]:
        best, given = ("-" if search[name] is None else _score(search["points"][search[name]])
                       for name in ("best", "given"))
        options = "-" if search["best"] is None else search["points"][search["best"]]["options"]
        rows.append([partition_text(search, 28), options, best, given])
    more = len(searches) - _ROWS
    return aligned(rows) + (f"and {more} more: --csv has them all\n" if more > 0 else "")


def whole_lines(columns: dict, titles: dict, head: str = "whole configuration") -> str:
    """Scores of the whole configuration with several options.

    columns: {"given" or "common", and "tuned": {score: summary or None}};  titles: words for
    these;  head: of the table.
    """
    return aligned([[head, *(_HEADS[name] for name in next(iter(columns.values())))], *(
        [titles.get(key, key), *map(spread, scores.values())] for key, scores in columns.items())])


def judging_splits(result: dict) -> list:
    """The numbers, from 1, of the splits that judged options of each partition and common ones: as
    many as there are scores, behind those that chose."""
    first = max(number for search in result["partitions"] for point in search["points"]
                for number in point.get("parts", [0]))
    values = next(one for one in result["whole"]["common"].values() if one is not None)["values"]
    return [first + 1 + i for i in range(len(values))]


def nested_table(tuned: dict, splits: int) -> str:
    """The options that were chosen inside training parts, with the numbers of the splits, from 1.

    tuned: the `words` of a `NestedTuning`;  splits: their number.
    """
    by, groups, names, numbers = tuned["by"], {}, [], []
    for search in tuned["searches"]:
        names.append(search["configuration"])
        if search["split"] not in numbers:
            numbers.append(search["split"])
        groups.setdefault((search["configuration"], search["options"] + " (time limit)" * (
            not search["complete"])), []).append(search)
    rows = [["configuration", "options", "split no.", f"searched {_HEADS[by]}", "search s"]]
    for (name, options), searches in sorted(groups.items(), key=lambda item: (
            names.index(item[0][0]), -len(item[1]))):
        searched, seconds = (fmean(search[key] for search in searches)
                             for key in ("searched", "seconds"))
        where = " ".join(str(numbers.index(search["split"]) + 1) for search in searches)
        rows.append([name, options, "all" if len(searches) == splits > 1 else where,
                     _short_number(searched), _seconds(seconds)])
    head = f"options tuned inside each training part: {tuned['search']} search, " \
           f"{tuned['plan']}, by {_HEADS[by]}; searched scores, and seconds of this process, are " \
           "means\n"
    note = f"not tuned, as all options are given: {', '.join(tuned['untuned'])}\n" \
        if tuned["untuned"] else ""
    ended = sum(not search["complete"] for search in tuned["searches"])
    if ended:
        note += f"{ended} of {len(tuned['searches'])} searches ended at the time limit\n"
    return head + aligned(rows) + note


def searched_line(point: dict, tried: int, by: str, words: SearchWords = SearchWords()) -> str:
    """The score of the best point of a search of so many options, which is not one for new data.
    """
    among = "nothing else was tried" if tried == 1 else \
        f"chosen by these points among {tried} options, so not what new data will give"
    return f"score in the search: {_HEADS[by]} {_short_number(point['score'])} " \
           f"({words.scored_on(point)}; {among})\n"


def estimate_line(estimate: dict | None, by: str, searched: float | None = None) -> str:
    """The line of the estimate for new data; "" where there is none.

    estimate: of a search, as tune_m --json writes it;  by: the name of the scores;  searched: the
    score of the search, where a line above has it.
    """
    if estimate is None:
        return ""
    score, points, how = estimate["score"], estimate["points"], estimate["how"]
    sure = f"standard error {_short_number(estimate['error'])}"
    if _short_number(estimate["error"]) == _short_number(0):
        sure = "standard error below .0001"
        if by == "accuracy" and score == 1:
            sure = f"all {points} right: 95 % interval from " \
                   f"{_short_number(clopper_pearson(*2 * [estimate.get('effective', points)]).low)}"
    better = searched is not None and ALL_SCORES[by].sign * (score - searched) > 0 and \
        _short_number(score) != _short_number(searched)
    note = "" if not better else f"; the difference from {_short_number(searched)} is that of " \
                                 "the points, not an improvement"
    of = " of" if how.startswith(("part", "split")) else ","
    return f"estimate for new data: {_HEADS[by]} {_short_number(score)}, {sure} " \
           f"({points} points{of} {how}{note})\n"


def _score(point):
    return "failed" if point["score"] is None else \
        spread({"pooled": point["score"], "sd": point["sd"]})


def format_reports(reports: Sequence[dict]) -> str:
    """Reports of decoders as pages of text, those of decoders with equal ones together."""
    pages: dict[str, list[str]] = {}
    for report in reports:
        pages.setdefault(_page(report), []).append(report["decoder"])
    return "\n".join(f"{', '.join(keys)}: {page}" for page, keys in pages.items())


def _page(report):
    fitted = f"{report['map']} map"
    if report["temperature"] is not None:
        fitted = f"temperature {report['temperature']:.4g}, floor {report['floor']:.2g}"
    elif report["ridge"] is not None:
        fitted += f", ridge {report['ridge']:g}, floor {report['floor']:.2g}"
    weighted = "" if "effective_points" not in report else \
        f", which count as {report['effective_points']:.4g} of equal weight"
    lines = f"{report['points']} points of {report['classes']} classes{weighted}; {fitted}\n"
    if len(report["compared"]) > 1:
        lines += "log loss: " + ", ".join(
            f"{kind} {value:.4f}" for kind, value in report["compared"].items()) + "\n"
    tables = [[["", "before", "after", "difference"], *(
        [title, *(_signed_interval(report["scores"][name][when], sign) for when, sign in (
            ("before", ""), ("after", ""), ("difference", "+")))]
        for name, title in COMPARED_SCORES.items())],
        [["error at most", "probability from", "points answered"], *(
            [f"{row['max_error']:g}", "-", _why(row)] if row["threshold"] is None else
            [f"{row['max_error']:g}", f"{row['threshold']:g}", f"{100 * row['answered']:.1f} %"]
            for row in report["thresholds"])],
        [["coverage", "mean size of sets", "with aps", "by class"], *(
            [f"{row['coverage']:g}", *(f"{row['mean_size'][name]:.3f}"
                                       for name in ("lac", "aps", "lac_by_class"))]
            for row in report["sets"])]]
    return "\n".join([lines, *(aligned(table) for table in tables if len(table) > 1)])


def _signed_interval(score, sign):
    return f"{score['value']:{sign}.4f} ({score['low']:{sign}.4f} {score['high']:{sign}.4f})"


def _why(row):
    """Why there is no threshold, in short."""
    return row["why"].partition(": ")[2].partition(" (")[0]

MOST_CLASSES = 40  # whose tables are on a page
_FEW = 20  # that stand there if there are more
_COUNTS = ("points", "support", "rejected")
_COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
_NEEDED = {"probabilities": "needs probabilities", "winner": "needs -k or probabilities"}
_BINS = ("p from", "-", "to", "count", "forecast", "observed", "std.error")


def format_scores(scores: dict) -> str:
    """The dictionary of `evaluate` as a page of text; of more than `MOST_CLASSES` classes those of
    the least F1, and the most frequent errors."""
    parts = (_summary, _before, _sets, _classes, _contingency, _calibration, _abstaining,
             _classwise)
    return "\n".join(lines for part in parts if (lines := part(scores)))


def _line(what, value):
    return f"{what:28s}{value}\n"


def _number(value, missing="-"):
    return missing if value is None else f"{value:.6f}"


def _summary(scores):
    text = _line("points", f"{scores['points']:d}" + ", weighted" * ("priors" in scores))
    text += _line("classes", "not told (-k)" if scores["classes"] is None
                  else f"{scores['classes']:d}")
    if scores["rejected"]:
        text += _line("rejected", f"{scores['rejected']:d}") \
            + _line("coverage", _number(scores["coverage"]))
    for name in list(PAGE)[1:]:  # the coverage stands above
        value, bounds = scores.get(name), scores["intervals"].get(name)
        if value is None and name not in SCORES:
            continue
        missing = _NEEDED.get(PAGE[name].takes, "-")
        random = scores["uncertainty_coefficient_random"] \
            if name == "uncertainty_coefficient" else None
        text += _line(page_title(name, scores, line=True), _number(value, missing) + _bounds(bounds)
                      + ("" if random is None else f"  (of random answers {_number(random)})"))
        if name == "accuracy" and scores["rejected"]:
            text += _line("error of the answered", _number(1 - value) + _bounds(
                bounds and [1 - bound for bound in reversed(bounds)]))
        elif name == COST.name:
            text += _other_costs(scores)
        elif name == "log_loss" and scores["zero_probability"]:
            text += _line("  true classes with p = 0", f"{scores['zero_probability']:d}")
    return text


def _other_costs(scores):
    """Lines of the mean cost of the best single answer, and of no answer to any point."""
    label = scores["single_class"]
    name = dict(zip(scores["labels"], scores.get("names", ()))).get(label)
    always = f"  always {_cut(one_line(name)) if name else label}"
    text = _line(f"{always:27s} ", _number(scores["single_class_cost"]))
    return text + _line("  no answer to any", _number(scores["no_answer_cost"])) \
        if "no_answer_cost" in scores else text


def _bounds(interval):
    return "" if interval is None else f"  (95 %: {interval[0]:.6f} - {interval[1]:.6f})"


def _before(scores):
    """Scores before and after calibration."""
    before = scores.get("before")
    if before is None:
        return ""
    rows = [["", "before", "after", "change", "std.error"]]
    for name in BEFORE:
        one, other = before[name], scores[name]
        change = before["difference"].get(name, {"mean": other - one, "error": None})
        rows.append([PAGE[name].title, *map(_number, (one, other, change["mean"],
                                                      change["error"]))])
    if before["zero_probability"] or scores["zero_probability"]:
        rows.append(["true classes with p = 0", str(before["zero_probability"]),
                     str(scores["zero_probability"]), "", ""])
    return "before and after calibration\n" + aligned(rows, 1)


def _sets(scores):
    """Coverage and sizes of sets of classes."""
    sets = scores.get("sets")
    if sets is None:
        return ""
    total = sum(count for _, count in sets["sizes"])
    text = "sets of classes\n" \
        + _line("coverage", _number(sets["coverage"]) + _bounds((sets["low"], sets["high"]))) \
        + _line("mean size", _number(sets["mean_size"])) \
        + _line("exact answers", _number(sets["exact"])) \
        + "".join(_line(title, _number(sets[name])) for name, title in HIERARCHICAL.items()
                  if name in sets) + _line("empty sets", f"{sets['empty']:d}") \
        + aligned([("size", "points", "share"), *(
            (f"{size:d}", f"{count:d}", f"{count / total:.4f}")
            for size, count in sets["sizes"])], 0, indent="  ")
    titles, chosen = _chosen(scores, [row for row in sets["by_class"] if row["points"]],
                             lambda row: row["coverage"], "least coverage")
    return f"{text}\ncoverage by class{titles}\n" + _table(scores, chosen, {
        "points": "points", "coverage": "coverage", "low": "from", "high": "to",
        "mean_size": "mean size"})


def _chosen(scores, rows, value, what):
    """(words for a title, the rows of a page): all, or those of the least value."""
    if len(scores["labels"]) <= MOST_CLASSES:
        return "", rows
    least = sorted(range(len(rows)), key=lambda i: (value(rows[i]), i))[:_FEW]
    return (f", {len(least)} of {len(scores['labels'])} with the {what}: --csv has all",
            [rows[i] for i in least])


def _classes(scores):
    """Scores of each class."""
    rows = scores["by_class"]
    titles, chosen = _chosen(scores, [row for row in rows if row["f1"] is not None],
                             lambda row: row["f1"], "least F1")
    heads = {"support": "support", "rejected": "rejected", "precision": "precision",
             "recall": "recall", "f1": "F1", "auc": "AUC", "cost": "cost"}
    heads = {key: head for key, head in heads.items() if key in rows[0] and (
        key != "auc" or any(row["auc"] is not None for row in rows))}
    return f"by class{titles}\n" + _table(scores, chosen if titles else rows, heads)


def _table(scores, rows, heads):
    """Lines of rows, dictionaries with a label; heads: {key: head of its column}."""
    lines = [["", *heads.values()]]
    for named, row in zip(_named(scores, [row["label"] for row in rows]), rows):
        lines.append([named, *(
            "-" if row[key] is None else _count(row[key]) if key in _COUNTS else f"{row[key]:.4f}"
            for key in heads)])
    return aligned(lines, 1)


def _named(scores, labels):
    """Labels with the names that they have behind them, cut where these are long."""
    known = dict(zip(scores["labels"], scores.get("names", ())))
    wide = max((len(str(label)) for label in labels), default=0)
    return [f"{label:>{wide}} {_cut(one_line(known.get(label, '')))}".rstrip() for label in labels]


def _contingency(scores):
    """Truth and answers; of many classes the most frequent errors."""
    weighted, labels = "; weighted" if "priors" in scores else "", scores["labels"]
    if len(labels) > MOST_CLASSES:
        return _frequent_errors(scores, weighted)
    rows = [["", *map(str, labels), *["rejected"] * bool(scores["rejected"])]]
    rows += [[named, *map(_count, counts)]
             for named, counts in zip(_named(scores, labels), scores["contingency"])]
    return f"contingency table (rows: truth, columns: result{weighted})\n" \
        + aligned(rows, 1, " ")


def _frequent_errors(scores, weighted):
    labels = scores["labels"]
    errors = wrong_cells(scores)
    if not errors:
        return ""
    counts, rows, columns = zip(*errors[:_FEW])
    truth, answers = (_named(scores, [labels[i] for i in places]) for places in (rows, columns))
    head = f"most frequent errors{weighted}, {len(counts)} of {len(errors)} cells: --json has " \
        "the contingency table\n"
    return head + aligned([("points", "of class", "as"), *zip(
            (_count(-count) for count in counts), truth, answers)])


def _calibration(scores):
    rows = scores["calibration"]
    return "" if rows is None else f"calibration of the winning class\n{_bins(rows)}"


def _abstaining(scores):
    """Errors where the surest points alone are answered, unless there are none."""
    if scores["risk_coverage"] is None or scores["aurc"] in (None, 0.0):
        return ""
    rows = {row["coverage"]: row for row in scores["risk_coverage"]}
    return "error of the answered, where the surest are answered\n" + aligned([
        ("coverage", "error", "least probability"), *(
            (f"{share:.2f}", _number(rows[share]["error"]), _number(rows[share]["threshold"]))
            for share in _COVERAGES if rows[share]["error"] is not None)], 0, indent="  ")


def _classwise(scores):
    """Calibration of each class."""
    tables = scores.get("calibration_by_class")
    if tables is None:
        return ""
    titles, chosen = _chosen(scores, tables, lambda row: -row["expected_calibration_error"],
                             "largest error")
    return f"calibration by class{titles}\n" + "".join(
        f"class {_named(scores, [row['label']])[0]}: error "
        f"{row['expected_calibration_error']:.6f}\n"
        + _bins([line for line in row["bins"] if line["count"]]) for row in chosen)


def _count(count):
    """A number of points, or a sum of weights."""
    return f"{count:.2f}" if isinstance(count, float) and count else f"{count:.0f}"


def _cut(name):
    if width(name) <= _WIDEST:
        return name
    while width(name) > _WIDEST - 3:
        name = name[:-1]
    return f"{name}..."


def _bins(rows):
    """The lines of bins of probabilities."""
    return aligned([_BINS, *(
        (f"{row['lower']:.4f}", "-", f"{row['upper']:.4f}", _count(row["count"]),
         *(_number(row[key]) for key in ("forecast", "observed", "error")))
        for row in rows)], 0, indent="  ")


def scores_csv(scores: dict, named: bool = False) -> str:
    """The dictionary of `evaluate` as comma-separated values: score,class,value,low,high.

    Scores of all points have no class, those of a class its label, or its name (named).  Counts
    of cells and bins are in JSON alone.
    """
    intervals = scores["intervals"]
    rows = [(name, "", value, *intervals.get(name, (None, None)))
            for name, value in scores.items()
            if name not in ("classes", "top", "single_class") and isinstance(value, (int, float))]
    for row in scores["risk_coverage"] or ():
        if row["coverage"] in _COVERAGES:
            rows.append((f"error_at_coverage_{row['coverage']:g}", "", row["error"], None, None))
    before = scores.get("before", {})
    for name, value in before.items():
        if isinstance(value, (int, float)):
            rows.append((f"{name}_before", "", value, None, None))
    for name, value in before.get("difference", {}).items():
        half = 1.96 * (value["error"] or float("nan"))
        rows.append((f"{name}_change", "", value["mean"], value["mean"] - half,
                     value["mean"] + half))
    sets = scores.get("sets")
    rows += [(title, "", sets[name], None, None) for name, title in (
        ("exact", "exact_sets"), *zip(HIERARCHICAL, HIERARCHICAL)) if sets and name in sets]
    for row in [] if sets is None else [sets, *sets["by_class"]]:
        label = row.get("label", "")
        rows += [("set_coverage", label, row["coverage"], row["low"], row["high"]),
                 ("mean_set_size", label, row["mean_size"], None, None)]
    for row in [*scores["by_class"], *scores.get("calibration_by_class", ())]:
        rows += [(name, row["label"], value, None, None) for name, value in row.items()
                 if name not in ("label", "bins")]
    names = dict(zip(scores["labels"], scores["names"])) if named else {}
    return csv_of_numbers([("score", "class", "value", "low", "high"), *(
        (name, str(names.get(label, label)), *numbers) for name, label, *numbers in rows)])


def _simulation_columns(rows, top):
    """(heading above, heading, name in a spread-sheet, values, format) of each column."""
    def shares(above, heading, name, parts):
        columns = [(above, heading, name, [part["success"] for part in parts], ".4f")]
        if parts[0].get("exact") is not None:
            columns.append(("", "exact", f"{name}_exact", [part["exact"] for part in parts], ".4f"))
        return columns

    def numbers(heading, name, form):
        return [("", heading, name, [row[name] for row in rows], form)]

    with_error = rows[0]["error"] is not None
    words = [poll["opponents"] for poll in rows[0]["polls"]]
    errors = [max(part["standard_error"] for part in (
        row["max_win"], row["adag"], row["ddag"], *row["polls"],
        *(poll["top"] for poll in row["polls"]))) for row in rows]
    return [
        *numbers("classes", "classes", "d"),
        *(numbers("error", "error", "g") if with_error else ()),
        *shares("", "MAX-WIN", "max_win", [row["max_win"] for row in rows]),
        *(column for i, word in enumerate(words) for column in shares(
            "" if i else "POLL", word, f"poll_{word}", [row["polls"][i] for row in rows])),
        *(column for i, word in enumerate(words) for column in shares(
            "" if i else f"POLL+TOP-{top}", word, f"poll_{word}_top_{top}",
            [row["polls"][i]["top"] for row in rows])),
        *(column for name in ("adag", "ddag") for column in shares(
            "", name.upper(), name, [row[name] for row in rows])),
        ("", "std.err", "standard_error", errors, ".4f"),
        *numbers("s1/s2", "separation", ".3f"),
        *(numbers("limit", "separation_limit", ".3f") if with_error else ())]


def simulation_table(rows: list, top: int) -> str:
    """The rows of `simulations` as an aligned table with two lines of headings."""
    columns = _simulation_columns(rows, top)
    cells = [[heading, *("-" if value is None else format(value, form) for value in values)]
             for _, heading, _, values, form in columns]
    above, end = "", -2
    for (over, heading, *_), column in zip(columns, cells):
        end += 2 + max(map(len, column))
        if over:  # above the columns it is for, from the left edge of the first
            above = above.ljust(end - len(heading)) + over
    return f"{above}\n{aligned(list(zip(*cells)), 0)}"


def simulation_csv(rows: list, top: int) -> str:
    """The rows of `simulations` as comma-separated values in full precision."""
    _, _, names, values, _ = zip(*_simulation_columns(rows, top))
    cells = [names, *(["" if value is None else repr(value) for value in line]
                      for line in zip(*values))]
    return "".join(",".join(line) + "\n" for line in cells)

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

_HEADS = {name: head for name, (head, _) in COLUMNS.items()}
_BEST, _ROWS = 8, 40  # lines of a table
_WIDTH = 100  # characters of a line of a comparison
_MAIN = ("accuracy", "log_loss", "cost")  # scores that stand beside the differences


def data_lines(result: dict) -> str:
    """The `data_words` in a result as lines of the head of its table; "" without them."""
    return "".join(f"{name}: {result[name]}\n" for name in ("features", "weights")
                   if name in result)


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
                     _short_number(searched), _seconds({"pooled": seconds})])
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
    return f"score in the search: {_HEADS[by]} {_short_number(point['score'])} " \
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


def _lines(rows):
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() + "\n"
                   for row in rows)


# The report as text


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
    lines = [f"{report['points']} points of {report['classes']} classes{weighted}; {fitted}"]
    if len(report["compared"]) > 1:
        lines.append("log loss: " + ", ".join(
            f"{kind} {value:.4f}" for kind, value in report["compared"].items()))
    lines += ["", f"{'':19s}{'before':26s}{'after':26s}difference"]
    for name, title in COMPARED_SCORES.items():
        cells = [_signed_interval(report["scores"][name][when], sign)
                 for when, sign in (("before", ""), ("after", ""), ("difference", "+"))]
        lines.append(f"{title:19s}{cells[0]:26s}{cells[1]:26s}{cells[2]}")
    lines += ["", f"{'error at most':19s}{'probability from':26s}points answered"]
    for row in report["thresholds"]:
        lines.append(f"{row['max_error']:<19g}" + (
            f"{'-':26s}{_why(row)}" if row["threshold"] is None else
            f"{row['threshold']:<26g}{100 * row['answered']:.1f} %"))
    if report["sets"]:
        lines += ["", f"{'coverage':19s}{'mean size of sets':26s}{'with aps':26s}by class"]
        lines += [f"{row['coverage']:<19g}" + "".join(
            f"{row['mean_size'][name]:<26.3f}" for name in ("lac", "aps", "lac_by_class")).rstrip()
            for row in report["sets"]]
    return "\n".join(lines) + "\n"


def _signed_interval(score, sign):
    return f"{score['value']:{sign}.4f} ({score['low']:{sign}.4f} {score['high']:{sign}.4f})"


def _why(row):
    """Why there is no threshold, in short."""
    return row["why"].partition(": ")[2].partition(" (")[0]

MOST_CLASSES = 40  # whose tables are on a page
_FEW = 20  # that stand there if there are more
_COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
_WIDEST = 32  # columns for a name
_NEEDED = {"probabilities": "needs probabilities", "winner": "needs -k or probabilities"}
_BINS = "       p from - to     count  forecast  observed  std.error"


def format_scores(scores: dict) -> str:
    """The dictionary of `evaluate` as a page of text; names: those of the labels, if known.

    Of more than `MOST_CLASSES` classes there are those of the least F1, and the most frequent
    errors.
    """
    parts = (_summary, _before, _sets, _classes, _contingency, _calibration, _abstaining,
             _classwise)
    return "\n\n".join("\n".join(lines) for part in parts if (lines := part(scores))) + "\n"


def _line(what, value):
    return f"{what:28s}{value}"


def _number(value, missing=None):
    return missing if value is None else f"{value:.6f}"


def _summary(scores):
    weighted = "priors" in scores
    lines = [
        _line("points", f"{scores['points']:d}" + (", weighted" if weighted else "")),
        _line("classes", "not told (-k)" if scores["classes"] is None
              else f"{scores['classes']:d}"),
    ]
    if scores["rejected"]:
        lines += [_line("rejected", f"{scores['rejected']:d}"),
                  _line("coverage", _number(scores["coverage"]))]

    for name in list(PAGE)[1:]:  # the coverage stands above
        missing = _NEEDED.get(SCORES[name].takes, "-") if name in SCORES else None
        if scores.get(name) is None and missing is None:
            continue
        lines.append(_line(page_title(name, scores, line=True),
                           _number(scores[name], missing) + _interval(scores, name)))
        if name == "accuracy" and scores["rejected"]:
            bounds = scores["intervals"].get(name)
            lines.append(_line("error of the answered", _number(1 - scores[name]) + _bounds(
                bounds and [1 - bound for bound in reversed(bounds)])))
        elif name == COST.name:
            lines += _other_costs(scores)
        elif name == "log_loss" and scores["zero_probability"]:
            lines.append(_line("  true classes with p = 0", f"{scores['zero_probability']:d}"))
        elif name == "uncertainty_coefficient" and scores[f"{name}_random"] is not None:
            lines[-1] += f"  (of random answers {_number(scores[name + '_random'])})"
    return lines


def _other_costs(scores):
    """Lines of the mean cost of the best single answer, and of no answer to any point."""
    label = scores["single_class"]
    name = dict(zip(scores["labels"], scores.get("names", ()))).get(label)
    always = f"  always {label if not name else _cut(one_line(name))}"
    lines = [_line(f"{always:27s} ", _number(scores["single_class_cost"]))]
    if "no_answer_cost" in scores:
        lines.append(_line("  no answer to any", _number(scores["no_answer_cost"])))
    return lines


def _interval(scores, name):
    return _bounds(scores["intervals"].get(name))


def _bounds(interval):
    return "" if interval is None else f"  (95 %: {interval[0]:.6f} - {interval[1]:.6f})"


def _before(scores):
    """Scores before and after calibration."""
    before = scores.get("before")
    if before is None:
        return []
    lines = ["before and after calibration",
             f"{'':28s}{'before':>10s}{'after':>12s}{'change':>12s}{'std.error':>12s}"]
    for name in BEFORE:
        one, other = before[name], scores[name]
        change = before["difference"].get(name, {"mean": other - one, "error": None})
        error = "-" if change["error"] is None else f"{change['error']:.6f}"
        lines.append(_line(PAGE[name].title, f"{one:10.6f}{other:12.6f}{change['mean']:12.6f}"
                                             f"{error:>12s}"))
    if before["zero_probability"] or scores["zero_probability"]:
        lines.append(_line("true classes with p = 0", f"{before['zero_probability']:10d}"
                                                      f"{scores['zero_probability']:12d}"))
    return lines


def _sets(scores):
    """Coverage and sizes of sets of classes."""
    sets = scores.get("sets")
    if sets is None:
        return []
    total = sum(count for _, count in sets["sizes"])
    lines = ["sets of classes",
             _line("coverage", _number(sets["coverage"]) + _bounds((sets["low"], sets["high"]))),
             _line("mean size", _number(sets["mean_size"])),
             _line("exact answers", _number(sets["exact"])),
             *(_line(title, _number(sets[name], "-")) for name, title in HIERARCHICAL.items()
               if name in sets),
             _line("empty sets", f"{sets['empty']:d}"),
             f"    size{'points':>10s}{'share':>10s}"]
    lines += [f"{size:8d}{count:10d}{count / total:10.4f}" for size, count in sets["sizes"]]
    rows = [row for row in sets["by_class"] if row["points"]]
    titles, chosen = _chosen(scores, rows, lambda row: row["coverage"], "least coverage")
    lines += ["", f"coverage by class{titles}"]
    return lines + _table(scores, chosen, (("points", "points", None), ("coverage", "coverage", 4),
                                           ("low", "from", 4), ("high", "to", 4),
                                           ("mean_size", "mean size", 4)))


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
    columns = [("support", "support", None), ("precision", "precision", 4),
               ("recall", "recall", 4), ("f1", "F1", 4)]
    if any(row["auc"] is not None for row in rows):
        columns.append(("auc", "AUC", 4))
    if COST.name in scores:
        columns.append(("cost", "cost", 4))
    if scores["rejected"]:
        columns.insert(1, ("rejected", "rejected", None))
    return [f"by class{titles}", *_table(scores, chosen if titles else rows, columns)]


def _table(scores, rows, columns):
    """Lines of rows, dictionaries with a label; columns: (key, head, decimals, None: a count)."""
    labels, names = _class_columns(scores, [row["label"] for row in rows])
    lines = [labels[0] + names[0] + "".join(f"{head:>11s}" for _, head, _ in columns)]
    for label, name, row in zip(labels[1:], names[1:], rows):
        cells = ["-" if row[key] is None else _count(row[key]) if places is None else
                 f"{row[key]:.{places}f}" for key, _, places in columns]
        lines.append(label + name + "".join(f"{cell:>11s}" for cell in cells))
    return lines


def _class_columns(scores, labels):
    """Labels and names in columns of their own, from an empty head on."""
    known = dict(zip(scores["labels"], scores.get("names", ())))
    texts = ["", *(str(label) for label in labels)]
    width = max(map(len, texts))
    return ([f"{text:>{width}}" for text in texts],
            _padded(["", *(known.get(label, "") for label in labels)]))


def _contingency(scores):
    """Truth and answers; of many classes the most frequent errors."""
    weighted = "; weighted" if "priors" in scores else ""
    if len(scores["labels"]) > MOST_CLASSES:
        return _frequent_errors(scores, weighted)
    columns = [str(label) for label in scores["labels"]] + ["rejected"] * bool(scores["rejected"])
    cells = [[_count(count) for count in row] for row in scores["contingency"]]
    widths = [max(len(text) for text in (head, *(row[i] for row in cells)))
              for i, head in enumerate(columns)]
    rows = [label + name for label, name in zip(*_class_columns(scores, scores["labels"]))]
    return [f"contingency table (rows: truth, columns: result{weighted})"] + [
        " ".join([row, *(f"{text:>{width}}" for text, width in zip(line, widths))])
        for row, line in zip(rows, [columns, *cells])]


def _frequent_errors(scores, weighted):
    labels, table = scores["labels"], scores["contingency"]
    found = sorted((-count, i, j) for i, row in enumerate(table)
                   for j, count in enumerate(row[:len(labels)]) if count and i != j)
    if not found:
        return []
    counts, rows, columns = zip(*found[:_FEW])
    truth, names = _class_columns(scores, [labels[i] for i in rows])
    answer, others = _class_columns(scores, [labels[j] for j in columns])
    return [f"most frequent errors{weighted}, {len(counts)} of {len(found)} cells: --json has the "
            "contingency table",
            f"{'points':>10s}  of {truth[0]}{names[0]} as {answer[0]}{others[0]}".rstrip()] + [
        f"{_count(-count):>10s}     {label}{name}    {told}{other}".rstrip()
        for count, label, name, told, other in zip(counts, truth[1:], names[1:], answer[1:],
                                                   others[1:])]


def _calibration(scores):
    if scores["calibration"] is None:
        return []
    return ["calibration of the winning class", _BINS, *map(_bin, scores["calibration"])]


def _abstaining(scores):
    """Errors where the surest points alone are answered, unless there are none."""
    if scores["risk_coverage"] is None or scores["aurc"] in (None, 0.0):
        return []
    lines = ["error of the answered, where the surest are answered",
             f"{'coverage':>10s}{'error':>10s}{'least probability':>20s}"]
    rows = {row["coverage"]: row for row in scores["risk_coverage"]}
    return lines + [f"{share:10.2f}{rows[share]['error']:10.6f}{rows[share]['threshold']:20.6f}"
                    for share in _COVERAGES if rows[share]["error"] is not None]


def _classwise(scores):
    """Calibration of each class."""
    tables = scores.get("calibration_by_class")
    if tables is None:
        return []
    titles, chosen = _chosen(scores, tables, lambda row: -row["expected_calibration_error"],
                             "largest error")
    lines = [f"calibration by class{titles}"]
    for row in chosen:
        label, name = (column[1] for column in _class_columns(scores, [row["label"]]))
        lines += [f"class {label}{name}: error {row['expected_calibration_error']:.6f}", _BINS,
                  *(_bin(line) for line in row["bins"] if line["count"])]
    return lines


def _count(count):
    """A number of points, or a sum of weights."""
    return f"{count:.2f}" if isinstance(count, float) and count else f"{count:.0f}"


def _padded(names):
    """Names behind a blank, long ones cut, all of one width on the screen; "" for no names."""
    if not any(names):
        return [""] * len(names)
    names = [f" {_cut(one_line(name))}" for name in names]
    widest = max(_width(name) for name in names)
    return [name + " " * (widest - _width(name)) for name in names]


def _cut(name):
    if _width(name) <= _WIDEST:
        return name
    while _width(name) > _WIDEST - 3:
        name = name[:-1]
    return f"{name}..."


def _width(text):
    """Columns of a screen that a text takes."""
    return sum(0 if unicodedata.combining(character) else
               2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _bin(row):
    head = f"  {row['lower']:8.4f} - {row['upper']:6.4f} {_count(row['count']):>9s}"
    if not row["count"]:
        return head + "         -         -          -"
    return head + f"  {row['forecast']:8.6f}  {row['observed']:8.6f}  {row['error']:9.6f}"


def scores_csv(scores: dict, named: bool = False) -> str:
    """The dictionary of `evaluate` as comma-separated values: score,class,value,low,high.

    A line for each number: scores of all points have no class, those of a class its label, or
    its name (named);
    error_at_coverage_.. are of `risk_coverage`.  Counts of cells and bins are in JSON alone.
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

"""Scores as text: a page for people, and a table for programs."""

from __future__ import annotations

import unicodedata

from ..errors import one_line
from ..formats.csv_text import csv_of_numbers
from ..score.scores import BEFORE, COST, HIERARCHICAL, PAGE, page_title, SCORES

__all__ = ["MOST_CLASSES", "format_scores", "scores_csv"]

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
